import { describe, expect, test } from "vitest";
import type { RunNode, RunRow } from "../../api/contract";
import { BOX, fit, hold, layout, neighbour, reveal, visible, zoomAt } from "./diagram/layout";
import { caption, folded, lanes, type MemberStatus, nodeFacts } from "./diagram/model";
import { actionsOf, firstTab, stripPieces, tabsOf } from "./facts";
import { fates } from "./output/InterruptedPanel";
import { parseCsv } from "./output/files";
import { pathSteps, pointerOf, readBeginning, valueAt } from "./output/path";
import { commandLines } from "./question/command";
import { guidedStep, isGuided, thread } from "./steps/model";
import { scenes } from "./testing/scenes";
import { longestChain, timeRows, whereTimeWent } from "./timeline/model";
import { GAP_WIDTH, idleGaps, inside, timeScale, union, without, zoomRange } from "./timeline/scale";

const at = 1_000_000;
const node = (
  id: number,
  kind: RunNode["kind"],
  title: string,
  status: RunNode["status"],
  from?: number,
  to?: number,
  parent?: number,
  detail?: unknown,
): RunNode => ({
  id,
  kind,
  title,
  status,
  ...(from === undefined ? {} : { startedAt: at + from }),
  ...(to === undefined ? {} : { finishedAt: at + to }),
  ...(parent === undefined ? {} : { parent }),
  ...(detail === undefined ? {} : { detail }),
});
const all = scenes(Date.now());
const scene = (id: string) => {
  const found = all[id];
  if (!found) throw new Error(id);
  return found;
};

describe("lanes", () => {
  test("in the order of their first member, members by start; equal titles are one lane", () => {
    const list = lanes(
      [
        node(1, "phase", "B", "success", 50, 90),
        node(2, "phase", "A", "success", 0, 40),
        node(3, "step", "late", "success", 70, 80, 1),
        node(4, "step", "early", "success", 55, 60, 1),
        node(5, "step", "first", "success", 0, 5, 2),
        node(6, "phase", "A", "success", 95, 99),
        node(7, "step", "again", "success", 95, 99, 6),
      ],
      "success",
    );
    expect(list.map((lane) => [lane.title, lane.members.map((member) => member.node.title)])).toEqual([
      ["A", ["first", "again"]],
      ["B", ["early", "late"]],
    ]);
  });
  test("no phase and an empty phase are two lanes", () => {
    const list = lanes(
      [node(1, "step", "loose", "success", 0, 1), node(2, "phase", "", "success", 2, 3), node(3, "step", "in", "success", 2, 3, 2)],
      "success",
    );
    expect(list.map((lane) => lane.title)).toEqual([undefined, ""]);
  });
  test("phases without members come last; loops and unknown parents don't hang", () => {
    const list = lanes(
      [node(1, "phase", "Later", "queued"), node(2, "step", "x", "success", 0, 1, 99), { ...node(3, "step", "y", "success", 1, 2), parent: 3 }],
      "success",
    );
    expect(list.map((lane) => lane.title)).toEqual([undefined, "Later"]);
  });
  test("what was running when the process vanished is interrupted", () =>
    expect(lanes([node(1, "step", "x", "running", 0)], "interrupted")[0]?.members[0]?.status).toBe("interrupted"));
});

describe("captions", () => {
  const of = (...statuses: MemberStatus[]) => caption(statuses.map((status) => ({ status })));
  test("as in agents' panels", () => {
    expect(of()).toEqual({ kind: "none" });
    expect(of("queued")).toEqual({ kind: "none" });
    expect(of("success", "success")).toEqual({ kind: "completed", count: 2 });
    expect(of("success", "running", "failed", "running", "queued")).toEqual({
      kind: "parts",
      parts: [
        { status: "running", count: 2 },
        { status: "failed", count: 1 },
      ],
    });
    expect(of("success", "interrupted", "cancelled")).toEqual({
      kind: "parts",
      parts: [
        { status: "completed", count: 1 },
        { status: "cancelled", count: 1 },
        { status: "interrupted", count: 1 },
      ],
    });
  });
});

