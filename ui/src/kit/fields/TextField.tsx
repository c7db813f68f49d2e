import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Eye, EyeOff, Search, X, type LucideIcon } from "lucide-react";
import { useI18n } from "../../i18n";
import { cx } from "../cx";
import { Icon } from "../Icon";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";

export interface TextFieldProps extends ControlProps<string> {
  placeholder?: string;
  icon?: LucideIcon;
  small?: boolean;
  mono?: boolean;
  inputMode?: "text" | "decimal" | "numeric" | "email" | "url";
  /** At the right end, inside the box. */
  end?: ReactNode;
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void;
}

/** One line. */
export function TextField({ value, onChange, onBlur, placeholder, icon, small, mono, inputMode, end, onKeyDown, locked, ...rest }: TextFieldProps) {
  return (
    <span className={cx("k-input", small && "k-input-small")} data-invalid={rest.invalid || undefined} data-disabled={locked || undefined}>
      {icon && <Icon of={icon} size={16} />}
      <input
        {...ariaOf(rest)}
        type="text"
        className={mono ? "k-mono" : undefined}
        value={value}
        placeholder={placeholder}
        inputMode={inputMode}
        readOnly={locked}
        spellCheck={inputMode === undefined && !mono}
        autoComplete="off"
        dir="auto"
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      />
      {end}
    </span>
  );
}

/** Where the engine can't size a field by its content, its line ends do. */
function rowsFor(text: string, least: number): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && lines < 16; at = text.indexOf("\n", at + 1)) lines++;
  return Math.max(least, lines);
}

/** Many lines; grows with its text. */
export function TextArea({
  value,
  onChange,
  onBlur,
  placeholder,
  code,
  locked,
  ...rest
}: ControlProps<string> & { placeholder?: string; code?: boolean }) {
  return (
    <span
      className={cx("k-input k-input-area", code && "k-input-area-code")}
      data-invalid={rest.invalid || undefined}
      data-disabled={locked || undefined}
    >
      <textarea
        {...ariaOf(rest)}
        value={value}
        placeholder={placeholder}
        readOnly={locked}
        spellCheck={!code}
        rows={rowsFor(value, code ? 5 : 3)}
        dir={code ? "ltr" : "auto"}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
      />
    </span>
  );
}

/** Masked, with a button that reveals. The value never goes into a draft. */
export function SecretField({ value, onChange, onBlur, placeholder, locked, ...rest }: ControlProps<string> & { placeholder?: string }) {
  const { t } = useI18n();
  const [shown, setShown] = useState(false);
  return (
    <span className="k-input" data-invalid={rest.invalid || undefined} data-disabled={locked || undefined}>
      <input
        {...ariaOf(rest)}
        type={shown ? "text" : "password"}
        className={shown ? "k-mono" : undefined}
        value={value}
        placeholder={placeholder ?? t("kit.secretEmpty")}
        readOnly={locked}
        autoComplete="new-password"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
      />
      <button
        type="button"
        className="k-input-button"
        aria-label={shown ? t("kit.hide") : t("kit.show")}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
      >
        <Icon of={shown ? EyeOff : Eye} size={15} />
      </button>
    </span>
  );
}

export interface SearchFieldProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void;
  /** Where finding is what a person came for. */
  takesFocus?: boolean;
}

/** The search box of a view. Escape clears it. */
export function SearchField({ value, onChange, label, placeholder, onKeyDown, takesFocus }: SearchFieldProps) {
  const { t } = useI18n();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (takesFocus) input.current?.focus();
  }, [takesFocus]);
  return (
    <span className="k-input k-input-small">
      <Icon of={Search} size={15} />
      <input
        ref={input}
        type="search"
        data-search
        value={value}
        aria-label={label}
        placeholder={placeholder ?? label}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          onKeyDown?.(event);
          if (event.key === "Escape" && value && !event.defaultPrevented) {
            event.preventDefault();
            event.stopPropagation();
            onChange("");
          }
        }}
      />
      {value && (
        <button
          type="button"
          className="k-input-button"
          aria-label={t("common.clear")}
          onClick={() => {
            onChange("");
            input.current?.focus();
          }}
        >
          <Icon of={X} size={14} />
        </button>
      )}
    </span>
  );
}
