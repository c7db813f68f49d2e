// Key caps. On macOS modifier names become their signs.
import "./kbd.css";

const isMac = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);
const MAC: Record<string, string> = { Ctrl: "⌘", Alt: "⌥", Shift: "⇧", Enter: "↵", Backspace: "⌫" };
const OTHER: Record<string, string> = { Enter: "↵" };

/** Splits "Ctrl Enter" into the caps to draw on this platform. */
export function keyCaps(keys: string, mac = isMac): string[] {
  return keys.split(" ").map((key) => (mac ? MAC : OTHER)[key] ?? key);
}

export interface KbdProps {
  /** Keys separated by a space, as the design writes them: "Ctrl K", "Shift R". */
  keys: string;
  className?: string;
}

export function Kbd({ keys, className }: KbdProps) {
  return (
    <span className={className ? `k-keys ${className}` : "k-keys"} aria-hidden="true">
      {keyCaps(keys).map((key, index) => (
        <kbd key={index}>{key}</kbd>
      ))}
    </span>
  );
}

/** Keys as plain text, for the inside of a button. */
export function keyText(keys: string): string {
  return keyCaps(keys).join(isMac ? "" : " ");
}