describe("diagram layout", () => {
  test("measures of the picture", () => {
    const plan = layout(lanes(scene("20261130-6hfc").nodes, "running"), new Set());
    expect(plan.laneX).toEqual([20, 206, 392, 578]);
    expect(plan.byKey.get("n:2")).toMatchObject({ x: 20, y: 58 });
    expect(plan.boxes).toHaveLength(16);
    expect(plan.edges.solid).toContain("M182 81H194");
    expect(plan.edges.dashed).not.toBe("");
  });
  test("over forty members the finished are folded, until the lane is opened", () => {
    const [lane] = lanes(
      [
        node(1, "phase", "P", "running", 0),
        ...Array.from({ length: 60 }, (_, index) =>
          node(index + 2, "agent", `a${index}`, index < 50 ? "success" : "running", index, index < 50 ? index + 1 : undefined, 1),
        ),
      ],
      "running",
    );
    if (!lane) throw new Error("no lane");
    expect(folded(lane).completed).toHaveLength(50);
    expect(layout([lane], new Set()).boxes).toHaveLength(11);
    expect(layout([lane], new Set([lane.key])).boxes).toHaveLength(60);
  });
  test("of a thousand members only what is in sight is drawn", () => {
    const list = lanes(scene("20261130-bign").nodes, "running");
    const plan = layout(list, new Set(list.map((lane) => lane.key)));
    expect(plan.boxes).toHaveLength(1_000);
    expect(visible(plan.boxes, { x: 0, y: -4_000, scale: 1 }, 1_000, 700).length).toBeLessThan(80);
  });
  test("zooming keeps the point under the pointer, fitting shows all, revealing moves just enough", () => {
    const view = { x: 10, y: 20, scale: 1 };
    const zoomed = zoomAt(view, 2, 100, 100);
    expect((100 - zoomed.x) / zoomed.scale).toBeCloseTo((100 - view.x) / view.scale);
    expect(zoomAt(view, 100, 0, 0).scale).toBe(4);
    expect(fit({ width: 2_000, height: 100 }, 1_000, 500).scale).toBe(0.5);
    // However far one pulls, a part of the plan is to be seen.
    const plan = { width: 2_000, height: 400 };
    expect(hold({ x: -9_000, y: 9_000, scale: 1 }, plan, 1_000, 500)).toEqual({ x: -1_880, y: 380, scale: 1 });
    expect(hold({ x: 12, y: -30, scale: 1 }, plan, 1_000, 500)).toEqual({ x: 12, y: -30, scale: 1 });
    const box = { key: "x", x: 3_000, y: 58, lane: 0, row: 0 };
    const moved = reveal(view, box, 1_000, 600);
    expect(box.x * moved.scale + moved.x + BOX.width).toBeLessThanOrEqual(1_000);
    expect(moved.y).toBe(20);
  });
  test("arrows walk lanes and edges", () => {
    const plan = layout(lanes(scene("20261130-6hfc").nodes, "running"), new Set());
    expect(neighbour(plan, "n:2", "down")?.key).toBe("n:3");
    expect(neighbour(plan, "n:2", "right")?.lane).toBe(1);
    expect(neighbour(plan, "n:2", "up")).toBeUndefined();
    expect(neighbour(plan, "nothing", "up")?.key).toBe("n:2");
  });
});

describe("time scale", () => {
  test("spans add and subtract", () => {
    expect(
      union([
        { from: 5, to: 9 },
        { from: 0, to: 6 },
      ]),
    ).toEqual([{ from: 0, to: 9 }]);
    expect(
      without(
        [{ from: 0, to: 10 }],
        [
          { from: 2, to: 3 },
          { from: 9, to: 20 },
        ],
      ),
    ).toEqual([
      { from: 0, to: 2 },
      { from: 3, to: 9 },
    ]);
  });
  test("a gap is more than 5 % and 10 s without a bar", () => {
    const whole = { from: 0, to: 100_000 };
    expect(
      idleGaps(
        whole,
        [
          { from: 0, to: 40_000 },
          { from: 60_000, to: 100_000 },
        ],
        [{ from: 41_000, to: 59_000 }],
      ),
    ).toEqual([{ from: 40_000, to: 60_000, waited: true }]);
    expect(
      idleGaps(
        whole,
        [
          { from: 0, to: 45_500 },
          { from: 55_000, to: 100_000 },
        ],
        [],
      ),
    ).toEqual([]);
    expect(idleGaps({ from: 0, to: 10_000_000 }, [{ from: 0, to: 9_600_000 }], [])).toEqual([]);
  });
  test("gaps shrink to 92 px, and every time has one place", () => {
    const gap = { from: 40_000, to: 400_000, waited: true };
    const scale = timeScale({ from: 0, to: 460_000 }, 1_000, [gap]);
    expect(scale.x(0)).toBe(0);
    expect(scale.x(460_000)).toBeCloseTo(1_000);
    expect(scale.x(400_000) - scale.x(40_000)).toBeCloseTo(GAP_WIDTH);
    for (const time of [0, 12_345, 40_000, 200_000, 400_000, 459_999]) expect(scale.time(scale.x(time))).toBeCloseTo(time, 3);
    for (let index = 1; index < 460; index += 1) expect(scale.x(index * 1_000)).toBeGreaterThan(scale.x((index - 1) * 1_000));
    expect(scale.ticks(80).every((tick) => tick.at <= 40_000 || tick.at >= 400_000)).toBe(true);
  });
  test("a gap that would grow is left alone", () =>
    expect(timeScale({ from: 0, to: 1_000_000 }, 500, [{ from: 0, to: 60_000, waited: false }]).gaps).toEqual([]));
  test("zooming stays inside", () => {
    expect(zoomRange({ from: 0, to: 100 }, { from: 0, to: 100 }, 2, 90)).toEqual({ from: 45, to: 95 });
    expect(inside({ from: -20, to: 30 }, { from: 0, to: 100 })).toEqual({ from: 0, to: 50 });
    expect(zoomRange({ from: 40, to: 60 }, { from: 0, to: 100 }, 0.01, 50)).toEqual({ from: 0, to: 100 });
  });
});

