// The overviews of several projects, each read once and kept by the change feed like any other answer.
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ProjectOverview, ProjectRow } from "../api/contract";
import { dataQuery } from "../api/queries";
import { useHost } from "../host";

export interface Overviews {
  /** Those that have come, in the order of their projects. */
  overviews: ProjectOverview[];
  /** Whether none is on its way any more. */
  settled: boolean;
}

/** One function, so that the same answers give the same list. */
function gathered(answers: readonly { data?: unknown; isPending: boolean }[]): Overviews {
  return {
    overviews: answers.flatMap((answer) => (answer.data ? [answer.data as ProjectOverview] : [])),
    settled: answers.every((answer) => !answer.isPending),
  };
}

export function useOverviews(projects: readonly ProjectRow[]): Overviews {
  const host = useHost();
  return useQueries({
    queries: projects.map((project) => dataQuery(host, "project_overview", { project: project.key })),
    combine: gathered,
  });
}

/** The projects whose folder is there, the last used first. */
export function useLately(projects: readonly ProjectRow[] | undefined, most: number): ProjectRow[] {
  return useMemo(
    () =>
      [...(projects ?? [])]
        .filter((project) => !project.missing)
        .sort((a, b) => b.usedAt - a.usedAt)
        .slice(0, most),
    [projects, most],
  );
}
