// A run's nodes as lanes of members: what the diagram, the list beside it, the timeline and "So far" are made of.
import type { RunNode, RunStatus } from "../../../api/contract";

export type MemberStatus = RunNode["status"] | "interrupted";
export interface Member {
  node: RunNode;
  status: MemberStatus;
  depth: number;
  lane: number;
}
/** `title` undefined: members outside of any phase. An empty phase title is a lane of its own. */
export interface Lane {
  key: string;
  title: string | undefined;
  members: Member[];
  phases: RunNode[];
  startedAt?: number;
  finishedAt?: number;
}

/** Captions are words and counts; the view puts them into the window's language. */
export type Caption =
  | { kind: "none" }
  | { kind: "completed"; count: number }
  | { kind: "parts"; parts: { status: "completed" | "running" | "waiting" | "failed" | "cancelled" | "interrupted"; count: number }[] };

/** A node that was at work when its run's process vanished is interrupted, not running. */
export function memberStatus(node: RunNode, run: RunStatus): MemberStatus {
  if (run === "interrupted" && (node.status === "running" || node.status === "waiting_for_input")) return "interrupted";
  return node.status;
}

/**
 * Groups members by phase. Lanes stand in the order of their first member, members in the order they started; those
 * not started keep their place in the report, after the started. Phases without members come last, in their own order.
 */
export function lanes(nodes: readonly RunNode[], run: RunStatus): Lane[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<string, Lane>();
  const empty = new Map<string, Lane>();
  const laneOf = (phase: RunNode | undefined) => (phase ? `p:${phase.title}` : "-");
  const phaseOf = (node: RunNode): { phase: RunNode | undefined; depth: number } => {
    let depth = 0;
    let at = node.parent === undefined || node.parent === null ? undefined : byId.get(node.parent);
    for (let guard = 0; at && guard < 64; guard += 1) {
      if (at.kind === "phase") return { phase: at, depth };
      depth += 1;
      at = at.parent === undefined || at.parent === null ? undefined : byId.get(at.parent);
    }
    return { phase: undefined, depth };
  };
  for (const node of nodes) {
    if (node.kind === "phase") {
      const key = laneOf(node);
      const lane = found.get(key) ?? empty.get(key) ?? { key, title: node.title, members: [], phases: [] };
      lane.phases.push(node);
      if (!found.has(key)) empty.set(key, lane);
      continue;
    }
    const { phase, depth } = phaseOf(node);
    const key = laneOf(phase);
    let lane = found.get(key);
    if (!lane) {
      lane = empty.get(key) ?? { key, title: phase?.title, members: [], phases: [] };
      empty.delete(key);
      found.set(key, lane);
    }
    if (phase && !lane.phases.includes(phase)) lane.phases.push(phase);
    lane.members.push({ node, status: memberStatus(node, run), depth, lane: 0 });
  }
  const all = [...found.values(), ...empty.values()];
  const started = (lane: Lane) => lane.members.reduce((least, member) => Math.min(least, member.node.startedAt ?? Infinity), Infinity);
  // A lane's place is that of its first member; lanes of which none started keep the report's order, behind.
  const order = new Map(all.map((lane, index) => [lane, index]));
  const first = new Map(all.map((lane) => [lane, started(lane)]));
  all.sort((a, b) => {
    const [x, y] = [first.get(a) ?? Infinity, first.get(b) ?? Infinity];
    return x === y ? (order.get(a) ?? 0) - (order.get(b) ?? 0) : x - y;
  });
  all.forEach((lane, index) => {
    if (lane.members.every((member) => member.depth === 0)) lane.members = stableByStart(lane.members);
    for (const member of lane.members) member.lane = index;
    for (const node of [...lane.phases, ...lane.members.map((member) => member.node)]) {
      if (node.startedAt) lane.startedAt = Math.min(lane.startedAt ?? Infinity, node.startedAt);
      if (node.finishedAt) lane.finishedAt = Math.max(lane.finishedAt ?? 0, node.finishedAt);
    }
  });
  return all;
}

function stableByStart(members: Member[]): Member[] {
  return members
    .map((member, index) => ({ member, index }))
    .sort((a, b) => {
      const [x, y] = [a.member.node.startedAt ?? Infinity, b.member.node.startedAt ?? Infinity];
      return x === y ? a.index - b.index : x - y;
    })
    .map(({ member }) => member);
}

