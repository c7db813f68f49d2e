// The host in the window: one `rpc` command and a few events. The only file that knows the shell's packages.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type { Commands, Host, StoreChanged } from "../api/contract";
import { toApiError } from ".";

export function createTauriHost(): Host {
  /** Subscriptions on their way: the shell speaks only to those who listen already. */
  const pending = new Set<Promise<unknown>>();

  /** Subscribes to an event of the shell; the answer ends it, also while the subscription is still on its way. */
  function subscribe<T>(event: string, listener: (payload: T) => void): () => void {
    let ended = false;
    let end: (() => void) | undefined;
    const begun = listen<T>(event, (message) => listener(message.payload)).then((unlisten) => {
      pending.delete(begun);
      if (ended) unlisten();
      else end = unlisten;
    });
    pending.add(begun);
    return () => {
      ended = true;
      end?.();
    };
  }

  async function rpc<T>(name: string, request: unknown): Promise<T> {
    try {
      return await invoke<T>("rpc", { name, request });
    } catch (error) {
      throw toApiError(error);
    }
  }

  let wanted = "";
  let titled: Promise<void> = Promise.resolve();

  return {
    call: <N extends keyof Commands>(name: N, request: Commands[N][0]) => rpc<Commands[N][1]>(name, request),
    onChange: (listener) => subscribe<StoreChanged>("store-changed", listener),
    // Files, links and the rest of the desktop are commands of the shell, beside those of the contract.
    pickFolder: () => rpc("host_pick_folder", {}),
    pickFiles: (multiple) => rpc("host_pick_files", { multiple }),
    pickSave: (name) => rpc("host_pick_save", { name }),
    copyText: (text) => rpc("host_copy_text", { text }),
    reveal: (path) => rpc("host_reveal", { path }),
    openLink: (url) => rpc("host_open_link", { url }),
    notify: (title, body, run) => rpc("host_notify", { title, body, run }),
    onDrop: (listener) => subscribe<string[]>("files-dropped", listener),
    onOver: (listener) => subscribe<boolean>("files-over", listener),
    // One after the other, and only the last that is wanted: the shell takes calls side by side.
    setTitle(title) {
      document.title = title;
      wanted = title;
      titled = titled.catch(() => undefined).then(() => (wanted === title ? rpc<void>("host_set_title", { title }) : undefined));
      return titled;
    },
    onNavigate: (listener) => subscribe<string>("navigate", listener),
    async ready() {
      await Promise.allSettled(pending);
      return rpc<string | null>("host_ready", {});
    },
  };
}
