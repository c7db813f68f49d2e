import { describe, expect, test } from "vitest";
import type { Param } from "../../api/contract";
import { fieldOfPath, parseDate, parseDatetime, parseNumber, parseTime, readDraft, readField, toDraft } from "../form/value";
import { layoutFields } from "../form/layout";

const field = (type: Param["type"], more: Partial<Param> = {}): Param => ({ name: "x", type, ...more });

describe("numbers", () => {
  test.each([
    ["12.5", 12.5],
    [" -3 ", -3],
    ["1e3", 1000],
    ["1,204,318", 1_204_318],
    [".5", 0.5],
    ["1，000", 1000],
  ])("%s", (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });
  test.each(["", "x", "1,2", "0x10", "1e999", "Infinity", "12 13", "--1"])("%s is none", (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });
  test("limits are told with what is allowed", () => {
    expect(readField(field("integer", { minimum: 80, maximum: 2000 }), "20").fault).toEqual({
      key: "kit.faultBetween",
      values: { min: 80, max: 2000 },
    });
    expect(readField(field("number", { minimum: 80 }), "20").fault).toEqual({ key: "kit.faultAtLeast", values: { min: 80 } });
    expect(readField(field("number", { maximum: 8 }), "20").fault).toEqual({ key: "kit.faultAtMost", values: { max: 8 } });
    expect(readField(field("integer"), "1.5").fault?.key).toBe("kit.faultInteger");
    expect(readField(field("integer"), "9007199254740993").fault?.key).toBe("kit.faultInteger");
  });
});

describe("days and times", () => {
  test.each([
    ["2026-11-30", "2026-11-30"],
    ["2026/1/5", "2026-01-05"],
    ["2026年11月30日", "2026-11-30"],
    ["2024-02-29", "2024-02-29"],
  ])("%s", (text, iso) => {
    expect(parseDate(text)).toBe(iso);
  });
  test.each(["2026-02-29", "2026-13-01", "30.11.2026", "2026-11", "today"])("%s is no day", (text) => {
    expect(parseDate(text)).toBeUndefined();
  });
  test("a time is padded, seconds stay", () => {
    expect(parseTime("9:05")).toBe("09:05");
    expect(parseTime("23:59:59")).toBe("23:59:59");
    expect(parseTime("24:00")).toBeUndefined();
    expect(parseTime("12:60")).toBeUndefined();
  });
  test("a moment keeps its offset, and gets this computer's when it has none", () => {
    expect(parseDatetime("2026-11-30 14:30 +08:00")).toBe("2026-11-30T14:30:00+08:00");
    expect(parseDatetime("2026-11-30T14:30:05Z")).toBe("2026-11-30T14:30:05Z");
    expect(parseDatetime("2026-11-30 14:30")).toMatch(/^2026-11-30T14:30:00[+-]\d\d:\d\d$/);
    expect(parseDatetime("2026-11-30")).toBeUndefined();
    expect(parseDatetime("2026-11-30 14:30 +99:00")).toBeUndefined();
  });
  test("a string with a date format is a date", () => {
    expect(readField(field("string", { format: "date" }), "30 Nov").fault?.key).toBe("kit.faultDate");
  });
});

describe("texts", () => {
  test("length counts characters, not code units", () => {
    expect(readField(field("string", { maxLength: 2 }), "😀😀").value).toBe("😀😀");
    expect(readField(field("string", { minLength: 3 }), "ab").fault).toEqual({ key: "kit.faultTooShort", values: { count: 3 } });
    expect(readField(field("string", { maxLength: 1 }), "ab").fault?.key).toBe("kit.faultTooLong");
  });
  test("a pattern may match anywhere; one of another dialect is left to the backend", () => {
    expect(readField(field("string", { pattern: "\\d{2}" }), "week 48").value).toBe("week 48");
    expect(readField(field("string", { pattern: "^\\d+$" }), "w").fault).toEqual({ key: "kit.faultPattern", values: { pattern: "^\\d+$" } });
    expect(readField(field("string", { pattern: "(?i)x(" }), "anything").value).toBe("anything");
  });
  test("formats", () => {
    expect(readField(field("string", { format: "email" }), "ops@example.org").value).toBe("ops@example.org");
    expect(readField(field("string", { format: "email" }), "ops").fault?.key).toBe("kit.faultEmail");
    expect(readField(field("string", { format: "uri" }), "example.org").fault?.key).toBe("kit.faultUri");
  });
});

