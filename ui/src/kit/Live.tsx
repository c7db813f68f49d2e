// Says things to assistive technology without moving the focus.
import { useEffect, useState } from "react";

type Listener = (text: string) => void;
const listeners = new Set<Listener>();

/** Speaks `text` politely, once. The same text twice is spoken twice. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

/** Once, at the root of the window. */
export function LiveRegion() {
  const [said, setSaid] = useState({ text: "", turn: 0 });
  useEffect(() => {
    const listener: Listener = (text) => setSaid((before) => ({ text, turn: before.turn + 1 }));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return (
    <div className="k-visually-hidden" role="status" aria-live="polite">
      <span key={said.turn}>{said.text}</span>
    </div>
  );
}
