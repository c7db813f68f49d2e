// Small things this window remembers by itself: the folded sidebar, saved views. Nothing that a run or a project owns.
import { useCallback, useState } from "react";

const PREFIX = "workflow-code.";

export function remembered<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A window without storage forgets; nothing else is lost.
  }
}

/** A state that the window still has after it was closed. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState(() => remembered(name, initial));
  const set = useCallback(
    (next: T) => {
      setValue(next);
      remember(name, next);
    },
    [name],
  );
  return [value, set];
}
