import { describe, expect, test } from "vitest";
import type { EntrypointRow, RunStatus } from "../../api/contract";
import { barsOf, inOrder, medianOf, paramType } from "./facts";

const run = (status: RunStatus, durationMs?: number) => ({ runId: "r", status, durationMs, at: 0 });
const words = { many: ", many", files: "files", file: "file", text: "text", choice: (count: number) => `${count} choices` };

describe("the median", () => {
  test("counts what went well; in an even number the middle two", () => {
    expect(medianOf([run("success", 10), run("failed", 9999), run("success", 30), run("success", 20)])).toBe(20);
    expect(medianOf([run("success", 10), run("success", 20)])).toBe(15);
    expect(medianOf([run("failed", 10), run("running")])).toBeUndefined();
  });
});

describe("bars", () => {
  test("heights grow with the logarithm of the duration, looks with the state", () => {
    const bars = barsOf([
      run("success", 100),
      run("failed", 60_000),
      run("interrupted", 3_600_000),
      run("running"),
      run("timeout", 1e12),
      run("waiting_for_input"),
    ]);
    expect(bars.map((bar) => bar.look)).toEqual(["plain", "failed", "interrupted", "open", "failed", "waiting"]);
    expect(bars[0]!.height).toBe(0);
    expect(bars[2]!.height).toBe(1);
    expect(bars[4]!.height).toBe(1);
    expect(bars[1]!.height).toBeGreaterThan(0.5);
  });
});

test("types in a few letters", () => {
  expect(paramType({ name: "a", type: "string", options: [{ value: "team" }, { value: "board" }] }, words)).toBe("team | board");
  expect(paramType({ name: "a", type: "select", options: Array.from({ length: 9 }, (_, index) => ({ value: `option ${index}` })) }, words)).toBe(
    "9 choices",
  );
  expect(paramType({ name: "a", type: "file", multiple: true }, words)).toBe("files");
  expect(paramType({ name: "a", type: "string", multiple: true }, words)).toBe("text, many");
  expect(paramType({ name: "a", type: "string", format: "date" }, words)).toBe("date");
});

test("broken entrypoints come last and stay in the list", () => {
  const row = (id: string, broken = false) => ({ id, error: broken ? { message: "no" } : undefined }) as EntrypointRow;
  expect(inOrder([row("b", true), row("a"), row("c")]).map((one) => one.id)).toEqual(["a", "c", "b"]);
});
