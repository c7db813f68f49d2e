// What the board shows, computed: columns, order, filters, overlapping claims, the parts of a card's text. Pure.
import type { BoardCard, BoardNeed, BoardRefusal, BoardStatus, BoardView } from "../../api/contract";

/** What a person narrowed the board to. Empty: everything. */
export interface BoardFilter {
  text: string;
  area?: string;
  type?: string;
  priority?: string;
}

export interface BoardColumn {
  status: BoardStatus;
  cards: BoardCard[];
}

const ids = new Intl.Collator("en", { numeric: true });

/** Priority first, then id; a priority that the board doesn't know comes last. */
export function sortCards(cards: readonly BoardCard[], priorities: readonly string[]): BoardCard[] {
  const rank = new Map(priorities.map((name, index) => [name, index]));
  const of = (card: BoardCard) => rank.get(card.priority) ?? priorities.length;
  return [...cards].sort((one, other) => of(one) - of(other) || ids.compare(one.id, other.id));
}

/** Whether a card stays. `found`: ids that the search through the texts named. Each word must be somewhere in what the card shows. */
export function passes(card: BoardCard, filter: BoardFilter, found: ReadonlySet<string>): boolean {
  if (filter.area && card.area !== filter.area) return false;
  if (filter.type && card.type !== filter.type) return false;
  if (filter.priority && card.priority !== filter.priority) return false;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 || found.has(card.id)) return true;
  const shown = [card.id, card.title, card.area, card.type, card.claim?.by, ...card.tags].filter(Boolean).join(" ").toLowerCase();
  return words.every((word) => shown.includes(word));
}

/** Columns in the board's order. Archived cards are not on the board; cards of an unknown status come into columns of their own at the end. */
export function columnsOf(
  view: BoardView,
  filter: BoardFilter,
  found: ReadonlySet<string>,
  withHidden: boolean,
  moving: ReadonlyMap<string, string> = new Map(),
): BoardColumn[] {
  const byStatus = new Map<string, BoardCard[]>();
  for (const card of view.cards) {
    if (card.archived || !passes(card, filter, found)) continue;
    const status = moving.get(card.id) ?? card.status;
    const list = byStatus.get(status);
    if (list) list.push(card);
    else byStatus.set(status, [card]);
  }
  const known = new Set(view.statuses.map(({ id }) => id));
  const unknown = [...byStatus.keys()].filter((id) => !known.has(id)).map((id): BoardStatus => ({ id, hidden: false, terminal: false, needs: [] }));
  return [...view.statuses, ...unknown]
    .filter(({ hidden }) => withHidden || !hidden)
    .map((status) => ({ status, cards: sortCards(byStatus.get(status.id) ?? [], view.priorities) }));
}