describe("timeline", () => {
  const { nodes, detail } = scene("20261130-e1ka");
  test("where the time went adds up", () => expect(whereTimeWent(detail.run, Date.now())).toEqual({ queued: 400, ran: 356_000, waited: 372_000 }));
  test("failed tries, queues and waiting are their own bars", () => {
    const rows = timeRows(lanes(nodes, "success"), "phase", new Set(), Date.now(), detail.run.finishedAt);
    const bars = (title: string) => rows.find((row) => row.title === title && row.kind === "member")?.bars.map((bar) => bar.kind);
    expect(bars("Growth")).toEqual(["failed", "queued", "ran"]);
    expect(bars("Support")).toEqual(["queued", "ran"]);
    expect(bars("Tone")).toEqual(["waited"]);
    expect(
      timeRows(lanes(nodes, "success"), "phase", new Set(["p:Read"]), Date.now(), undefined).filter((row) => row.lane === "p:Read"),
    ).toHaveLength(1);
  });
  test("the longest chain goes back from the end", () =>
    expect(longestChain(nodes, 4).map((link) => link.node.title)).toEqual(["Rewrite", "Check wording", "pandoc", "Write files"]));
});

describe("head", () => {
  test("actions by state", () => {
    expect(actionsOf(scene("20261130-6hfc").detail)).toBe("live");
    expect(actionsOf(scene("20261130-k7mq").detail)).toBe("waiting");
    expect(actionsOf(scene("20261130-zz1c").detail)).toBe("ended");
    expect(actionsOf(scene("20261130-4nwo").detail)).toBe("resumable");
    const left = structuredClone(scene("20261130-4nwo").detail);
    left.run.status = "cancelled";
    expect(actionsOf(left)).toBe("resumable");
    left.canContinue = false;
    expect(actionsOf(left)).toBe("ended");
  });
  test("tabs and where a run opens", () => {
    const open = (id: string, last: string | null) => firstTab(scene(id).detail, scene(id).nodes, last);
    expect(open("20261130-k7mq", "logs")).toBe("question");
    expect(open("20261130-6hfc", "logs")).toBe("logs");
    expect(open("20261130-6hfc", null)).toBe("diagram");
    expect(firstTab(scene("20261130-6hfc").detail, scene("20261130-6hfc").nodes, null, "command")).toBe("logs");
    expect(open("20261130-zz1c", "logs")).toBe("output");
    expect(open("20261130-t3gd", null)).toBe("steps");
    expect(tabsOf(scene("20261130-t3gd").detail, scene("20261130-t3gd").nodes, undefined)).toEqual(["steps", "output", "timeline", "logs", "input"]);
  });
  test("the strip is phases cut by waiting", () => {
    const { detail, nodes } = scene("20261130-e1ka");
    expect(stripPieces(detail.run, nodes, Date.now()).pieces.map((piece) => piece.phase ?? piece.kind)).toEqual([
      "queue",
      "Read",
      "Summarise",
      "Review",
      "wait",
      "Review",
      "Publish",
    ]);
    const live = scene("20261130-6hfc");
    const strip = stripPieces(live.detail.run, live.nodes, live.detail.run.createdAt + 130_000);
    expect(strip.pieces.at(-1)).toMatchObject({ phase: "Summarise", kind: "now" });
    expect(strip.toGo).toEqual(["Review", "Publish"]);
    const bare: RunRow = { ...detail.run };
    expect(stripPieces(bare, [], Date.now()).pieces.map((piece) => piece.kind)).toEqual(["queue", "ran", "wait", "ran"]);
  });
});

