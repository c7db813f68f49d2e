// Buttons. One primary button per pane; a button that cannot act now says why in its tooltip instead of being silently off.
import { Children, forwardRef, type ButtonHTMLAttributes, type ReactNode } from "react";
import type { LucideIcon } from "lucide-react";
import { cx } from "./cx";
import { Icon } from "./Icon";
import { keyText } from "./Kbd";
import { Tooltip } from "./Tooltip";
import "./button.css";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> {
  /** default: bordered; primary: ink; quiet: no border; danger: red words. */
  look?: "default" | "primary" | "quiet" | "danger";
  size?: "small" | "medium" | "large";
  icon?: LucideIcon;
  /** Drawn after the words (an arrow, a chevron). */
  iconAfter?: LucideIcon;
  /** Keys shown inside, pale: "Ctrl Enter". */
  keys?: string;
  /** Why it cannot be pressed now. Greys it, keeps it focusable, and shows the reason as its tooltip. */
  offBecause?: string;
  submit?: boolean;
  children?: ReactNode;
}

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { look = "default", size = "medium", icon, iconAfter, keys, offBecause, submit, className, children, onClick, ...rest },
  ref,
) {
  const button = (
    <button
      {...rest}
      ref={ref}
      type={submit ? "submit" : "button"}
      className={cx("k-btn", `k-btn-${look}`, size !== "medium" && `k-btn-${size}`, className)}
      aria-disabled={offBecause ? true : rest["aria-disabled"]}
      onClick={offBecause ? (event) => event.preventDefault() : onClick}
    >
      {icon && <Icon of={icon} size={size === "small" ? 14 : 15} className="k-btn-icon" />}
      {Children.count(children) > 0 && <span className="k-btn-words">{children}</span>}
      {keys && (
        <span className="k-btn-keys" aria-hidden="true">
          {keyText(keys)}
        </span>
      )}
      {iconAfter && <Icon of={iconAfter} size={14} className="k-btn-icon" />}
    </button>
  );
  return offBecause ? <Tooltip text={offBecause}>{button}</Tooltip> : button;
});

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type" | "aria-label"> {
  icon: LucideIcon;
  /** Its name: label for assistive technology and tooltip. */
  label: string;
  keys?: string;
  size?: "small" | "medium";
  bordered?: boolean;
  /** For toggles. */
  pressed?: boolean;
  iconSize?: number;
  /** No tooltip, where the surrounding already says it (a clear cross inside a field). */
  bare?: boolean;
}

export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { icon, label, keys, size = "medium", bordered, pressed, iconSize, bare, className, ...rest },
  ref,
) {
  const button = (
    <button
      {...rest}
      ref={ref}
      type="button"
      aria-label={label}
      aria-pressed={pressed}
      className={cx("k-icon-btn", size === "small" && "k-icon-btn-small", bordered && "k-icon-btn-bordered", className)}
    >
      <Icon of={icon} size={iconSize ?? (size === "small" ? 15 : 16)} />
    </button>
  );
  if (bare) return button;
  return (
    <Tooltip text={label} keys={keys}>
      {button}
    </Tooltip>
  );
});

/** Two buttons that look like one: the usual action and a chevron that opens its variants. */
export function ButtonGroup({ children, className }: { children: ReactNode; className?: string }) {
  return <span className={cx("k-btn-group", className)}>{children}</span>;
}
