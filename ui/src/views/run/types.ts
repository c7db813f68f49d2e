// What the run's views hand to each other.
import type { Question, RunDetail, RunNode } from "../../api/contract";

export type TabName = "question" | "steps" | "output" | "diagram" | "timeline" | "logs" | "input";
export const TAB_NAMES: readonly TabName[] = ["question", "steps", "output", "diagram", "timeline", "logs", "input"];

export interface TabProps {
  detail: RunDetail;
  nodes: readonly RunNode[];
  /** Goes to another tab of the same run, with parameters of the address. */
  go: (tab: TabName, search?: Record<string, string | number | undefined>) => void;
}

export const openQuestions = (detail: RunDetail): Question[] => detail.questions.filter((question) => !question.answer);
