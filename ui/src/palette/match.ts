// Finding and ranking: prefix before word start before anywhere; what was used lately first among equals. Pure.

export interface Match {
  score: number;
  /** Where the hits are, as start and end, in order, not overlapping. */
  ranges: [number, number][];
}

const ANYWHERE = 20;
const WORD = 60;
const PREFIX = 100;

/** Words start after a space, a sign, or where a lower-case letter turns upper-case; every Chinese character starts one. */
function startsWord(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1]!;
  const here = text[at]!;
  if (/[\s\p{P}\p{S}]/u.test(before)) return true;
  if (/\p{Script=Han}/u.test(here)) return true;
  return /\p{Ll}/u.test(before) && /\p{Lu}/u.test(here);
}

/** Every word of `find` has to occur; undefined where one does not. An empty search matches everything. */
export function match(text: string, find: string): Match | undefined {
  const words = find.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { score: 0, ranges: [] };
  const lower = text.toLowerCase();
  // A letter that grows when it becomes lower-case would shift every place after it.
  if (lower.length !== text.length) return lower.includes(words.join(" ")) ? { score: ANYWHERE, ranges: [] } : undefined;
  let score = 0;
  const ranges: [number, number][] = [];
  for (const word of words) {
    let best = -1;
    let bestScore = 0;
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
      const value = at === 0 ? PREFIX : startsWord(text, at) ? WORD : ANYWHERE;
      if (value > bestScore) {
        best = at;
        bestScore = value;
      }
      if (bestScore === PREFIX) break;
    }
    if (best < 0) return undefined;
    score += bestScore;
    ranges.push([best, best + word.length]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else merged.push([...range]);
  }
  return { score: score / words.length, ranges: merged };
}

export interface Rankable {
  title: string;
  /** Also searched, for less. */
  sub?: string;
  /** Further words that lead here and are not shown. */
  also?: string;
  /** 0 to 1: how lately it was used; above 1 where it is at hand in the view on screen. */
  recent?: number;
}

export interface Ranked<T> {
  item: T;
  title: [number, number][];
  sub: [number, number][];
}

/** Those that match, best first; equal ones keep their order. */
export function rank<T extends Rankable>(items: readonly T[], find: string): Ranked<T>[] {
  const found: (Ranked<T> & { score: number; at: number })[] = [];
  items.forEach((item, at) => {
    const title = match(item.title, find);
    const sub = title ? undefined : item.sub === undefined ? undefined : match(item.sub, find);
    const also = title || sub ? undefined : match(`${item.title} ${item.sub ?? ""} ${item.also ?? ""}`, find);
    const score = title ? title.score : sub ? sub.score * 0.3 : also ? also.score * 0.2 : undefined;
    if (score === undefined) return;
    found.push({ item, title: title?.ranges ?? [], sub: sub?.ranges ?? [], score: score + (item.recent ?? 0) * 15, at });
  });
  return found.sort((a, b) => b.score - a.score || a.at - b.at).map(({ item, title, sub }) => ({ item, title, sub }));
}

export type Mode = "all" | "actions" | "runs" | "projects";

/** `>` actions, `#` runs, `@` projects; the rest of the text is what is searched. */
export function readMode(text: string): { mode: Mode; find: string } {
  const modes: Record<string, Mode> = { ">": "actions", "#": "runs", "@": "projects" };
  const mode = modes[text[0] ?? ""];
  return mode ? { mode, find: text.slice(1).trimStart() } : { mode: "all", find: text };
}

/** A pasted run id or link to a line of its log: `20261130-zz1c`, `20261130-zz1c#L128424`. */
export function runLink(text: string): { run: string; line?: number } | undefined {
  const found = /^#?(\d{8}-[a-z0-9]{4,32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{26,32})(?:#L(\d{1,12}))?$/i.exec(
    text.trim(),
  );
  if (!found) return undefined;
  return found[2] === undefined ? { run: found[1]! } : { run: found[1]!, line: Number(found[2]) };
}
