// What the timeline draws: rows with bars, where the time went, and the longest chain.
import type { RunNode, RunRow } from "../../../api/contract";
import type { Lane, Member, MemberStatus } from "../diagram/model";
import { nodeFacts } from "../diagram/model";
import type { Span } from "./scale";
import { length, union } from "./scale";

export interface Bar extends Span {
  kind: "ran" | "failed" | "queued" | "waited";
  now?: boolean;
}
export interface TimeRow {
  key: string;
  kind: "phase" | "member";
  title: string | undefined;
  lane: string;
  member?: Member;
  bars: Bar[];
  status?: MemberStatus;
  ms?: number;
  queuedMs?: number;
}

/** The run from its creation to its end, or to now. */
export function wholeSpan(run: RunRow, nodes: readonly RunNode[], now: number): Span {
  const from = run.startedAt ?? run.createdAt;
  let to = run.finishedAt ?? now;
  for (const node of nodes) to = Math.max(to, node.finishedAt ?? 0);
  return { from: Math.min(from, run.createdAt), to: Math.max(to, from + 1) };
}

function bars(node: RunNode, status: MemberStatus, now: number, end: number | undefined): Bar[] {
  const out: Bar[] = [];
  const facts = nodeFacts(node);
  const first = facts.earlier[0]?.startedAt ?? node.startedAt;
  if (facts.queuedAt !== undefined && first !== undefined && first > facts.queuedAt) out.push({ kind: "queued", from: facts.queuedAt, to: first });
  let last: number | undefined;
  for (const one of facts.earlier) {
    if (last !== undefined && one.startedAt > last) out.push({ kind: "queued", from: last, to: one.startedAt });
    out.push({ kind: one.status === "success" ? "ran" : "failed", from: one.startedAt, to: one.finishedAt });
    last = one.finishedAt;
  }
  if (node.startedAt === undefined || node.startedAt === null) return out;
  const begin = Math.max(facts.lastStart ?? node.startedAt, last ?? 0);
  if (last !== undefined && begin > last) out.push({ kind: "queued", from: last, to: begin });
  const isOpen = node.finishedAt === undefined || node.finishedAt === null;
  const to = node.finishedAt ?? end ?? now;
  if (to < begin || (facts.earlier.length > 0 && node.startedAt < (last ?? 0) && !isOpen && to <= (last ?? 0))) return out;
  const kind: Bar["kind"] = node.kind === "form" || status === "waiting_for_input" ? "waited" : status === "failed" ? "failed" : "ran";
  out.push({ kind, from: begin, to, ...(isOpen && end === undefined ? { now: true } : {}) });
  return out;
}

/** Rows by phase, each phase's head first, or all members by their start. */
export function timeRows(
  lanes: readonly Lane[],
  order: "phase" | "start",
  closed: ReadonlySet<string>,
  now: number,
  end: number | undefined,
): TimeRow[] {
  const member = (lane: Lane, one: Member): TimeRow => {
    const drawn = bars(one.node, one.status, now, end);
    const ran = drawn.filter((bar) => bar.kind !== "queued").at(-1);
    const queuedMs = length(drawn.filter((bar) => bar.kind === "queued"));
    return {
      key: `n:${one.node.id}`,
      kind: "member",
      title: one.node.title,
      lane: lane.key,
      member: one,
      bars: drawn,
      status: one.status,
      ...(ran ? { ms: ran.to - ran.from } : {}),
      ...(queuedMs > 0 ? { queuedMs } : {}),
    };
  };
  if (order === "start") {
    return lanes
      .flatMap((lane) => lane.members.map((one) => member(lane, one)))
      .filter((row) => row.bars.length > 0)
      .toSorted((a, b) => (a.bars[0]?.from ?? 0) - (b.bars[0]?.from ?? 0));
  }
  return lanes.flatMap((lane) => {
    const rows = lane.members.map((one) => member(lane, one));
    const drawn = rows.flatMap((row) => row.bars);
    const from = Math.min(lane.startedAt ?? Infinity, ...drawn.map((bar) => bar.from));
    const to = drawn.reduce((most, bar) => Math.max(most, bar.to), lane.finishedAt ?? 0);
    const head: TimeRow = {
      key: `p:${lane.key}`,
      kind: "phase",
      title: lane.title,
      lane: lane.key,
      bars: Number.isFinite(from) && to > from ? [{ kind: "ran", from, to }] : [],
      ...(Number.isFinite(from) && to > from ? { ms: to - from - length(union(drawn.filter((bar) => bar.kind === "waited"))) } : {}),
    };
    return closed.has(lane.key) ? [head] : [head, ...rows];
  });
}

export interface Whereabouts {
  queued?: number;
  ran?: number;
  waited: number;
}

/** Sums of a run's stages. What was not recorded stays undefined. */
export function whereTimeWent(run: RunRow, now: number): Whereabouts {
  const sum = (status: RunRow["status"]) =>
    run.stages
      .filter((stage) => stage.status === status)
      .reduce((total, stage) => total + Math.max(0, (stage.until ?? run.finishedAt ?? now) - stage.at), 0);
  if (run.stages.length === 0) {
    return {
      waited: 0,
      ...(run.startedAt ? { queued: run.startedAt - run.createdAt } : {}),
      ...(run.durationMs !== undefined && run.durationMs !== null ? { ran: run.durationMs } : {}),
    };
  }
  return { queued: sum("queued"), ran: sum("running"), waited: sum("waiting_for_input") };
}

/** Stretches in which the run waited for a person. */
export function waits(run: RunRow, now: number): Span[] {
  return run.stages
    .filter((stage) => stage.status === "waiting_for_input")
    .map((stage) => ({ from: stage.at, to: stage.until ?? run.finishedAt ?? now }));
}

export interface Link {
  node: RunNode;
  queuedMs: number;
}

/**
 * The chain of steps that decided how long the run took: from the step that ended last, each time back to the step
 * that ended last before it began.
 */
export function longestChain(nodes: readonly RunNode[], most = 12): Link[] {
  const parents = new Set(nodes.map((node) => node.parent).filter((parent) => parent !== undefined && parent !== null));
  const leaves = nodes
    .filter((node) => node.kind !== "phase" && !parents.has(node.id) && node.startedAt && node.finishedAt)
    .toSorted((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
  const chain: Link[] = [];
  let at = leaves.pop();
  while (at && chain.length < most) {
    const node = at;
    const begin = Math.min(node.startedAt ?? 0, nodeFacts(node).queuedAt ?? Infinity, nodeFacts(node).earlier[0]?.startedAt ?? Infinity);
    const queuedAt = nodeFacts(node).queuedAt;
    chain.unshift({ node, queuedMs: queuedAt === undefined ? 0 : Math.max(0, (node.startedAt ?? 0) - queuedAt) });
    at = undefined;
    while (leaves.length > 0) {
      const candidate = leaves.pop();
      if (candidate && (candidate.finishedAt ?? 0) <= begin + 1) {
        at = candidate;
        break;
      }
    }
  }
  return chain;
}
