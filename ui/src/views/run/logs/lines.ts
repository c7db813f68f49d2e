// What one entry of a log looks like as lines on the screen. An entry is what the program wrote in one go: mostly one
// line with its end, sometimes a piece of one, sometimes many.

/** Characters of one line that are shown before "show all" is pressed. */
export const LINE_LIMIT = 2_000;
/** Characters shown once it was pressed; the rest can only be saved. */
export const LINE_LIMIT_ALL = 200_000;

/** Keeps what a terminal would still show after carriage returns: the last state of a progress bar. */
export function afterReturns(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r");
  for (let at = states.length - 1; at >= 0; at -= 1) if (states[at] !== "") return states[at] ?? "";
  return "";
}

/** The lines of an entry, without line ends. An entry always has one line at least. */
export function entryLines(text: string): string[] {
  if (!text.includes("\n")) return [afterReturns(text)];
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  return lines.map((line) => afterReturns(line.endsWith("\r") ? line.slice(0, -1) : line));
}

/**
 * Tells whether an entry is a state of a progress bar that the next entry overwrites. Hosts take line ends away, so a
 * return at the end says nothing (it may be a line of another system); one at the beginning of both does.
 */
export function isPassing(text: string, next: string | undefined): boolean {
  return next !== undefined && next.startsWith("\r") && text.startsWith("\r") && !text.includes("\n");
}

/** Cuts a line at `limit` characters, never inside a surrogate pair or a colour sequence. */
export function cutLine(line: string, limit: number): { text: string; left: number } {
  if (line.length <= limit) return { text: line, left: 0 };
  let end = limit;
  const unit = line.charCodeAt(end - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) end -= 1;
  const escape = line.lastIndexOf("\u001b", end - 1);
  // eslint-disable-next-line no-control-regex
  if (escape >= 0 && end - escape < 32 && !/^\u001b\[[0-9;:]*[A-Za-z]/.test(line.slice(escape, end))) end = escape;
  return { text: line.slice(0, end), left: line.length - end };
}

const ERROR = /^\s*(?:\[?\d[\d:.TZ+-]*\]?\s+)?\[?(?:error|fatal|panic(?:ked)?|fail|uncaught|exception|traceback)\b/i;

/** Tells whether a line says at its start that something went wrong. Colours are ignored. */
export function saysError(line: string): boolean {
  const head = line.length > 200 ? line.slice(0, 200) : line;
  // eslint-disable-next-line no-control-regex
  return ERROR.test(head.includes("\u001b") ? head.replace(/\u001b\[[0-9;:]*m/g, "") : head);
}

export interface Mark {
  start: number;
  length: number;
}

/** What is looked for, and how it is meant. */
export interface Needle {
  text: string;
  case?: boolean;
  regex?: boolean;
}

/** Where a needle occurs in a line. The store has found the line; this only marks it, so what the page's own regular expressions don't know, or might not end with, goes unmarked. */
export function hits(line: string, { text, case: exact = false, regex = false }: Needle, limit = 200): Mark[] {
  if (text === "") return [];
  const found: Mark[] = [];
  if (regex || exact) {
    const pattern = !regex || line.length <= longestFor(text) ? patternOf(text, exact, regex) : undefined;
    for (const match of pattern ? line.matchAll(pattern) : []) {
      if (match[0] !== "") found.push({ start: match.index, length: match[0].length });
      if (found.length >= limit) break;
    }
    return found;
  }
  const low = line.toLowerCase();
  const needle = text.toLowerCase();
  // Lower case can change the length of a text (İ); then positions would be wrong.
  const where = low.length === line.length ? low : line;
  for (let at = where.indexOf(needle); at >= 0 && found.length < limit; at = where.indexOf(needle, at + needle.length))
    found.push({ start: at, length: needle.length });
  return found;
}

/** Steps that marking one line by a pattern may take. */
const MOST_STEPS = 20_000_000;

/**
 * The longest line that a pattern is tried on. The store's search takes time by the length of the line; the page's own goes back and forth, once
 * more for each open repetition, and without end for one inside of another, as `(a+)+`.
 */
export function longestFor(pattern: string): number {
  const bare = pattern.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  let open = 0;
  const groups: number[] = [];
  for (let at = 0; at < bare.length; at += 1) {
    if (bare[at] === "(") groups.push(open);
    else if (bare[at] === ")") {
      const inside = open - (groups.pop() ?? open);
      const repeated = /^(?:[*+]|\{\d+(?:,\d*)?\})/.test(bare.slice(at + 1, at + 24));
      if (repeated && (inside > 0 || bare.includes("|"))) return 0;
      if (repeated) open += 1;
    } else if (bare[at - 1] !== ")" && /^(?:[*+]|\{\d+,\d*\})/.test(bare.slice(at, at + 24))) open += 1;
  }
  return Math.floor(MOST_STEPS ** (1 / (open + 1)));
}

function patternOf(text: string, exact: boolean, regex: boolean): RegExp | undefined {
  try {
    return new RegExp(regex ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), exact ? "gu" : "giu");
  } catch {
    return undefined;
  }
}

/** Splits spans of a line at marks. `marks` are in characters of the joined text, in order. */
export function splitAtMarks<T extends { text: string }>(spans: T[], marks: Mark[]): (T & { hit?: number })[] {
  if (marks.length === 0) return spans;
  const out: (T & { hit?: number })[] = [];
  let offset = 0;
  let next = 0;
  for (const span of spans) {
    let start = 0;
    while (start < span.text.length) {
      while (next < marks.length && (marks[next]?.start ?? 0) + (marks[next]?.length ?? 0) <= offset + start) next += 1;
      const mark = marks[next];
      const markStart = mark ? mark.start - offset : Infinity;
      const markEnd = mark ? markStart + mark.length : Infinity;
      const inside = start >= markStart;
      const end = Math.min(span.text.length, inside ? markEnd : markStart);
      const piece: T & { hit?: number } = { ...span, text: span.text.slice(start, end) };
      if (inside) piece.hit = next;
      out.push(piece);
      start = end;
    }
    offset += span.text.length;
  }
  return out;
}
