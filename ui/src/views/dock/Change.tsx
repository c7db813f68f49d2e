// The exact change to the client's file, and writing it. The rest of the file stays as it is; a backup is kept and Undo puts it back.
import { useState } from "react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ApiError, DockClient, DockPlan } from "../../api/contract";
import { useAct } from "../../api/queries";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { BoneRows, Button, DiffLines, ErrorState, Glyph, revealText, toast, toastError } from "../../kit";

interface ChangeProps {
  server: string;
  client: DockClient;
  scope: "user" | "project";
  /** A key other than the usual one. */
  ownKey?: string;
  onWritten: () => void;
  onUndone: () => void;
}

const fileOf = (path: string) => path.split(/[\\/]/).at(-1) ?? path;

/** The copy's name has the moment of writing in it, so before that only its folder is known. */
const isFolderOf = (folder: string, file: string) => file.startsWith(`${folder}/`) || file.startsWith(`${folder}\\`);

export function Change({ server, client, scope, ownKey, onWritten, onUndone }: ChangeProps) {
  const { t, rich } = useI18n();
  const host = useHost();
  const [remove, setRemove] = useState(false);
  const [moved, setMoved] = useState(false);
  const request = { server, client: client.id, scope, key: ownKey, remove };
  const plan = useQuery<DockPlan, ApiError>({
    queryKey: ["dock_plan", request, client.state],
    queryFn: () => host.call("dock_plan", request).catch((thrown: unknown) => Promise.reject(toApiError(thrown))),
    placeholderData: keepPreviousData,
    // The file is another program's; look again whenever the pane is opened.
    staleTime: 0,
  });
  const write = useAct("dock_write");
  const undo = useAct("dock_undo");

  if (plan.error && !plan.data) return <ErrorState error={plan.error} title={t("dock.noPlan")} onRetry={() => void plan.refetch()} />;
  if (!plan.data) return <BoneRows rows={4} />;
  const data = plan.data;
  const file = revealText(data.file);

  if (data.action === "nothing")
    return (
      <section className="dk-box" aria-label={t("dock.change")}>
        <div className="dk-box-foot dk-nothing">
          <Glyph name={remove ? "todo" : "success"} label="" />
          <span className="k-grow k-break">{rich(remove ? "dock.notInFile" : "dock.nothingToChange", { file: <code key="file">{file}</code> })}</span>
          <Button look="quiet" onClick={() => setRemove(!remove)}>
            {remove ? t("common.cancel") : t("dock.takeOut")}
          </Button>
        </div>
      </section>
    );

  const verb = data.action === "remove" ? t("dock.remove") : data.action === "replace" ? t("dock.repair") : t("dock.write");
  const run = () =>
    write.mutate(
      { ...request, fingerprint: data.fingerprint },
      {
        onSuccess: (written) => {
          setMoved(false);
          setRemove(false);
          toast(
            rich(data.action === "remove" ? "dock.removedFrom" : data.action === "replace" ? "dock.repaired" : "dock.written", {
              file: <code key="file">{revealText(written.file)}</code>,
            }),
            {
              undo: () =>
                undo.mutate(
                  { id: written.id },
                  {
                    onSuccess: () => {
                      toast(rich("dock.undone", { file: <code key="file">{revealText(written.file)}</code> }));
                      onUndone();
                    },
                    onError: (error) => toastError(error, t, (why) => t("dock.notUndone", { why })),
                  },
                ),
            },
          );
          onWritten();
        },
        onError: (error) => {
          // Somebody else wrote the file: show what the change would be now, write nothing.
          if (error.code === "conflict") {
            setMoved(true);
            void plan.refetch();
          } else toastError(error, t, (why) => t("dock.notWritten", { why }));
        },
      },
    );

  return (
    <section className="dk-box" aria-label={t("dock.change")}>
      <div className="dk-box-head">
        <h3 className="k-semi">{data.action === "replace" ? t("dock.repair") : data.action === "remove" ? t("dock.remove") : t("dock.change")}</h3>
        <span className="k-mono k-dim k-break" dir="ltr">
          {file}
        </span>
        <span className="k-grow" />
        <span className="k-sub">{data.action === "create" ? t("dock.newFile") : t("dock.keepsRest")}</span>
      </div>
      <DiffLines lines={data.diff} label={t("dock.diffOf", { file })} />
      {moved && (
        <p className="dk-moved k-sm k-wait" role="alert">
          {t("dock.moved")}
        </p>
      )}
      <div className="dk-box-foot">
        <span className="k-sub k-grow k-break">
          {data.backup === undefined
            ? t("dock.noBackup")
            : isFolderOf(data.backup, data.file)
              ? t("dock.backupBeside")
              : rich("dock.backup", { file: <code key="file">{revealText(fileOf(data.backup))}</code> })}
        </span>
        {remove && (
          <Button look="quiet" onClick={() => setRemove(false)}>
            {t("common.cancel")}
          </Button>
        )}
        {!remove && data.action === "replace" && (
          <Button look="quiet" onClick={() => setRemove(true)}>
            {t("dock.takeOut")}
          </Button>
        )}
        <Button look="primary" onClick={run} aria-busy={write.isPending} disabled={write.isPending || plan.isPlaceholderData}>
          {write.isPending ? t("dock.writing") : verb}
        </Button>
      </div>
    </section>
  );
}
