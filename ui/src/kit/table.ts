// Tables from arrays of objects: columns, sorting, CSV. Pure.

export type Cell = unknown;
export interface Column {
  key: string;
  label: string;
  /** Right-aligned and compared as numbers. */
  number: boolean;
}

/** The most columns that are shown at first. */
export const COLUMN_LIMIT = 12;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value reads better as a table: an array of objects. */
export function isTable(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord);
}

/** The union of the rows' keys, in order of first sight. */
export function columnsOf(rows: readonly Record<string, unknown>[]): Column[] {
  const keys = new Map<string, boolean>();
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      const before = keys.get(key);
      const number = typeof value === "number";
      if (before === undefined) keys.set(key, number || value === null);
      else if (before && !number && value !== null) keys.set(key, false);
    }
  }
  return [...keys].map(([key, number]) => ({ key, label: key, number: number && rows.some((row) => typeof row[key] === "number") }));
}

/** A cell as text: strings as they are, nothing for null, JSON for the rest. */
export function cellText(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return JSON.stringify(value);
}

export interface Sorting {
  key: string;
  down: boolean;
}

/** Sorts a copy, stable; empty cells last in both directions. */
export function sortRows<R extends Record<string, unknown>>(rows: readonly R[], sorting: Sorting | undefined, language: string): R[] {
  if (!sorting) return [...rows];
  const words = new Intl.Collator(language, { numeric: true });
  const sign = sorting.down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const a = one[sorting.key];
    const b = other[sorting.key];
    const emptyA = a === null || a === undefined || a === "";
    const emptyB = b === null || b === undefined || b === "";
    if (emptyA || emptyB) return Number(emptyA) - Number(emptyB);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * words.compare(cellText(a), cellText(b));
  });
}

/**
 * RFC 4180, all columns, line ends CR LF. A text that a spreadsheet would take for a formula gets an apostrophe, since the values come
 * from a run.
 */
export function toCsv(columns: readonly Column[], rows: readonly Record<string, unknown>[]): string {
  const field = (value: Cell) => {
    let text = cellText(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map((column) => field(column.label)), ...rows.map((row) => columns.map((column) => field(row[column.key])))]
    .map((fields) => fields.join(","))
    .join("\r\n");
}
