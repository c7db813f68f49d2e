// Which view an address opens.
import { ahead, type Part } from "./ahead";
import type { Address } from "./router";

export interface View {
  name: "home" | "runs" | "run" | "compare" | "project" | "settings" | "first" | "kit";
  Component: Part;
}

// First, so that no letter is lost that is typed into what a key has opened.
export const Palette = ahead(() => import("../palette"));
export const RunForm = ahead(() => import("../views/runform"));

const home: View = { name: "home", Component: ahead(() => import("../views/home")) };
const first: View = { name: "first", Component: ahead(() => import("../views/first")) };
const byName: Record<string, View> = {
  runs: { name: "runs", Component: ahead(() => import("../views/runs")) },
  run: { name: "run", Component: ahead(() => import("../views/run")) },
  compare: { name: "compare", Component: ahead(() => import("../views/compare")) },
  project: { name: "project", Component: ahead(() => import("../views/project")) },
  settings: { name: "settings", Component: ahead(() => import("../views/settings")) },
  first,
};
// The page of all controls is for development; a shipped page has no way to it.
if (import.meta.env.DEV) byName.kit = { name: "kit", Component: ahead(() => import("../kit/KitPage")) };

/** The view of an address; Home for whatever isn't known. While there is no project, Home is the first start. */
export function viewOf(address: Address, hasProjects: boolean): View {
  const name = address.segments[0];
  if (name !== undefined && Object.hasOwn(byName, name)) return byName[name] as View;
  return hasProjects ? home : first;
}
