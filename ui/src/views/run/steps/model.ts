// What guided workflows record about a step, read from a node's detail. Anything unknown is left out.
import type { RunNode } from "../../../api/contract";

export interface GateCheck {
  title: string;
  note?: string;
  status: "success" | "failed" | "running" | "skipped";
  ms?: number;
}
export interface StepOutput {
  name: string;
  path?: string;
  value?: string;
  bytes?: number;
}
export interface StepTry {
  number: number;
  note?: string;
  status: "success" | "failed" | "overridden" | "running";
  ms?: number;
}
export interface GuidedStep {
  id: string;
  isNested: boolean;
  override?: { reason: string; by?: string; at?: number };
  with?: string;
  quietSince?: number;
  gate: GateCheck[];
  outputs: StepOutput[];
  tries: StepTry[];
}

type Unknown = Record<string, unknown>;
const isObject = (value: unknown): value is Unknown => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const list = (value: unknown): Unknown[] => (Array.isArray(value) ? value.filter(isObject) : []);
/** Leaves out what is undefined, so that optional fields are absent. */
const compact = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;

export function guidedStep(node: RunNode): GuidedStep | undefined {
  if (!isObject(node.detail)) return undefined;
  const from = isObject(node.detail.guided) ? node.detail.guided : undefined;
  if (!from) return undefined;
  const override = isObject(from.override) ? from.override : undefined;
  const reason = override ? text(override.reason) : undefined;
  return compact({
    id: text(from.id) ?? node.title,
    isNested: from.workflow === true || from.subWorkflow === true,
    override: reason === undefined ? undefined : compact({ reason, by: text(override?.by), at: number(override?.at) }),
    with: text(from.with),
    quietSince: number(from.quietSince),
    gate: list(from.gate).map((one) =>
      compact({
        title: text(one.title) ?? "",
        note: text(one.note),
        ms: number(one.ms),
        status: one.status === "failed" || one.status === "running" || one.status === "skipped" ? one.status : "success",
      } as GateCheck),
    ),
    outputs: list(from.outputs).map((one) =>
      compact({ name: text(one.name) ?? "", path: text(one.path), value: text(one.value), bytes: number(one.bytes) } as StepOutput),
    ),
    tries: list(from.tries).map((one, index) =>
      compact({
        number: number(one.number) ?? index + 1,
        note: text(one.note),
        ms: number(one.ms),
        status: one.status === "failed" || one.status === "overridden" || one.status === "running" ? one.status : "success",
      } as StepTry),
    ),
  });
}

/** Tells whether a run is one of a guided workflow. */
export const isGuided = (nodes: readonly RunNode[]): boolean => nodes.some((node) => node.kind === "step" && guidedStep(node) !== undefined);

export interface ThreadItem {
  node: RunNode;
  step: GuidedStep | undefined;
  depth: number;
  isLast: boolean;
}

/** Steps in their order, nested workflows below their step. */
export function thread(nodes: readonly RunNode[]): ThreadItem[] {
  const children = new Map<number | undefined, RunNode[]>();
  const ids = new Set(nodes.map((node) => node.id));
  for (const node of nodes) {
    if (node.kind !== "step" && node.kind !== "phase") continue;
    const parent = node.parent !== undefined && node.parent !== null && ids.has(node.parent) ? node.parent : undefined;
    const own = children.get(parent);
    if (own) own.push(node);
    else children.set(parent, [node]);
  }
  const out: ThreadItem[] = [];
  const walk = (parent: number | undefined, depth: number) => {
    const own = children.get(parent) ?? [];
    own.forEach((node, index) => {
      out.push({ node, step: guidedStep(node), depth, isLast: index === own.length - 1 });
      if (depth < 32) walk(node.id, depth + 1);
    });
  };
  walk(undefined, 0);
  return out;
}
