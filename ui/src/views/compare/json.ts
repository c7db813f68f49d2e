// Two JSON values side by side, compared by path. Arrays of objects are matched by `id`, `name` or another key that
// names every element, else by likeness and place. The result is rows of text, ready to be drawn or folded.
import { diffArrays } from "diff";
import { diffLines } from "./lines";

export type RowKind = "same" | "changed" | "removed" | "added";
export interface Cell {
  line: number;
  depth: number;
  key?: string;
  /** text after the key */ text: string;
  type: "string" | "number" | "literal" | "open" | "close" | "text";
  /** a string as it is, without quotes and escapes */ raw?: string;
}
export interface JsonRow {
  kind: RowKind;
  path: string;
  left?: Cell;
  right?: Cell;
}
export interface JsonDiff {
  rows: JsonRow[];
  /** places that differ: a changed value, or a whole part that only one has */ changes: number;
  /** top-level keys that differ */ keys: number;
  topKeys: number;
}

const MOST_ROWS = 20_000;
const NAMES = ["id", "key", "name", "title", "path", "uuid", "number"];

type Composite = readonly unknown[] | Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isComposite = (value: unknown): value is Composite => typeof value === "object" && value !== null;

/** Deep equality of JSON values; the order of keys doesn't matter. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, index) => equal(value, b[index]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  return false;
}

/** `output.highlights[2].text`; keys that aren't plain words are quoted. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}

/** Pairs of indexes of two arrays; one side missing means only the other has the element. Order is B's, with A's extras in their place. */
export function matchArrays(a: readonly unknown[], b: readonly unknown[]): [number | undefined, number | undefined][] {
  const naming = namingKey(a, b);
  if (naming) {
    const nameOf = (value: unknown) => JSON.stringify((value as Record<string, unknown>)[naming]);
    return matchNamed(a.map(nameOf), b.map(nameOf));
  }
  // Equal elements hold their places; what lies between them is paired by place.
  const texts = [a, b].map((side) => side.map((value) => JSON.stringify(value) ?? "null"));
  const pairs = align(texts[0] ?? [], texts[1] ?? []);
  const out: [number | undefined, number | undefined][] = [];
  let lefts: number[] = [];
  let rights: number[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(lefts.length, rights.length); index += 1) {
      const [left, right] = [lefts[index], rights[index]];
      if (left !== undefined && right !== undefined && isComposite(a[left]) !== isComposite(b[right]))
        out.push([left, undefined], [undefined, right]);
      else out.push([left, right]);
    }
    [lefts, rights] = [[], []];
  };
  for (const [left, right] of pairs) {
    if (left !== undefined && right !== undefined) {
      flush();
      out.push([left, right]);
    } else if (left !== undefined) lefts.push(left);
    else if (right !== undefined) rights.push(right);
  }
  flush();
  return out;
}

function namingKey(a: readonly unknown[], b: readonly unknown[]): string | undefined {
  if (a.length === 0 || b.length === 0) return undefined;
  return NAMES.find((name) =>
    [a, b].every((side) => {
      const seen = new Set<string>();
      return side.every((value) => {
        if (!isObject(value)) return false;
        const own = value[name];
        if (typeof own !== "string" && typeof own !== "number") return false;
        const text = JSON.stringify(own);
        if (seen.has(text)) return false;
        seen.add(text);
        return true;
      });
    }),
  );
}

/** Equal names belong together wherever they stand; what only A has stays behind its predecessor. */
function matchNamed(a: readonly string[], b: readonly string[]): [number | undefined, number | undefined][] {
  const place = new Map(a.map((name, index) => [name, index]));
  const known = new Set(b);
  const followers = new Map<number, number[]>();
  let anchor = -1;
  a.forEach((name, index) => {
    if (known.has(name)) anchor = index;
    else followers.set(anchor, [...(followers.get(anchor) ?? []), index]);
  });
  const alone = (of: number): [number, undefined][] => (followers.get(of) ?? []).map((index) => [index, undefined]);
  return [
    ...alone(-1),
    ...b.flatMap((name, index): [number | undefined, number | undefined][] => {
      const left = place.get(name);
      return left === undefined ? [[undefined, index]] : [[left, index], ...alone(left)];
    }),
  ];
}

