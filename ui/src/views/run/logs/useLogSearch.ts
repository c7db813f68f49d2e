// A search in a log, done by the store. While the run writes, it is done again at times, not at every line.
import { useEffect, useRef, useState } from "react";
import type { Commands, LogLine } from "../../../api/contract";
import { useChanges } from "../../../api/feed";
import { toApiError, useHost } from "../../../host";
import type { Needle } from "./lines";

type Found = Commands["run_log_search"][1];
export interface LogSearch {
  /** what was found, for `key` */ found: Found | undefined;
  /** text and stream that were searched */ key: string;
  /** why it can't be searched for: it is no regular expression */ fault?: string;
}

/** Least time between two searches for the same, in milliseconds. */
const AGAIN_AFTER = 1_500;

export function useLogSearch(run: string, needle: Needle, stream: LogLine["stream"] | undefined, limit: number, enabled: boolean): LogSearch {
  const { text, case: exact = false, regex = false } = needle;
  const host = useHost();
  const [state, setState] = useState<LogSearch>({ found: undefined, key: "" });
  const key = enabled ? `${stream ?? ""}|${exact}|${regex}|${text}` : "";
  const again = useRef<() => void>(() => {});
  useEffect(() => {
    if (!enabled) {
      setState({ found: undefined, key: "" });
      again.current = () => {};
      return undefined;
    }
    let [ended, busy, wanted, timer] = [false, false, false, 0];
    const search = () => {
      if (busy) {
        wanted = true;
        return;
      }
      busy = true;
      wanted = false;
      host
        .call("run_log_search", { run, text, limit, case: exact, regex, ...(stream ? { stream } : {}) })
        .then(
          (found) => {
            if (!ended) setState({ found, key });
          },
          (thrown: unknown) => {
            const { code, message } = toApiError(thrown);
            const fault = code === "invalid_input" ? { fault: message } : {};
            if (!ended) setState((old) => (old.key === key ? old : { found: { positions: [], total: 0 }, key, ...fault }));
          },
        )
        .finally(() => {
          timer = window.setTimeout(() => {
            busy = false;
            if (wanted && !ended) search();
          }, AGAIN_AFTER);
        });
    };
    search();
    again.current = search;
    return () => {
      ended = true;
      window.clearTimeout(timer);
    };
  }, [host, run, text, exact, regex, stream, limit, enabled, key]);
  useChanges((change) => {
    if (change.all || change.runs.includes(run)) again.current();
  });
  return state.key === key ? state : { found: undefined, key };
}
