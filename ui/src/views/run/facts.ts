// What the head of a run says, computed: who started it, which buttons its state has, which tabs, the strip of its life.
import type { RunDetail, RunNode, RunRow, RunStatus } from "../../api/contract";
import type { I18n, MessageKey } from "../../i18n";
import { type Lane, lanes } from "./diagram/model";
import { guidedStep, isGuided } from "./steps/model";
import type { Span } from "./timeline/scale";
import { union, without } from "./timeline/scale";
import { waits } from "./timeline/model";
import type { TabName } from "./types";
import { openQuestions } from "./types";

export const hasEnded = (status: RunStatus): boolean => status !== "queued" && status !== "running" && status !== "waiting_for_input";

/** When a run ended, or was found without its process; its time stands still then. */
export function endedAt(run: RunRow): number | undefined {
  if (run.finishedAt !== undefined || run.status !== "interrupted") return run.finishedAt;
  return run.stages.findLast((stage) => stage.status === "interrupted")?.at;
}

/** A run that its client left can be continued; one that a person or the client cancelled can't. */
export type Actions = "live" | "waiting" | "ended" | "resumable";
export function actionsOf(detail: RunDetail): Actions {
  const { status } = detail.run;
  // A run whose question is answered while nobody has it goes on when it is told to.
  if (status === "waiting_for_input") return detail.canContinue && openQuestions(detail).length === 0 ? "resumable" : "waiting";
  if (!hasEnded(status)) return "live";
  return status === "interrupted" || (status === "cancelled" && detail.canContinue) ? "resumable" : "ended";
}

/** The tabs of a run. `Question` also stays for the person who is on it when the answer comes from elsewhere. */
export function tabsOf(detail: RunDetail, nodes: readonly RunNode[], current: TabName | undefined): TabName[] {
  const tabs: TabName[] = [];
  if (openQuestions(detail).length > 0 || (current === "question" && detail.questions.length > 0)) tabs.push("question");
  if (isGuided(nodes)) tabs.push("steps", "output", "timeline", "logs", "input");
  else tabs.push("output", "diagram", "timeline", "logs", "input");
  return tabs;
}

/** What makes a run: a command says everything in its log, the others have a structure. */
export type MadeBy = "command" | "other";

/** Where a run opens. */
export function firstTab(detail: RunDetail, nodes: readonly RunNode[], lastUsed: string | null, madeBy: MadeBy = "other"): TabName {
  const { status } = detail.run;
  if (status === "waiting_for_input" && openQuestions(detail).length > 0) return "question";
  const tabs = tabsOf(detail, nodes, undefined);
  if (isGuided(nodes)) return "steps";
  if (hasEnded(status)) return "output";
  return tabs.find((tab) => tab === lastUsed && tab !== "question") ?? (madeBy === "command" ? "logs" : "diagram");
}

export interface StripPiece extends Span {
  kind: "queue" | "ran" | "wait" | "now" | "bad";
  phase?: string;
  noPhase?: boolean;
}

/** The life of a run in pieces: phases where there are any, cut by the times a person was waited for. */
export function stripPieces(run: RunRow, nodes: readonly RunNode[], now: number): { pieces: StripPiece[]; toGo: string[] } {
  const end = endedAt(run) ?? now;
  const waited = union(waits(run, now));
  const pieces: StripPiece[] = [];
  for (const stage of run.stages) if (stage.status === "queued") pieces.push({ kind: "queue", from: stage.at, to: stage.until ?? end });
  pieces.push(...waited.map((span): StripPiece => ({ kind: "wait", ...span })));

  const phased = lanes(nodes, run.status).filter((lane) => lane.phases.length > 0);
  // A guided run has no phases; its own steps are what its life consists of.
  const all = phased.length > 0 || !isGuided(nodes) ? phased : guidedLanes(nodes);
  const begun = all.filter((lane) => lane.startedAt !== undefined).toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0));
  const toGo = all.filter((lane) => lane.startedAt === undefined).map((lane) => lane.title ?? "");
  const begin = run.startedAt ?? run.createdAt;
  let free: Span[] = without([{ from: begin, to: end }], pieces);
  const ran: StripPiece[] = [];
  begun.forEach((lane, index) => {
    const open =
      lane.phases.some((phase) => !phase.finishedAt && phase.startedAt) ||
      lane.members.some((member) => member.node.startedAt && !member.node.finishedAt);
    // Phases that overlap are shown one after the other.
    const to = Math.min(open ? end : (lane.finishedAt ?? end), begun[index + 1]?.startedAt ?? Infinity);
    const spans = without([{ from: lane.startedAt ?? begin, to }], [...pieces, ...ran]);
    ran.push(...spans.map((span): StripPiece => ({ kind: "ran", ...span, phase: lane.title ?? "" })));
  });
  free = without(free, ran).filter((span) => span.to - span.from > (end - run.createdAt) * 0.01);
  ran.push(...free.map((span): StripPiece => ({ kind: "ran", ...span, noPhase: true })));
  pieces.push(...ran.filter((piece) => piece.to > piece.from || ran.length === 1));
  pieces.sort((a, b) => a.from - b.from || a.to - b.to);
  const last = pieces.findLast((piece) => piece.kind === "ran");
  if (last) {
    if (run.status === "running") last.kind = "now";
    else if (run.status === "failed" || run.status === "timeout") last.kind = "bad";
  }
  return { pieces, toGo };
}

const guidedLanes = (nodes: readonly RunNode[]): Lane[] =>
  nodes
    .filter((node) => node.kind === "step" && (node.parent === undefined || node.parent === null))
    .map((node) => ({
      key: String(node.id),
      title: guidedStep(node)?.id ?? node.title,
      members: [],
      phases: [node],
      ...(node.startedAt ? { startedAt: node.startedAt } : {}),
      ...(node.finishedAt ? { finishedAt: node.finishedAt } : {}),
    }));

/** Milliseconds the run took, without the time in the queue; undefined when it never started. */
export function tookMs(run: RunRow, now: number): number | undefined {
  if (!run.startedAt) return undefined;
  if (hasEnded(run.status) && run.durationMs !== undefined && run.durationMs !== null) return run.durationMs;
  return Math.max(0, (run.finishedAt ?? now) - run.startedAt);
}

const CANCEL_WORDS: Record<string, MessageKey> = {
  person: "run.cancelReason_person",
  client: "run.cancelReason_client",
  client_gone: "run.cancelReason_client_gone",
  expired: "run.cancelReason_expired",
};

/** Why a run was cancelled; the code itself where a newer backend has another. */
export function cancelWords(reason: string | undefined, t: I18n["t"]): string | undefined {
  const key = reason === undefined || !Object.hasOwn(CANCEL_WORDS, reason) ? undefined : CANCEL_WORDS[reason];
  return key ? t(key) : reason;
}