function align(a: readonly string[], b: readonly string[]): [number | undefined, number | undefined][] {
  const pairs: [number | undefined, number | undefined][] = [];
  const parts = diffArrays([...a], [...b], { maxEditLength: 3_000, timeout: 300 });
  if (!parts) {
    for (let index = 0; index < Math.max(a.length, b.length); index += 1)
      pairs.push([index < a.length ? index : undefined, index < b.length ? index : undefined]);
    return pairs;
  }
  let [left, right] = [0, 0];
  for (const part of parts) {
    for (let at = 0; at < part.value.length; at += 1) {
      if (part.removed) pairs.push([left++, undefined]);
      else if (part.added) pairs.push([undefined, right++]);
      else pairs.push([left++, right++]);
    }
  }
  return pairs;
}

/** Compares two values. `root` names the top of the paths. */
export function diffJson(a: unknown, b: unknown, root = ""): JsonDiff {
  const rows: JsonRow[] = [];
  let changes = 0;
  const lines = { left: 0, right: 0 };
  const differing = new Set<string>();
  const cell = (side: "left" | "right", depth: number, key: string | undefined, value: unknown, close: boolean, comma: boolean): Cell => {
    lines[side] += 1;
    const base = { line: lines[side], depth, ...(key === undefined || close ? {} : { key }) };
    const end = comma ? "," : "";
    if (isComposite(value)) {
      const [open, shut] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
      if (close) return { ...base, text: shut + end, type: "close" };
      const empty = (Array.isArray(value) ? value.length : Object.keys(value).length) === 0;
      return { ...base, text: empty ? open + shut + end : open, type: "open" };
    }
    const type = typeof value === "string" ? "string" : typeof value === "number" ? "number" : "literal";
    return { ...base, text: `${JSON.stringify(value) ?? "null"}${end}`, type, ...(typeof value === "string" ? { raw: value } : {}) };
  };
  const add = (row: JsonRow) => {
    if (rows.length < MOST_ROWS) rows.push(row);
  };
  const isEmpty = (value: Composite) => (Array.isArray(value) ? value.length : Object.keys(value).length) === 0;

  function one(side: "left" | "right", kind: RowKind, value: unknown, key: string | undefined, path: string, depth: number, comma: boolean): void {
    if (rows.length >= MOST_ROWS) return;
    const put = (made: Cell) => add({ kind, path, [side]: made });
    put(cell(side, depth, key, value, false, comma));
    if (!isComposite(value) || isEmpty(value)) return;
    const entries: [string | number, unknown][] = Array.isArray(value) ? value.map((item, index) => [index, item]) : Object.entries(value);
    entries.forEach(([name, item], index) =>
      one(side, kind, item, typeof name === "number" ? undefined : name, joinPath(path, name), depth + 1, index < entries.length - 1),
    );
    put(cell(side, depth, key, value, true, comma));
  }

  function both(left: unknown, right: unknown, key: string | undefined, path: string, depth: number, comma: [boolean, boolean]): void {
    const sameShape = isComposite(left) && isComposite(right) && Array.isArray(left) === Array.isArray(right);
    if (!sameShape || isEmpty(left as Composite) || isEmpty(right as Composite)) {
      if (isComposite(left) || isComposite(right)) {
        const same = equal(left, right);
        if (same) {
          add({
            kind: "same",
            path,
            left: cell("left", depth, key, left, false, comma[0]),
            right: cell("right", depth, key, right, false, comma[1]),
          });
          return;
        }
        changes += 1;
        one("left", "removed", left, key, path, depth, comma[0]);
        one("right", "added", right, key, path, depth, comma[1]);
        return;
      }
      const same = left === right;
      if (!same) changes += 1;
      add({
        kind: same ? "same" : "changed",
        path,
        left: cell("left", depth, key, left, false, comma[0]),
        right: cell("right", depth, key, right, false, comma[1]),
      });
      return;
    }
    add({ kind: "same", path, left: cell("left", depth, key, left, false, false), right: cell("right", depth, key, right, false, false) });
    if (Array.isArray(left) && Array.isArray(right)) {
      const pairs = matchArrays(left, right);
      for (const [l, r] of pairs) {
        const at = joinPath(path, r ?? l ?? 0);
        if (l !== undefined && r !== undefined) both(left[l], right[r], undefined, at, depth + 1, [l < left.length - 1, r < right.length - 1]);
        else if (l !== undefined) {
          changes += 1;
          one("left", "removed", left[l], undefined, at, depth + 1, l < left.length - 1);
        } else if (r !== undefined) {
          changes += 1;
          one("right", "added", right[r], undefined, at, depth + 1, r < right.length - 1);
        }
      }
    } else {
      const [l, r] = [left as Record<string, unknown>, right as Record<string, unknown>];
      const keys = [...Object.keys(l), ...Object.keys(r).filter((name) => !Object.hasOwn(l, name))];
      const lastLeft = Object.keys(l).at(-1);
      const lastRight = keys.filter((name) => Object.hasOwn(r, name)).at(-1);
      for (const name of keys) {
        const before = changes;
        const at = joinPath(path, name);
        const comma: [boolean, boolean] = [name !== lastLeft, name !== lastRight];
        if (Object.hasOwn(l, name) && Object.hasOwn(r, name)) both(l[name], r[name], name, at, depth + 1, comma);
        else if (Object.hasOwn(l, name)) {
          changes += 1;
          one("left", "removed", l[name], name, at, depth + 1, comma[0]);
        } else {
          changes += 1;
          one("right", "added", r[name], name, at, depth + 1, comma[1]);
        }
        if (depth === 0 && changes > before) differing.add(name);
      }
    }
    add({
      kind: "same",
      path,
      left: cell("left", depth, undefined, left, true, comma[0]),
      right: cell("right", depth, undefined, right, true, comma[1]),
    });
  }

  both(a, b, undefined, root, 0, [false, false]);
  const topKeys = isObject(a) || isObject(b) ? new Set([...Object.keys(isObject(a) ? a : {}), ...Object.keys(isObject(b) ? b : {})]).size : 1;
  return { rows, changes, keys: differing.size, topKeys };
}

