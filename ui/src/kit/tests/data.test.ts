import { describe, expect, test } from "vitest";
import { columnsOf, isTable, sortRows, toCsv } from "../table";
import { countNodes, initialOpen, joinPath, searchTree, treeRows } from "../tree";
import { differingPart, foldLines, markLines } from "../diff";
import type { DiffLine } from "../../api/contract";

describe("tables", () => {
  const rows = [
    { name: "b10", n: 2 },
    { name: "b9", n: null, more: 1 },
    { name: "", n: 10 },
  ];
  test("columns are the union of the keys in order of first sight; numbers are told apart", () => {
    expect(columnsOf(rows).map(({ key, number }) => [key, number])).toEqual([
      ["name", false],
      ["n", true],
      ["more", true],
    ]);
    expect(isTable([])).toBe(false);
    expect(isTable([{}, 1])).toBe(false);
  });
  test("empty cells come last both ways, texts by number where they have one", () => {
    expect(sortRows(rows, { key: "name", down: false }, "en").map((row) => row.name)).toEqual(["b9", "b10", ""]);
    expect(sortRows(rows, { key: "n", down: true }, "en").map((row) => row.n)).toEqual([10, 2, null]);
  });
  test("CSV quotes what has to be, and disarms formulas", () => {
    expect(toCsv(columnsOf([{ a: 'x "y"', b: "1,2", c: "=HYPERLINK()", d: -5 }]), [{ a: 'x "y"', b: "1,2", c: "=HYPERLINK()", d: -5 }])).toBe(
      'a,b,c,d\r\n"x ""y""","1,2",\'=HYPERLINK(),-5',
    );
  });
});

describe("trees", () => {
  const value = { highlights: [{ text: "Deploys" }, { text: "other" }], "odd key": 1 };
  test("paths read like code", () => {
    expect(joinPath("output", "a")).toBe("output.a");
    expect(joinPath("output.a", 2)).toBe("output.a[2]");
    expect(joinPath("output", "odd key")).toBe('output["odd key"]');
  });
  test("only what is open has rows", () => {
    expect(treeRows(value, "output", new Set(["output"])).map((row) => row.path)).toEqual(["output", "output.highlights", 'output["odd key"]']);
  });
  test("a search keeps hits and what is above them", () => {
    const found = searchTree(value, "output", "deploy");
    expect(treeRows(value, "output", new Set(["output"]), found).map((row) => row.path)).toEqual([
      "output",
      "output.highlights",
      "output.highlights[0]",
      "output.highlights[0].text",
    ]);
  });
  test("over 2,000 nodes it starts closed below level 1", () => {
    const big = { list: Array.from({ length: 3000 }, (_, index) => index) };
    expect(initialOpen(big, "output")).toEqual(new Set(["output"]));
    expect(initialOpen({ list: [1] }, "output")).toEqual(new Set(["output", "output.list"]));
    expect(countNodes(big, 50)).toBe(50);
  });
  test("nesting deeper than a call stack is no harm", () => {
    let deep: unknown = "end";
    for (let index = 0; index < 50_000; index++) deep = [deep];
    const open = new Set<string>();
    expect(countNodes(deep, 1e6)).toBe(50_001);
    expect(treeRows(deep, "output", open)).toHaveLength(1);
  });
});

describe("changes", () => {
  const line = (sign: DiffLine["sign"], text: string): DiffLine => ({ sign, text });
  test("the part that differs is marked on both sides", () => {
    expect(differingPart('"command": "/tmp/a"', '"command": "/usr/b"')).toEqual([13, 18]);
    expect(differingPart("abc", "xyz")).toBeUndefined();
    const [before, after] = markLines([line("-", "    }"), line("+", "    },")]);
    expect(before!.mark).toBeUndefined();
    expect(after!.mark).toEqual([5, 6]);
  });
  test("long unchanged stretches fold, short ones don't", () => {
    const lines = [...Array.from({ length: 10 }, () => line(" ", "same")), line("+", "new"), ...Array.from({ length: 4 }, () => line(" ", "same"))];
    const rows = foldLines(markLines(lines), 3);
    expect(rows[0]).toMatchObject({ kind: "fold", lines: { length: 7 } });
    expect(rows.filter((row) => row.kind === "fold")).toHaveLength(1);
    expect(rows.filter((row) => row.kind === "line")).toHaveLength(8);
  });
});
