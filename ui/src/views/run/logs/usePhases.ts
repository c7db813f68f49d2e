// Where phases lie in a log. The store doesn't say, but lines and phases have times: each boundary is found by halving.
import { useEffect, useMemo, useRef, useState } from "react";
import type { LogLine, RunNode } from "../../../api/contract";
import type { PhaseRange } from "./rows";

/** Phases whose place is looked for; a run of more has them as lines only. */
const MOST_PHASES = 40;

/** The first position at or after a time. `lineAt` gives the first line at or after a position. */
export async function positionAt(
  time: number,
  end: number,
  lineAt: (position: number) => Promise<LogLine | undefined>,
  known: Map<number, number> = new Map(),
): Promise<number> {
  let [low, high] = [0, end];
  for (const [position, at] of known) {
    if (at < time) low = Math.max(low, Math.min(end, position + 1));
    else high = Math.min(high, Math.max(position, low));
  }
  for (let guard = 0; low < high && guard < 64; guard += 1) {
    const middle = Math.floor((low + high) / 2);
    const line = await lineAt(middle);
    if (!line || line.position >= high) {
      high = middle;
      continue;
    }
    known.set(line.position, line.at);
    if (line.at < time) low = line.position + 1;
    else high = middle;
  }
  return low;
}

export function usePhases(nodes: readonly RunNode[], end: number, lineAt: (position: number) => Promise<LogLine | undefined>): PhaseRange[] {
  const [starts, setStarts] = useState<ReadonlyMap<number, number>>(new Map());
  const known = useRef(new Map<number, number>());
  const phases = useMemo(
    () =>
      nodes
        .filter((node) => node.kind === "phase" && node.startedAt)
        .toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))
        .slice(0, MOST_PHASES),
    [nodes],
  );
  const wanted = phases
    .filter((phase) => !starts.has(phase.id))
    .map((phase) => phase.id)
    .join(",");
  const canAsk = end > 0;
  const latest = useRef({ end, phases, lineAt });
  useEffect(() => {
    latest.current = { end, phases, lineAt };
  });
  useEffect(() => {
    if (wanted === "" || !canAsk) return undefined;
    let ended = false;
    void (async () => {
      const found = new Map<number, number>();
      for (const phase of latest.current.phases) {
        if (!wanted.split(",").includes(String(phase.id))) continue;
        const position = await positionAt(phase.startedAt ?? 0, latest.current.end, latest.current.lineAt, known.current).catch(() => undefined);
        if (ended) return;
        if (position !== undefined) found.set(phase.id, position);
      }
      if (!ended) setStarts((old) => new Map([...old, ...found]));
    })();
    return () => {
      ended = true;
    };
  }, [wanted, canAsk]);

  return useMemo(() => {
    const ranges: PhaseRange[] = [];
    phases.forEach((phase, index) => {
      const from = starts.get(phase.id);
      if (from === undefined) return;
      const next = phases
        .slice(index + 1)
        .map((other) => starts.get(other.id))
        .find((position) => position !== undefined);
      ranges.push({
        id: phase.id,
        title: phase.title,
        from,
        to: next ?? Number.MAX_SAFE_INTEGER,
        ...(phase.finishedAt && phase.startedAt ? { ms: phase.finishedAt - phase.startedAt } : { now: true }),
      });
    });
    return ranges.filter((range) => range.to > range.from);
  }, [phases, starts]);
}
