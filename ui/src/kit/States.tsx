// What a view shows when it has nothing, not yet, or not any more.
import { useEffect, useState, type ReactNode } from "react";
import type { LucideIcon } from "lucide-react";
import { Copy, RotateCcw } from "lucide-react";
import type { ApiError } from "../api/contract";
import { useHost } from "../host";
import { useI18n } from "../i18n";
import { Button } from "./Button";
import { errorDetails, errorKey } from "./errors";
import { announce } from "./Live";
import { Glyph, type GlyphName } from "./Glyph";
import { Icon } from "./Icon";
import { Said } from "./Said";
import "./states.css";

export interface EmptyProps {
  icon?: LucideIcon;
  glyph?: GlyphName;
  /** One sentence. */
  title: string;
  text?: ReactNode;
  /** The next step, as buttons. */
  children?: ReactNode;
  /** One line instead of a block. */
  inline?: boolean;
}

export function Empty({ icon, glyph, title, text, children, inline }: EmptyProps) {
  return (
    <div className={inline ? "k-empty k-empty-inline" : "k-empty"}>
      {icon && <Icon of={icon} size={inline ? 16 : 24} className="k-empty-icon" />}
      {glyph && <Glyph name={glyph} size={inline ? 16 : 24} label="" />}
      <div className="k-empty-title">{title}</div>
      {text && <div className="k-empty-text">{text}</div>}
      {children && <div className="k-empty-buttons">{children}</div>}
    </div>
  );
}

export interface ErrorStateProps {
  error: ApiError;
  onRetry?: () => void;
  /** What failed, when the code's sentence alone would not say it. */
  title?: string;
  children?: ReactNode;
}

/** Inline, where the data would be: what, why, what now; the code in mono; "Try again" and "Copy details". */
export function ErrorState({ error, onRetry, title, children }: ErrorStateProps) {
  const { t } = useI18n();
  const host = useHost();
  const copy = () => {
    host.copyText(errorDetails(error)).then(
      () => announce(t("common.copied")),
      () => {},
    );
  };
  return (
    <div className="k-error" role="alert">
      <Glyph name="failed" label="" />
      <div className="k-col k-grow">
        <div className="k-med k-break">{title ?? t(errorKey(error.code))}</div>
        <div className="k-error-message">
          <Said text={error.message} className="k-mono k-break" /> <code className="k-error-code">{error.code}</code>
        </div>
        {error.hint && <Said text={error.hint} className="k-error-hint k-break" />}
        {children}
        <div className="k-error-buttons">
          {onRetry && (
            <Button size="small" icon={RotateCcw} onClick={onRetry}>
              {t("common.retry")}
            </Button>
          )}
          <Button size="small" look="quiet" icon={Copy} onClick={copy}>
            {t("common.copyDetails")}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Shows its content only after 120 ms, so that what is quick never flickers. */
export function Late({ children, after = 120 }: { children: ReactNode; after?: number }) {
  const [due, setDue] = useState(after === 0);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), after);
    return () => clearTimeout(timer);
  }, [after]);
  return due ? children : null;
}

/** A grey bar in the place of a text. `width` in rem or any CSS length. */
export function Bone({ width = "8rem", height = "0.625rem" }: { width?: string; height?: string }) {
  return <span className="k-bone" style={{ width, height }} />;
}

/** Grey rows in the frame of a list. */
export function BoneRows({ rows = 6, tall }: { rows?: number; tall?: boolean }) {
  const { t } = useI18n();
  return (
    <Late>
      <div className="k-panel k-rows" aria-busy="true" role="status" aria-label={t("common.loading")}>
        {Array.from({ length: rows }, (_, index) => (
          <div key={index} className="k-row" style={tall ? { minHeight: "var(--h-row-tall)" } : undefined} aria-hidden="true">
            <Bone width="1rem" height="1rem" />
            <Bone width={`${6 + ((index * 5) % 7)}rem`} />
            <span className="k-grow" />
            <Bone width="5rem" />
          </div>
        ))}
      </div>
    </Late>
  );
}
