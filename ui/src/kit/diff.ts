// Marks inside a changed pair of lines, and folding of long unchanged stretches. Pure.
import type { DiffLine } from "../api/contract";

export interface MarkedLine {
  line: DiffLine;
  /** The part that differs from its partner, as start and end. */
  mark?: [number, number];
}
export type DiffRow = { kind: "line"; row: MarkedLine } | { kind: "fold"; lines: DiffLine[] };

/** Start and end of what is different in `one`, seen beside `other`; undefined when they share too little to be the same line changed. */
export function differingPart(one: string, other: string): [number, number] | undefined {
  const most = Math.min(one.length, other.length);
  let head = 0;
  while (head < most && one[head] === other[head]) head++;
  let tail = 0;
  while (tail < most - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  if (head + tail < Math.max(one.length, other.length) * 0.4) return undefined;
  return head === one.length - tail ? undefined : [head, one.length - tail];
}

/** Pairs removed with added lines of the same block, in order. */
export function markLines(lines: readonly DiffLine[]): MarkedLine[] {
  const rows: MarkedLine[] = lines.map((line) => ({ line }));
  let at = 0;
  while (at < lines.length) {
    if (lines[at]!.sign !== "-") {
      at++;
      continue;
    }
    let removedEnd = at;
    while (lines[removedEnd]?.sign === "-") removedEnd++;
    let addedEnd = removedEnd;
    while (lines[addedEnd]?.sign === "+") addedEnd++;
    for (let pair = 0; pair < Math.min(removedEnd - at, addedEnd - removedEnd); pair++) {
      const before = rows[at + pair]!;
      const after = rows[removedEnd + pair]!;
      before.mark = differingPart(before.line.text, after.line.text);
      after.mark = differingPart(after.line.text, before.line.text);
    }
    at = addedEnd;
  }
  return rows;
}

/** Folds unchanged stretches further than `context` lines from a change. */
export function foldLines(rows: readonly MarkedLine[], context = 3): DiffRow[] {
  const near = rows.map(() => false);
  rows.forEach((row, index) => {
    if (row.line.sign === " ") return;
    for (let at = Math.max(0, index - context); at <= Math.min(rows.length - 1, index + context); at++) near[at] = true;
  });
  const out: DiffRow[] = [];
  let folded: DiffLine[] = [];
  const flush = (from: number) => {
    if (folded.length > 2) out.push({ kind: "fold", lines: folded });
    else folded.forEach((_, index) => out.push({ kind: "line", row: rows[from - folded.length + index]! }));
    folded = [];
  };
  rows.forEach((row, index) => {
    if (near[index]) {
      flush(index);
      out.push({ kind: "line", row });
    } else folded.push(row.line);
  });
  flush(rows.length);
  return out;
}
