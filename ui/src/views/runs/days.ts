// Rows and the heads of their days, as one list for the virtual scroller. Pure.
import type { RunRow } from "../../api/contract";
import { startOfDay } from "../../i18n/format";

export type Item = { kind: "day"; key: string; day: number } | { kind: "run"; key: string; run: RunRow; /** among the runs */ index: number };

/** Rows come newest first; each day's first row gets a head before it. */
export function withDays(rows: readonly RunRow[]): Item[] {
  const items: Item[] = [];
  let day: number | undefined;
  rows.forEach((run, index) => {
    const own = startOfDay(run.createdAt);
    if (own !== day) {
      day = own;
      items.push({ kind: "day", key: `day ${own} ${index}`, day: own });
    }
    items.push({ kind: "run", key: run.runId, run, index });
  });
  return items;
}

/** The day that the item at `index` belongs to. */
export function dayAt(items: readonly Item[], index: number): number | undefined {
  for (let at = Math.min(index, items.length - 1); at >= 0; at--) {
    const item = items[at];
    if (item?.kind === "day") return item.day;
  }
  return undefined;
}
