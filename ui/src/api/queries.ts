// Reading and acting: react-query over the host. Data stays fresh for ever; only the change feed makes it stale (`feed.ts`).
import { keepPreviousData, QueryClient, type UseMutationResult, type UseQueryResult, useMutation, useQuery } from "@tanstack/react-query";
import { type Host, toApiError, useHost } from "../host";
import type { ApiError, Commands } from "./contract";

/** The query client of a page. Nothing is retried or refetched by itself. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Infinity,
        gcTime: 10 * 60_000,
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

export interface DataOptions {
  /** Off: nothing is asked. */
  enabled?: boolean;
  /** The old answer stays while a changed request is on its way. */
  keepPrevious?: boolean;
}

/** How a reading command is asked and remembered: by its name and its request. */
export function dataQuery<N extends keyof Commands>(host: Host, name: N, request: Commands[N][0]) {
  return {
    queryKey: [name, request] as const,
    queryFn: (): Promise<Commands[N][1]> => host.call(name, request).catch((thrown: unknown) => Promise.reject(toApiError(thrown))),
  };
}

/** The answer of a reading command, kept up to date by the change feed. Its key is `[name, request]`. */
export function useData<N extends keyof Commands>(
  name: N,
  request: Commands[N][0],
  options: DataOptions = {},
): UseQueryResult<Commands[N][1], ApiError> {
  const host = useHost();
  return useQuery<Commands[N][1], ApiError>({
    ...dataQuery(host, name, request),
    enabled: options.enabled ?? true,
    ...(options.keepPrevious ? { placeholderData: keepPreviousData as never } : {}),
  });
}

/** An acting command: `const cancel = useAct("cancel_run"); cancel.mutate({ run })`. What it changes comes back by the feed. */
export function useAct<N extends keyof Commands>(name: N): UseMutationResult<Commands[N][1], ApiError, Commands[N][0]> {
  const host = useHost();
  return useMutation<Commands[N][1], ApiError, Commands[N][0]>({
    mutationFn: (request) => host.call(name, request).catch((thrown: unknown) => Promise.reject(toApiError(thrown))),
  });
}
