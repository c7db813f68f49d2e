// Which host the page runs in. The mock exists in development only: a production build has no path to it.
import type { Host } from "../api/contract";

export async function chooseHost(): Promise<Host> {
  if ("__TAURI_INTERNALS__" in window) return (await import("./tauri")).createTauriHost();
  const wanted = new URLSearchParams(location.search).get("host") ?? import.meta.env.VITE_HOST;
  if (import.meta.env.DEV && wanted !== "http") return (await import("./mock")).createMockHostFromAddress(location.search);
  return (await import("./http")).createHttpHost();
}