export type Folded<T> = { rows: T[] } | { fold: T[] };

/** Rows that differ with `around` rows of context; what is alike between is folded. */
export function foldAlike<T extends { kind: RowKind }>(rows: readonly T[], around = 1): Folded<T>[] {
  const keep = new Uint8Array(rows.length);
  rows.forEach((row, index) => {
    if (row.kind === "same") return;
    for (let at = Math.max(0, index - around); at <= Math.min(rows.length - 1, index + around); at += 1) keep[at] = 1;
  });
  const out: Folded<T>[] = [];
  let at = 0;
  while (at < rows.length) {
    let end = at;
    while (end < rows.length && keep[end] === keep[at]) end += 1;
    const part = rows.slice(at, end);
    // Folding two lines away saves nothing.
    const last = out.at(-1);
    if (keep[at] || part.length <= 2) {
      if (last && "rows" in last) last.rows.push(...part);
      else out.push({ rows: part });
    } else out.push({ fold: part });
    at = end;
  }
  return out;
}

/** Strings with line breaks, or longer than this, are compared line by line. */
const LONG_TEXT = 400;

/** Rows with long texts taken apart into their lines. */
export function expandTexts(rows: readonly JsonRow[]): JsonRow[] {
  return rows.flatMap((row): JsonRow[] => {
    const [left, right] = [row.left?.raw, row.right?.raw];
    const isLong = (text: string | undefined) => text !== undefined && (text.includes("\n") || text.length > LONG_TEXT);
    if (row.kind === "same" || (!isLong(left) && !isLong(right)) || (row.left && left === undefined) || (row.right && right === undefined))
      return [row];
    const side = (cell: Cell | undefined, text: string, depth: number): Cell | undefined => cell && { line: 0, depth, text, type: "text" };
    const out: JsonRow[] = [
      {
        kind: "same",
        path: row.path,
        ...(row.left ? { left: { ...row.left, text: "", raw: undefined } } : {}),
        ...(row.right ? { right: { ...row.right, text: "", raw: undefined } } : {}),
      },
    ];
    const heads = out[0];
    if (heads?.left) delete heads.left.raw;
    if (heads?.right) delete heads.right.raw;
    if (heads && !(row.left && row.right)) heads.kind = row.kind;
    for (const line of diffLines((left ?? "").split("\n"), (right ?? "").split("\n")).rows) {
      const [l, r] = [
        row.left && line.left ? side(row.left, line.left.text, row.left.depth + 1) : undefined,
        row.right && line.right ? side(row.right, line.right.text, row.right.depth + 1) : undefined,
      ];
      if (!l && !r) continue;
      const kind = !row.left ? "added" : !row.right ? "removed" : line.kind;
      out.push({ kind, path: row.path, ...(l ? { left: l } : {}), ...(r ? { right: r } : {}) });
    }
    return out;
  });
}
