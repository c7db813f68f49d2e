import { describe, expect, test } from "vitest";
import { diffJson, equal, expandTexts, foldAlike, joinPath, matchArrays } from "./json";
import { diffLines } from "./lines";
import { maskLine } from "./mask";
import { reportText } from "./report";
import { timingRows } from "./timing";
import { diffWords, tokens } from "./words";

const changed = (a: unknown, b: unknown) =>
  diffJson(a, b)
    .rows.filter((row) => row.kind !== "same")
    .map((row) => `${row.kind} ${row.path}`);

describe("JSON", () => {
  test("alike is alike, whatever the order of keys", () => {
    expect(diffJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }).changes).toBe(0);
    expect(equal({ a: undefined }, { b: undefined })).toBe(false);
  });
  test("values, keys and shapes", () => {
    expect(changed({ a: 1, b: 2 }, { a: 1, b: 3, c: 4 })).toEqual(["changed b", "added c"]);
    expect(diffJson({ a: 1 }, { a: { b: 1 } }).changes).toBe(1);
    expect(diffJson({ a: [] }, { a: {} }).changes).toBe(1);
    expect(diffJson(null, 0).changes).toBe(1);
    expect(diffJson({ x: { y: 1, z: 2 }, k: 1 }, { x: { y: 3, z: 4 }, k: 1 })).toMatchObject({ changes: 2, keys: 1, topKeys: 2 });
  });
  test("elements are matched by what names them", () => {
    expect(matchArrays([{ id: 1 }, { id: 2 }, { id: 3 }], [{ id: 3 }, { id: 1, x: 1 }])).toEqual([
      [2, 0],
      [0, 1],
      [1, undefined],
    ]);
    expect(
      changed(
        [
          { name: "a", v: 1 },
          { name: "b", v: 2 },
        ],
        [
          { name: "b", v: 2 },
          { name: "a", v: 9 },
        ],
      ),
    ).toEqual(["changed [1].v"]);
  });
  test("a name that comes twice names nothing", () =>
    expect(
      matchArrays(
        [
          { id: 1, a: 1 },
          { id: 1, a: 2 },
        ],
        [
          { id: 1, a: 1 },
          { id: 1, a: 3 },
        ],
      ),
    ).toEqual([
      [0, 0],
      [1, 1],
    ]));
  test("plain elements hold their places", () => {
    expect(matchArrays([1, 2, 3, 4], [1, 3, 4, 5])).toEqual([
      [0, 0],
      [1, undefined],
      [2, 1],
      [3, 2],
      [undefined, 3],
    ]);
    expect(matchArrays([], [1])).toEqual([[undefined, 0]]);
  });
  test("every line of both sides is there, once, in order", () => {
    const a = { z: [1, [2, {}], "x"], long: { deep: { er: true } }, only: { in: "a" } };
    const b = { long: { deep: { er: false, more: null } }, z: [1, [2], "x", "y"] };
    const { rows } = diffJson(a, b);
    const side = (name: "left" | "right") => rows.flatMap((row) => row[name] ?? []);
    const text = (name: "left" | "right") =>
      side(name)
        .map((cell) => `${cell.key === undefined ? "" : `${JSON.stringify(cell.key)}:`}${cell.text}`)
        .join("");
    expect(JSON.parse(text("left"))).toEqual(a);
    expect(JSON.parse(text("right"))).toEqual(b);
    expect(side("left").map((cell) => cell.line)).toEqual(side("left").map((_, index) => index + 1));
  });
  test("long texts are compared line by line", () => {
    const rows = expandTexts(diffJson({ page: "# A\n\none two\nlast" }, { page: "# A\n\none three\nlast" }).rows);
    expect(rows.filter((row) => row.kind !== "same").map((row) => [row.left?.text, row.right?.text])).toEqual([["one two", "one three"]]);
  });
  test("deep and wide values end", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 500; level += 1) deep = [deep];
    expect(diffJson(deep, [deep]).changes).toBeGreaterThan(0);
    const wide = Array.from({ length: 30_000 }, (_, index) => index);
    expect(diffJson(wide, [...wide, 1]).changes).toBeGreaterThan(0);
  });
  test("what is alike is folded, but not two lines", () => {
    const rows = [..."======x==y======"].map((sign) => ({ kind: sign === "=" ? ("same" as const) : ("changed" as const) }));
    expect(foldAlike(rows, 1).map((part) => ("fold" in part ? -part.fold.length : part.rows.length))).toEqual([-5, 6, -5]);
  });
  test("paths", () => expect([joinPath("", "a"), joinPath("a", "b c"), joinPath("a", 2)]).toEqual(["a", 'a["b c"]', "a[2]"]));
});

