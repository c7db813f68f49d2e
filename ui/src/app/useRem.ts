// One rem in pixels, for what has to be counted in pixels (virtual lists).
import { useSyncExternalStore } from "react";

const read = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

function watch(watcher: () => void): () => void {
  const styles = new MutationObserver(watcher);
  styles.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
  return () => styles.disconnect();
}

export function useRem(): number {
  return useSyncExternalStore(watch, read);
}
