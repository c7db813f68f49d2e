// What a person typed (a draft) and what a run gets (the input), and the rules between them. Pure; the words for faults are chosen in the
// components. The backend checks again; these rules are those of the parameter table (contract `Param`), so both agree.
import type { JsonValue, Param } from "../../api/contract";
import type { MessageKey, MessageValues } from "../../i18n";

/**
 * One field as typed: text for everything with a caret, the option's value for choices, a truth value for switches, a list for fields that
 * take several. Absent: untouched.
 */
export type DraftValue = JsonValue;
export type Draft = Record<string, DraftValue>;

export interface FieldFault {
  key: MessageKey;
  values?: MessageValues;
  /** Said by the backend, in its own words. */
  said?: string;
  /** Position of the wrong member of a list. */
  index?: number;
}
export type FaultMap = Record<string, FieldFault>;

/** Whether a field takes several values. */
export function isList(field: Param): boolean {
  return field.multiple === true || field.type === "checkboxes";
}

/** Whether a text field is tall: over 80 characters of text, or more than 200 allowed, or a line feed in it. */
export function isLong(field: Param, text = ""): boolean {
  if (field.format) return false;
  return (field.maxLength ?? 0) > 200 || text.length > 80 || text.includes("\n");
}

const pad = (value: number, length = 2) => String(value).padStart(length, "0");

/** Reads a number as people write it: `12.5`, `-3`, `1e6`, `1,204,318`, also with a comma of full width. */
export function parseNumber(text: string): number | undefined {
  let plain = text.trim().replaceAll("，", ",").replaceAll("−", "-");
  if (/^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain)) plain = plain.replaceAll(",", "");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** Reads a day; `2026-11-30`, `2026/11/30`, `2026.11.30`, `2026年11月30日`. Answers in ISO form. */
