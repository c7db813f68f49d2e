import { describe, expect, test } from "vitest";
import type { Param } from "../../api/contract";
import { callText, commandPieces, commandText, shellWord } from "./outside";
import { draftToJson, jsonToDraft } from "./json";

const fields: Param[] = [
  { name: "page", type: "positional" },
  { name: "week", type: "date" },
  { name: "notes", type: "file", multiple: true },
  { name: "keep", type: "boolean" },
  { name: "token", type: "secret" },
  { name: "args", type: "json" },
  { name: "n", type: "number" },
];
const command = (input: Record<string, unknown>) => commandText(commandPieces("wk7r2", "main", fields, input));
/** The words a shell makes of it. */
const oneLine = (text: string) => text.replaceAll(" \\\n  ", " ");

describe("the command", () => {
  test("options in declared order, positionals last, booleans by name", () => {
    expect(oneLine(command({ page: "a.md", week: "2026-11-30", notes: ["x.md", "y.md"], keep: false }))).toBe(
      "workflow-code run wk7r2 main --week 2026-11-30 --notes x.md --notes y.md --no-keep a.md",
    );
  });
  test("a value that begins with a hyphen can't be taken for an option", () => {
    expect(oneLine(command({ n: -5, page: "-rf" }))).toBe("workflow-code run wk7r2 main --n=-5 -- -rf");
  });
  test("what a shell would read differently is quoted", () => {
    expect(shellWord("it's $HOME; rm *")).toBe(`'it'\\''s $HOME; rm *'`);
    expect(shellWord("")).toBe("''");
    expect(shellWord("~/x")).toBe("'~/x'");
    expect(shellWord("/a/b-c_1.md")).toBe("/a/b-c_1.md");
    expect(shellWord("`id`\nnext")).toBe("'`id`\nnext'");
  });
  test("JSON is one value, a secret never shows", () => {
    const text = command({ args: { a: [1, 2] }, token: "hunter2" });
    expect(oneLine(text)).toContain(`--args '{"a":[1,2]}'`);
    expect(text).not.toContain("hunter2");
    expect(callText("main", fields, { token: "hunter2" })).not.toContain("hunter2");
  });
  test("long commands go over several lines that a shell joins", () => {
    const text = command({ notes: Array.from({ length: 8 }, (_, index) => `/home/ada/notes/file-${index}.md`) });
    expect(text.split("\n").length).toBeGreaterThan(3);
    for (const line of text.split("\n").slice(0, -1)) expect(line.endsWith(" \\")).toBe(true);
  });
});

test("the call is what a client would send", () => {
  expect(JSON.parse(callText("main", fields, { week: "2026-11-30", n: 1 }))).toEqual({
    method: "tools/call",
    params: { name: "main", arguments: { week: "2026-11-30", n: 1 } },
  });
});

describe("form and JSON", () => {
  const two: Param[] = [
    { name: "n", type: "integer", minimum: 5 },
    { name: "token", type: "secret" },
    { name: "tags", type: "string", multiple: true },
  ];
  test("what is not yet right is not lost on the way", () => {
    const text = draftToJson(two, { n: "2x", token: "hunter2", tags: ["a"] });
    expect(JSON.parse(text)).toEqual({ n: "2x", tags: ["a"] });
    expect(jsonToDraft(two, text, { token: "hunter2" })).toEqual({ draft: { n: "2x", token: "hunter2", tags: ["a"] } });
  });
  test("what can't be read is told apart", () => {
    expect(jsonToDraft(two, "{", {})).toMatchObject({ fault: "syntax" });
    expect(jsonToDraft(two, "[1]", {})).toEqual({ fault: "object" });
    expect(jsonToDraft(two, '{"m": 1}', {})).toEqual({ fault: "unknown", names: ["m"] });
    expect(jsonToDraft(two, "", {})).toEqual({ draft: {} });
  });
});
