// Which rows a log has: all entries in their phases, one stream, what the run did, or only the matches.
import { useCallback, useMemo, useState } from "react";
import type { LogLine, RunNode } from "../../../api/contract";
import { useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { plain, showControls } from "./ansi";
import { flowEvents, flowLine, type FlowWords } from "./flow";
import type { LogPages } from "./pages";
import { LogRows, phaseOf } from "./rows";
import { usePhases } from "./usePhases";
import { useStream } from "./useStream";

/** What the log shows; `flow` isn't in the store's log but in the run's nodes. */
export type StreamChoice = "all" | LogLine["stream"];

const NONE: ReadonlySet<number> = new Set();
/** Phases with more lines start folded. */
const LONG = 2_000;

interface Asked {
  run: string;
  nodes: readonly RunNode[];
  pages: LogPages;
  stream: StreamChoice;
  /** Only the matches of a search, with a little around them. */
  shownOnly: boolean;
  positions: readonly number[];
  /** Changes with the search. */
  foundKey: string;
}

/** What the run did, a line for each event. */
function useFlow(nodes: readonly RunNode[], isFlow: boolean) {
  const { t, format } = useI18n();
  return useMemo(() => {
    if (!isFlow) return undefined;
    const bold = (title: string) => `\u001b[1m${showControls(plain(title).replaceAll("\u001b", ""))}\u001b[0m`;
    const words: FlowWords = {
      phase: (title) => t("run.flowPhase", { title: bold(title) }),
      began: (kind, title) => t("run.flowBegan", { kind: t(`run.kind_${kind}`), title: bold(title) }),
      ended: (kind, title, status, took, tries) =>
        t(
          status === "success"
            ? "run.flowDone"
            : status === "failed"
              ? tries === undefined
                ? "run.flowFailed"
                : "run.flowFailedTry"
              : "run.flowEnded",
          { kind: t(`run.kind_${kind}`), title: bold(title), took: format.duration(took), n: tries ?? 1 },
        ),
    };
    return flowEvents(nodes).map((event, index) => flowLine(event, index, words));
  }, [isFlow, nodes, t, format]);
}

export function useLogRows({ run, nodes, pages, stream, shownOnly, positions, foundKey }: Asked) {
  const host = useHost();
  const { end } = pages;
  const [folds, setFolds] = useState<ReadonlyMap<number, boolean>>(new Map());
  const flow = useFlow(nodes, stream === "flow");
  const ofStream = useStream(run, stream === "all" || stream === "flow" ? undefined : stream);
  const streamPositions = ofStream?.positions;

  const lineAt = useCallback(
    async (position: number) => pages.get(position) ?? (await host.call("run_logs", { run, from: position, limit: 1 })).lines[0],
    [pages, host, run],
  );
  const phases = usePhases(nodes, end, lineAt);
  const folded = useMemo(() => {
    const out = new Set<number>();
    phases.forEach((phase, index) => {
      // Long phases that are over start folded; the last one is what people came for.
      const isLong = Math.min(phase.to, end) - phase.from > LONG && index < phases.length - 1 && !phase.now;
      if (folds.get(phase.id) ?? isLong) out.add(phase.id);
    });
    return out;
  }, [phases, folds, end]);
  const foldKey = [...folded].join(",");
  const cut = pages.leftOut;
  const rows = useMemo(() => {
    if (shownOnly) return LogRows.chosen(positions, end, 2);
    if (flow) return LogRows.all(flow.length, [], NONE, undefined);
    if (streamPositions) return LogRows.chosen(streamPositions, end);
    return LogRows.all(end, phases, folded, cut);
    // oxlint-disable-next-line react/exhaustive-deps -- `folded` and `cut` are new at every render; their keys say whether they mean something else
  }, [shownOnly, positions, flow, streamPositions, end, phases, foldKey, cut?.position, cut?.entries]);

  return {
    rows,
    /** Changes when the rows mean something else, and not when there are more of them. */
    meaning: `${shownOnly ? `m${foundKey}` : stream}|${foldKey}|${phases.map((phase) => phase.from).join(",")}|${cut?.position ?? ""}:${cut?.entries ?? ""}`,
    phases,
    folded,
    flow,
    ofStream,
    /** An entry that is here already. */
    lineOf: (position: number): LogLine | undefined => (flow ? flow[position] : (ofStream?.lines.get(position) ?? pages.get(position))),
    /** An entry, asked for when it isn't here. */
    lineAt,
    toggle: (id: number) => setFolds((old) => new Map(old).set(id, !folded.has(id))),
    /** Opens the phase that an entry lies in. */
    unfold: useCallback(
      (position: number) => {
        const phase = phaseOf(phases, position);
        if (phase && folded.has(phase.id)) setFolds((old) => new Map(old).set(phase.id, false));
      },
      [phases, folded],
    ),
  };
}