describe("words", () => {
  test("only the words that differ", () => {
    const { left, right } = diffWords('"Deploys take fourteen minutes"', '"Deploys are back under nine minutes"');
    expect(left).toEqual([
      { text: '"Deploys ', changed: false },
      { text: "take fourteen", changed: true },
      { text: ' minutes"', changed: false },
    ]);
    expect(right[1]).toEqual({ text: "are back under nine", changed: true });
  });
  test("Chinese is compared by character", () => {
    expect(tokens("上传 file 3")).toEqual(["上", "传", " ", "file", " ", "3"]);
    expect(diffWords("写三条要点的周报", "写五条要点的周报").left.filter((piece) => piece.changed)).toEqual([{ text: "三", changed: true }]);
  });
  test("nothing in common is one piece each", () =>
    expect(diffWords("alpha", "omega")).toEqual({ left: [{ text: "alpha", changed: true }], right: [{ text: "omega", changed: true }] }));
  test("pieces give the texts back", () => {
    const [a, b] = ["one  two, three — four", "one two; three  — 4 four"];
    const { left, right } = diffWords(a, b);
    expect(left.map((piece) => piece.text).join("")).toBe(a);
    expect(right.map((piece) => piece.text).join("")).toBe(b);
  });
});

describe("logs", () => {
  test.each([
    ["2026-11-30T14:02:11.118Z start", "2026-12-01T09:00:00Z start"],
    ["13:52:02.118 posting", "09:01:44.002 posting"],
    ["took 38 s", "took 3 m 40 s"],
    ["run 20261130-zz1c", "run 20261201-a1b2"],
    ["id 550e8400-e29b-41d4-a716-446655440000", "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
    ["commit 3f9ac21", "commit 77b0de4"],
    ["at 1764500000123", "at 1764600000456"],
  ])("%s is like %s", (a, b) => expect(maskLine(a)).toBe(maskLine(b)));
  test.each([
    ["19 notes in", "23 notes in"],
    ["added deadbeef words", "added facade words"],
    ["page 3", "page 4"],
  ])("%s is not like %s", (a, b) => expect(maskLine(a)).not.toBe(maskLine(b)));
  test("lines are lined up by what they say, and shown as they were", () => {
    const { rows, changes } = diffLines(
      ["10:00:01 a", "10:00:02 19 notes", "10:00:03 z"],
      ["11:30:00 a", "11:30:01 23 notes", "11:30:01 more", "11:30:02 z"],
      maskLine,
    );
    expect(changes).toBe(2);
    expect(rows.map((row) => row.kind)).toEqual(["same", "changed", "added", "same"]);
    expect(rows[0]).toEqual({ kind: "same", left: { line: 1, text: "10:00:01 a" }, right: { line: 1, text: "11:30:00 a" } });
  });
  test("logs too different are said to be", () => {
    const side = (letter: string) => Array.from({ length: 9_000 }, (_, index) => `${letter}-${index}-${"x".repeat(index % 7)}`);
    const diff = diffLines(side("left"), side("right"));
    expect(diff.gaveUp).toBe(true);
    expect(diff.rows).toHaveLength(9_000);
  });
});

test("timing says what is worth a look", () => {
  const rows = timingRows(
    new Map([
      ["a", { title: "Read", ms: 14_000 }],
      ["b", { title: "Only A", ms: 10 }],
      ["c", { title: "Same", ms: 50_000 }],
    ]),
    new Map([
      ["a", { title: "Read", ms: 22_000 }],
      ["c", { title: "Same", ms: 50_400 }],
      ["d", { title: "Only B", ms: 5 }],
    ]),
  );
  expect(rows.map((row) => [row.title, row.change, row.notable])).toEqual([
    ["Read", 8_000, true],
    ["Only A", undefined, true],
    ["Same", 400, false],
    ["Only B", undefined, true],
  ]);
});

test("the report holds what differs", () => {
  const text = reportText("a1", "b2", [
    ["Input", diffJson({ week: 1, same: 2 }, { week: 3, same: 2 }).rows],
    ["Output", []],
  ]);
  expect(text).toContain("--- a1\n+++ b2");
  expect(text).toMatch(/@@ Input @@\n- {3}week: 1,\n\+ {3}week: 3,/);
  expect(text).not.toContain("same");
  expect(text).not.toContain("Output");
});
