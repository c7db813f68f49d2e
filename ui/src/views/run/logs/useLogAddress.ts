// The place in a log that the address names, a line or a time, and naming one: a number that is pressed, a line of the flow.
import { type MouseEvent, useCallback, useEffect, useState } from "react";
import type { LogLine } from "../../../api/contract";
import { setParams, useAddress } from "../../../app/router";
import { useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { toast } from "../../../kit/toast";
import type { LogPages } from "./pages";
import { positionAt } from "./usePhases";

/** Whether the address says where to go. */
export const namesPlace = (search: URLSearchParams): boolean => search.get("line") !== null || search.get("at") !== null;

interface Ways {
  run: string;
  pages: LogPages;
  lineAt: (position: number) => Promise<LogLine | undefined>;
  go: (position: number) => void;
}

export function useLogAddress({ run, pages, lineAt, go }: Ways) {
  const { t } = useI18n();
  const host = useHost();
  const { search } = useAddress();
  const [target, setTarget] = useState<number | null>(null);
  const line = search.get("line");
  const at = search.get("at");
  const isReady = pages.end > 0;
  useEffect(() => {
    if (!isReady) return;
    if (line !== null && Number.isFinite(Number(line))) {
      const position = Math.max(0, Math.min(pages.end - 1, Number(line) - 1));
      setTarget(position);
      go(position);
    } else if (at !== null && Number.isFinite(Number(at))) {
      void positionAt(Number(at), pages.end, lineAt).then((position) => {
        setTarget(position);
        go(position);
      });
    }
    // oxlint-disable-next-line react/exhaustive-deps -- once for each address; a log that grows or folds sends nobody back
  }, [line, at, isReady]);
  const onNumber = useCallback(
    (position: number, event: MouseEvent) => {
      const range = event.shiftKey && target !== null ? `L${Math.min(target, position) + 1}-L${Math.max(target, position) + 1}` : `L${position + 1}`;
      setTarget(position);
      setParams({ line: position + 1, at: null });
      void host.copyText(`${run}#${range}`).then(() => toast(t("run.lineLinkCopied", { link: `${run}#${range}` })));
    },
    [host, run, t, target],
  );
  return { target, setTarget, onNumber };
}
