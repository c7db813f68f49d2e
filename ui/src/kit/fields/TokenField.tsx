import { useRef, useState } from "react";
import { X } from "lucide-react";
import { useI18n } from "../../i18n";
import { Icon } from "../Icon";
import { revealText } from "../text";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";

export interface TokenFieldProps extends ControlProps<readonly string[]> {
  placeholder?: string;
  /** Position of a token that is wrong. */
  wrong?: number;
  mono?: boolean;
}

/** Several texts: Enter adds one, Backspace in the empty box takes the last one back for editing, pasted lines become one each. */
export function TokenField({ value, onChange, onBlur, placeholder, wrong, mono, locked, ...rest }: TokenFieldProps) {
  const { t } = useI18n();
  const [typed, setTyped] = useState("");
  const input = useRef<HTMLInputElement>(null);

  const add = (texts: readonly string[]) => {
    const fresh = texts.map((text) => text.trim()).filter((text) => text !== "");
    setTyped("");
    if (fresh.length > 0) onChange([...value, ...fresh]);
  };

  return (
    // A click anywhere in the box goes to the text; the keyboard gets there anyhow.
    <span
      className="k-input k-tokens"
      data-invalid={rest.invalid || undefined}
      data-disabled={locked || undefined}
      onClick={(event) => event.target === event.currentTarget && input.current?.focus()}
    >
      {value.map((token, index) => (
        <span key={`${index} ${token}`} className={index === wrong ? "k-chip k-chip-on k-chip-wrong" : "k-chip k-chip-on"}>
          <span className={mono ? "k-trunc k-mono" : "k-trunc"}>{revealText(token)}</span>
          {!locked && (
            <button
              type="button"
              className="k-chip-x"
              aria-label={t("kit.remove", { name: revealText(token) })}
              onClick={() => {
                onChange(value.filter((_, other) => other !== index));
                input.current?.focus();
              }}
            >
              <Icon of={X} size={12} />
            </button>
          )}
        </span>
      ))}
      <input
        {...ariaOf(rest)}
        ref={input}
        type="text"
        value={typed}
        placeholder={value.length === 0 ? placeholder : undefined}
        readOnly={locked}
        autoComplete="off"
        dir="auto"
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          // What stands in the box when it is left counts; nobody loses a word for want of Enter.
          add([typed]);
          onBlur?.();
        }}
        onPaste={(event) => {
          const lines = event.clipboardData.getData("text").split(/\r?\n/);
          if (lines.length < 2) return;
          event.preventDefault();
          add([typed, ...lines]);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || locked) return;
          if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && typed.trim() !== "") {
            event.preventDefault();
            add([typed]);
          } else if (event.key === "Backspace" && typed === "" && value.length > 0) {
            event.preventDefault();
            setTyped(value.at(-1)!);
            onChange(value.slice(0, -1));
          }
        }}
      />
    </span>
  );
}
