// The one ticking clock behind every relative time and elapsed counter. It stands still while the window is hidden.
import { useCallback, useSyncExternalStore } from "react";

const watchers = new Set<() => void>();
let timer: number | undefined;
/** The time that all see until the next tick: one that goes on within a slow render would make React draw for ever. */
let ticked = Date.now();

function tick(): void {
  ticked = Date.now();
  for (const watcher of watchers) watcher();
}

function adjust(): void {
  const wanted = watchers.size > 0 && document.visibilityState === "visible";
  if (wanted && timer === undefined) {
    timer = window.setInterval(tick, 1000);
    tick();
  } else if (!wanted && timer !== undefined) {
    window.clearInterval(timer);
    timer = undefined;
  }
}

document.addEventListener("visibilitychange", adjust);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === undefined) adjust();
  return () => {
    watchers.delete(watcher);
    adjust();
  };
}

/** Now, in steps of `step` milliseconds: the component renders again only when the step is over. */
export function useNow(step: 1000 | 10_000 | 60_000 = 10_000): number {
  const snapshot = useCallback(() => Math.floor((timer === undefined ? Date.now() : ticked) / step) * step, [step]);
  return useSyncExternalStore(watch, snapshot);
}