export function parseDate(text: string): string | undefined {
  const match = /^(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?$/.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  if (year < 1 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
}

/** Reads a time of day: `14:30`, `14:30:05`; answers padded. */
export function parseTime(text: string): string | undefined {
  const match = /^(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), match[3] === undefined ? undefined : Number(match[3])];
  if (hour > 23 || minute > 59 || (second ?? 0) > 59) return undefined;
  return `${pad(hour)}:${pad(minute)}${second === undefined ? "" : `:${pad(second)}`}`;
}

/** Reads a moment; without an offset that of this computer on that day is added. Answers in RFC 3339. */
export function parseDatetime(text: string): string | undefined {
  const match = /^(.+?)(?:\s*T\s*|\s+)(\d{1,2}[:：]\d{2}(?:[:：]\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(text.trim());
  if (!match) return undefined;
  const day = parseDate(match[1]!);
  const time = parseTime(match[2]!);
  if (!day || !time) return undefined;
  const full = time.length === 5 ? `${time}:00` : time;
  let offset = match[3]?.toUpperCase();
  if (offset && offset !== "Z" && !offset.includes(":")) offset = `${offset.slice(0, 3)}:${offset.slice(3)}`;
  if (offset && offset !== "Z" && (Number(offset.slice(1, 3)) > 23 || Number(offset.slice(4)) > 59)) return undefined;
  if (!offset) {
    const minutes = -new Date(`${day}T${full}`).getTimezoneOffset();
    offset = `${minutes < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`;
  }
  return `${day}T${full}${offset}`;
}

/** A fixed choice is compared as JSON, since values may be numbers or texts. */
export function sameValue(one: JsonValue, other: JsonValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

type Read = { value: JsonValue } | { fault: FieldFault } | "empty";

const fault = (key: MessageKey, values?: MessageValues): { fault: FieldFault } => ({ fault: { key, values } });

function range(field: Param, value: number): Read {
  const { minimum: min, maximum: max } = field;
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return { value };
  if (min !== undefined && max !== undefined) return fault("kit.faultBetween", { min, max });
  return min !== undefined ? fault("kit.faultAtLeast", { min }) : fault("kit.faultAtMost", { max: max! });
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    // A pattern of another dialect: the backend decides.
    return true;
  }
}

function readText(field: Param, text: string): Read {
  const length = [...text].length;
  if (field.minLength !== undefined && length < field.minLength) return fault("kit.faultTooShort", { count: field.minLength });
  if (field.maxLength !== undefined && length > field.maxLength) return fault("kit.faultTooLong", { count: field.maxLength });
  if (field.pattern !== undefined && !matches(field.pattern, text)) return fault("kit.faultPattern", { pattern: field.pattern });
  if (field.format === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return fault("kit.faultEmail");
  if ((field.format === "uri" || field.format === "url") && !/^[a-z][a-z\d+.-]*:\S+$/i.test(text)) return fault("kit.faultUri");
  return { value: text };
}

/** The type that decides, since `string` with a date format is a date. */
export function typeOf(field: Param): Param["type"] {
  if (field.type === "string" || field.type === "positional") {
    if (field.format === "date") return "date";
    if (field.format === "date-time" || field.format === "datetime") return "datetime";
    if (field.format === "time") return "time";
  }
  return field.type;
}

/** Whether a field's values are chosen, not typed. */
export function hasOptions(field: Param): boolean {
  return (field.options?.length ?? 0) > 0 || field.type === "select" || field.type === "checkboxes";
}

function readOne(field: Param, draft: DraftValue): Read {
  if (draft === undefined || draft === null || draft === "") return "empty";
  if (hasOptions(field)) {
    return (field.options ?? []).some((option) => sameValue(option.value, draft)) ? { value: draft } : fault("kit.faultOption");
  }
  const text = typeof draft === "string" ? draft : JSON.stringify(draft);
  const type = typeOf(field);
  switch (type) {
    case "boolean":
      return typeof draft === "boolean" ? { value: draft } : fault("kit.faultOption");
    case "number":
    case "integer": {
      if (text.trim() === "") return "empty";
      const value = parseNumber(text);
      if (value === undefined) return fault(type === "integer" ? "kit.faultInteger" : "kit.faultNumber");
      if (type === "integer" && !Number.isSafeInteger(value)) return fault("kit.faultInteger");
      return range(field, value);
    }
    case "date":
    case "datetime":
    case "time": {
      if (text.trim() === "") return "empty";
      const value = type === "date" ? parseDate(text) : type === "time" ? parseTime(text) : parseDatetime(text);
      if (value !== undefined) return { value };
      return fault(type === "date" ? "kit.faultDate" : type === "time" ? "kit.faultTime" : "kit.faultDatetime");
    }
    case "json": {
      if (text.trim() === "") return "empty";
      try {
        return { value: JSON.parse(text) as JsonValue };
      } catch (error) {
        return fault("kit.faultJson", { why: error instanceof Error ? error.message : String(error) });
      }
    }
    case "file":
      return /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(text) ? { value: text } : fault("kit.faultPath");
    default:
      return readText(field, text);
  }
}

/** Reads one field: its value, its fault, or that it is empty. */
export function readField(field: Param, draft: DraftValue): { value?: JsonValue; fault?: FieldFault } {
  if (isList(field)) {
    const members = (Array.isArray(draft) ? draft : draft === undefined || draft === null || draft === "" ? [] : [draft]) as DraftValue[];
    const values: JsonValue[] = [];
    for (const [index, member] of members.entries()) {
      const read = readOne(field, member);
      if (read === "empty") continue;
      if ("fault" in read) return { fault: { ...read.fault, index } };
      values.push(read.value);
    }
    if (values.length > 0) return { value: values };
    if (field.required) return { fault: { key: hasOptions(field) ? "kit.faultChoose" : "kit.faultRequired" } };
    // Emptied on purpose is an empty list; untouched is left out.
    return Array.isArray(draft) && field.default !== undefined ? { value: [] } : {};
  }
  const read = readOne(field, draft);
  if (read === "empty") {
    if (!field.required) return {};
    // A switch that stands on "off" is an answer.
    if (field.type === "boolean") return { value: false };
    return { fault: { key: hasOptions(field) ? "kit.faultChoose" : "kit.faultRequired" } };
  }
  return "fault" in read ? { fault: read.fault } : { value: read.value };
}

/** All fields: the input as far as it is right, and what is wrong. */
export function readDraft(fields: readonly Param[], draft: Draft): { input: Record<string, JsonValue>; faults: FaultMap } {
  const input: Record<string, JsonValue> = {};
  const faults: FaultMap = {};
  for (const field of fields) {
    const { value, fault: wrong } = readField(field, own(draft, field.name));
    if (wrong) faults[field.name] = wrong;
    else if (value !== undefined) input[field.name] = value;
  }
  return { input, faults };
}

/** A parameter may be called `constructor`. */
export function own(record: Record<string, unknown>, name: string): JsonValue {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function draftOf(field: Param, value: JsonValue): DraftValue {
  if (value === undefined || value === null) return undefined;
  if (isList(field))
    return (Array.isArray(value) ? value : [value]).map((member) =>
      draftOf({ ...field, type: field.type === "checkboxes" ? "select" : field.type, multiple: false }, member),
    );
  if (hasOptions(field) || field.type === "boolean") return value;
  if (field.type === "json") return JSON.stringify(value, null, 2);
  if (typeOf(field) === "datetime" && typeof value === "string") return value.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::00)?/, "$1 $2");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** An input as a draft, over the defaults where it says nothing. */
export function toDraft(fields: readonly Param[], input: JsonValue, withDefaults = true): Draft {
  const given = typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Record<string, JsonValue>) : {};
  const draft: Draft = {};
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : withDefaults && field.type !== "secret" ? field.default : undefined;
    const typed = draftOf(field, value);
    if (typed !== undefined) draft[field.name] = typed;
  }
  return draft;
}

/** The field that a fault's path of the backend belongs to: `notes[2]`, `/notes/2`, `$.notes`. */
export function fieldOfPath(fields: readonly Param[], path: string): { name: string; index?: number } | undefined {
  const steps = path
    .replace(/^\$?[./]?/, "")
    .split(/[./[\]]+/)
    .filter(Boolean);
  const exact = fields.find((field) => field.name === path);
  const name = exact?.name ?? fields.find((field) => field.name === steps[0])?.name;
  if (name === undefined) return undefined;
  const index = exact ? Number.NaN : Number(steps[1]);
  return Number.isInteger(index) ? { name, index } : { name };
}
