// One tab stop for a list of links or buttons, arrows inside (design, "Focus order").
import { type KeyboardEvent, type RefObject, useLayoutEffect } from "react";
import { reachedBy } from "./listKeys";

/** For the keys of the box that filters such a list: Down goes into the list, Enter takes its first. */
export function leaveFinder(event: KeyboardEvent, list: HTMLElement | null): void {
  const first = list?.querySelector<HTMLElement>("[data-roving]");
  if (!first || event.nativeEvent.isComposing || (event.key !== "ArrowDown" && event.key !== "Enter")) return;
  event.preventDefault();
  if (event.key === "Enter") first.click();
  else first.focus();
}

/** Elements with `data-roving` inside `ref` share one tab stop. Give the answer to the container's `onKeyDown`. */
export function useRoving(ref: RefObject<HTMLElement | null>, orientation: "vertical" | "horizontal" = "vertical"): (event: KeyboardEvent) => void {
  const items = () => [...(ref.current?.querySelectorAll<HTMLElement>("[data-roving]") ?? [])];
  const stopAt = (current: HTMLElement | undefined) => {
    for (const item of items()) item.tabIndex = item === current ? 0 : -1;
  };
  useLayoutEffect(() => {
    const all = items();
    stopAt(all.find((item) => item === document.activeElement) ?? all.find((item) => item.getAttribute("aria-current")) ?? all[0]);
  });
  return (event) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = reachedBy(event.key, at, all.length, orientation === "vertical" ? undefined : ["ArrowLeft", "ArrowRight"]);
    if (to === undefined) return;
    event.preventDefault();
    const target = all[to];
    stopAt(target);
    target?.focus();
  };
}
