// What is looked for among the runs: as typed, as in the address, and as the store is asked. Pure; no React, no words of a language.
import type { Origin, ProjectRow, RunQuery, RunStatus } from "../../api/contract";
import { isoDate, startOfDay } from "../../i18n/format";

/** The conditions of the list. Times and lengths are kept as they are written (`7d`, `2026-11-23`, `>5m`), so that "last 7 days" stays that. */
export interface Filters {
  text: string;
  status: RunStatus[];
  project?: string;
  entrypoint?: string;
  client?: string;
  origin?: Origin;
  /** `7d`, `today`, or a day. */
  after?: string;
  /** A day, that itself belongs to it. */
  before?: string;
  /** `>5m`, `<10s` */
  took?: string;
  pinned?: boolean;
}

export const NO_FILTERS: Filters = { text: "", status: [] };

/** The conditions beside the text, in the order in which they are shown. */
export type Condition = "status" | "project" | "entrypoint" | "client" | "origin" | "time" | "took" | "pinned";

export const STATUSES: readonly RunStatus[] = ["waiting_for_input", "running", "queued", "failed", "timeout", "interrupted", "cancelled", "success"];
export const ORIGINS: readonly Origin[] = ["mcp", "desktop", "cli", "related"];

const STATUS_ALIASES: Record<string, RunStatus> = {
  waiting: "waiting_for_input",
  waits: "waiting_for_input",
  ok: "success",
  error: "failed",
  timedout: "timeout",
  "timed-out": "timeout",
  canceled: "cancelled",
};
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };
const DAY = 86_400_000;

/** Longest text that is looked for. */
export const LONGEST_TEXT = 500;

/** `20261130-zz1c#L128424`: a run, and perhaps a line of its log. */
export function parseRunLink(text: string): { run: string; line?: number } | null {
  const match = /^(\d{8}-[0-9a-z]{3,32})(?:#L(\d{1,12}))?$/.exec(text.trim());
  if (!match?.[1]) return null;
  return match[2] ? { run: match[1], line: Number(match[2]) } : { run: match[1] };
}

/** Milliseconds of `>5m` and the like; null where it can't be read. */
export function parseTook(took: string): { more: boolean; ms: number } | null {
  const match = /^([<>])\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)$/.exec(took);
  if (!match?.[1] || !match[2] || !match[3]) return null;
  return { more: match[1] === ">", ms: Number(match[2]) * (UNITS[match[3]] as number) };
}

/** The start of the time that `after` names. */
export function resolveAfter(after: string, now: number): number | null {
  if (after === "today") return startOfDay(now);
  if (after === "yesterday") return startOfDay(startOfDay(now) - DAY / 2);
  const days = /^(\d{1,4})d$/.exec(after);
  if (days) return startOfDay(startOfDay(now) + DAY / 2 - (Number(days[1]) - 1) * DAY);
  return dayStart(after);
}

function dayStart(text: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return null;
  const date = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return Number.isNaN(date.getTime()) || date.getMonth() !== Number(match[2]) - 1 ? null : date.getTime();
}

/** The end of the time that `before` names: that day still belongs to it. */
export function resolveBefore(before: string): number | null {
  const start = dayStart(before);
  if (start === null) return null;
  const date = new Date(start);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}

/** What the store is asked. `without` leaves one condition out. */
export function toQuery(filters: Filters, now: number, without?: Condition | "text"): RunQuery {
  const query: RunQuery = {};
  const text = filters.text.trim();
  if (text && without !== "text") query.text = text;
  if (filters.status.length > 0 && without !== "status") query.status = filters.status;
  if (filters.project && without !== "project") query.project = filters.project;
  if (filters.entrypoint && without !== "entrypoint") query.entrypoint = filters.entrypoint;
  if (filters.client && without !== "client") query.client = filters.client;
  if (filters.origin && without !== "origin") query.origin = filters.origin;
  if (without !== "time") {
    const after = filters.after ? resolveAfter(filters.after, now) : null;
    const before = filters.before ? resolveBefore(filters.before) : null;
    if (after !== null) query.after = after;
    if (before !== null) query.before = before;
  }
  const took = filters.took && without !== "took" ? parseTook(filters.took) : null;
  if (took) query[took.more ? "tookMoreMs" : "tookLessMs"] = took.ms;
  if (filters.pinned && without !== "pinned") query.pinned = true;
  return query;
}

/** The conditions that are set, in order. */
export function conditionsOf(filters: Filters): Condition[] {
  const set: Record<Condition, boolean> = {
    status: filters.status.length > 0,
    project: Boolean(filters.project),
    entrypoint: Boolean(filters.entrypoint),
    client: Boolean(filters.client),
    origin: Boolean(filters.origin),
    time: Boolean(filters.after ?? filters.before),
    took: Boolean(filters.took),
    pinned: Boolean(filters.pinned),
  };
  return (Object.keys(set) as Condition[]).filter((name) => set[name]);
}

/** The filters without one condition. */
export function without(filters: Filters, condition: Condition | "text"): Filters {
  const next = { ...filters };
  if (condition === "text") next.text = "";
  else if (condition === "status") next.status = [];
  else if (condition === "time") {
    delete next.after;
    delete next.before;
  } else delete next[condition];
  // An entrypoint's id means something only within its project.
  if (condition === "project") delete next.entrypoint;
  return next;
}

