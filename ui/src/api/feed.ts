// The change feed: takes `StoreChanged` from the host, makes exactly those queries stale, and knows whether the page is live.
import type { Query, QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { toApiError } from "../host";
import type { ApiError, Host, StoreChanged } from "./contract";

/** `live`: the feed works. `behind`: the store moved without the feed saying so; reloading. `down`: the store can't be asked. */
export interface FeedState {
  state: "live" | "behind" | "down";
  /** When the last change arrived. */
  changedAt?: number;
  error?: ApiError;
}

/** Lists and sums that any run may change. */
const OF_ANY_RUN = new Set<string>(["home", "projects", "runs", "runs_per_day", "project_overview", "storage"]);
/** What belongs to a project's folder or its registration. */
const OF_ANY_PROJECT = new Set<string>([
  "home",
  "projects",
  "project_overview",
  "project_sample",
  "project_settings",
  "dock",
  "storage",
  "providers",
  "board_view",
  "board_card",
  "board_refusals",
]);
/** Never made stale by the store. */
const NOT_OF_STORE = new Set<string>(["app_info", "connection"]);

/** Whether a query may be stale after a change. */
export function concerns(key: readonly unknown[], change: StoreChanged): boolean {
  const name = String(key[0]);
  if (NOT_OF_STORE.has(name)) return false;
  if (change.all) return true;
  const request = (key[1] ?? {}) as { run?: unknown; runs?: unknown };
  if (change.runs.length > 0) {
    if (OF_ANY_RUN.has(name)) return true;
    if (typeof request.run === "string" && change.runs.includes(request.run)) return true;
    if (Array.isArray(request.runs) && request.runs.some((run) => change.runs.includes(run as string))) return true;
  }
  return change.projects.length > 0 && OF_ANY_PROJECT.has(name);
}

/** How often the page asks whether the feed has gone silent, in milliseconds. */
const CHECK_EVERY = 30_000;

export class Feed {
  #host: Host;
  #client: QueryClient;
  #seq = 0;
  #isStarted = false;
  /** Queries that changed while they were being asked. */
  #again = new Set<string>();
  #state: FeedState = { state: "live" };
  #watchers = new Set<() => void>();
  #listeners = new Set<(change: StoreChanged) => void>();

  constructor(host: Host, client: QueryClient) {
    this.#host = host;
    this.#client = client;
  }

  /** Listens until the answer is called. */
  start(): () => void {
    const end = this.#host.onChange((change) => this.apply(change));
    const endAgain = this.#client.getQueryCache().subscribe(({ type, query }) => {
      if (type === "updated" && query.state.fetchStatus !== "fetching" && this.#again.delete(query.queryHash)) void this.#ask(query);
    });
    const check = () => {
      if (document.visibilityState === "visible") void this.check(this.#state.state === "down");
    };
    const timer = window.setInterval(check, CHECK_EVERY);
    window.addEventListener("focus", check);
    document.addEventListener("visibilitychange", check);
    return () => {
      end();
      endAgain();
      window.clearInterval(timer);
      window.removeEventListener("focus", check);
      document.removeEventListener("visibilitychange", check);
    };
  }

  /** Tells which number the page's first answers had. */
  startAt(seq: number): void {
    this.#isStarted = true;
    this.#seq = Math.max(this.#seq, seq);
  }

  /** Takes a change: queries go stale, listeners hear of it. */
  apply(change: StoreChanged): void {
    void this.#spread(change);
    this.#set({ state: "live", changedAt: Date.now() });
  }

  #ask({ queryKey }: Query): Promise<void> {
    return this.#client.invalidateQueries({ queryKey, exact: true });
  }

  /** Makes stale what the change concerns; ends when it was asked again. */
  async #spread(change: StoreChanged): Promise<void> {
    // After "everything" the store's number counts, also a smaller one: it may be another store.
    this.#seq = change.all && change.seq > 0 ? change.seq : Math.max(this.#seq, change.seq);
    const asked: Promise<void>[] = [];
    for (const query of this.#client.getQueryCache().getAll()) {
      // What failed is asked again together with everything else.
      if (!concerns(query.queryKey, change) && !(change.all && query.state.status === "error")) continue;
      // An answer that is on its way may be older than the change. Asking anew at once would throw it away, and while changes keep coming
      // nothing would ever arrive; so it is asked again as soon as it is here.
      if (query.state.fetchStatus === "fetching") this.#again.add(query.queryHash);
      else asked.push(this.#ask(query));
    }
    for (const listener of this.#listeners) listener(change);
    await Promise.allSettled(asked);
  }

  /**
   * Compares the page's number with the store's; catches up when the feed was silent. `now`: also before the first answer, when there is
   * nothing to compare but something failed.
   */
  async check(now = false): Promise<void> {
    if (!this.#isStarted && !now) return;
    let missed: StoreChanged;
    try {
      missed = await this.#host.call("changes_since", { seq: this.#seq });
    } catch (thrown) {
      this.#set({ ...this.#state, state: "down", error: toApiError(thrown) });
      return;
    }
    const isBack = this.#state.state === "down";
    const moved = missed.all || missed.runs.length > 0 || missed.projects.length > 0;
    if (!moved && !isBack) return;
    this.#set({ state: "behind", changedAt: this.#state.changedAt });
    // When the store is back, whatever was asked meanwhile is asked again.
    await this.#spread(isBack ? { ...missed, all: true } : missed);
    if (this.#state.state === "behind") this.#set({ state: "live", changedAt: Date.now() });
  }

  listen(listener: (change: StoreChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  snapshot = (): FeedState => this.#state;

  #set(state: FeedState): void {
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}

const Context = createContext<Feed | null>(null);
export const FeedProvider = Context.Provider;

export function useFeed(): Feed {
  const feed = useContext(Context);
  if (!feed) throw new Error("useFeed outside of a FeedProvider");
  return feed;
}

/** Whether the page is live, and since when. */
export function useFeedState(): FeedState {
  const feed = useFeed();
  return useSyncExternalStore(feed.watch, feed.snapshot);
}

/** Hears of every change while mounted. */
export function useChanges(listener: (change: StoreChanged) => void): void {
  const feed = useFeed();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => feed.listen((change) => latest.current(change)), [feed]);
}