describe("files", () => {
  test.each(["/home/ada/a.pdf", "C:\\a.pdf", "\\\\server\\share\\a.pdf"])("%s is absolute", (path) => {
    expect(readField(field("file"), path).value).toBe(path);
  });
  test.each(["a.pdf", "file:///a.pdf", "https://x/a.pdf"])("%s is not", (path) => {
    expect(readField(field("file"), path).fault?.key).toBe("kit.faultPath");
  });
  test("the wrong one of several is named", () => {
    expect(readField(field("file", { multiple: true }), ["/a", "b"]).fault?.index).toBe(1);
  });
});

describe("empty fields", () => {
  test("required: told; else left out", () => {
    expect(readField(field("string", { required: true }), "").fault?.key).toBe("kit.faultRequired");
    expect(readField(field("select", { required: true, options: [{ value: 1 }] }), undefined).fault?.key).toBe("kit.faultChoose");
    expect(readField(field("string"), "")).toEqual({});
    expect(readField(field("number"), "  ")).toEqual({});
  });
  test("a required switch that stands on off is an answer", () => {
    expect(readField(field("boolean", { required: true }), undefined).value).toBe(false);
  });
  test("a list emptied on purpose is an empty list when it had a default", () => {
    expect(readField(field("checkboxes", { default: ["a"], options: [{ value: "a" }] }), [])).toEqual({ value: [] });
    expect(readField(field("string", { multiple: true }), [])).toEqual({});
  });
});

test("options are compared by value, numbers stay numbers", () => {
  const numbers = field("integer", { options: [{ value: 1 }, { value: 2 }] });
  expect(readField(numbers, 2).value).toBe(2);
  expect(readField(numbers, "2").fault?.key).toBe("kit.faultOption");
});

test("names such as constructor are fields like others", () => {
  const fields = [field("string", { name: "constructor", required: true }), field("string", { name: "__proto__" })];
  expect(Object.keys(readDraft(fields, {}).faults)).toEqual(["constructor"]);
  expect(toDraft(fields, {})).toEqual({});
});

test("an input becomes a draft and the same input again", () => {
  const fields: Param[] = [
    field("date", { name: "day" }),
    field("datetime", { name: "at" }),
    field("integer", { name: "n" }),
    field("boolean", { name: "b" }),
    field("string", { name: "many", multiple: true }),
    field("json", { name: "j" }),
    field("select", { name: "s", options: [{ value: "a" }] }),
  ];
  const input = { day: "2026-11-30", at: "2026-11-30T14:30:05+08:00", n: 7, b: true, many: ["x", "y"], j: { a: [1] }, s: "a" };
  expect(readDraft(fields, toDraft(fields, input))).toEqual({ input, faults: {} });
});

test("defaults fill what the input leaves out, never a secret", () => {
  const fields = [field("string", { name: "a", default: "x" }), field("secret", { name: "s", default: "hunter2" })];
  expect(toDraft(fields, undefined)).toEqual({ a: "x" });
});

test("a fault of the backend finds its field", () => {
  const fields = [field("file", { name: "notes" }), field("string", { name: "a.b" })];
  expect(fieldOfPath(fields, "notes[2]")).toEqual({ name: "notes", index: 2 });
  expect(fieldOfPath(fields, "/notes/2")).toEqual({ name: "notes", index: 2 });
  expect(fieldOfPath(fields, "$.notes")).toEqual({ name: "notes" });
  expect(fieldOfPath(fields, "a.b")).toEqual({ name: "a.b" });
  expect(fieldOfPath(fields, "other")).toBeUndefined();
});

test("a narrow field shares its line with what comes next, in order", () => {
  const fields = [
    field("date", { name: "a" }),
    field("string", { name: "b" }),
    field("string", { name: "c", maxLength: 900 }),
    field("integer", { name: "d" }),
  ];
  expect(layoutFields(fields, {})).toEqual(["narrow", "wide", "full", "narrow"]);
});
