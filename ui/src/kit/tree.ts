// A JSON value as the rows of a tree: which nodes are open, what a search finds, how a path is written. Pure; a node is found by its path.

export type Kind = "object" | "array" | "string" | "number" | "boolean" | "null";
export interface TreeRow {
  /** `output.highlights[2].text`; unique. */
  path: string;
  /** The last step: a key, an index, or the root's name. */
  name: string;
  /** The name is a position in an array. */
  index: boolean;
  depth: number;
  kind: Kind;
  value: unknown;
  /** Number of members of an object or array. */
  size: number;
  open: boolean;
  /** A hit of the search. */
  hit: boolean;
}

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" || type === "string" || type === "number" || type === "boolean" ? type : "null";
}

/** Appends a step: `a.b`, `a[2]`, `a["odd key"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Counts nodes, but no more than `most`. */
export function countNodes(value: unknown, most: number): number {
  let count = 0;
  const stack: unknown[] = [value];
  while (stack.length > 0 && count < most) {
    const next = stack.pop();
    count++;
    if (isBranch(next)) for (const child of Object.values(next)) stack.push(child);
  }
  return count;
}

/** Above this many nodes the tree starts closed below level 1. */
export const OPEN_LIMIT = 2000;

/** The nodes that are open at first. */
export function initialOpen(value: unknown, root: string): Set<string> {
  const open = new Set([root]);
  if (countNodes(value, OPEN_LIMIT + 1) > OPEN_LIMIT) return open;
  const visit = (node: unknown, path: string, depth: number) => {
    if (!isBranch(node) || depth > 2) return;
    open.add(path);
    for (const [key, child] of Object.entries(node)) visit(child, joinPath(path, Array.isArray(node) ? Number(key) : key), depth + 1);
  };
  visit(value, root, 0);
  return open;
}

export interface Found {
  /** Paths whose own key or value matches. */
  hits: Set<string>;
  /** Branches on the way to a hit. */
  way: Set<string>;
}

/** Looks for a text in keys and plain values, case-insensitively; stops at `most` hits. */
export function searchTree(value: unknown, root: string, text: string, most = 5000): Found {
  const needle = text.toLowerCase();
  const hits = new Set<string>();
  const way = new Set<string>();
  if (!needle) return { hits, way };
  // Most of a large value is no hit: where a place is, is put together for those that are, and for what is above them.
  const stack: Place[] = [{ node: value, key: root, above: undefined, path: root }];
  while (stack.length > 0 && hits.size < most) {
    const place = stack.pop()!;
    const { node, key } = place;
    const branch = isBranch(node);
    const isNamed = typeof key === "string" && place.above !== undefined;
    if ((isNamed && key.toLowerCase().includes(needle)) || (!branch && String(node).toLowerCase().includes(needle))) {
      hits.add(pathOf(place));
      for (let above = place.above; above && !way.has(pathOf(above)); above = above.above) way.add(pathOf(above));
    }
    if (Array.isArray(node)) for (let at = 0; at < node.length; at += 1) stack.push({ node: node[at], key: at, above: place, path: undefined });
    else if (branch)
      for (const name of Object.keys(node as object))
        stack.push({ node: (node as Record<string, unknown>)[name], key: name, above: place, path: undefined });
  }
  return { hits, way };
}

interface Place {
  node: unknown;
  key: string | number;
  above: Place | undefined;
  path: string | undefined;
}

function pathOf(place: Place): string {
  // No recursion: a value may be nested deeper than the call stack.
  const missing: Place[] = [];
  let at: Place = place;
  while (at.path === undefined && at.above) {
    missing.push(at);
    at = at.above;
  }
  let path = at.path ?? "";
  for (const one of missing.toReversed()) {
    path = joinPath(path, one.key);
    one.path = path;
  }
  return path;
}

/** The rows on screen, top to bottom. With a search only hits, what is above them and what is inside an opened hit remain. */
export function treeRows(value: unknown, root: string, open: ReadonlySet<string>, found?: Found): TreeRow[] {
  const rows: TreeRow[] = [];
  // Explicit stack: JSON from a run may be nested deeper than the call stack.
  const stack: { node: unknown; path: string; name: string; index: boolean; depth: number; inside: boolean }[] = [
    { node: value, path: root, name: root, index: false, depth: 0, inside: false },
  ];
  while (stack.length > 0) {
    const { node, path, name, index, depth, inside } = stack.pop()!;
    const hit = found?.hits.has(path) ?? false;
    if (found && !hit && !inside && !found.way.has(path)) continue;
    const kind = kindOf(node);
    const branch = isBranch(node);
    const isOpen = branch && (open.has(path) || (found?.way.has(path) ?? false));
    const entries = isOpen ? Object.entries(node as object) : [];
    rows.push({ path, name, index, depth, kind, value: node, size: branch ? Object.keys(node).length : 0, open: isOpen, hit });
    for (let at = entries.length - 1; at >= 0; at--) {
      const [key, child] = entries[at]!;
      const inArray = kind === "array";
      stack.push({
        node: child,
        path: joinPath(path, inArray ? Number(key) : key),
        name: key,
        index: inArray,
        depth: depth + 1,
        inside: hit || inside,
      });
    }
  }
  return rows;
}
