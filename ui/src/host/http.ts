// The host over HTTP: a dev server answers `POST /rpc` and streams changes from `GET /events`. For development and tests.
import type { ApiError, Commands, Host, StoreChanged } from "../api/contract";

export function createHttpHost(base = ""): Host {
  return {
    async call<N extends keyof Commands>(name: N, request: Commands[N][0]): Promise<Commands[N][1]> {
      let response: Response;
      try {
        response = await fetch(`${base}/rpc`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ name, request }),
        });
      } catch (error) {
        throw unavailable(error instanceof Error ? error.message : String(error));
      }
      const body = (await response.json().catch(() => null)) as { ok?: Commands[N][1]; error?: ApiError } | null;
      if (body?.error) throw body.error;
      if (!body || !("ok" in body)) throw unavailable(`The server answered ${response.status} to ${name}.`);
      return body.ok as Commands[N][1];
    },
    onChange(listener) {
      const events = new EventSource(`${base}/events`);
      events.addEventListener("message", (event: MessageEvent<string>) => {
        const change = parse(event.data);
        if (change) listener(change);
      });
      // What changed while the stream was broken is not told again.
      let wasOpen = false;
      events.addEventListener("open", () => {
        if (wasOpen) listener({ seq: 0, runs: [], projects: [], all: true });
        wasOpen = true;
      });
      return () => events.close();
    },
    // A browser can't hand out paths, so the person types one.
    pickFolder: async () => window.prompt("Folder")?.trim() || null,
    pickFiles: async () => {
      const path = window.prompt("File")?.trim();
      return path ? [path] : [];
    },
    pickSave: async (name) => window.prompt("Save as", name)?.trim() || null,
    copyText: (text) => navigator.clipboard.writeText(text),
    reveal: async () => {
      throw unsupported("A browser can't show a folder. The window can.");
    },
    async openLink(url) {
      if (!url.startsWith("https://")) throw unsupported(`Only https links are opened, and this is ${url}.`);
      window.open(url, "_blank", "noopener,noreferrer");
    },
    async notify(title, body, run) {
      if (!("Notification" in window) || Notification.permission !== "granted") return;
      const shown = new Notification(title, { body, tag: run });
      shown.addEventListener("click", () => {
        window.focus();
        location.hash = `#/run/${encodeURIComponent(run)}`;
      });
    },
    onDrop: () => () => {},
    async setTitle(title) {
      document.title = title;
    },
    onNavigate: () => () => {},
    onOver: () => () => {},
    ready: async () => null,
  };
}

function parse(data: string): StoreChanged | null {
  try {
    return JSON.parse(data) as StoreChanged;
  } catch {
    return null;
  }
}

const unavailable = (message: string): ApiError => ({ code: "store_unavailable", message });
const unsupported = (message: string): ApiError => ({ code: "unsupported", message });
