// How wide each field is. Fields keep the order of the declaration; a narrow one shares its line with what comes next.
import type { Param } from "../../api/contract";
import { hasOptions, isList, isLong, typeOf } from "./value";

export type Width = "full" | "narrow" | "wide" | "half";

/** A number, a day or a time needs little room. */
function isNarrow(field: Param): boolean {
  if (isList(field) || hasOptions(field)) return false;
  return ["number", "integer", "date", "time"].includes(typeOf(field));
}

/** Fills whatever is left of a line. */
function isFlexible(field: Param, long: boolean): boolean {
  if (long || (field.description?.length ?? 0) > 120) return false;
  if (hasOptions(field)) return isList(field) || asControl(field) !== "radios";
  const type = typeOf(field);
  return type === "string" || type === "positional";
}

/** How a choice of one is drawn: side by side, as a list with descriptions, or behind a button. */
export function asControl(field: Param): "segments" | "radios" | "select" {
  const options = field.options ?? [];
  if (options.length < 1 || options.length > 4) return "select";
  const wordy =
    options.some((option) => option.description) || options.reduce((sum, option) => sum + (option.title ?? String(option.value)).length, 0) > 36;
  return wordy ? "radios" : "segments";
}

export function layoutFields(fields: readonly Param[], texts: Record<string, unknown>): Width[] {
  const widths: Width[] = [];
  const long = (field: Param) => isLong(field, typeof texts[field.name] === "string" ? (texts[field.name] as string) : "");
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    const next = fields[at + 1];
    if (isNarrow(field)) {
      if (next && isFlexible(next, long(next))) {
        widths.push("narrow", "wide");
        at++;
      } else widths.push("narrow");
    } else if (next && isNarrow(next) && isFlexible(field, long(field)) && !(fields[at + 2] && isFlexible(fields[at + 2]!, long(fields[at + 2]!)))) {
      widths.push("wide", "narrow");
      at++;
    } else widths.push(typeOf(field) === "datetime" && !isList(field) ? "half" : "full");
  }
  return widths;
}
