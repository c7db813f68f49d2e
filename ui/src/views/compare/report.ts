// A comparison as text, in the form of a unified difference.
import type { RowKind } from "./json";

interface Side {
  text: string;
  depth?: number;
  key?: string;
}
export interface ReportRow {
  kind: RowKind;
  left?: Side;
  right?: Side;
}

const line = (sign: string, side: Side): string =>
  `${sign} ${"  ".repeat(Math.min(side.depth ?? 0, 24))}${side.key === undefined ? "" : `${side.key}: `}${side.text}`;

/** Only what differs, section by section. */
export function reportText(a: string, b: string, sections: readonly (readonly [string, readonly ReportRow[]])[]): string {
  const out = [`--- ${a}`, `+++ ${b}`];
  for (const [title, rows] of sections) {
    const changed = rows.filter((row) => row.kind !== "same");
    if (changed.length === 0) continue;
    out.push("", `@@ ${title} @@`);
    for (const row of changed) {
      if (row.left) out.push(line("-", row.left));
      if (row.right) out.push(line("+", row.right));
    }
  }
  return `${out.join("\n")}\n`;
}
