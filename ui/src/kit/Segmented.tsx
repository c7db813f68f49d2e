// One of a few, side by side. A radio group for assistive technology: one tab stop, arrows choose.
import { useRef, type KeyboardEvent, type ReactNode } from "react";
import { cx } from "./cx";
import "./tabs.css";

export interface Segment<V> {
  value: V;
  label: ReactNode;
  /** Spoken, where the label is a drawing. */
  title?: string;
}

export interface SegmentedProps<V> {
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  id?: string;
  /** Nothing chosen: undefined. */
  value: V | undefined;
  items: readonly Segment<V>[];
  onChange: (value: V) => void;
  onBlur?: () => void;
  size?: "small" | "medium" | "large";
  disabled?: boolean;
  invalid?: boolean;
}

export function Segmented<V>({
  label,
  labelledBy,
  describedBy,
  id,
  value,
  items,
  onChange,
  onBlur,
  size = "medium",
  disabled,
  invalid,
}: SegmentedProps<V>) {
  const root = useRef<HTMLDivElement>(null);
  const current = items.findIndex((item) => item.value === value);

  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || disabled) return;
    event.preventDefault();
    const from = current < 0 ? (step > 0 ? -1 : 0) : current;
    const next = (from + step + items.length) % items.length;
    onChange(items[next]!.value);
    root.current?.querySelectorAll<HTMLElement>("[role=radio]")[next]?.focus();
  };

  return (
    <div
      ref={root}
      id={id}
      role="radiogroup"
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      aria-invalid={invalid || undefined}
      data-disabled={disabled || undefined}
      className={cx("k-seg", size !== "medium" && `k-seg-${size}`)}
      onKeyDown={move}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) onBlur?.();
      }}
    >
      {items.map((item, index) => (
        <button
          key={index}
          type="button"
          role="radio"
          aria-checked={index === current}
          aria-label={item.title}
          aria-disabled={disabled || undefined}
          tabIndex={index === Math.max(current, 0) ? 0 : -1}
          className="k-seg-item"
          onClick={() => !disabled && onChange(item.value)}
        >
          <span>{item.label}</span>
        </button>
      ))}
    </div>
  );
}
