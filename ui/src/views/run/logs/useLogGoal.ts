// Going to an entry that may not be here yet: the list is moved when it can be, and again when the entry has come.
import { type RefObject, useCallback, useEffect, useState } from "react";
import { lineElement } from "./LogRowView";
import type { LogListControl } from "./LogList";
import { entryLines } from "./lines";
import type { LogPages } from "./pages";
import type { useLogRows } from "./useLogRows";

/** Tells the line that is meant, in an entry of many. */
export type IsMeant = (line: string) => boolean;

/** Where to go: an entry, and in it the first line that is meant. */
interface Goal {
  position: number;
  isMeant?: IsMeant;
}

interface Ways {
  log: Pick<ReturnType<typeof useLogRows>, "rows" | "flow" | "ofStream" | "lineOf">;
  pages: LogPages;
  rowHeight: number;
  list: RefObject<LogListControl | null>;
}

export function useLogGoal({ log, pages, rowHeight, list }: Ways): { aim: (position: number, isMeant?: IsMeant) => void; forget: () => void } {
  const { rows, flow, ofStream, lineOf } = log;
  const [goal, setGoal] = useState<Goal | null>(null);
  useEffect(() => {
    if (!goal || rows.count === 0) return;
    const { position, isMeant } = goal;
    const entry = lineOf(position);
    // An entry may be thousands of lines, of which one is meant; which, is known once it is here.
    const lines = entry && isMeant ? entryLines(entry.text) : [];
    const index = isMeant ? Math.max(0, lines.findIndex(isMeant)) : 0;
    list.current?.reveal(rows.rowOf(position), lines.length > 1 ? { within: index * rowHeight, find: (row) => lineElement(row, index) } : undefined);
    pages.want(position - 50, position + 100);
    if (!isMeant || entry || flow || pages.isMissing(position)) setGoal(null);
    // oxlint-disable-next-line react/exhaustive-deps -- again only when the goal, the rows or what is here changed; the text size doesn't send anybody away
  }, [goal, rows, pages, pages.version, ofStream]);
  return {
    aim: useCallback((position, isMeant) => setGoal({ position, ...(isMeant ? { isMeant } : {}) }), []),
    forget: useCallback(() => setGoal(null), []),
  };
}
