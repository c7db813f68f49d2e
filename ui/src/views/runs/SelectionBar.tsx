// What can be done with the selected runs. What can't be done now stays, greyed, with its reason.
import { CircleStop, Download, GitCompareArrows, Pin, PinOff, RotateCcw, X } from "lucide-react";
import { useMemo } from "react";
import type { RunRow } from "../../api/contract";
import { useActions } from "../../app/actions";
import { openRunForm } from "../../app/overlays";
import { address, navigate } from "../../app/router";
import { useHost } from "../../host";
import { type MessageKey, useI18n } from "../../i18n";
import { Button, IconButton } from "../../kit/Button";
import { hasEnded } from "../../kit/lifeline";
import { Confirm } from "../../kit/Popover";
import { toast, toastError } from "../../kit/toast";

export interface SelectionBarProps {
  /** In the order of the list. */
  runs: RunRow[];
  onClear: () => void;
}

/** The address that compares two runs; A is the older. */
export function compareAddress(first: Pick<RunRow, "runId" | "createdAt">, second: Pick<RunRow, "runId" | "createdAt">): string {
  const [a, b] = first.createdAt <= second.createdAt ? [first, second] : [second, first];
  return address(["compare"], { a: a.runId, b: b.runId });
}

export function SelectionBar({ runs, onClear }: SelectionBarProps) {
  const { t } = useI18n();
  const host = useHost();
  const n = runs.length;
  const allPinned = runs.every(({ pinned }) => pinned);
  const [first, second] = runs;
  const compareOff = n === 2 ? undefined : t("runs.compareTwo");
  const cancelOff = runs.some(({ status }) => hasEnded(status)) ? t("runs.cancelRunning") : undefined;

  /** Does it for each run; says how it went, once. */
  const each = useMemo(
    () =>
      async (
        act: (run: RunRow) => Promise<unknown>,
        done: MessageKey,
        values: Record<string, string | number> = {},
        action?: { label: string; run: () => void },
      ) => {
        const results = await Promise.allSettled(runs.map(act));
        const failed = results.filter((result) => result.status === "rejected");
        const worked = results.length - failed.length;
        if (worked > 0) toast(t(done, { count: worked, n: worked, ...values }), action ? { action } : {});
        const reason = failed[0]?.reason as unknown;
        if (failed.length > 0) toastError(reason, t, (why) => t("runs.someFailed", { n: failed.length, total: results.length, why }));
      },
    [runs, t],
  );

  const compare = () => first && second && navigate(compareAddress(first, second));
  const pin = () => {
    const pinned = !allPinned;
    const put = (value: boolean) =>
      each(
        (run) => host.call("pin_run", { run: run.runId, pinned: value }),
        value ? "runs.pinnedDone" : "runs.unpinnedDone",
        {},
        value === pinned ? { label: t("common.undo"), run: () => void put(!value) } : undefined,
      );
    void put(pinned);
  };
  const cancel = () => void each((run) => host.call("cancel_run", { run: run.runId }), "runs.cancelledDone");
  const again = () => first && openRunForm({ project: first.project, entrypoint: first.entrypointId, from: first.runId });
  const exportAll = async () => {
    const paths: string[] = [];
    const results = await Promise.allSettled(runs.map(({ runId }) => host.call("export_run", { run: runId })));
    for (const result of results) if (result.status === "fulfilled") paths.push(result.value.path);
    const path = paths[0];
    if (path !== undefined) {
      const shown = paths.length === 1 ? path : path.replace(/[/\\][^/\\]*$/, "");
      toast(t("runs.exportedDone", { count: paths.length, n: paths.length, path: shown }), {
        action: { label: t("runs.showInFolder"), run: () => void host.reveal(path).catch(() => undefined) },
      });
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed) toastError(failed.reason, t, (why) => t("runs.someFailed", { n: results.length - paths.length, total: results.length, why }));
  };

  useActions([
    { id: "compare", title: t("common.compare"), group: "do", keys: "C", off: compareOff, run: compare },
    { id: "pin", title: allPinned ? t("common.unpin") : t("common.pin"), group: "do", keys: "P", run: pin },
  ]);

  return (
    <div className="runs-selection" role="toolbar" aria-label={t("runs.selection")}>
      <span className="k-num runs-selection-count">{t("runs.selected", { count: n, n })}</span>
      <span className="k-sep" />
      <Button look="quiet" icon={GitCompareArrows} keys="C" offBecause={compareOff} onClick={compare}>
        {t("common.compare")}
      </Button>
      <Button look="quiet" icon={allPinned ? PinOff : Pin} onClick={pin}>
        {allPinned ? t("common.unpin") : t("common.pin")}
      </Button>
      <Button look="quiet" icon={RotateCcw} offBecause={n === 1 ? undefined : t("runs.onlyOne")} onClick={again}>
        {t("common.runAgain")}
      </Button>
      {cancelOff ? (
        <Button look="quiet" icon={CircleStop} offBecause={cancelOff}>
          {t("common.cancelRun")}
        </Button>
      ) : (
        <Confirm
          side="top"
          trigger={
            <Button look="quiet" icon={CircleStop}>
              {t("common.cancelRun")}
            </Button>
          }
          title={t("runs.cancelTitle", { count: n, n })}
          text={t("runs.cancelText")}
          confirm={t("common.cancelRun")}
          keep={t("common.keepRunning")}
          onConfirm={cancel}
        />
      )}
      <Button look="quiet" icon={Download} onClick={() => void exportAll()}>
        {t("common.export")}
      </Button>
      <span className="k-sep" />
      <IconButton icon={X} label={t("runs.clearSelection")} keys="Esc" onClick={onClear} />
    </div>
  );
}
