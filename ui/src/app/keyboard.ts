// The keyboard map: one listener that finds the action of a key, or of two keys pressed one after the other (`G H`).
import { useEffect, useRef } from "react";
import { type Action, currentActions } from "./actions";

const MODIFIERS = new Set(["Ctrl", "Alt", "Shift"]);
/** The second key of a pair must come within this time, in milliseconds. */
const PAIR_WITHIN = 1200;

const NAMES: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
};

/** The key of an event as the design writes it. Shift is named for letters and named keys, not for signs it makes (`?`). */
export function keyOf(event: KeyboardEvent): string {
  const name = NAMES[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const isSign = name.length === 1 && name.toLowerCase() === name.toUpperCase() && !/[↑↓←→]/.test(name);
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && !isSign) parts.push("Shift");
  parts.push(name);
  return parts.join(" ");
}

/** `G H` is a pair; `Shift X` is one stroke. */
export function strokesOf(keys: string): string[] {
  const strokes: string[] = [];
  let held: string[] = [];
  for (const part of keys.split(" ")) {
    if (MODIFIERS.has(part)) {
      held.push(part);
    } else {
      strokes.push([...held, part].join(" "));
      held = [];
    }
  }
  return strokes;
}

/** Whether typing goes into what has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "range"].includes(target.type);
}

/** Whether something floats over the page and has the keyboard. */
function isCovered(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"][data-open]') !== null;
}

/** Whether Enter and Space belong to what has the focus. */
function isPressable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button, a[href], [role="button"], [role="menuitem"], [role="option"], [role="tab"], summary') !== null
  );
}

function find(strokes: string[]): Action | undefined {
  const wanted = strokes.join(" ");
  // The last registered wins: a view inside another may give a key its own meaning.
  return currentActions().findLast((action) =>
    [action.keys, ...(action.alias ?? [])].some((keys) => keys !== undefined && strokesOf(keys).join(" ") === wanted),
  );
}

function startsPair(stroke: string): boolean {
  return currentActions().some((action) => action.keys !== undefined && strokesOf(action.keys).length > 1 && strokesOf(action.keys)[0] === stroke);
}

/** Listens for keys. `single`: keys without Ctrl or Alt work too. */
export function useKeyboard(single: boolean): void {
  const first = useRef<{ stroke: string; at: number } | null>(null);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (
        event.defaultPrevented ||
        event.isComposing ||
        event.key === "Shift" ||
        event.key === "Control" ||
        event.key === "Alt" ||
        event.key === "Meta"
      )
        return;
      const stroke = keyOf(event);
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const named = plain && /^(?:Shift )?(?:[↑↓←→]|Enter|Home|End|Esc|PageUp|PageDown)$/.test(stroke);
      const typing = isTyping(event.target);
      const covered = isCovered();
      const waiting = first.current;
      first.current = null;
      if (plain && !named && !single) return;

      const pair = waiting && !typing && event.timeStamp - waiting.at < PAIR_WITHIN ? find([waiting.stroke, stroke]) : undefined;
      const action = pair ?? find([stroke]);
      if (!action) {
        if (plain && !typing && !covered && startsPair(stroke)) first.current = { stroke, at: event.timeStamp };
        return;
      }
      if ((typing && plain) || (covered && !pair)) {
        if (!action.everywhere) return;
      }
      if ((stroke === "Enter" || stroke === "Space") && isPressable(event.target)) return;
      event.preventDefault();
      if (!action.off) action.run();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [single]);
}
