// Chips (filters, values), tags (a word about a thing) and client tiles.
import type { ReactNode } from "react";
import { User, X, type LucideIcon } from "lucide-react";
import { cx } from "./cx";
import { Icon } from "./Icon";
import "./chip.css";

export interface ChipProps {
  children: ReactNode;
  icon?: LucideIcon;
  /** Set: filled. */
  on?: boolean;
  dashed?: boolean;
  iconAfter?: LucideIcon;
  onClick?: () => void;
  /** Gives it a cross; `removeLabel` names what goes. */
  onRemove?: () => void;
  removeLabel?: string;
  className?: string;
}

export function Chip({ children, icon, on, dashed, iconAfter, onClick, onRemove, removeLabel, className }: ChipProps) {
  const inner = (
    <>
      {icon && <Icon of={icon} size={12} className="k-chip-icon" />}
      <span className="k-trunc">{children}</span>
      {iconAfter && <Icon of={iconAfter} size={12} className="k-chip-icon" />}
    </>
  );
  const classes = cx("k-chip", on && "k-chip-on", dashed && "k-chip-dash", className);
  if (onRemove) {
    return (
      <span className={classes}>
        {onClick ? (
          <button type="button" className="k-chip-in" onClick={onClick}>
            {inner}
          </button>
        ) : (
          inner
        )}
        <button type="button" className="k-chip-x" aria-label={removeLabel} onClick={onRemove}>
          <Icon of={X} size={12} />
        </button>
      </span>
    );
  }
  return onClick ? (
    <button type="button" className={classes} onClick={onClick} aria-pressed={on}>
      {inner}
    </button>
  ) : (
    <span className={classes}>{inner}</span>
  );
}

export type Tone = "idle" | "ok" | "run" | "wait" | "fail" | "intr";

/** A short word on a tint. */
export function Tag({ tone = "idle", title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={cx("k-tag", tone !== "idle" && `k-tag-${tone}`)} title={title}>
      {children}
    </span>
  );
}

/** Two letters for a client, "↳" for a parent run, a person for "You" (no letters given). */
export function Tile({ letters, large, label }: { letters?: string; large?: boolean; label?: string }) {
  return (
    <span
      className={cx("k-tile", large && "k-tile-large")}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {letters ? letters.slice(0, 2) : <Icon of={User} size={13} />}
    </span>
  );
}