export function isEmpty(filters: Filters): boolean {
  return !filters.text.trim() && conditionsOf(filters).length === 0;
}

/** As address parameters; null where there is none. */
export function toParams(filters: Filters): Record<string, string | null> {
  return {
    q: filters.text || null,
    status: filters.status.join(",") || null,
    project: filters.project ?? null,
    entrypoint: filters.entrypoint ?? null,
    client: filters.client ?? null,
    origin: filters.origin ?? null,
    after: filters.after ?? null,
    before: filters.before ?? null,
    took: filters.took ?? null,
    pinned: filters.pinned ? "1" : null,
  };
}

/** From the address. What can't be read is left out: an address may come from anywhere. */
export function fromParams(search: URLSearchParams): Filters {
  const filters: Filters = { text: (search.get("q") ?? "").slice(0, LONGEST_TEXT), status: [] };
  for (const name of (search.get("status") ?? "").split(",")) {
    const status = readStatus(name);
    if (status && !filters.status.includes(status)) filters.status.push(status);
  }
  for (const name of ["project", "entrypoint", "client"] as const) {
    const value = search.get(name)?.slice(0, 200);
    if (value) filters[name] = value;
  }
  const origin = search.get("origin");
  if (origin && (ORIGINS as readonly string[]).includes(origin)) filters.origin = origin as Origin;
  const after = search.get("after");
  if (after && resolveAfter(after, Date.now()) !== null) filters.after = after;
  const before = search.get("before");
  if (before && resolveBefore(before) !== null) filters.before = before;
  const took = search.get("took");
  if (took && parseTook(took)) filters.took = took;
  if (search.get("pinned") === "1") filters.pinned = true;
  return filters;
}

function readStatus(text: string): RunStatus | null {
  const name = text.trim().toLowerCase();
  const known = STATUS_ALIASES[name] ?? name;
  return (STATUSES as readonly string[]).includes(known) ? (known as RunStatus) : null;
}

/** A project by its key or the beginning of its title. */
function readProject(text: string, projects: readonly Pick<ProjectRow, "key" | "title">[]): string {
  const wanted = text.toLowerCase();
  const found = projects.find(({ key }) => key.toLowerCase() === wanted) ?? projects.find(({ title }) => title.toLowerCase().startsWith(wanted));
  return found?.key ?? text;
}

const TOKEN = /(?:^|\s)(status|project|entrypoint|client|origin|after|before|took|is):(?:"([^"]*)"|([^\s"]+))(?=\s)/i;

/**
 * Takes conditions out of what is typed: `status:failed `, with a space behind it, becomes a condition; what can't be read stays text.
 * `all`: also without a space, for Enter.
 */
export function takeTokens(typed: string, filters: Filters, projects: readonly Pick<ProjectRow, "key" | "title">[] = [], all = false): Filters {
  let rest = all ? `${typed} ` : typed;
  let next = { ...filters };
  let from = 0;
  for (;;) {
    const match = TOKEN.exec(rest.slice(from));
    if (!match?.[1]) break;
    const start = from + match.index;
    const value = (match[2] ?? match[3] ?? "").trim();
    const taken = value ? setCondition(next, match[1].toLowerCase(), value, projects) : null;
    if (taken) {
      next = taken;
      rest = `${rest.slice(0, start)} ${rest.slice(start + match[0].length)}`;
      from = start;
    } else {
      from = start + match[0].length;
    }
  }
  const text = rest.trim() === typed.trim() ? typed : rest.replace(/\s{2,}/g, " ").trimStart();
  return { ...next, text: (all ? text.trimEnd() : text).slice(0, LONGEST_TEXT) };
}

function setCondition(filters: Filters, name: string, value: string, projects: readonly Pick<ProjectRow, "key" | "title">[]): Filters | null {
  switch (name) {
    case "status": {
      const read = value.split(",").map(readStatus);
      if (read.some((status) => status === null)) return null;
      return { ...filters, status: [...new Set([...filters.status, ...(read as RunStatus[])])] };
    }
    case "project":
      return { ...filters, project: readProject(value, projects) };
    case "entrypoint":
      return { ...filters, entrypoint: value };
    case "client":
      return { ...filters, client: value };
    case "origin":
      return (ORIGINS as readonly string[]).includes(value) ? { ...filters, origin: value as Origin } : null;
    case "after":
      return resolveAfter(value, Date.now()) === null ? null : { ...filters, after: value };
    case "before":
      return resolveBefore(value) === null ? null : { ...filters, before: value };
    case "took": {
      const took = /^[<>]/.test(value) ? value : `>${value}`;
      return parseTook(took) ? { ...filters, took } : null;
    }
    case "is":
      return value === "pinned" ? { ...filters, pinned: true } : null;
    default:
      return null;
  }
}

/** The time that two days enclose, whichever came first. `today` open at the end stays open. */
export function timeRange(from: string, to: string, now: number): Pick<Filters, "after" | "before"> {
  const [first, last] = from <= to ? [from, to] : [to, from];
  return last >= isoDate(now) ? { after: first } : { after: first, before: last };
}

export function sameFilters(a: Filters, b: Filters): boolean {
  const left = toParams(a);
  const right = toParams(b);
  return Object.keys(left).every((name) => (left[name] ?? "") === (right[name] ?? ""));
}
