// A run as a thread: dots = queued, bar = ran, dashes = waited for a person, end mark = how it ended.
import { memo, type ReactNode } from "react";
import type { RunStatus, Stage } from "../api/contract";
import { useI18n, type Format, type I18n } from "../i18n";
import { STATUS_WORDS } from "./Glyph";
import { LIFE_MAX, lifelineParts, lifelineSegments, type Part } from "./lifeline";
import { cx } from "./cx";
import "./glyph.css";

type T = I18n["t"];

/** "queued 3 s, ran 3 m 04 s, waited 6 m 12 s, ran 2 m 52 s, success" */
export function lifelineText(t: T, format: Format, parts: readonly Part[], status: RunStatus): string {
  const said = parts
    .filter((part) => part.to > part.from)
    .map((part) => {
      const took = format.duration(part.to - part.from);
      if (part.kind === "queue") return t("kit.lifeQueued", { took });
      if (part.kind === "wait") return t("kit.lifeWaited", { took });
      return t("kit.lifeRan", { took });
    });
  said.push(t(STATUS_WORDS[status]));
  return said.join(t("kit.lifeJoin"));
}

function EndMark({ status, x }: { status: RunStatus; x: number }) {
  switch (status) {
    case "queued":
      return <circle cx={x} cy="8" r="2.6" fill="none" stroke="var(--idle-solid)" strokeWidth="1.4" strokeDasharray="1.6 1.4" />;
    case "running":
      return <circle cx={x} cy="8" r="2.6" fill="var(--run-solid)" />;
    case "waiting_for_input":
      return <rect x={x - 3} y="5" width="6" height="6" rx="1.5" fill="var(--wait-solid)" />;
    case "success":
      return <circle cx={x} cy="8" r="3" fill="none" stroke="var(--ok-solid)" strokeWidth="1.6" />;
    case "failed":
    case "timeout":
      return <path d={`M${x - 2.5} 5.5l5 5m0-5l-5 5`} stroke="var(--fail-solid)" strokeWidth="1.7" strokeLinecap="round" />;
    case "cancelled":
      return <path d={`M${x} 4.5v7`} stroke="var(--idle-solid)" strokeWidth="1.7" strokeLinecap="round" />;
    case "interrupted":
      return (
        <path
          d={`M${x + 1} 4.5l-2.4 3.7h2.8l-2.2 3.4`}
          fill="none"
          stroke="var(--intr-solid)"
          strokeWidth="1.5"
          strokeLinejoin="round"
          strokeLinecap="round"
        />
      );
  }
}

export interface LifelineProps {
  stages: readonly Stage[];
  status: RunStatus;
  /** For runs that go on: the clock's time, milliseconds since the epoch. */
  now: number;
}

/** For rows: 120 × 16, length by the logarithm of the duration. */
export const Lifeline = memo(function Lifeline({ stages, status, now }: LifelineProps) {
  const { t, format } = useI18n();
  const parts = lifelineParts(stages, status, now);
  const { segments, mark } = lifelineSegments(parts);
  return (
    <svg
      className="k-life"
      viewBox={`0 0 ${LIFE_MAX} 16`}
      style={{ width: `${LIFE_MAX / 16}rem`, height: "1rem" }}
      role="img"
      aria-label={lifelineText(t, format, parts, status)}
    >
      {segments.map((segment, index) => {
        const { kind, x, width } = segment;
        if (kind === "queue")
          return <path key={index} d={`M${x} 8H${x + width}`} stroke="var(--idle-solid)" strokeWidth="1.5" strokeDasharray="1.5 2" />;
        if (kind === "wait")
          return <path key={index} d={`M${x + 1} 8H${x + width}`} stroke="var(--wait-solid)" strokeWidth="2" strokeDasharray="4 2.5" />;
        const fill = kind === "bad" ? "var(--fail-solid)" : kind === "now" ? "var(--run-solid)" : "var(--life-run)";
        return <rect key={index} x={x} y="5.5" width={width} height="5" rx={Math.min(1.5, width / 2)} fill={fill} />;
      })}
      <EndMark status={status} x={mark} />
    </svg>
  );
});

export interface StripPart {
  key: string;
  kind: "queue" | "ran" | "wait" | "now" | "bad" | "next";
  /** Below the bar. */
  label: ReactNode;
  /** Exact times, on hover; spoken as well. */
  title: string;
  /** Share of the width; stretches use milliseconds. */
  weight: number;
  onOpen?: () => void;
}

/** The wide form under a run's title: the segments are given by the view (phases, or stages where there are none). */
export function LifelineStrip({ parts, label }: { parts: readonly StripPart[]; label: string }) {
  const total = parts.reduce((sum, part) => sum + part.weight, 0) || 1;
  return (
    <div className="k-strip" role="group" aria-label={label}>
      {parts.map((part) => {
        const classes = cx("k-strip-part", part.kind !== "ran" && `k-strip-${part.kind}`);
        // A short part keeps a visible width.
        const style = { flex: `${Math.max(part.weight / total, 0.005)} 1 0` };
        const inner = (
          <>
            <span className="k-strip-bar" />
            <span className="k-strip-words">{part.label}</span>
          </>
        );
        return part.onOpen ? (
          <button type="button" key={part.key} className={classes} style={style} title={part.title} aria-label={part.title} onClick={part.onOpen}>
            {inner}
          </button>
        ) : (
          <span key={part.key} className={classes} style={style} title={part.title}>
            {inner}
          </span>
        );
      })}
    </div>
  );
}
