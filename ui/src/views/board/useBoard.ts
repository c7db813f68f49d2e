// Reading and writing of a board. Reading tools are asked again when the board's `mark` moved, not at every change of the store: each call is
// recorded in the history, so that a call caused by its own record would never end.
import { useCallback } from "react";
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, JsonValue } from "../../api/contract";
import { toApiError, useHost } from "../../host";

/** The structured answer of a tool, whether it comes alone or inside of an MCP result. */
function structured(result: JsonValue): JsonValue {
  return typeof result === "object" && result !== null && "structuredContent" in result ? result.structuredContent : result;
}

interface ReadKey {
  project: string;
  tool: string;
  arguments: JsonValue;
  mark: string;
}

/** The answer of a reading tool. While the board moved on, the old answer stays. */
export function useBoardRead<T>(project: string, tool: string, args: JsonValue, mark: string, enabled = true): UseQueryResult<T, ApiError> {
  const host = useHost();
  return useQuery<T, ApiError>({
    queryKey: ["board_read", { project, tool, arguments: args, mark } satisfies ReadKey],
    queryFn: () =>
      host.call("board_call", { project, tool, arguments: args }).then(
        (result) => structured(result) as T,
        (thrown: unknown) => Promise.reject(toApiError(thrown)),
      ),
    enabled,
    placeholderData: (previous, query) => {
      const before = query?.queryKey[1] as ReadKey | undefined;
      return before?.tool === tool && before.project === project && JSON.stringify(before.arguments) === JSON.stringify(args)
        ? (previous as never)
        : undefined;
    },
  });
}

export interface BoardWriter {
  /** Calls a tool and, when it succeeded, reads the board anew. Rejects with `ApiError`. */
  call<T = JsonValue>(tool: string, args: Record<string, JsonValue>): Promise<T>;
  /** Reads everything of this board that is on screen anew. */
  refresh(): Promise<void>;
}

const OF_BOARD = new Set(["board_view", "board_card", "board_refusals"]);

export function useBoardWriter(project: string): BoardWriter {
  const host = useHost();
  const client = useQueryClient();
  const refresh = useCallback(
    () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => OF_BOARD.has(String(queryKey[0])) && (queryKey[1] as { project?: string } | undefined)?.project === project,
      }),
    [client, project],
  );
  const call = useCallback(
    async <T>(tool: string, args: Record<string, JsonValue>): Promise<T> => {
      try {
        const result = await host.call("board_call", { project, tool, arguments: args });
        await refresh();
        return structured(result) as T;
      } catch (thrown) {
        throw toApiError(thrown);
      }
    },
    [host, project, refresh],
  );
  return { call, refresh };
}
