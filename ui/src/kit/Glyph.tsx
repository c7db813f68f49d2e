// The drawings of states (design README 5). Each state has its own shape, so none depends on colour. The drawings live once in the page as
// SVG symbols; only the running glyph is drawn in place, since an animation inside <use> does not run in every engine.
import { useInsertionEffect } from "react";
import type { RunStatus } from "../api/contract";
import { type MessageKey, useI18n } from "../i18n";
import "./glyph.css";

export type GlyphName = RunStatus | "todo" | "skipped" | "overridden" | "notice" | "claim_live" | "claim_held" | "claim_stale" | "claim_orphaned";

type Shape = readonly [tag: "circle" | "path", attributes: Record<string, string>];

const round = { "stroke-linecap": "round", "stroke-linejoin": "round" };
const ring = (stroke: string, more: Record<string, string> = {}): Shape => [
  "circle",
  { cx: "8", cy: "8", r: "6.25", fill: "none", stroke, "stroke-width": "1.5", ...more },
];
const line = (d: string, stroke: string, width: string): Shape => ["path", { d, fill: "none", stroke, "stroke-width": width, ...round }];
const disc = (fill: string): Shape => ["circle", { cx: "8", cy: "8", r: "7", fill }];
const triangle = line("M8 1.7l6.2 10.8a.9.9 0 0 1-.8 1.4H2.6a.9.9 0 0 1-.8-1.4L8 1.7z", "var(--wait)", "1.5");
const small = (fill: string, stroke: string, more: Record<string, string> = {}): Shape => [
  "circle",
  { cx: "8", cy: "8", r: "3.4", fill, stroke, "stroke-width": "1.6", ...more },
];

const SHAPES: Record<Exclude<GlyphName, "running">, readonly Shape[]> = {
  success: [ring("var(--ok-solid)"), line("M5.2 8.2l2 2 3.6-4", "var(--ok-solid)", "1.6")],
  waiting_for_input: [
    [
      "path",
      {
        d: "M3.6 1.6h8.8a2.4 2.4 0 0 1 2.4 2.4v5.2a2.4 2.4 0 0 1-2.4 2.4H8.7l-2.9 2.7c-.4.35-.9.1-.9-.4v-2.3H3.6a2.4 2.4 0 0 1-2.4-2.4V4a2.4 2.4 0 0 1 2.4-2.4z",
        fill: "var(--wait-solid)",
      },
    ],
    line("M6.3 5.15c.15-.9.8-1.45 1.75-1.45 1 0 1.75.6 1.75 1.5 0 1.2-1.55 1.3-1.7 2.35", "var(--wait-on)", "1.45"),
    ["circle", { cx: "8.05", cy: "9.5", r: ".95", fill: "var(--wait-on)" }],
  ],
  failed: [disc("var(--fail-solid)"), line("M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8", "var(--ink-on)", "1.7")],
  timeout: [disc("var(--fail-solid)"), line("M8 4.3V8l2.5 1.8", "var(--ink-on)", "1.6")],
  cancelled: [ring("var(--idle-solid)"), line("M4 12L12 4", "var(--idle-solid)", "1.5")],
  interrupted: [
    line("M6.1 2.05A6.25 6.25 0 0 0 6.1 13.95M9.9 2.05a6.25 6.25 0 0 1 0 11.9", "var(--intr-solid)", "1.6"),
    line("M8.9 4.6L6.6 8.2h2.8L7.1 11.6", "var(--intr-solid)", "1.5"),
  ],
  queued: [ring("var(--idle-solid)", { "stroke-dasharray": "2.3 1.98", "stroke-linecap": "round" })],
  todo: [ring("var(--ghost)")],
  skipped: [ring("var(--ghost)"), line("M5.2 8h5.6", "var(--idle-solid)", "1.5")],
  notice: [triangle, line("M8 6v3.2", "var(--wait)", "1.6"), ["circle", { cx: "8", cy: "11.4", r: ".9", fill: "var(--wait)" }]],
  overridden: [triangle, line("M5.7 9.8l1.6 1.6 3-3.2", "var(--wait)", "1.5")],
  claim_live: [["circle", { cx: "8", cy: "8", r: "4.2", fill: "var(--run-solid)" }]],
  claim_held: [small("none", "var(--idle-solid)")],
  claim_stale: [small("none", "var(--wait-solid)", { "stroke-dasharray": "3 2.34" })],
  claim_orphaned: [small("none", "var(--intr-solid)", { "stroke-dasharray": "0.1 2.57", "stroke-linecap": "round" })],
};

