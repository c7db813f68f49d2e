import { describe, expect, test } from "vitest";
import type { BoardCard, BoardView } from "../../api/contract";
import {
  asksFor,
  claimParts,
  columnsOf,
  daysSince,
  dueOf,
  momentOf,
  notesOf,
  overlapPairs,
  overlapsOf,
  partsOfBody,
  pathsOverlap,
  sortCards,
  unmetPoint,
} from "./model";

const card = (id: string, more: Partial<BoardCard> = {}): BoardCard => ({
  id,
  title: `Card ${id}`,
  type: "task",
  status: "next",
  priority: "medium",
  tags: [],
  depends: [],
  updated: "2026-11-30",
  revision: "sha256:1",
  archived: false,
  path: `${id}.md`,
  ...more,
});
const view = (cards: BoardCard[]): BoardView => ({
  statuses: [
    { id: "backlog", hidden: false, terminal: false, needs: [] },
    { id: "next", hidden: false, terminal: false, needs: [] },
    { id: "done", hidden: false, terminal: true, needs: [] },
    { id: "deferred", hidden: true, terminal: false, needs: ["reason"] },
  ],
  types: ["task"],
  priorities: ["critical", "high", "medium", "low"],
  areas: ["web"],
  cards,
  documents: 0,
  fragments: 0,
  memory: 0,
  findings: 0,
  mendable: [],
  actor: "ada@studio",
  readOnly: false,
  mark: "1",
});
const all = { text: "" };
const none = new Set<string>();

describe("columns", () => {
  test("order is priority, then id as a number; unknown priorities come last", () => {
    const sorted = sortCards(
      [card("T-10000"), card("T-0002"), card("T-0003", { priority: "odd" }), card("T-0009", { priority: "critical" })],
      view([]).priorities,
    );
    expect(sorted.map(({ id }) => id)).toEqual(["T-0009", "T-0002", "T-10000", "T-0003"]);
  });

  test("hidden columns come only when asked for; archived cards never; an unknown status gets a column", () => {
    const cards = [card("T-1"), card("T-2", { status: "deferred" }), card("T-3", { archived: true }), card("T-4", { status: "odd" })];
    expect(columnsOf(view(cards), all, none, false).map(({ status, cards }) => [status.id, cards.map(({ id }) => id)])).toEqual([
      ["backlog", []],
      ["next", ["T-1"]],
      ["done", []],
      ["odd", ["T-4"]],
    ]);
    expect(columnsOf(view(cards), all, none, true).map(({ status }) => status.id)).toEqual(["backlog", "next", "done", "deferred", "odd"]);
  });

  test("a card on its way stands where it goes", () => {
    const columns = columnsOf(view([card("T-1")]), all, none, false, new Map([["T-1", "done"]]));
    expect(columns.find(({ cards }) => cards.length > 0)?.status.id).toBe("done");
  });

  test("every word must be on the card, unless the search through the texts named it", () => {
    const cards = [card("T-1", { title: "Retry queue", tags: ["orders"] }), card("T-2", { title: "Retry mail" }), card("T-3")];
    const shown = (text: string, found = none) => columnsOf(view(cards), { text }, found, false).flatMap(({ cards }) => cards.map(({ id }) => id));
    expect(shown("RETRY ord")).toEqual(["T-1"]);
    expect(shown("retry")).toEqual(["T-1", "T-2"]);
    expect(shown("retry ord", new Set(["T-3"]))).toEqual(["T-1", "T-3"]);
  });
});

