import { describe, expect, test } from "vitest";
import { lifelineLength, lifelineParts, lifelineSegments } from "../lifeline";

describe("length", () => {
  test("0.1 s is 18 px and 30 minutes 120 px, with more time never shorter", () => {
    expect(lifelineLength(100)).toBe(18);
    expect(lifelineLength(5)).toBe(18);
    expect(lifelineLength(30 * 60_000)).toBe(120);
    expect(lifelineLength(10 * 3_600_000)).toBe(120);
    const lengths = [100, 1000, 10_000, 60_000, 600_000].map(lifelineLength);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  });
});

describe("parts", () => {
  test("an open stage reaches to now while the run goes on", () => {
    expect(
      lifelineParts(
        [
          { status: "queued", at: 0, until: 10 },
          { status: "running", at: 10 },
        ],
        "running",
        50,
      ),
    ).toEqual([
      { kind: "queue", status: "queued", from: 0, to: 10 },
      { kind: "now", status: "running", from: 10, to: 50 },
    ]);
  });

  test("the last stretch of a failed run is marked, end states have no stretch of their own", () => {
    const parts = lifelineParts(
      [
        { status: "running", at: 0, until: 10 },
        { status: "waiting_for_input", at: 10, until: 20 },
        { status: "running", at: 20, until: 30 },
        { status: "failed", at: 30 },
      ],
      "failed",
      99,
    );
    expect(parts.map((part) => part.kind)).toEqual(["ran", "wait", "bad"]);
  });
});

describe("segments", () => {
  test("every stretch is at least 3 px wide and the rest is shared by time", () => {
    const { segments } = lifelineSegments([
      { kind: "queue", status: "queued", from: 0, to: 1 },
      { kind: "ran", status: "running", from: 1, to: 100_001 },
      { kind: "wait", status: "waiting_for_input", from: 100_001, to: 400_001 },
    ]);
    expect(segments[0]!.width).toBe(3);
    expect(segments[2]!.width / segments[1]!.width).toBeCloseTo(3, 5);
  });

  test("all stretches and the end mark fit into 120 px", () => {
    const parts = Array.from({ length: 12 }, (_, index) => ({
      kind: "ran" as const,
      status: "running" as const,
      from: index * 1e7,
      to: (index + 1) * 1e7,
    }));
    const { segments, mark } = lifelineSegments(parts);
    expect(segments.at(-1)!.x + segments.at(-1)!.width).toBeLessThanOrEqual(114);
    expect(mark + 3).toBeLessThanOrEqual(121);
  });

  test("a run without time still has a line", () => {
    const { segments } = lifelineSegments([{ kind: "queue", status: "queued", from: 5, to: 5 }]);
    expect(segments).toHaveLength(1);
    expect(segments[0]!.width).toBeGreaterThan(3);
  });
});
