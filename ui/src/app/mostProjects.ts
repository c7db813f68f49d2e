// How much of a long registry a list shows. The rest is found by typing.
import type { ProjectRow } from "../api/contract";

/** Projects that the sidebar and menus show. */
export const MOST_PROJECTS = 30;

/** The first ones, the last used first; `kept` is among them wherever it stands. */
export function firstProjects(projects: readonly ProjectRow[], kept?: string, most = MOST_PROJECTS): ProjectRow[] {
  const first = projects.slice(0, most);
  const one = kept === undefined ? undefined : projects.find(({ key }) => key === kept);
  return one && !first.includes(one) ? [...first, one] : first;
}
