// Walking through a log: from match to match of the search, and to the next line that says an error.
import { type RefObject, useEffect, useRef, useState } from "react";
import type { LogLine } from "../../../api/contract";
import { useHost } from "../../../host";
import { plain, showControls } from "./ansi";
import { entryLines, hits, type Needle, saysError } from "./lines";
import { BLOCK } from "./pages";
import type { IsMeant } from "./useLogGoal";

interface Search {
  run: string;
  positions: readonly number[];
  /** Changes with the search, and is empty without one. */
  foundKey: string;
  wanted: Needle;
  /** Positions asked of the store at once. */
  most: number;
  /** The first entry in sight. */
  viewFirst: RefObject<number>;
  go: (position: number, isMeant?: IsMeant) => void;
}

export function useLogSearchWalk({ run, positions, foundKey, wanted, most, viewFirst, go }: Search) {
  const host = useHost();
  const [match, setMatch] = useState(0);
  const current = positions[match];
  const isHit = (line: string) => hits(showControls(plain(line)), wanted, 1).length > 0;
  // A new search goes to the first match at or after what is in sight; when the log grew, the match stays.
  const searched = useRef({ key: "", position: 0 });
  useEffect(() => {
    if (positions.length === 0) {
      if (foundKey === "") searched.current.key = "";
      return;
    }
    const isNew = searched.current.key !== foundKey;
    const from = isNew ? viewFirst.current : searched.current.position;
    const index = Math.max(
      0,
      positions.findIndex((position) => position >= from),
    );
    searched.current.key = foundKey;
    setMatch(index);
    if (isNew) go(positions[index] ?? 0, isHit);
    // oxlint-disable-next-line react/exhaustive-deps -- only what was found moves anybody; phases that fold change `go`
  }, [positions, foundKey]);
  useEffect(() => {
    if (current !== undefined) searched.current.position = current;
  }, [current]);

  return {
    /** Which of the matches, from 0, and its position. */
    match,
    current,
    step: (by: 1 | -1) => {
      if (positions.length === 0) return;
      const next = (match + by + positions.length) % positions.length;
      setMatch(next);
      go(positions[next] ?? 0, isHit);
    },
    /** The first entry behind a position that says an error. */
    errorAfter: async (after: number): Promise<number | undefined> => {
      const found = await host.call("run_log_search", { run, text: "error", limit: most }).catch(() => undefined);
      // Where every line has the word and none says an error, lines are read by the page and not one by one.
      let read = new Map<number, LogLine>();
      for (const position of found?.positions.filter((one) => one > after) ?? []) {
        if (!read.has(position)) {
          const page = await host.call("run_logs", { run, from: position, limit: BLOCK }).catch(() => undefined);
          read = new Map(page?.lines.map((one) => [one.position, one]));
        }
        const one = read.get(position);
        if (one && entryLines(one.text).some(saysError)) return position;
      }
      return undefined;
    },
  };
}
