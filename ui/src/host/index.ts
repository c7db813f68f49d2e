// What the page runs in, as an interface; which one it is, is decided once at the start (`choose.ts`).
import { createContext, useContext } from "react";
import type { ApiError, Host } from "../api/contract";

export type { Host } from "../api/contract";

const Context = createContext<Host | null>(null);

export const HostProvider = Context.Provider;

/** The host. Views take data by `useQuery` of `api/queries` and act by `useCall`; the host itself is for files, links and the clipboard. */
export function useHost(): Host {
  const host = useContext(Context);
  if (!host) throw new Error("useHost outside of a HostProvider");
  return host;
}

/** Makes an `ApiError` of whatever was thrown. */
export function toApiError(thrown: unknown): ApiError {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown) {
    const { code, message } = thrown as { code: unknown; message: unknown };
    if (typeof code === "string" && typeof message === "string") return thrown as ApiError;
  }
  return { code: "internal", message: thrown instanceof Error ? thrown.message : String(thrown) };
}
