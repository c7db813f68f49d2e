// Running an entrypoint: a sheet over whatever is on screen. What is not given is asked first: the project, the entrypoint.
import { useMemo, useRef, useState } from "react";
import type { EntrypointRow, JsonValue } from "../../api/contract";
import { useData } from "../../api/queries";
import type { RunFormRequest } from "../../app/overlays";
import { useI18n } from "../../i18n";
import { Bone, Button, ErrorState, Late, Sheet } from "../../kit";
import { ChooseEntrypoint, EntrypointList } from "./ChooseEntrypoint";
import { EntrypointForm } from "./EntrypointForm";
import "./runform.css";

export interface RunFormProps {
  open: boolean;
  request: RunFormRequest;
  onClose: () => void;
}

export default function RunForm({ open, request, onClose }: RunFormProps) {
  const { t } = useI18n();
  const [project, setProject] = useState(request.project);
  const [entrypoint, setEntrypoint] = useState(request.entrypoint);
  const from = useData("run", { run: request.from ?? "" }, { enabled: request.from !== undefined });
  const projects = useData("projects", {});
  const first = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLDivElement>(null);

  const older = from.data;
  const only = projects.data?.length === 1 ? projects.data[0]!.key : undefined;
  const projectKey = project ?? older?.run.project ?? only;
  const overview = useData("project_overview", { project: projectKey ?? "" }, { enabled: projectKey !== undefined });
  const runnable = useMemo(() => (overview.data?.entrypoints ?? []).filter((row) => row.runnable), [overview.data]);
  const entrypointId = entrypoint ?? older?.run.entrypointId ?? (runnable.length === 1 ? runnable[0]!.id : undefined);
  const row: EntrypointRow | undefined = runnable.find((one) => one.id === entrypointId);

  const error = from.error ?? overview.error ?? projects.error;
  const loading = (request.from !== undefined && from.isPending) || (projectKey !== undefined && overview.isPending) || projects.isPending;
  // A restored run's project may be gone, or its entrypoint renamed since.
  const gone = !loading && !error && overview.data !== undefined && entrypointId !== undefined && row === undefined;

  if (row && projectKey && !loading) {
    return (
      <EntrypointForm
        key={`${projectKey} ${row.id}`}
        open={open}
        onClose={onClose}
        project={projectKey}
        projectTitle={overview.data!.project.title}
        server={overview.data!.project.servers.find((server) => server.kind === "workflow")?.id ?? projectKey}
        entrypoint={row}
        from={older ? { run: older.run.runId, at: older.run.createdAt, status: older.run.status, input: older.input as JsonValue } : undefined}
      />
    );
  }

  const choose = request.project === undefined && request.from === undefined;
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={t("runform.titleChoose")}
      initialFocus={() => first.current ?? body.current?.querySelector<HTMLElement>("[data-search]")}
      foot={
        <>
          <span className="k-grow" />
          <Button look="quiet" size="large" onClick={onClose}>
            {t("common.cancel")}
          </Button>
        </>
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={() => void (from.error ? from.refetch() : overview.error ? overview.refetch() : projects.refetch())} />
      ) : loading && !choose ? (
        <Late>
          <div className="rf-bones" aria-hidden="true">
            <Bone width="7rem" />
            <Bone width="100%" height="2rem" />
            <Bone width="5rem" />
            <Bone width="100%" height="2rem" />
          </div>
        </Late>
      ) : (
        <div className="rf-choose" ref={body}>
          {gone && <p className="k-note">{t("runform.entrypointGone", { name: entrypointId ?? "" })}</p>}
          {choose && projectKey === undefined && projects.data && (
            <ChooseEntrypoint
              projects={projects.data}
              onChoose={(chosen, id) => {
                setProject(chosen);
                setEntrypoint(id);
              }}
            />
          )}
          {projectKey !== undefined && overview.data && (
            <div className="k-field">
              <span className="k-field-title">{t("runform.entrypoint")}</span>
              {runnable.length === 0 ? (
                <p className="k-note">{t("runform.nothingToRun")}</p>
              ) : (
                <EntrypointList rows={runnable} onChoose={setEntrypoint} first={first} />
              )}
            </div>
          )}
        </div>
      )}
    </Sheet>
  );
}
