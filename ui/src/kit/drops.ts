// Who takes files that are dropped on the window. The window's overlay asks here first; a form on screen registers itself, the newest wins.
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface DropTaker {
  /** For the overlay: the name of the field or form that takes the files. */
  name: string;
  take: (paths: string[]) => void;
}

let takers: { taker: () => DropTaker }[] = [];
const watchers = new Set<() => void>();
const changed = () => {
  for (const watcher of watchers) watcher();
};

/** Whoever takes dropped files now, if anyone. */
export function dropTaker(): DropTaker | undefined {
  return takers.at(-1)?.taker();
}

/** The same as a state: whether anyone does. */
export function useHasDropTaker(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => takers.length > 0,
  );
}

/** Takes dropped files while mounted (and given). */
export function useDropTaker(taker: DropTaker | undefined): void {
  const latest = useRef(taker);
  useEffect(() => {
    latest.current = taker;
  });
  const on = taker !== undefined;
  useEffect(() => {
    if (!on) return;
    const entry = { taker: () => latest.current! };
    takers = [...takers, entry];
    changed();
    return () => {
      takers = takers.filter((other) => other !== entry);
      changed();
    };
  }, [on]);
}
