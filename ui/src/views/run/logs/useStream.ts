// One stream of a log: which positions it has, read page by page, and its lines as long as they fit in memory.
import { useEffect, useRef, useState } from "react";
import type { LogLine, LogPage } from "../../../api/contract";
import { useChanges } from "../../../api/feed";
import { useHost } from "../../../host";

const PAGE = 5_000;
/** Positions of one stream that are listed; what comes after them is left out and said to be. */
export const MOST_OF_STREAM = 200_000;
const MOST_CHARACTERS = 24_000_000;
/** Least time between two looks for new lines, in milliseconds. */
const AGAIN_AFTER = 300;

export interface StreamLines {
  positions: readonly number[];
  lines: ReadonlyMap<number, LogLine>;
  /** the end of the log was reached, or as much as is listed */ isDone: boolean;
}

export function useStream(run: string, stream: LogLine["stream"] | undefined): StreamLines | undefined {
  const host = useHost();
  const [state, setState] = useState<{ stream: string; value: StreamLines } | undefined>();
  const again = useRef<() => void>(() => {});
  useEffect(() => {
    if (stream === undefined) return undefined;
    const positions: number[] = [];
    const lines = new Map<number, LogLine>();
    let [ended, busy, wanted, from, characters, timer] = [false, false, false, 0, 0, 0];
    const show = (isDone: boolean) => {
      if (!ended) setState({ stream, value: { positions: [...positions], lines, isDone } });
    };
    const readOn = async () => {
      if (busy) {
        wanted = true;
        return;
      }
      busy = true;
      wanted = false;
      try {
        for (;;) {
          if (ended || positions.length >= MOST_OF_STREAM) break;
          const page: LogPage = await host.call("run_logs", { run, from, limit: PAGE, stream });
          for (const line of page.lines) {
            if (line.stream !== stream) continue;
            positions.push(line.position);
            characters += line.text.length;
            if (characters < MOST_CHARACTERS) lines.set(line.position, line);
          }
          const isDone = page.next <= from || page.next >= page.end;
          from = Math.max(from, page.next);
          show(isDone);
          if (isDone) break;
        }
        if (positions.length >= MOST_OF_STREAM) show(true);
      } catch {
        show(true);
      }
      timer = window.setTimeout(() => {
        busy = false;
        if (wanted && !ended) void readOn();
      }, AGAIN_AFTER);
    };
    void readOn();
    again.current = () => void readOn();
    return () => {
      ended = true;
      again.current = () => {};
      window.clearTimeout(timer);
    };
  }, [host, run, stream]);
  useChanges((change) => {
    if (change.all || change.runs.includes(run)) again.current();
  });
  return stream !== undefined && state?.stream === stream ? state.value : undefined;
}

/** How many lines of standard error there are, as far as one page tells. */
export function useErrorCount(run: string): { count: number; isMore: boolean } | undefined {
  const host = useHost();
  const [state, setState] = useState<{ count: number; isMore: boolean }>();
  const again = useRef<() => void>(() => {});
  useEffect(() => {
    let [ended, busy, wanted, timer] = [false, false, false, 0];
    const count = () => {
      if (busy) {
        wanted = true;
        return;
      }
      busy = true;
      wanted = false;
      host
        .call("run_logs", { run, from: 0, limit: 1_000, stream: "stderr" })
        .then(
          (page) => {
            if (!ended) setState({ count: page.lines.length, isMore: page.next < page.end });
          },
          () => {},
        )
        .finally(() => {
          timer = window.setTimeout(() => {
            busy = false;
            if (wanted && !ended) count();
          }, 3_000);
        });
    };
    count();
    again.current = count;
    return () => {
      ended = true;
      again.current = () => {};
      window.clearTimeout(timer);
    };
  }, [host, run]);
  useChanges((change) => {
    if (change.all || change.runs.includes(run)) again.current();
  });
  return state;
}
