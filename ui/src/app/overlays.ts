// What opens over every view: the palette, the run form, the list of keys. One at a time; kept outside of the views so that each can open them.
import { useSyncExternalStore } from "react";

/** Which entrypoint to run; what is missing is asked in the form. */
export interface RunFormRequest {
  project?: string;
  entrypoint?: string;
  /** An older run whose input fills the form. */
  from?: string;
}

export type Overlay = { kind: "palette"; text?: string } | { kind: "run-form"; request: RunFormRequest } | { kind: "keys" };

let open: Overlay | null = null;
const watchers = new Set<() => void>();

function set(next: Overlay | null): void {
  open = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export const openPalette = (text?: string): void => set({ kind: "palette", ...(text ? { text } : {}) });
export const openRunForm = (request: RunFormRequest = {}): void => set({ kind: "run-form", request });
export const openKeys = (): void => set({ kind: "keys" });
export const closeOverlay = (): void => set(null);

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(watch, () => open);
}
