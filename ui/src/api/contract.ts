// The window's contract: what the backend declares (`generated.ts`, made from its commands), and what the page runs in.
// Everything is JSON. Times are milliseconds since the epoch. Optional means absent.
import type { Commands, StoreChanged } from "./generated";

export type * from "./generated";

/**
 * What the page talks to. `tauri` ships; `http` talks to a dev server (`POST /rpc {name, request}` → `{ok}` or `{error: ApiError}`,
 * `GET /events`); both in `src/host`.
 */
export interface Host {
  /** Rejects with an `ApiError`. */
  call<N extends keyof Commands>(name: N, request: Commands[N][0]): Promise<Commands[N][1]>;
  onChange(listener: (change: StoreChanged) => void): () => void;
  pickFolder(): Promise<string | null>;
  pickFiles(multiple: boolean): Promise<string[]>;
  /** Where a file is to be saved, once a person has chosen; one that is there was asked about. */
  pickSave(name: string): Promise<string | null>;
  copyText(text: string): Promise<void>;
  /** Shows in the file manager what belongs to a run or a project. */
  reveal(path: string): Promise<void>;
  /** `https` only. */
  openLink(url: string): Promise<void>;
  notify(title: string, body: string, run: string): Promise<void>;
  onDrop(listener: (paths: string[]) => void): () => void;
  setTitle(title: string): Promise<void>;
  /** A second start, or a click on a notification, asks for a view. */
  onNavigate(listener: (address: string) => void): () => void;
  /** Files are being dragged over the window. */
  onOver(listener: (over: boolean) => void): () => void;
  /** The page listens and has painted; answers the view that it was asked for meanwhile. */
  ready(): Promise<string | null>;
}
