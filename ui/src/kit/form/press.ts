// A field that is left because something is being pressed must not move that thing away under the pointer: its message waits until the
// press is over, so that the press becomes a click.

let pressed = false;
const waiting = new Set<() => void>();

function release(): void {
  pressed = false;
  // The click comes after the pointer is up, in the same turn.
  setTimeout(() => {
    const due = [...waiting];
    waiting.clear();
    for (const then of due) then();
  }, 0);
}

window.addEventListener("pointerdown", () => (pressed = true), true);
window.addEventListener("pointerup", release, true);
window.addEventListener("pointercancel", release, true);

/** Does it now, or once the pointer is up again. */
export function afterPress(then: () => void): void {
  if (pressed) waiting.add(then);
  else then();
}