describe("claims", () => {
  const claim = (by: string, scope: string[]) => ({ claim: { by, state: "held" as const, scope } });

  test("scopes overlap when equal or one lies above the other", () => {
    expect(pathsOverlap("src/web", "./src/web/")).toBe(true);
    expect(pathsOverlap("src\\web\\a.ts", "src/web")).toBe(true);
    expect(pathsOverlap("src/web", "src/webby")).toBe(false);
  });

  test("overlaps are told on both sides and counted once; one's own other card is none", () => {
    const overlaps = overlapsOf([
      card("T-1", claim("ada", ["src/a", "src/b"])),
      card("T-2", claim("bob", ["src/a/x.ts"])),
      card("T-3", claim("ada", ["src/a"])),
      card("T-4", claim("cyd", ["docs"])),
    ]);
    expect([...overlaps.keys()]).toEqual(["T-1", "T-2", "T-3"]);
    expect(overlaps.get("T-1")?.map(({ card, paths }) => [card.id, paths])).toEqual([["T-2", ["src/a"]]]);
    expect(overlapPairs(overlaps)).toBe(2);
  });

  test("a claim's name and session", () => {
    expect(claimParts("mcp:claude-code#3f9a")).toEqual({ name: "claude-code", session: "3f9a" });
    expect(claimParts("mara@studio")).toEqual({ name: "mara@studio" });
    expect(claimParts("#x")).toEqual({ name: "#x" });
  });

  test("a refused move ends at the claim, at the check list, or nowhere", () => {
    const done = { id: "done", hidden: false, terminal: true, needs: [] };
    expect(unmetPoint(card("T-1", { claim: { by: "bob", state: "live" }, acceptance: { done: 0, total: 1 } }), done, "ada")).toBe("claim");
    expect(unmetPoint(card("T-1", { acceptance: { done: 0, total: 1 } }), done, "ada")).toBe("acceptance");
    expect(unmetPoint(card("T-1", { acceptance: { done: 1, total: 1 } }), done, "ada")).toBe("none");
    expect(asksFor(["claim"])).toEqual([]);
    expect(asksFor(["claim", "reason"])).toEqual(["reason"]);
  });
});

describe("the text of a card", () => {
  test("check list, activity and notes leave the text; headings in code and further sections stay", () => {
    const body =
      "Why.\n\n## Acceptance criteria\n\n- [ ] one\n\n### Part\n\n- [ ] two\n\n## Plan\n\n```\n## Notes\n```\n\n## Notes\n\n- 2026-11-30 09:12Z ada — a\n\n## Activity\n\n- x\n";
    expect(partsOfBody(body)).toEqual({ text: "Why.\n\n## Plan\n\n```\n## Notes\n```", notes: "- 2026-11-30 09:12Z ada — a" });
    expect(partsOfBody("# Definition of done\r\n- [x] a\r\n# Rest\r\nb")).toEqual({ text: "# Rest\nb", notes: "" });
  });

  test("notes with who and when, a second line, and lines of another form", () => {
    expect(notesOf("- 2026-11-30 09:12Z mara@studio — rarer, not gone\nsecond line\n- by hand")).toEqual([
      { at: Date.UTC(2026, 10, 30, 9, 12), who: "mara@studio", text: "rarer, not gone\nsecond line" },
      { text: "by hand" },
    ]);
  });

  test("times as the board writes them", () => {
    expect(momentOf("2026-11-30 09:12Z")).toBe(Date.UTC(2026, 10, 30, 9, 12));
    expect(momentOf("2026-11-30T09:12:00.000Z")).toBe(Date.UTC(2026, 10, 30, 9, 12));
    expect(momentOf("yesterday")).toBeUndefined();
    expect(daysSince("2026-11-21", Date.UTC(2026, 10, 30, 12))).toBe(9);
    expect(daysSince("soon", 0)).toBe(0);
    expect(dueOf(card("T-1", { due: "2026-11-30" }), Date.UTC(2026, 10, 30, 23))).toEqual({ at: Date.UTC(2026, 10, 30), isLate: false });
    expect(dueOf(card("T-1", { due: "2026-11-30" }), Date.UTC(2026, 11, 1))?.isLate).toBe(true);
    expect(dueOf(card("T-1", { due: "soon" }), 0)).toBeUndefined();
  });
});
