// The beginnings of two logs, as lines.
import { useEffect, useState } from "react";
import { toApiError, useHost } from "../../host";
import type { ApiError, Host } from "../../api/contract";
import { plain } from "../run/logs/ansi";
import { entryLines } from "../run/logs/lines";

/** Lines of a log that are compared. */
export const MOST_LINES = 20_000;
const PAGE = 2_000;

async function read(host: Host, run: string, isEnded: () => boolean): Promise<{ lines: string[]; isCut: boolean }> {
  const lines: string[] = [];
  let from = 0;
  for (;;) {
    const page = await host.call("run_logs", { run, from, limit: PAGE });
    for (const line of page.lines) lines.push(...entryLines(plain(line.text)));
    const isDone = page.next <= from || page.next >= page.end;
    if (isDone || lines.length >= MOST_LINES || isEnded()) return { lines: lines.slice(0, MOST_LINES), isCut: !isDone || lines.length > MOST_LINES };
    from = page.next;
  }
}

export interface BothLogs {
  left: string[];
  right: string[];
  isCut: boolean;
}

export function useBothLogs(a: string | undefined, b: string | undefined): { data?: BothLogs; error?: ApiError } {
  const host = useHost();
  const [state, setState] = useState<{ data?: BothLogs; error?: ApiError }>({});
  useEffect(() => {
    if (!a || !b) return undefined;
    let ended = false;
    setState({});
    Promise.all([read(host, a, () => ended), read(host, b, () => ended)]).then(
      ([left, right]) => {
        if (!ended) setState({ data: { left: left.lines, right: right.lines, isCut: left.isCut || right.isCut } });
      },
      (thrown: unknown) => {
        if (!ended) setState({ error: toApiError(thrown) });
      },
    );
    return () => {
      ended = true;
    };
  }, [host, a, b]);
  return state;
}
