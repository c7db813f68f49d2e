// The host in the window: one `rpc` command and a few events. The only file that knows the shell's packages.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type { Commands, Host, StoreChanged } from "../api/contract";
import { toApiError } from ".";

/** Subscribes to an event of the shell; the answer ends it, also while the subscription is still on its way. */
function subscribe<T>(event: string, listener: (payload: T) => void): () => void {
  let ended = false;
  let end: (() => void) | undefined;
  void listen<T>(event, (message) => listener(message.payload)).then((unlisten) => {
    if (ended) unlisten();
    else end = unlisten;
  });
  return () => {
    ended = true;
    end?.();
  };
}

export function createTauriHost(): Host {
  const native = async <T>(name: string, args: Record<string, unknown>): Promise<T> => {
    try {
      return await invoke<T>("rpc", { name, request: args });
    } catch (error) {
      throw toApiError(error);
    }
  };
  return {
    call: <N extends keyof Commands>(name: N, request: Commands[N][0]) => native<Commands[N][1]>(name, request as Record<string, unknown>),
    onChange: (listener) => subscribe<StoreChanged>("store-changed", listener),
    // Files, links and the rest of the desktop are commands of the shell, beside those of the contract.
    pickFolder: () => native("host_pick_folder", {}),
    pickFiles: (multiple) => native("host_pick_files", { multiple }),
    copyText: (text) => native("host_copy_text", { text }),
    reveal: (path) => native("host_reveal", { path }),
    openLink: (url) => native("host_open_link", { url }),
    notify: (title, body, run) => native("host_notify", { title, body, run }),
    onDrop: (listener) => subscribe<string[]>("files-dropped", listener),
    async setTitle(title) {
      document.title = title;
      await native("host_set_title", { title });
    },
    ready: () => native("host_ready", {}),
    onNavigate: (listener) => subscribe<string>("navigate", listener),
  };
}