const folded = (path: string) => path.replaceAll("\\", "/").replace(/^\.\//, "").replace(/\/+$/, "");

/** Equal, or one is a folder above the other. */
export function pathsOverlap(one: string, other: string): boolean {
  const a = folded(one);
  const b = folded(other);
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

export interface Overlap {
  card: BoardCard;
  /** The paths of the first card that the other touches too. */
  paths: string[];
}

/** For each claimed card the others, held by somebody else, whose scope overlaps its own. */
export function overlapsOf(cards: readonly BoardCard[]): Map<string, Overlap[]> {
  const claimed = cards.filter((card) => !card.archived && (card.claim?.scope?.length ?? 0) > 0);
  const overlaps = new Map<string, Overlap[]>();
  for (const card of claimed) {
    const found = claimed.flatMap((other): Overlap[] => {
      if (other.id === card.id || other.claim?.by === card.claim?.by) return [];
      const paths = (card.claim?.scope ?? []).filter((mine) => other.claim?.scope?.some((theirs) => pathsOverlap(mine, theirs)));
      return paths.length > 0 ? [{ card: other, paths }] : [];
    });
    if (found.length > 0) overlaps.set(card.id, found);
  }
  return overlaps;
}

/** How many pairs of cards overlap. */
export function overlapPairs(overlaps: ReadonlyMap<string, Overlap[]>): number {
  let both = 0;
  for (const list of overlaps.values()) both += list.length;
  return both / 2;
}

/** Where a refused move comes to an end, so that the card's page can open there. */
export type UnmetPoint = "acceptance" | "claim" | "none";

export function unmetPoint(card: BoardCard, target: BoardStatus | undefined, actor: string): UnmetPoint {
  if (card.claim && card.claim.by !== actor) return "claim";
  if (target?.terminal && card.acceptance && card.acceptance.done < card.acceptance.total) return "acceptance";
  return "none";
}

/** What a person has to type before a move: a claim is taken without a question. */
export function asksFor(needs: readonly BoardNeed[]): BoardNeed[] {
  return needs.filter((need) => need !== "claim");
}

export function refusalOf(refusals: readonly BoardRefusal[] | undefined, status: string): BoardRefusal | undefined {
  return refusals?.find((refusal) => refusal.status === status);
}

/** Two letters and the session of a claim's name, for the narrow place on a card: `Claude Code#3f9a` is `CC 3f9a`. */
export function claimParts(by: string): { name: string; session?: string } {
  const at = by.lastIndexOf("#");
  const [name, session] = at > 0 ? [by.slice(0, at), by.slice(at + 1)] : [by, undefined];
  return { name: name.startsWith("mcp:") ? name.slice(4) : name, ...(session ? { session } : {}) };
}

/** A card's text without what is shown in places of its own. */
export interface CardText {
  /** Without acceptance criteria, activity and notes. */
  text: string;
  notes: string;
}

const CRITERIA = /^(?:acceptance|definition of done|success criteria|exit criteria)/i;

export function partsOfBody(body: string): CardText {
  const text: string[] = [];
  const notes: string[] = [];
  let into: string[] | null = text;
  let level = 0;
  let fence = "";
  for (const line of body.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === "" || mark.startsWith(fence))) fence = fence === "" ? mark : "";
    const heading = fence === "" ? /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null;
    if (heading) {
      const depth = (heading[1] as string).length;
      const title = heading[2] as string;
      const own = CRITERIA.test(title) || (depth === 2 && title === "Activity") ? null : depth === 2 && title === "Notes" ? notes : undefined;
      if (own !== undefined) {
        into = own;
        level = depth;
        continue;
      }
      if (into !== text && depth <= level) into = text;
    }
    into?.push(line);
  }
  return { text: text.join("\n").trim(), notes: notes.join("\n").trim() };
}

/** One note: who, when, what. Lines that aren't of this form stay as they are. */
export interface Note {
  at?: number;
  who?: string;
  text: string;
}

export function notesOf(notes: string): Note[] {
  const list: Note[] = [];
  for (const line of notes.split("\n")) {
    const match = /^- (\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})Z (.+?) — (.*)$/.exec(line);
    if (match) list.push({ at: Date.parse(`${match[1]}T${match[2]}:00Z`), who: match[3] as string, text: match[4] as string });
    else if (line.trim() !== "") {
      const last = list.at(-1);
      if (last && !line.startsWith("- ")) last.text += `\n${line.trim()}`;
      else list.push({ text: line.replace(/^- /, "") });
    }
  }
  return list;
}

/** Milliseconds of a time as the board writes it: an RFC 3339 time, a date, or `2026-11-30 09:12Z`. */
export function momentOf(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const at = Date.parse(text.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})(?=Z)/, "$1T$2:00"));
  return Number.isNaN(at) ? undefined : at;
}

/** Whole days from a date (`2026-11-21`) to now. */
export function daysSince(date: string, now: number): number {
  const at = Date.parse(date);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.floor((now - at) / 86_400_000));
}

/** When a card is due, and whether that day is over. */
export function dueOf(card: BoardCard, now: number): { at: number; isLate: boolean } | undefined {
  const at = card.due ? Date.parse(card.due) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at, isLate: at + 86_400_000 <= now };
}