/** The summary under a lane's title, word for word as agents' progress panels have it. */
export function caption(members: readonly { status: MemberStatus }[]): Caption {
  const count = (...of: MemberStatus[]) => members.filter((member) => of.includes(member.status)).length;
  const completed = count("success");
  const [running, waiting, failed, cancelled, interrupted] = [
    count("running"),
    count("waiting_for_input"),
    count("failed"),
    count("cancelled"),
    count("interrupted"),
  ];
  const started = completed + running + waiting + failed + cancelled + interrupted;
  if (started === 0) return { kind: "none" };
  if (completed === started) return { kind: "completed", count: completed };
  const parts: Extract<Caption, { kind: "parts" }>["parts"] = [];
  if (interrupted > 0 && completed > 0) parts.push({ status: "completed", count: completed });
  for (const [status, number] of [
    ["running", running],
    ["waiting", waiting],
    ["failed", failed],
    ["cancelled", cancelled],
    ["interrupted", interrupted],
  ] as const) {
    if (number > 0) parts.push({ status, count: number });
  }
  return { kind: "parts", parts };
}

/** One status for a whole lane, for its glyph in lists. */
export function laneStatus(lane: Lane): MemberStatus {
  const has = (status: MemberStatus) => lane.members.some((member) => member.status === status);
  for (const status of ["waiting_for_input", "running", "failed", "interrupted", "cancelled"] as const) if (has(status)) return status;
  if (lane.members.length > 0 && lane.members.every((member) => member.status === "success" || member.status === "skipped")) return "success";
  return lane.phases.at(-1)?.status ?? "queued";
}

/** What is known of a node beyond its columns. Unknown shapes give nothing. */
export interface NodeFacts {
  what?: string;
  try?: number;
  tries?: number;
  tokens?: number;
  model?: string;
  error?: string;
  child?: string;
  prompt?: string;
  answer?: string;
  log?: number;
  queuedAt?: number;
  /** tries before the last one */
  earlier: { startedAt: number; finishedAt: number; status: RunNode["status"] }[];
  /** when the last try began, if that is known apart from the node's own start */
  lastStart?: number;
}

export function nodeFacts(node: RunNode): NodeFacts {
  const facts: NodeFacts = { earlier: [] };
  const detail = node.detail;
  if (typeof detail !== "object" || detail === null || Array.isArray(detail)) return facts;
  const from = detail as Record<string, unknown>;
  const text = (...names: string[]) => names.map((name) => from[name]).find((value): value is string => typeof value === "string" && value !== "");
  const number = (...names: string[]) =>
    names.map((name) => from[name]).find((value): value is number => typeof value === "number" && Number.isFinite(value));
  const assign = <K extends keyof NodeFacts>(key: K, value: NodeFacts[K] | undefined) => {
    if (value !== undefined) facts[key] = value;
  };
  assign("what", text("what", "label"));
  assign("try", number("try", "attempt"));
  assign("tries", typeof from.tries === "number" ? from.tries : number("of", "maxTries"));
  assign("tokens", number("tokens", "totalTokens") ?? sum(from.tokens));
  assign("model", [text("provider"), text("model")].filter(Boolean).join(" ") || undefined);
  assign("error", text("error", "message"));
  assign("child", text("child", "childRunId", "run"));
  assign("prompt", text("prompt"));
  assign("answer", text("answer", "result"));
  assign("log", number("log", "logPosition"));
  assign("queuedAt", number("queuedAt"));
  const tries = spansOf(from.tries);
  facts.earlier = tries.length > 0 ? tries.slice(0, -1) : spansOf(from.earlier);
  if (tries.length > 1) {
    facts.try ??= tries.length;
    const last = tries.at(-1);
    if (last) facts.lastStart = last.startedAt;
  }
  return facts;
}

/** `{input: 18204, output: 911}` as one number. */
function sum(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const numbers = Object.values(value).filter((one): one is number => typeof one === "number" && Number.isFinite(one));
  return numbers.length > 0 ? numbers.reduce((total, one) => total + one, 0) : undefined;
}

function spansOf(value: unknown): NodeFacts["earlier"] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).flatMap((one) => {
    if (typeof one !== "object" || one === null) return [];
    const { startedAt, finishedAt, status, ok } = one as Record<string, unknown>;
    if (typeof startedAt !== "number" || typeof finishedAt !== "number") return [];
    return [{ startedAt, finishedAt, status: status === "success" || ok === true ? ("success" as const) : ("failed" as const) }];
  });
}

/** Members that are shown when a lane of many is folded: everything but what has ended well. */
export const FOLD_OVER = 40;
export function folded(lane: Lane): { shown: Member[]; completed: Member[] } {
  const completed = lane.members.filter((member) => member.status === "success" || member.status === "skipped");
  if (lane.members.length <= FOLD_OVER || completed.length < 2) return { shown: lane.members, completed: [] };
  return { shown: lane.members.filter((member) => member.status !== "success" && member.status !== "skipped"), completed };
}
