// Which view an address opens. Views are loaded when they are first shown.
import { type ComponentType, lazy, type LazyExoticComponent } from "react";
import type { Address } from "./router";

export interface View {
  name: "home" | "runs" | "run" | "compare" | "project" | "settings" | "first" | "kit";
  Component: LazyExoticComponent<ComponentType>;
}

const home: View = { name: "home", Component: lazy(() => import("../views/home")) };
const first: View = { name: "first", Component: lazy(() => import("../views/first")) };
const byName: Record<string, View> = {
  runs: { name: "runs", Component: lazy(() => import("../views/runs")) },
  run: { name: "run", Component: lazy(() => import("../views/run")) },
  compare: { name: "compare", Component: lazy(() => import("../views/compare")) },
  project: { name: "project", Component: lazy(() => import("../views/project")) },
  settings: { name: "settings", Component: lazy(() => import("../views/settings")) },
  first,
};
// The page of all controls is for development; a shipped page has no way to it.
if (import.meta.env.DEV) byName.kit = { name: "kit", Component: lazy(() => import("../kit/KitPage")) };

/** The view of an address; Home for whatever isn't known. While there is no project, Home is the first start. */
export function viewOf(address: Address, hasProjects: boolean): View {
  const name = address.segments[0];
  if (name !== undefined && Object.hasOwn(byName, name)) return byName[name] as View;
  return hasProjects ? home : first;
}

const palette = () => import("../palette");
const runForm = () => import("../views/runform");
export const Palette = lazy(palette);
export const RunForm = lazy(runForm);

// What opens by a key is fetched soon after the start, so that the first letters typed into it aren't lost.
window.setTimeout(() => void Promise.allSettled([palette(), runForm()]), 1500);
