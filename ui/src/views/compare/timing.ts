// How long each phase took in two runs, without the time a person was waited for.
import type { RunDetail, RunNode } from "../../api/contract";
import { lanes } from "../run/diagram/model";
import { waits } from "../run/timeline/model";
import type { Span } from "../run/timeline/scale";
import { length, without } from "../run/timeline/scale";

export interface TimingRow {
  key: string;
  title: string | undefined;
  left?: number;
  right?: number;
  /** B less A */ change?: number;
  /** worth a look: over a tenth and a second */ notable: boolean;
}

/** Milliseconds of each phase, by the phase's key. */
export function phaseTimes(run: RunDetail["run"], nodes: readonly RunNode[], now: number): Map<string, { title: string | undefined; ms: number }> {
  const waited: Span[] = [
    ...waits(run, now),
    ...nodes.filter((node) => node.kind === "form" && node.startedAt).map((node) => ({ from: node.startedAt ?? 0, to: node.finishedAt ?? now })),
  ];
  const times = new Map<string, { title: string | undefined; ms: number }>();
  for (const lane of lanes(nodes, run.status)) {
    const spans = [...lane.phases, ...lane.members.map((member) => member.node)]
      .filter((node) => node.startedAt)
      .map((node) => ({ from: node.startedAt ?? 0, to: node.finishedAt ?? run.finishedAt ?? now }));
    if (spans.length > 0) times.set(lane.key, { title: lane.title, ms: length(without(spans, waited)) });
  }
  return times;
}

/** Both runs' phases, A's order first. */
export function timingRows(left: ReturnType<typeof phaseTimes>, right: ReturnType<typeof phaseTimes>): TimingRow[] {
  const keys = [...left.keys(), ...[...right.keys()].filter((key) => !left.has(key))];
  return keys.map((key) => {
    const [l, r] = [left.get(key), right.get(key)];
    const row: TimingRow = { key, title: (r ?? l)?.title, notable: false };
    if (l) row.left = l.ms;
    if (r) row.right = r.ms;
    if (l && r) {
      row.change = r.ms - l.ms;
      row.notable = Math.abs(row.change) > Math.max(1_000, Math.max(l.ms, r.ms) * 0.1);
    } else row.notable = true;
    return row;
  });
}
