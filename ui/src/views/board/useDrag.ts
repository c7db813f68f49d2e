// Dragging a card with the pointer. Where the lifted card is, is written to its element directly; only the column under it is a state.
import { type PointerEvent as ReactPointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Outcome } from "./useMoves";

/** So far the pointer goes before a press becomes a drag, in pixels. */
const SLACK = 5;
/** How near to the edge of the canvas it scrolls, and how far per frame, in pixels. */
const EDGE = 40;
const STEP = 12;

export interface Drag {
  id: string;
  /** The column under the pointer. */
  over: string | null;
  /** Of the card when it was lifted, in pixels. */
  width: number;
}

export interface DragHandle {
  drag: Drag | null;
  /** The lifted card's element. */
  ghost: RefObject<HTMLDivElement | null>;
  start(id: string, event: ReactPointerEvent<HTMLElement>): void;
}

function cardElement(root: HTMLElement | null, id: string): HTMLElement | null {
  return root?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`) ?? null;
}

/** `onDrop` tells what became of it: a card that was not moved flies back to where it came from. */
export function useDrag(
  root: RefObject<HTMLElement | null>,
  onLift: (id: string) => void,
  onDrop: (id: string, status: string) => Promise<Outcome>,
): DragHandle {
  const [drag, setDrag] = useState<Drag | null>(null);
  const ghost = useRef<HTMLDivElement>(null);
  const end = useRef<() => void>(() => undefined);
  const handlers = useRef({ onLift, onDrop });
  useEffect(() => {
    handlers.current = { onLift, onDrop };
  });
  useEffect(() => () => end.current(), []);

  const start = useCallback(
    (id: string, event: ReactPointerEvent<HTMLElement>) => {
      // A finger scrolls; it moves cards from the card's page.
      if (event.button !== 0 || event.pointerType === "touch" || event.shiftKey || event.ctrlKey || event.metaKey) return;
      const box = event.currentTarget.getBoundingClientRect();
      const grip = { x: event.clientX - box.left, y: event.clientY - box.top };
      const from = { x: event.clientX, y: event.clientY };
      const at = { ...from };
      let lifted = false;
      let over: string | null = null;
      let frame = 0;

      const place = () => {
        if (ghost.current) ghost.current.style.transform = `translate(${at.x - grip.x}px, ${at.y - grip.y}px) rotate(1.2deg)`;
      };
      const look = () => {
        const under = document.elementFromPoint(at.x, at.y)?.closest<HTMLElement>("[data-column]");
        const found = under && root.current?.contains(under) ? (under.dataset.column ?? null) : null;
        if (found === over) return;
        over = found;
        setDrag((before) => (before ? { ...before, over: found } : before));
      };
      const tick = () => {
        place();
        const canvas = root.current;
        if (canvas && canvas.scrollWidth > canvas.clientWidth) {
          const edges = canvas.getBoundingClientRect();
          if (at.x < edges.left + EDGE) canvas.scrollLeft -= STEP;
          else if (at.x > edges.right - EDGE) canvas.scrollLeft += STEP;
        }
        look();
        frame = requestAnimationFrame(tick);
      };
      const move = (event: PointerEvent) => {
        at.x = event.clientX;
        at.y = event.clientY;
        if (lifted || Math.hypot(at.x - from.x, at.y - from.y) < SLACK) return;
        lifted = true;
        document.documentElement.classList.add("bd-is-dragging");
        setDrag({ id, over: null, width: box.width });
        handlers.current.onLift(id);
        frame = requestAnimationFrame(tick);
      };
      const stop = () => {
        cancelAnimationFrame(frame);
        window.removeEventListener("pointermove", move);
        window.removeEventListener("pointerup", up);
        window.removeEventListener("pointercancel", cancel);
        window.removeEventListener("keydown", key, true);
        document.documentElement.classList.remove("bd-is-dragging");
        end.current = () => undefined;
      };
      const gone = () => setDrag((before) => (before?.id === id ? null : before));
      const flyBack = () => {
        const home = cardElement(root.current, id)?.getBoundingClientRect();
        const element = ghost.current;
        const duration = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--t-base")) || 0;
        if (!home || !element || duration === 0) return gone();
        setDrag((before) => (before ? { ...before, over: null } : before));
        const flight = element.animate(
          [{ transform: element.style.transform }, { transform: `translate(${home.left}px, ${home.top}px) rotate(0deg)` }],
          { duration, easing: "cubic-bezier(0.2, 0.8, 0.2, 1)", fill: "forwards" },
        );
        flight.finished.then(gone, gone);
      };
      const up = (event: PointerEvent) => {
        at.x = event.clientX;
        at.y = event.clientY;
        const wasLifted = lifted;
        if (wasLifted) {
          look();
          // The press ends on the card it began on: this is not a click.
          const swallow = (click: MouseEvent) => {
            click.stopPropagation();
            click.preventDefault();
          };
          window.addEventListener("click", swallow, { capture: true, once: true });
          window.setTimeout(() => window.removeEventListener("click", swallow, { capture: true }), 0);
        }
        stop();
        if (!wasLifted) return;
        if (over === null) return flyBack();
        handlers.current.onDrop(id, over).then((outcome) => (outcome === "moved" ? gone() : flyBack()), flyBack);
      };
      const cancel = () => {
        const wasLifted = lifted;
        stop();
        if (wasLifted) flyBack();
      };
      const key = (event: KeyboardEvent) => {
        if (event.key !== "Escape" || !lifted) return;
        event.preventDefault();
        event.stopPropagation();
        cancel();
      };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", up);
      window.addEventListener("pointercancel", cancel);
      window.addEventListener("keydown", key, true);
      end.current = stop;
    },
    [root],
  );
  return { drag, ghost, start };
}
