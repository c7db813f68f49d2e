// What can be done now, with its key: views register their actions, the keyboard map, the `?` overlay and the palette read them.
import type { LucideIcon } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";

/** Where an action is listed. */
export type ActionGroup = "go" | "view" | "do";

export interface Action {
  /** Unique among what is registered; a later registration with the same id wins. */
  id: string;
  title: string;
  group: ActionGroup;
  /** Every action has one. As the design writes it: `Ctrl K`, `G H` (one after the other), `Shift R`, `?`, `Alt ↑`. */
  keys: string;
  /** Other keys for the same, not shown. */
  alias?: string[];
  run: () => void;
  /** In the palette; without one it says how the action is: going somewhere, or doing something. */
  icon?: LucideIcon;
  /** Why it can't be done now; the action is listed, and its key does nothing. */
  off?: string;
  /** Also while a dialog is open, or a field has the focus. */
  everywhere?: boolean;
  /** Shown by the palette (default) or only known to the keyboard. */
  palette?: boolean;
}

let registered: { owner: symbol; shape: string; actions: Action[] }[] = [];
let flat: Action[] = [];
const watchers = new Set<() => void>();

function changed(): void {
  const byId = new Map<string, Action>();
  for (const { actions } of registered) for (const action of actions) byId.set(action.id, action);
  flat = [...byId.values()];
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** All actions of this moment. */
export function currentActions(): Action[] {
  return flat;
}

/** All actions of this moment, as a state. */
export function useAllActions(): Action[] {
  return useSyncExternalStore(watch, currentActions);
}

/**
 * Registers a view's actions while it is mounted. The list may be a new one at every render: what an action does is always that of the
 * last render; the listing changes only when a title, key or reason does.
 */
export function useActions(actions: Action[]): void {
  const latest = useRef(actions);
  const owner = useRef(Symbol("actions"));
  useEffect(() => {
    latest.current = actions;
  });
  const shape = JSON.stringify(
    actions.map(({ id, title, group, keys, alias, off, everywhere, palette }) => [id, title, group, keys, alias, off, everywhere, palette]),
  );
  useEffect(() => {
    const mine = owner.current;
    const stable = latest.current.map((action) => ({
      ...action,
      run: () => latest.current.find(({ id }) => id === action.id)?.run(),
    }));
    registered = [...registered.filter((entry) => entry.owner !== mine), { owner: mine, shape, actions: stable }];
    changed();
    return () => {
      registered = registered.filter((entry) => entry.owner !== mine);
      changed();
    };
  }, [shape]);
}
