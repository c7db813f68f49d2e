// One tab stop for a list of links or buttons, arrows inside (design, "Focus order").
import { type KeyboardEvent, type RefObject, useLayoutEffect } from "react";

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
    const [previous, next] = orientation === "vertical" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const to =
      event.key === previous ? at - 1 : event.key === next ? at + 1 : event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : undefined;
    if (to === undefined) return;
    event.preventDefault();
    const target = all[Math.max(0, Math.min(all.length - 1, to))];
    stopAt(target);
    target?.focus();
  };
}
