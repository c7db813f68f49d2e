import { address } from "../../app/router";

/** The list of runs, with what the search box would say: `project:weekly-report entrypoint:main`. */
export function runsOf(filter: { project: string; entrypoint?: string }): string {
  return address(["runs"], { project: filter.project, entrypoint: filter.entrypoint });
}
