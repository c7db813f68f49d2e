// What a run did, as lines beside what it printed: phases, steps and how they ended. The store keeps these as nodes.
import type { LogLine, RunNode } from "../../../api/contract";
import { nodeFacts } from "../diagram/model";

export interface FlowEvent {
  at: number;
  node: RunNode;
  kind: "began" | "ended";
}

/** Beginnings and ends in the order of time; an end before a beginning of the same moment. */
export function flowEvents(nodes: readonly RunNode[]): FlowEvent[] {
  const events: FlowEvent[] = [];
  for (const node of nodes) {
    if (node.startedAt) events.push({ at: node.startedAt, node, kind: "began" });
    if (node.finishedAt && node.kind !== "phase") events.push({ at: node.finishedAt, node, kind: "ended" });
  }
  return events
    .map((event, index) => ({ event, index }))
    .toSorted((a, b) => a.event.at - b.event.at || (a.event.kind === b.event.kind ? a.index - b.index : a.event.kind === "ended" ? -1 : 1))
    .map(({ event }) => event);
}

export interface FlowWords {
  phase: (title: string) => string;
  began: (kind: RunNode["kind"], title: string) => string;
  ended: (kind: RunNode["kind"], title: string, status: RunNode["status"], took: number, tries: number | undefined) => string;
}

/** The event as a line of a log; positions count the events. */
export function flowLine(event: FlowEvent, position: number, words: FlowWords): LogLine {
  const { node } = event;
  const text =
    node.kind === "phase"
      ? words.phase(node.title)
      : event.kind === "began"
        ? words.began(node.kind, node.title)
        : words.ended(node.kind, node.title, node.status, Math.max(0, (node.finishedAt ?? 0) - (node.startedAt ?? 0)), nodeFacts(node).try);
  return { position, stream: "flow", at: event.at, text };
}