const NS = "http://www.w3.org/2000/svg";
const SPRITE_ID = "k-glyphs";

/** Puts the symbols into the page, once. */
function ensureSprite(): void {
  if (document.getElementById(SPRITE_ID)) return;
  const sprite = document.createElementNS(NS, "svg");
  sprite.id = SPRITE_ID;
  sprite.setAttribute("aria-hidden", "true");
  sprite.setAttribute("width", "0");
  sprite.setAttribute("height", "0");
  sprite.style.position = "absolute";
  for (const [name, shapes] of Object.entries(SHAPES)) {
    const symbol = document.createElementNS(NS, "symbol");
    symbol.id = `k-glyph-${name}`;
    symbol.setAttribute("viewBox", "0 0 16 16");
    for (const [tag, attributes] of shapes) {
      const element = document.createElementNS(NS, tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      symbol.append(element);
    }
    sprite.append(symbol);
  }
  document.body.prepend(sprite);
  // A hidden window draws nothing; don't turn glyphs for nobody.
  const mark = () => document.documentElement.toggleAttribute("data-hidden", document.hidden);
  document.addEventListener("visibilitychange", mark);
  mark();
}

export interface GlyphProps {
  name: GlyphName;
  /** Pixels at text size 100 %. */
  size?: number;
  /** Spoken instead of the state's word; "" when the word stands beside it. */
  label?: string;
  className?: string;
}

export function Glyph({ name, size = 16, label, className }: GlyphProps) {
  const { t } = useI18n();
  useInsertionEffect(ensureSprite, []);
  const spoken = label ?? t(GLYPH_WORDS[name]);
  const length = `${size / 16}rem`;
  return (
    <svg
      viewBox="0 0 16 16"
      style={{ width: length, height: length }}
      className={className ? `k-glyph ${className}` : "k-glyph"}
      data-glyph={name}
      {...(spoken ? { role: "img", "aria-label": spoken } : { "aria-hidden": true })}
    >
      {name === "running" ? (
        <>
          <circle cx="8" cy="8" r="6.25" fill="none" stroke="var(--run-solid)" strokeOpacity=".25" strokeWidth="1.5" />
          <path
            className="k-glyph-turn"
            d="M8 1.75a6.25 6.25 0 0 1 6.25 6.25"
            fill="none"
            stroke="var(--run-solid)"
            strokeWidth="1.9"
            strokeLinecap="round"
          />
          <circle cx="8" cy="8" r="2.4" fill="var(--run-solid)" />
        </>
      ) : (
        <use href={`#k-glyph-${name}`} />
      )}
    </svg>
  );
}

/** Message keys of the states' words, for every place that says a state. */
export const STATUS_WORDS = {
  queued: "common.queued",
  running: "common.running",
  waiting_for_input: "common.waiting_for_input",
  success: "common.success",
  failed: "common.failed",
  timeout: "common.timeout",
  cancelled: "common.cancelled",
  interrupted: "common.interrupted",
} as const satisfies Record<RunStatus, MessageKey>;

const GLYPH_WORDS = {
  ...STATUS_WORDS,
  todo: "common.notStarted",
  skipped: "common.skipped",
  overridden: "kit.passedWithReason",
  notice: "common.notice",
  claim_live: "kit.claimLive",
  claim_held: "kit.claimHeld",
  claim_stale: "kit.claimStale",
  claim_orphaned: "kit.claimOrphaned",
} as const satisfies Record<GlyphName, MessageKey>;
