// The rows of a query: pages by key, rows that change in place, new rows at the top. Nothing on screen moves by itself.
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError, RunQuery, RunRow, RunsPage, StoreChanged } from "../../api/contract";
import { useChanges } from "../../api/feed";
import { toApiError, useHost } from "../../host";

/** Rows of a page. */
export const PAGE = 200;

interface TimedPage extends RunsPage {
  /** How long the store took, in milliseconds. */
  took: number;
}
type Pages = InfiniteData<TimedPage, string | undefined>;

export interface RunList {
  rows: RunRow[];
  /** All that match, where the store knows it. */
  total: number | undefined;
  /** False: the store stopped looking before it had seen everything. */
  complete: boolean;
  tookMs: number | undefined;
  isLoading: boolean;
  /** The rows are those of the query before. */
  isStale: boolean;
  error: ApiError | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  retry: () => void;
  /** New rows that wait above the list, while it isn't at its top. */
  waiting: number;
  /** Puts them in. */
  showWaiting: () => void;
  /** Rows that came in just now, for their fading in. */
  fresh: ReadonlySet<string>;
}

interface Held {
  /** The query's key it belongs to. */
  of: unknown;
  rows: RunRow[];
  total: number | undefined;
}
const NONE: ReadonlySet<string> = new Set();

/** Answers at most this many changed rows at once; more, and the list is asked anew. */
const MOST_CHANGED = 100;

/**
 * The list of a query. `atTop` is asked when new rows come: at the top they go in at once, else they wait for `showWaiting`.
 */
export function useRunList(query: RunQuery, atTop: () => boolean): RunList {
  const host = useHost();
  const client = useQueryClient();
  const key = useMemo(() => ["run-list", query] as const, [query]);
  const ask = useCallback(
    async (after: string | undefined): Promise<TimedPage> => {
      const begun = performance.now();
      const page = await host
        .call("runs", { query, limit: PAGE, ...(after === undefined ? {} : { after }) })
        .catch((thrown: unknown) => Promise.reject(toApiError(thrown)));
      return { ...page, took: performance.now() - begun };
    },
    [host, query],
  );
  const result = useInfiniteQuery<TimedPage, ApiError, Pages, typeof key, string | undefined>({
    queryKey: key,
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, isPlaceholderData } = result;

  // What belongs to an older query counts no more.
  const [heldOf, setHeldOf] = useState<Held>({ of: key, rows: [], total: undefined });
  const [freshOf, setFreshOf] = useState<{ of: unknown; runs: ReadonlySet<string> }>({ of: key, runs: NONE });
  const held = heldOf.of === key ? heldOf : { of: key, rows: [], total: undefined };
  const fresh = freshOf.of === key ? freshOf.runs : NONE;
  const rows = useMemo(() => {
    const seen = new Set<string>();
    const all: RunRow[] = [];
    // A run that began meanwhile can show up on two pages.
    for (const page of data?.pages ?? [])
      for (const row of page.rows)
        if (!seen.has(row.runId)) {
          seen.add(row.runId);
          all.push(row);
        }
    return all;
  }, [data]);

  const latest = useRef({ rows, atTop, ask, key, isPlaceholderData, held });
  useEffect(() => {
    latest.current = { rows, atTop, ask, key, isPlaceholderData, held };
  });
  const setHeld = useCallback((rows: RunRow[], total: number | undefined) => setHeldOf({ of: key, rows, total }), [key]);

  const putOnTop = useCallback(
    (added: RunRow[], total: number | undefined) => {
      client.setQueryData<Pages>(latest.current.key, (old) => {
        const first = old?.pages[0];
        if (!old || !first) return old;
        return { ...old, pages: [{ ...first, rows: [...added, ...first.rows], ...(total === undefined ? {} : { total }) }, ...old.pages.slice(1)] };
      });
      setFreshOf({ of: latest.current.key, runs: new Set(added.map(({ runId }) => runId)) });
    },
    [client],
  );

  const lookForNew = useCallback(async () => {
    const page = await latest.current.ask(undefined);
    const { rows: now, atTop: isAtTop } = latest.current;
    const known = new Set(now.map(({ runId }) => runId));
    const newest = now[0];
    const added: RunRow[] = [];
    for (const row of page.rows) {
      if (known.has(row.runId)) continue;
      if (!newest || row.createdAt >= newest.createdAt) added.push(row);
    }
    if (added.length > 0 && isAtTop()) {
      putOnTop(added, page.total);
      setHeld([], undefined);
    } else {
      setHeld(added, page.total);
    }
  }, [putOnTop, setHeld]);

  const applyChange = useCallback(
    async (change: StoreChanged) => {
      const { rows: now, key: current } = latest.current;
      if (change.all || change.runs.length > MOST_CHANGED) {
        await client.refetchQueries({ queryKey: current, exact: true });
        return;
      }
      const known = new Map(now.map((row) => [row.runId, row]));
      const loaded = change.runs.filter((run) => known.has(run));
      if (loaded.length > 0) {
        const changed = new Map((await host.call("run_row", { runs: loaded })).map((row) => [row.runId, row]));
        const gone = new Set(loaded.filter((run) => !changed.has(run)));
        client.setQueryData<Pages>(
          current,
          (old) =>
            old && {
              ...old,
              pages: old.pages.map((page, index) => ({
                ...page,
                ...(index === 0 && gone.size > 0 && page.total !== undefined ? { total: Math.max(0, page.total - gone.size) } : {}),
                // Where a text was found stays as it was: it is still there.
                rows: page.rows
                  .filter(({ runId }) => !gone.has(runId))
                  .map((row) => {
                    const next = changed.get(row.runId);
                    return next ? { ...next, ...(row.found ? { found: row.found } : {}) } : row;
                  }),
              })),
            },
        );
      }
      if (loaded.length < change.runs.length) await lookForNew();
    },
    [client, host, lookForNew],
  );

  // One change at a time, in order; those that come meanwhile are joined.
  const busy = useRef(false);
  const queued = useRef<StoreChanged | null>(null);
  useChanges((change) => {
    const before = queued.current;
    queued.current = before
      ? { seq: change.seq, all: before.all || change.all, runs: [...new Set([...before.runs, ...change.runs])], projects: [] }
      : change;
    if (busy.current || latest.current.isPlaceholderData) return;
    busy.current = true;
    void (async () => {
      try {
        while (queued.current) {
          const next = queued.current;
          queued.current = null;
          await applyChange(next);
        }
      } catch {
        // The footer of the sidebar says that the store can't be reached; the next change tries again.
      } finally {
        busy.current = false;
      }
    })();
  });

  const last = data?.pages[0];
  return {
    rows,
    total: last?.total,
    complete: last?.complete ?? true,
    tookMs: last?.took,
    isLoading: result.isPending,
    isStale: isPlaceholderData,
    error: result.error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]),
    retry: useCallback(() => void refetch(), [refetch]),
    waiting: held.rows.length,
    showWaiting: useCallback(() => {
      const { held: now } = latest.current;
      if (now.rows.length > 0) putOnTop(now.rows, now.total);
      setHeld([], undefined);
    }, [putOnTop, setHeld]),
    fresh,
  };
}
