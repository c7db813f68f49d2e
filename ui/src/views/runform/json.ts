// The form as JSON, both ways. What is typed but not yet right stays as typed, so that nothing is lost by a look at the other side. Pure.
import type { JsonValue, Param } from "../../api/contract";
import { readDraft, toDraft, type Draft } from "../../kit/form";

/** The draft as the text of the JSON side. Secrets don't show there. */
export function draftToJson(fields: readonly Param[], draft: Draft): string {
  const { input, faults } = readDraft(fields, draft);
  const value: Record<string, JsonValue> = {};
  for (const field of fields) {
    if (field.type === "secret") continue;
    if (Object.hasOwn(input, field.name)) value[field.name] = input[field.name];
    else if (Object.hasOwn(faults, field.name) && draft[field.name] !== undefined) value[field.name] = draft[field.name];
  }
  return JSON.stringify(value, null, 2);
}

export type FromJson = { draft: Draft } | { fault: "syntax"; why: string } | { fault: "object" } | { fault: "unknown"; names: string[] };

/** Reads the text of the JSON side; `before` gives what it doesn't show. */
export function jsonToDraft(fields: readonly Param[], text: string, before: Draft): FromJson {
  let value: JsonValue;
  try {
    value = text.trim() === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch (error) {
    return { fault: "syntax", why: error instanceof Error ? error.message : String(error) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { fault: "object" };
  const names = Object.keys(value).filter((name) => !fields.some((field) => field.name === name));
  if (names.length > 0) return { fault: "unknown", names };
  const draft = toDraft(fields, value, false);
  for (const field of fields) if (field.type === "secret" && before[field.name] !== undefined) draft[field.name] = before[field.name];
  return { draft };
}
