// The window's content: providers around the shell.
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { Host } from "../api/contract";
import { Feed, FeedProvider } from "../api/feed";
import { createQueryClient } from "../api/queries";
import { HostProvider, toApiError } from "../host";
import { LiveRegion } from "../kit/Live";
import { ToastHost } from "../kit/toast";
import { RouterProvider } from "./router";
import { SettingsProvider } from "./settings";
import { Shell } from "./Shell";

/** Everything below the shell needs; tests put a single view in it. */
export function Providers({ host, client, children }: { host: Host; client?: QueryClient; children: ReactNode }) {
  const [{ queries, feed }] = useState(() => {
    const queries = client ?? createQueryClient();
    return { queries, feed: new Feed(host, queries) };
  });
  useEffect(() => feed.start(), [feed]);
  // A query that doesn't reach the store tells what the footer has to say.
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.action.type !== "error") return;
        const { code } = toApiError(event.action.error);
        if (code === "store_unavailable" || code === "store_too_new") void feed.check(true);
      }),
    [feed, queries],
  );
  return (
    <HostProvider value={host}>
      <QueryClientProvider client={queries}>
        <FeedProvider value={feed}>
          <RouterProvider>
            <SettingsProvider>
              <ToastHost>
                {children}
                <LiveRegion />
              </ToastHost>
            </SettingsProvider>
          </RouterProvider>
        </FeedProvider>
      </QueryClientProvider>
    </HostProvider>
  );
}

export function App({ host }: { host: Host }) {
  return (
    <Providers host={host}>
      <Shell />
    </Providers>
  );
}
