// Two lists of lines side by side: logs, long texts.
import { diffArrays } from "diff";
import type { RowKind } from "./json";

export interface LineCell {
  line: number;
  text: string;
}
export interface LineRow {
  kind: RowKind;
  left?: LineCell;
  right?: LineCell;
}
export interface LineDiff {
  rows: LineRow[];
  /** rows that differ */ changes: number;
  /** the two were too different to be lined up */ gaveUp: boolean;
}

/** Lines up two lists. `mask` gives what is compared; what is shown stays as it was. */
export function diffLines(left: readonly string[], right: readonly string[], mask: (line: string) => string = (line) => line): LineDiff {
  const parts = diffArrays(left.map(mask), right.map(mask), { maxEditLength: 6_000, timeout: 1_500 });
  const rows: LineRow[] = [];
  let [l, r] = [0, 0];
  let changes = 0;
  const cells = { left: () => ({ line: l + 1, text: left[l++] ?? "" }), right: () => ({ line: r + 1, text: right[r++] ?? "" }) };
  if (!parts) {
    while (l < left.length || r < right.length) {
      const row: LineRow = { kind: l < left.length && r < right.length ? "changed" : l < left.length ? "removed" : "added" };
      if (l < left.length) row.left = cells.left();
      if (r < right.length) row.right = cells.right();
      rows.push(row);
      changes += 1;
    }
    return { rows, changes, gaveUp: true };
  }
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (!part) continue;
    const next = parts[index + 1];
    if (part.removed && next?.added) {
      // Lines of a replaced stretch stand beside each other.
      const most = Math.max(part.value.length, next.value.length);
      for (let at = 0; at < most; at += 1) {
        const row: LineRow = { kind: at < part.value.length && at < next.value.length ? "changed" : at < part.value.length ? "removed" : "added" };
        if (at < part.value.length) row.left = cells.left();
        if (at < next.value.length) row.right = cells.right();
        rows.push(row);
        changes += 1;
      }
      index += 1;
    } else {
      for (let at = 0; at < part.value.length; at += 1) {
        if (part.removed) rows.push({ kind: "removed", left: cells.left() });
        else if (part.added) rows.push({ kind: "added", right: cells.right() });
        else rows.push({ kind: "same", left: cells.left(), right: cells.right() });
        if (part.removed || part.added) changes += 1;
      }
    }
  }
  return { rows, changes, gaveUp: false };
}
