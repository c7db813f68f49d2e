// What the overview says about an entrypoint and a project, worked out from the data. Pure.
import type { EntrypointRow, Param, ProjectKind, RunStatus } from "../../api/contract";
import type { MessageKey } from "../../i18n";

export const KIND_WORDS: Record<ProjectKind, MessageKey> = {
  workflow: "project.kindWorkflow",
  guided: "project.kindGuided",
  board: "project.kindBoard",
  conversation: "project.kindConversation",
  kanban: "project.kindKanban",
  folder: "project.kindFolder",
};

/** The middle one of the runs that ended, in milliseconds. */
export function medianOf(recent: EntrypointRow["recent"]): number | undefined {
  const took = recent.flatMap((run) => (run.durationMs !== undefined && run.status === "success" ? [run.durationMs] : [])).sort((a, b) => a - b);
  if (took.length === 0) return undefined;
  const half = took.length >> 1;
  return took.length % 2 === 1 ? took[half] : (took[half - 1]! + took[half]!) / 2;
}

export type BarLook = "plain" | "failed" | "interrupted" | "open" | "waiting" | "cancelled";
export interface Bar {
  look: BarLook;
  /** 0 to 1, by the logarithm of the duration between the shortest and the longest shown. */
  height: number;
}

const LOOKS: Partial<Record<RunStatus, BarLook>> = {
  failed: "failed",
  timeout: "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
  running: "open",
  queued: "open",
  waiting_for_input: "waiting",
};

/** Bars of the last runs. Heights compare within one entrypoint and across those of a project, so the scale is fixed: 0.1 s to 1 h. */
export function barsOf(recent: EntrypointRow["recent"]): Bar[] {
  const least = Math.log(100);
  const most = Math.log(3_600_000);
  return recent.map((run) => {
    const ms = Math.min(Math.max(run.durationMs ?? 100, 100), 3_600_000);
    return { look: LOOKS[run.status] ?? "plain", height: (Math.log(ms) - least) / (most - least) };
  });
}

/** A parameter's type in a few letters: `date`, `team | board`, `files`, `text, many`. The words are given. */
export function paramType(
  param: Param,
  words: { many: string; files: string; file: string; text: string; choice: (count: number) => string },
): string {
  const options = param.options ?? [];
  if (options.length > 0) {
    const joined = options.map((option) => String(option.value)).join(" | ");
    return joined.length <= 24 ? joined : words.choice(options.length);
  }
  if (param.type === "file") return param.multiple ? words.files : words.file;
  const type = param.type === "string" || param.type === "positional" ? (param.format ?? words.text) : param.type;
  return param.multiple ? `${type}${words.many}` : type;
}

/** Those that start, then those that can't: broken ones stay in the list, last. */
export function inOrder(entrypoints: readonly EntrypointRow[]): EntrypointRow[] {
  return [...entrypoints.filter((row) => !row.error), ...entrypoints.filter((row) => row.error)];
}
