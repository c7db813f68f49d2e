import { describe, expect, test } from "vitest";
import type { LogLine, LogPage, RunNode } from "../../../api/contract";
import { ansiSpans, contrast, plain, readable, showControls, spanStyle } from "./ansi";
import { flowEvents, flowLine } from "./flow";
import { Heights } from "./heights";
import { afterReturns, cutLine, entryLines, hits, isPassing, saysError, splitAtMarks } from "./lines";
import { BLOCK, LogPages } from "./pages";
import { LogRows, phaseOf } from "./rows";
import { positionAt } from "./usePhases";

describe("ANSI", () => {
  test("the 16 colours are tokens, bright ones are heavier", () => {
    expect(ansiSpans("\u001b[31mred\u001b[0m and \u001b[92mgreen\u001b[0m")).toEqual([
      { text: "red", colour: { token: "--a-red" } },
      { text: " and " },
      { text: "green", colour: { token: "--a-green" }, bold: true },
    ]);
  });
  test("weight, underline, reverse", () => {
    expect(ansiSpans("\u001b[1;4mx\u001b[0m")).toEqual([{ text: "x", bold: true, underline: true }]);
    const [span] = ansiSpans("\u001b[7;31mx\u001b[0m");
    expect(span?.background).toEqual({ token: "--a-red" });
  });
  test("256 colours and true colour become readable on both grounds", () => {
    for (const text of ["\u001b[38;5;226mx", "\u001b[38;2;250;249;246mx", "\u001b[38;5;16mx", "\u001b[38;2;20;20;20mx"]) {
      const colour = ansiSpans(text)[0]?.colour;
      if (!colour || !("rgb" in colour)) {
        expect(text).toContain("5;16");
        continue;
      }
      for (const [theme, ground] of [
        ["light", { r: 0xfa, g: 0xf9, b: 0xf6 }],
        ["dark", { r: 0x13, g: 0x12, b: 0x11 }],
      ] as const) {
        const [r, g, b] = (readable(colour.rgb, theme).match(/\d+/g) ?? []).map(Number);
        expect(contrast({ r: r ?? 0, g: g ?? 0, b: b ?? 0 }, ground)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
  test("a colour that is readable already stays", () => expect(readable({ r: 200, g: 0, b: 0 }, "light")).toBe("rgb(200 0 0)"));
  test("backgrounds are drawn at a quarter", () =>
    expect(spanStyle({ text: "x", background: { token: "--a-blue" } }, "light")?.background).toBe(
      "color-mix(in srgb, var(--a-blue) 25%, transparent)",
    ));
  test("links, titles and cursor movements vanish, their text stays", () => {
    expect(
      ansiSpans("\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007")
        .map((span) => span.text)
        .join(""),
    ).toBe("click");
    expect(plain("\u001b]0;title\u0007a\u001b[2Kb\u001b[1;31mc\u001b[0m")).toBe("abc");
  });
  test("control, bidi and zero-width characters are shown", () => {
    expect(showControls("a\u202eb\u200bc\u0007")).toBe("a\\u202eb\\u200bc\\x07");
    expect(showControls("tab\tstays")).toBe("tab\tstays");
  });
  test("escapes that are cut off or nonsense don't show", () => {
    expect(plain("abc\u001b[38;5")).toBe("abc");
    expect(
      ansiSpans("\u001b[38;2;300;-1;xmodd")
        .map((span) => span.text)
        .join(""),
    ).not.toContain("\u001b");
  });
});

describe("lines of an entry", () => {
  test("a carriage return keeps the last state", () => {
    expect(afterReturns("10 %\r40 %\r66 %")).toBe("66 %");
    expect(afterReturns("10 %\r40 %\r")).toBe("40 %");
  });
  test("line ends of both kinds", () => {
    expect(entryLines("one\ntwo\r\nthree\n")).toEqual(["one", "two", "three"]);
    expect(entryLines("")).toEqual([""]);
    expect(entryLines("\n")).toEqual([""]);
  });
  test("a state of a progress bar is passing, lines of other systems are not", () => {
    expect(isPassing("\r10 %", "\r20 %")).toBe(true);
    expect(isPassing("10 %\r", "20 %\r")).toBe(false);
    expect(isPassing("a line", "\r20 %")).toBe(false);
    expect(isPassing("\r10 %", undefined)).toBe(false);
  });
  test("long lines are cut outside of pairs and colours", () => {
    expect(cutLine("😀😀", 3)).toEqual({ text: "😀", left: 2 });
    expect(cutLine(`abc\u001b[31mdef`, 5).text).toBe("abc");
    const huge = "A".repeat(10_000_000);
    expect(cutLine(huge, 2_000)).toEqual({ text: "A".repeat(2_000), left: 9_998_000 });
  });
  test.each([
    ["error: no", true],
    ["\u001b[31mError\u001b[0m: x", true],
    ["[13:02] FATAL disk", true],
    ["12:01:02.118 error: x", true],
    ["no error here", false],
    ["errors 3", false],
    ["terror", false],
  ])("%s", (text, bad) => expect(saysError(text)).toBe(bad));
  test("hits by case and by pattern; a pattern that the page can't read marks nothing", () => {
    expect(hits("Entry and entry", { text: "Entry", case: true })).toEqual([{ start: 0, length: 5 }]);
    expect(hits("a.b and axb", { text: "a.b", case: true })).toEqual([{ start: 0, length: 3 }]);
    expect(hits("took 12 ms, 7 ms", { text: "\\d+ ms", regex: true })).toEqual([
      { start: 5, length: 5 },
      { start: 12, length: 4 },
    ]);
    expect(hits("anything", { text: "(?x) any", regex: true })).toEqual([]);
    expect(hits("anything", { text: "x*", regex: true })).toEqual([]);
  });
  test.each(["(a+)+[^a]|a", "(\\w+\\s?)+:", "(a|aa)+$", "(?:x*)*y", ".*.*.*=", "a*a*a*a*b", "(.*a){12}b"])(
    "a pattern that might not end marks nothing in a long line: %s",
    // One that is tried would go on for longer than any test waits.
    (text) => expect(hits("a".repeat(2_000), { text, regex: true })).toEqual([]),
  );
  test.each(["error: .*", "\\d+ ms", "\\[[^\\]]+\\] \\w+", "line 5\\d*", "(warn|error)", "took \\d+(\\.\\d+)? s"])(
    "a usual pattern is marked: %s",
    (text) => {
      const line = "[main] error: line 54 took 12 ms, took 1.5 s ".repeat(5);
      expect(hits(line, { text, regex: true }).length).toBeGreaterThan(0);
    },
  );
  test("hits are found without case and split spans", () => {
    expect(hits("Entry and entry", { text: "ENTRY" })).toEqual([
      { start: 0, length: 5 },
      { start: 10, length: 5 },
    ]);
    const spans = splitAtMarks(
      [
        { text: "post_en", bold: true },
        { text: "try (1)", bold: false },
      ],
      [{ start: 5, length: 5 }],
    );
    expect(spans).toEqual([
      { text: "post_", bold: true },
      { text: "en", bold: true, hit: 0 },
      { text: "try", bold: false, hit: 0 },
      { text: " (1)", bold: false },
    ]);
  });
});

describe("heights", () => {
  test("agree with adding up, for any heights", () => {
    const heights = new Heights(500, 20);
    const own = Array.from({ length: 500 }, () => 20);
    for (let step = 0; step < 2_000; step += 1) {
      const row = (step * 7919) % 500;
      own[row] = (step * 31) % 90;
      heights.set(row, own[row] ?? 0);
    }
    let top = 0;
    for (let row = 0; row < 500; row += 1) {
      expect(heights.top(row)).toBeCloseTo(top, 3);
      const height = own[row] ?? 0;
      if (height > 0) {
        expect(heights.rowAt(top)).toBe(row);
        expect(heights.rowAt(top + height - 0.5)).toBe(row);
      }
      top += height;
    }
    expect(heights.total).toBeCloseTo(top, 3);
  });
  test("growing keeps what was learnt; the last row is below the end", () => {
    const heights = new Heights(3, 20);
    heights.set(1, 60);
    heights.resize(2_000_000);
    expect(heights.total).toBe(2_000_000 * 20 + 40);
    expect(heights.rowAt(1e12)).toBe(1_999_999);
    expect(heights.rowAt(79)).toBe(1);
    expect(heights.rowAt(80)).toBe(2);
  });
  test("a million rows cost next to nothing", () => {
    const heights = new Heights(1_000_000, 20);
    // A walk over all rows at each step would be twenty thousand million.
    for (let step = 0; step < 20_000; step += 1) {
      heights.set((step * 7919) % 1_000_000, 40);
      heights.rowAt(step * 900);
    }
    expect(heights.total).toBe(1_000_000 * 20 + 20_000 * 20);
  });
});

describe("rows", () => {
  const phases = [
    { id: 1, title: "Read", from: 0, to: 100 },
    { id: 2, title: "Post", from: 100, to: 130 },
  ];
  const kinds = (rows: LogRows) => Array.from({ length: rows.count }, (_, row) => rows.at(row)?.kind);
  test("phases have heads, folded ones are only that", () => {
    const rows = LogRows.all(130, phases, new Set([1]), undefined);
    expect(rows.count).toBe(1 + 1 + 30);
    expect(rows.at(0)).toMatchObject({ kind: "head", folded: true });
    expect(rows.at(2)).toEqual({ kind: "entry", position: 100 });
    expect(rows.rowOf(50)).toBe(0);
    expect(rows.rowOf(129)).toBe(31);
  });
  test("what the store left out is one row", () => {
    const rows = LogRows.all(1_000, [], new Set(), { position: 10, entries: 980, bytes: 5 });
    expect(rows.count).toBe(10 + 1 + 10);
    expect(rows.at(10)).toMatchObject({ kind: "cut", entries: 980 });
    expect(rows.at(11)).toEqual({ kind: "entry", position: 990 });
    expect(rows.rowOf(995)).toBe(16);
  });
  test("matches with their neighbours and gaps", () => {
    const rows = LogRows.chosen([10, 11, 50], 60, 2);
    expect(kinds(rows)).toEqual(["gap", ...Array.from({ length: 6 }, () => "entry"), "gap", ...Array.from({ length: 5 }, () => "entry")]);
    expect(rows.at(1)).toEqual({ kind: "entry", position: 8 });
  });
  test("chosen positions are found again", () => {
    const rows = LogRows.chosen([3, 9, 27], 60);
    expect([rows.rowOf(3), rows.rowOf(9), rows.rowOf(20), rows.rowOf(99)]).toEqual([0, 1, 1, 2]);
    expect(LogRows.chosen([], 60).count).toBe(0);
  });
  test("the phase of a position", () => expect(phaseOf(phases, 120)?.title).toBe("Post"));
});

test("what a run did becomes lines, in the order of time", () => {
  const node = (
    id: number,
    kind: RunNode["kind"],
    title: string,
    startedAt: number,
    finishedAt?: number,
    status: RunNode["status"] = "success",
  ): RunNode => ({ id, kind, title, status, startedAt, ...(finishedAt ? { finishedAt } : {}) });
  const events = flowEvents([node(1, "phase", "Post", 10, 50), node(2, "step", "A", 10, 20, "failed"), node(3, "step", "B", 20)]);
  const words = {
    phase: (title: string) => `phase ${title}`,
    began: (kind: string, title: string) => `${kind} ${title}`,
    ended: (kind: string, title: string, status: string, took: number) => `${kind} ${title} ${status} ${took}`,
  };
  expect(events.map((event, index) => flowLine(event, index, words).text)).toEqual(["phase Post", "step A", "step A failed 10", "step B"]);
});

describe("pages", () => {
  const line = (position: number): LogLine => ({ position, stream: "stdout", at: position, text: `line ${position}` });
  const store = (count: () => number, most = Infinity) => {
    const calls: [number, number][] = [];
    const fetch = async (from: number, limit: number): Promise<LogPage> => {
      calls.push([from, limit]);
      const end = count();
      const next = Math.min(end, from + Math.min(limit, most));
      return { lines: Array.from({ length: Math.max(0, next - from) }, (_, index) => line(from + index)), next, end };
    };
    return { calls, fetch };
  };
  const settled = () =>
    new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  const pagesOf = (fetch: (from: number, limit: number) => Promise<LogPage>) => {
    let drawn = 0;
    const pages = new LogPages(fetch, (run) =>
      window.setTimeout(() => {
        drawn += 1;
        run();
      }, 0),
    );
    return { pages, drawn: () => drawn };
  };

  test("a block is asked for once, and comes whole when answers are short", async () => {
    const { calls, fetch } = store(() => 1_000, 150);
    const { pages } = pagesOf(fetch);
    await pages.tail();
    pages.want(0, 100);
    pages.want(50, 300);
    await settled();
    expect(pages.get(399)?.text).toBe("line 399");
    expect(pages.get(400)).toBeUndefined();
    expect(new Set(calls.map(([from]) => from)).size).toBe(calls.length);
  });
  test("the end grows, and a hole before it is still asked for", async () => {
    let count = 500;
    const { fetch } = store(() => count);
    const { pages } = pagesOf(fetch);
    await pages.tail();
    count = 900;
    await pages.tail();
    expect(pages.end).toBe(900);
    pages.want(400, 600);
    await settled();
    for (const position of [400, 499, 500, 599]) expect(pages.get(position)?.position).toBe(position);
  });
  test("lines that come faster than they are read: the end that is said to be there can be seen", async () => {
    let count = 1_000;
    const { calls, fetch } = store(() => (count += 70));
    const { pages } = pagesOf(fetch);
    await pages.tail();
    for (let step = 0; step < 5; step += 1) {
      count += 5_000;
      calls.length = 0;
      await pages.tail();
      expect(calls.length).toBe(2);
      pages.want(pages.end - 60, pages.end + 60);
      await settled();
      for (let back = 1; back <= 100; back += 1) expect(pages.get(pages.end - back)?.position).toBe(pages.end - back);
    }
    expect(pages.end).toBeGreaterThan(26_000);
    pages.want(5_000, 5_100);
    await settled();
    expect(pages.get(5_050)?.position).toBe(5_050);
  });
  test("an end of long lines that no answer holds whole is still reached", async () => {
    let count = 100;
    const { fetch } = store(() => count, 30);
    const { pages } = pagesOf(fetch);
    await pages.tail();
    count = 2_000;
    await pages.tail();
    expect(pages.end).toBe(2_000);
  });
  test("any number of answers is drawn once a frame", async () => {
    let count = 0;
    const { fetch } = store(() => count);
    const { pages, drawn } = pagesOf(fetch);
    let heard = 0;
    pages.subscribe(() => {
      heard += 1;
    });
    for (let step = 0; step < 200; step += 1) {
      count += 50;
      void pages.tail();
      await Promise.resolve();
    }
    await settled();
    await pages.tail();
    await settled();
    expect(pages.end).toBe(10_000);
    expect(heard).toBe(drawn());
    expect(heard).toBeLessThan(20);
  });
  test("what was seen long ago is forgotten", async () => {
    const { fetch } = store(() => 200_000);
    const { pages } = pagesOf(fetch);
    await pages.tail();
    for (let block = 0; block < 200; block += 1) {
      pages.want(block * BLOCK, block * BLOCK + 1);
      await Promise.resolve();
    }
    await settled();
    expect(pages.get(199 * BLOCK)?.position).toBe(199 * BLOCK);
    expect(pages.get(0)).toBeUndefined();
  });
});

test("a time's position is found by halving", async () => {
  let asked = 0;
  const lineAt = async (position: number): Promise<LogLine> => {
    asked += 1;
    return { position, stream: "stdout", at: position * 10, text: "" };
  };
  expect(await positionAt(123_456, 1_000_000, lineAt)).toBe(12_346);
  expect(asked).toBeLessThan(25);
  expect(await positionAt(-1, 1_000_000, lineAt)).toBe(0);
  expect(await positionAt(1e12, 1_000_000, lineAt)).toBe(1_000_000);
});
