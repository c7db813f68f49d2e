// Answers as words: what was chosen, by whom.
import type { Question } from "../../../api/contract";

/** The answer's values with their titles, one per field that has one. Secret values never come this far. */
export function answerValues(question: Question): { title: string; value: string }[] {
  const content = question.answer?.content;
  if (typeof content !== "object" || content === null)
    return content === undefined || content === null ? [] : [{ title: "", value: String(content) }];
  const values = content as Record<string, unknown>;
  return question.form.fields
    .filter(
      (field) => Object.hasOwn(values, field.name) && values[field.name] !== undefined && values[field.name] !== null && values[field.name] !== "",
    )
    .map((field) => {
      const title = (one: unknown) =>
        field.options?.find((option) => option.value === one)?.title ?? (typeof one === "string" ? one : JSON.stringify(one));
      const value = values[field.name];
      return {
        title: field.title ?? field.name,
        value: field.type === "secret" ? "•••" : Array.isArray(value) ? value.map(title).join(", ") : title(value),
      };
    });
}

/** Names that hosts give the person at the window. */
const PERSON = new Set(["you", "desktop", "window", "person", "user"]);
export const isPerson = (by: string): boolean => PERSON.has(by.toLowerCase());
