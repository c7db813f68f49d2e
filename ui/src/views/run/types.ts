// What the run's views hand to each other.
import type { Question, RunDetail, RunNode } from "../../api/contract";

export type TabName = "question" | "steps" | "output" | "diagram" | "timeline" | "logs" | "input";
export const TAB_NAMES: readonly TabName[] = ["question", "steps", "output", "diagram", "timeline", "logs", "input"];

/** Facts that a host may add to a run that waits: how the client's call ended. */
export interface Standing {
  /** When the client's call ended without an answer, milliseconds since the epoch. */
  callEndedAt?: number;
  /** The client declined the form, or can't show one. */
  clientAnswer?: "declined" | "cannot_ask";
}

export interface TabProps {
  detail: RunDetail & Standing;
  nodes: readonly RunNode[];
  /** Goes to another tab of the same run, with parameters of the address. */
  go: (tab: TabName, search?: Record<string, string | number | undefined>) => void;
}

export const openQuestions = (detail: RunDetail): Question[] => detail.questions.filter((question) => !question.answer);
