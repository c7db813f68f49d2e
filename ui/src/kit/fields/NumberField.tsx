import { ChevronDown, ChevronUp } from "lucide-react";
import { parseNumber } from "../form/value";
import { Icon } from "../Icon";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";

export interface NumberFieldProps extends ControlProps<string> {
  minimum?: number;
  maximum?: number;
  integer?: boolean;
  placeholder?: string;
  small?: boolean;
}

/** Rounds off what binary fractions add. */
const tidy = (value: number) => Number(value.toPrecision(12));

/**
 * A number as text, so that what was typed stays as it was typed and a wrong one can be told. Steppers and arrows step by one (Shift: ten),
 * and stay within the limits.
 */
export function NumberField({ value, onChange, onBlur, minimum, maximum, integer, placeholder, small, locked, ...rest }: NumberFieldProps) {
  const step = (by: number) => {
    if (locked) return;
    const now = parseNumber(value);
    let next = now === undefined ? (minimum ?? 0) : tidy(now + by);
    if (integer) next = Math.round(next);
    if (minimum !== undefined) next = Math.max(next, minimum);
    if (maximum !== undefined) next = Math.min(next, maximum);
    onChange(String(next));
  };
  return (
    <span className={small ? "k-input k-input-small" : "k-input"} data-invalid={rest.invalid || undefined} data-disabled={locked || undefined}>
      <input
        {...ariaOf(rest)}
        type="text"
        role="spinbutton"
        aria-valuenow={parseNumber(value)}
        aria-valuemin={minimum}
        aria-valuemax={maximum}
        aria-valuetext={value || undefined}
        inputMode={integer ? "numeric" : "decimal"}
        className="k-num"
        value={value}
        placeholder={placeholder}
        readOnly={locked}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        onKeyDown={(event) => {
          if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
          if (event.ctrlKey || event.altKey || event.metaKey) return;
          event.preventDefault();
          step((event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1));
        }}
      />
      {!locked && (
        // The arrow keys do the same, so these are for the mouse only.
        <span className="k-steps" aria-hidden="true">
          <button type="button" tabIndex={-1} onClick={() => step(1)}>
            <Icon of={ChevronUp} size={12} />
          </button>
          <button type="button" tabIndex={-1} onClick={() => step(-1)}>
            <Icon of={ChevronDown} size={12} />
          </button>
        </span>
      )}
    </span>
  );
}
