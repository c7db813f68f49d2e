// The words of conditions.
import type { Origin, RunRow, RunStatus } from "../../api/contract";
import type { I18n, MessageKey } from "../../i18n";
import { STATUS_WORDS } from "../../kit/Glyph";
import { type Condition, type Filters, parseTook, resolveAfter, resolveBefore } from "./query";

export const CONDITION_WORDS = {
  status: "runs.status",
  project: "runs.project",
  entrypoint: "runs.entrypoint",
  client: "runs.client",
  origin: "runs.origin",
  time: "runs.time",
  took: "runs.took",
  pinned: "runs.pinned",
} as const satisfies Record<Condition, MessageKey>;

export const ANY_WORDS = {
  status: "runs.anyStatus",
  project: "runs.anyProject",
  entrypoint: "runs.anyEntrypoint",
  client: "runs.anyClient",
  origin: "runs.anyOrigin",
  time: "runs.anyTime",
  took: "runs.anyTook",
  pinned: "runs.anyPinned",
  text: "runs.anyText",
} as const satisfies Record<Condition | "text", MessageKey>;

export const ORIGIN_WORDS = {
  mcp: "runs.originMcp",
  desktop: "runs.originDesktop",
  cli: "runs.originCli",
  related: "runs.originRelated",
} as const satisfies Record<Origin, MessageKey>;

export const PART_WORDS = {
  log: "runs.partLog",
  error: "runs.partError",
  input: "runs.partInput",
  output: "runs.partOutput",
  answer: "runs.partAnswer",
  node: "runs.partNode",
  id: "runs.partId",
  entrypoint: "runs.partEntrypoint",
} as const satisfies Record<NonNullable<RunRow["found"]>["part"], MessageKey>;

/** "failed, timed out" */
export function statusWords({ t, language }: I18n, status: readonly RunStatus[]): string {
  const words = status.map((one) => t(STATUS_WORDS[one]));
  return language === "en" ? words.join(", ").toLowerCase() : words.join("、");
}

/** "last 7 days", "since 23 Nov", "23 Nov to 25 Nov" */
export function timeWords({ t, format }: I18n, { after, before }: Pick<Filters, "after" | "before">): string {
  const days = after && !before ? /^(\d+)d$/.exec(after) : null;
  if (days) return t("runs.lastDays", { n: Number(days[1]) });
  if (after && !before && after === "today") return t("common.today");
  const from = after ? resolveAfter(after, Date.now()) : null;
  const end = before ? resolveBefore(before) : null;
  const to = end === null ? null : end - 1;
  if (from !== null && to !== null)
    return format.isoDate(from) === format.isoDate(to)
      ? format.shortDate(from)
      : t("runs.fromTo", { from: format.shortDate(from), to: format.shortDate(to) });
  if (from !== null)
    return format.isoDate(from) === format.isoDate(Date.now()) ? t("common.today") : t("runs.sinceDay", { day: format.shortDate(from) });
  return to === null ? "" : t("runs.untilDay", { day: format.shortDate(to) });
}

/** "more than 5 m 00 s" */
export function tookWords({ t, format }: I18n, took: string): string {
  const read = parseTook(took);
  if (!read) return took;
  return t(read.more ? "runs.moreThan" : "runs.lessThan", { time: format.duration(read.ms) });
}