describe("details of nodes", () => {
  test("unknown shapes give nothing", () => {
    for (const detail of [null, 3, "x", [], { tries: "many", tokens: "lots" }, { tries: [null, 3] }])
      expect(nodeFacts(node(1, "agent", "x", "success", 0, 1, undefined, detail)).earlier).toEqual([]);
  });
  test("guided steps", () => {
    const { nodes } = scene("20261130-t3gd");
    expect(isGuided(nodes)).toBe(true);
    expect(thread(nodes).map((item) => [item.node.title, item.depth])).toEqual([
      ["Collect candidates", 0],
      ["Screen abstracts", 0],
      ["Select for depth", 0],
      ["Review each paper", 0],
      ["Read the paper", 1],
      ["Write the report", 0],
    ]);
    const screen = nodes[1];
    if (!screen) throw new Error("no step");
    expect(guidedStep(screen)).toMatchObject({ id: "screen", override: { by: "Zed" } });
    expect(guidedStep(node(1, "step", "x", "success", 0, 1, undefined, { guided: { override: { reason: 3 }, gate: "no" } }))).toMatchObject({
      gate: [],
      outputs: [],
    });
  });
});

test("what Continue would do, row by row", () => {
  const { nodes, preview } = scene("20261130-4nwo");
  if (!preview) throw new Error("no preview");
  expect(
    fates(
      lanes(nodes, "interrupted").flatMap((lane) => lane.members),
      preview,
    ).map((row) => [row.title, row.fate]),
  ).toEqual([
    ["Load shops", "kept"],
    ["Fetch list pages", "kept"],
    ["Shop A", "kept"],
    ["Shop B", "kept"],
    ["Shop C", "again"],
    ["POST alerts.internal/send", "asks"],
    ["Compare", "todo"],
  ]);
});

describe("commands", () => {
  test("short ones stay on a line, long ones break at options", () => {
    expect(commandLines("ls", ["-l"])).toHaveLength(1);
    const lines = commandLines("gh", ["release", "create", "v4.2.0", "--title", "4.2.0, Harbour", "--notes-file", "notes/4.2.0.md", "--verify-tag"]);
    expect(lines.map((line) => line.words.map((word) => word.text))).toEqual([
      ["gh", "release", "create", "v4.2.0"],
      ["--title", "4.2.0, Harbour"],
      ["--notes-file", "notes/4.2.0.md"],
      ["--verify-tag"],
    ]);
    expect(lines[1]?.words[1]).toMatchObject({ isQuoted: true, isValue: true });
  });
  test("no word is lost, whatever it holds", () => {
    const args = ["", "a b", "--x=1", "-", "\n", "\u202e", "x".repeat(500), "--flag", "值"];
    expect(commandLines("program", args).flatMap((line) => line.words.map((word) => word.text))).toEqual(["program", ...args]);
  });
});

describe("output", () => {
  test("paths of the tree lead back to values", () => {
    expect(pathSteps('output.a[2]["odd key"].b')).toEqual(["a", 2, "odd key", "b"]);
    expect(pathSteps("output..a")).toBeUndefined();
    expect(valueAt({ a: [1, { "x y": null }] }, 'output.a[1]["x y"]')).toEqual({ found: true, value: null });
    expect(valueAt({ a: 1 }, "output.toString")).toEqual({ found: false });
  });
  test("paths are JSON pointers for the host", () => {
    expect(pointerOf('output.a[2]["x/y~z"]')).toBe("/a/2/x~1y~0z");
    expect(pointerOf("output")).toBe("");
  });
  test("the beginning of a long JSON text is read as far as it goes", () => {
    const text = JSON.stringify({ a: [1, { b: 'x, {y} "' }], c: { d: "long".repeat(10) }, e: 5 });
    for (let end = 1; end <= text.length; end += 1) {
      const found = readBeginning(text.slice(0, end)) as { a?: unknown[] } | undefined;
      expect(typeof found).toBe("object");
    }
    expect(readBeginning(text.slice(0, text.indexOf(',"c"') + 3))).toEqual({ a: [1, { b: 'x, {y} "' }] });
    expect(readBeginning("no json")).toBeUndefined();
  });
  test("CSV with quotes, line ends and missing fields", () => {
    expect(parseCsv('\ufeffname,text\r\na,"x, ""y""\nz"\nb\n', ",")).toEqual([
      { name: "a", text: 'x, "y"\nz' },
      { name: "b", text: "" },
    ]);
    expect(parseCsv("no table", ",")).toBeUndefined();
  });
});
