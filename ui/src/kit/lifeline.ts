// Where the parts of a lifeline go. Pure; drawing is in Lifeline.tsx.
import type { RunStatus, Stage } from "../api/contract";

/** What a stretch is drawn as. */
export type PartKind = "queue" | "ran" | "wait" | "now" | "bad";
export interface Part {
  kind: PartKind;
  status: RunStatus;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
}

const ENDED: ReadonlySet<RunStatus> = new Set(["success", "failed", "timeout", "cancelled", "interrupted"]);

/** Whether nothing more happens to a run in this state. */
export function hasEnded(status: RunStatus): boolean {
  return ENDED.has(status);
}

/** Cuts a run's stages into stretches; one still open reaches to `now`. End states have no length. */
export function lifelineParts(stages: readonly Stage[], status: RunStatus, now: number): Part[] {
  const parts: Part[] = [];
  for (const stage of stages) {
    if (ENDED.has(stage.status)) continue;
    const to = stage.until ?? (hasEnded(status) ? stage.at : now);
    const kind: PartKind = stage.status === "queued" ? "queue" : stage.status === "waiting_for_input" ? "wait" : "ran";
    parts.push({ kind, status: stage.status, from: stage.at, to: Math.max(to, stage.at) });
  }
  const last = parts.findLast((part) => part.kind === "ran");
  if (last) {
    if (status === "failed" || status === "timeout") last.kind = "bad";
    else if (status === "running") last.kind = "now";
  }
  return parts;
}

/** Row lifelines: 0.1 s is 18 px, 30 min and more 120 px, logarithmic between, so that lengths compare down a list. */
export const LIFE_MIN = 18;
export const LIFE_MAX = 120;
const SHORTEST = 100;
const LONGEST = 30 * 60_000;

export function lifelineLength(durationMs: number): number {
  const clamped = Math.min(Math.max(durationMs, SHORTEST), LONGEST);
  const share = Math.log(clamped / SHORTEST) / Math.log(LONGEST / SHORTEST);
  return LIFE_MIN + share * (LIFE_MAX - LIFE_MIN);
}

export interface Segment {
  kind: PartKind;
  /** In px of the 120 × 16 drawing. */
  x: number;
  width: number;
}

/** Most of a failed stretch went well; only its end is red, so that a list of long failures doesn't shout. */
function splitBad(segment: Segment): Segment[] {
  const bad = Math.min(20, segment.width / 3);
  if (segment.kind !== "bad" || bad < LEAST) return [segment];
  return [
    { kind: "ran", x: segment.x, width: segment.width - bad - GAP },
    { kind: "bad", x: segment.x + segment.width - bad, width: bad },
  ];
}

/** The room the end mark takes. */
export const MARK = 8;
const GAP = 1;
const LEAST = 3;

/** Proportional stretches, each at least 3 px, inside the run's logarithmic length; returns where the end mark's middle goes as well. */
export function lifelineSegments(parts: readonly Part[]): { segments: Segment[]; mark: number } {
  const total = parts.reduce((sum, part) => sum + (part.to - part.from), 0);
  const shown = parts.filter((part) => part.to > part.from || parts.length === 1);
  const room = Math.max(lifelineLength(total) - MARK - GAP * Math.max(shown.length - 1, 0), LEAST * shown.length);
  // Short ones get the least width first, the rest is shared by time.
  let free = room;
  let time = 0;
  const short = shown.map((part) => total === 0 || ((part.to - part.from) / total) * room < LEAST);
  shown.forEach((part, index) => {
    if (short[index]) free -= LEAST;
    else time += part.to - part.from;
  });
  let x = 0;
  const segments = shown.map((part, index): Segment => {
    const width = short[index] ? (total === 0 ? room / shown.length : LEAST) : (Math.max(free, 0) * (part.to - part.from)) / time;
    const segment = { kind: part.kind, x, width };
    x += width + GAP;
    return segment;
  });
  return { segments: segments.flatMap(splitBad), mark: x - GAP + MARK / 2 + 1 };
}
