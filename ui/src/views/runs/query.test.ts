import { describe, expect, test } from "vitest";
import {
  conditionsOf,
  type Filters,
  fromParams,
  NO_FILTERS,
  parseRunLink,
  parseTook,
  resolveAfter,
  resolveBefore,
  sameFilters,
  takeTokens,
  timeRange,
  toParams,
  toQuery,
  without,
} from "./query";

const now = new Date(2026, 10, 30, 14, 32).getTime();
const day = (month: number, date: number) => new Date(2026, month - 1, date).getTime();
const projects = [
  { key: "invoice-intake", title: "Invoice intake" },
  { key: "weekly-report", title: "Weekly report" },
];

describe("what is typed", () => {
  test("a condition with a space behind it is taken, the rest stays text", () => {
    expect(takeTokens("status:failed ledger", NO_FILTERS)).toEqual({ text: "ledger", status: ["failed"] });
    expect(takeTokens("ledger status:failed,timeout ", NO_FILTERS)).toEqual({ text: "ledger ", status: ["failed", "timeout"] });
  });

  test("without the space it is still being typed", () => {
    expect(takeTokens("status:fail", NO_FILTERS)).toEqual({ text: "status:fail", status: [] });
    expect(takeTokens("status:failed", NO_FILTERS, [], true)).toEqual({ text: "", status: ["failed"] });
  });

  test("what can't be read stays text", () => {
    expect(takeTokens("status:purple ", NO_FILTERS).text).toBe("status:purple ");
    expect(takeTokens("after:someday took:long ", NO_FILTERS)).toEqual({ text: "after:someday took:long ", status: [] });
    expect(takeTokens("https://a.example:80/x y", NO_FILTERS).text).toBe("https://a.example:80/x y");
  });

  test("every condition", () => {
    const typed =
      'project:"Weekly report" entrypoint:weekly-page client:"Claude Code" origin:mcp after:2026-11-01 before:2026-11-30 took:>5m is:pinned status:waiting ';
    expect(takeTokens(typed, NO_FILTERS, projects)).toEqual({
      text: "",
      status: ["waiting_for_input"],
      project: "weekly-report",
      entrypoint: "weekly-page",
      client: "Claude Code",
      origin: "mcp",
      after: "2026-11-01",
      before: "2026-11-30",
      took: ">5m",
      pinned: true,
    });
  });

  test("spaces of plain text are left alone while typing", () => {
    expect(takeTokens("two  words ", NO_FILTERS).text).toBe("two  words ");
  });

  test("a run id, with a line", () => {
    expect(parseRunLink("20261130-zz1c")).toEqual({ run: "20261130-zz1c" });
    expect(parseRunLink(" 20261130-zz1c#L128424 ")).toEqual({ run: "20261130-zz1c", line: 128_424 });
    expect(parseRunLink("ledger")).toBeNull();
  });
});

describe("the address", () => {
  test("comes back as it went", () => {
    const filters: Filters = {
      text: "ledger & co",
      status: ["failed", "timeout"],
      project: "invoice-intake",
      client: "VS Code",
      origin: "mcp",
      after: "7d",
      took: "<10s",
      pinned: true,
    };
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(toParams(filters))) if (value) search.set(name, value);
    expect(fromParams(search)).toEqual(filters);
    expect(sameFilters(fromParams(search), filters)).toBe(true);
  });

  test("nonsense is left out", () => {
    expect(fromParams(new URLSearchParams("status=purple,failed&origin=mars&after=x&before=2026-02-31&took=5&pinned=yes"))).toEqual({
      text: "",
      status: ["failed"],
    });
  });
});

describe("the store's query", () => {
  test("days are whole days of this place", () => {
    expect(resolveAfter("today", now)).toBe(day(11, 30));
    expect(resolveAfter("yesterday", now)).toBe(day(11, 29));
    expect(resolveAfter("7d", now)).toBe(day(11, 24));
    expect(resolveBefore("2026-11-25")).toBe(day(11, 26));
    expect(resolveAfter("2026-13-01", now)).toBeNull();
  });

  test("lengths", () => {
    expect(parseTook(">5m")).toEqual({ more: true, ms: 300_000 });
    expect(parseTook("<1.5s")).toEqual({ more: false, ms: 1500 });
    expect(parseTook("5m")).toBeNull();
    expect(toQuery({ text: " x ", status: [], took: ">5m" }, now)).toEqual({ text: "x", tookMoreMs: 300_000 });
  });

  test("one condition can be left out", () => {
    const filters: Filters = { text: "x", status: ["failed"], project: "a", entrypoint: "b", after: "today" };
    expect(toQuery(filters, now, "time")).toEqual({ text: "x", status: ["failed"], project: "a", entrypoint: "b" });
    expect(toQuery(filters, now, "text").text).toBeUndefined();
    expect(without(filters, "project")).toEqual({ text: "x", status: ["failed"], after: "today" });
    expect(conditionsOf(filters)).toEqual(["status", "project", "entrypoint", "time"]);
  });

  test("a dragged time", () => {
    expect(timeRange("2026-11-20", "2026-11-12", now)).toEqual({ after: "2026-11-12", before: "2026-11-20" });
    expect(timeRange("2026-11-20", "2026-11-30", now)).toEqual({ after: "2026-11-20" });
  });
});
