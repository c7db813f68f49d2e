// Where a view was scrolled to, for "back": each step of the history has places of its own, and none outlives the window.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { stepId } from "./router";

/** Places that are kept; the oldest go first. */
const MOST = 200;
const places = new Map<string, unknown>();

/** What was kept under this name in the present step of the history, and how to keep it. */
export function usePlace<T>(name: string): [was: T | undefined, keep: (place: T) => void] {
  const [key] = useState(() => `${stepId()} ${name}`);
  const [was] = useState(() => places.get(key) as T | undefined);
  const keep = useCallback(
    (place: T) => {
      places.delete(key);
      places.set(key, place);
      if (places.size > MOST) for (const oldest of places.keys()) return void places.delete(oldest);
    },
    [key],
  );
  return [was, keep];
}

/** Keeps how far an element is scrolled down. `ready`: what it shows is there. */
export function useScrollPlace(element: RefObject<HTMLElement | null>, name: string, ready: boolean): void {
  const [was, keep] = usePlace<number>(name);
  useLayoutEffect(() => {
    if (ready && was) element.current?.scrollTo({ top: was, behavior: "instant" });
  }, [ready, was, element]);
  useEffect(() => {
    const box = element.current;
    if (!ready || !box) return undefined;
    const onScroll = () => keep(box.scrollTop);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => box.removeEventListener("scroll", onScroll);
  }, [ready, keep, element]);
}
