// How many runs the store has in all; the store keeps that number, so asking costs nothing.
import type { RunQuery } from "../api/contract";
import { useData } from "../api/queries";

const ALL: RunQuery = {};

/** Undefined while unknown. */
export function useTotalRuns(): number | undefined {
  const home = useData("home", {}).data;
  const isTold = home?.total !== undefined;
  const { data } = useData("runs", { query: ALL, limit: 1 }, { enabled: home !== undefined && !isTold });
  return home?.total ?? data?.total;
}
