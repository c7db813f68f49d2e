// The small drawings of a card: priority, type, how much of the acceptance is met, who holds it.
import { Bug, FileText, Layers, Lightbulb, SearchCheck, SquareCheck, StickyNote, Wrench, Zap, type LucideIcon } from "lucide-react";
import type { BoardCard } from "../../api/contract";
import { tileOf } from "../../app/clients";
import { useI18n } from "../../i18n";
import { Glyph, Icon, revealText } from "../../kit";
import { claimParts } from "./model";
import { priorityWord } from "./words";

const TYPES: Record<string, LucideIcon> = {
  epic: Layers,
  idea: Lightbulb,
  feature: Zap,
  bug: Bug,
  task: SquareCheck,
  audit: SearchCheck,
  docs: FileText,
  chore: Wrench,
};

export function TypeIcon({ type, size = 13 }: { type: string; size?: number }) {
  return <Icon of={TYPES[type] ?? StickyNote} size={size} className="bd-type" />;
}

const BARS: Record<string, number> = { critical: 3, high: 3, medium: 2, low: 1 };

/** Three bars; critical ones are red. `spoken` gives it its name, where no words stand near. */
export function PriorityBars({ priority, spoken }: { priority: string; spoken?: boolean }) {
  const { t } = useI18n();
  const full = BARS[priority] ?? 0;
  const ink = priority === "critical" ? "var(--fail-solid)" : "var(--ink-2)";
  const bar = (index: number) => (index < full ? ink : "var(--line-strong)");
  return (
    <svg className="bd-bars" viewBox="0 0 13 12" {...(spoken ? { role: "img", "aria-label": priorityWord(priority, t) } : { "aria-hidden": true })}>
      <rect x="0" y="8" width="3.2" height="4" rx="1" fill={bar(0)} />
      <rect x="4.5" y="4.5" width="3.2" height="7.5" rx="1" fill={bar(1)} />
      <rect x="9" y="1" width="3.2" height="11" rx="1" fill={bar(2)} />
    </svg>
  );
}

const ROUND = 2 * Math.PI * 5;

export function Ring({ done, total }: { done: number; total: number }) {
  const { t } = useI18n();
  const full = total > 0 && done >= total;
  const part = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0;
  return (
    <span className="bd-ring k-num" data-full={full || undefined}>
      <svg viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5" fill="none" stroke="var(--line-strong)" strokeWidth="2.5" />
        {part > 0 && (
          <circle
            cx="7"
            cy="7"
            r="5"
            fill="none"
            stroke={full ? "var(--ok-solid)" : "var(--ink-2)"}
            strokeWidth="2.5"
            strokeDasharray={`${part * ROUND} ${ROUND * 2}`}
            transform="rotate(-90 7 7)"
          />
        )}
      </svg>
      {t("board.ring", { done, total })}
    </span>
  );
}

/** The name of a claim in full: `Claude Code #3f9a`. */
export function longClaim(by: string): string {
  const { name, session } = claimParts(by);
  return revealText(session ? `${name} #${session}` : name).slice(0, 120);
}

/** `CC 3f9a` for a client's session, the name before the `@` for a person. */
export function shortClaim(by: string): string {
  const { name, session } = claimParts(by);
  return revealText(session ? `${tileOf(name)} ${session}` : (name.split("@")[0] ?? name)).slice(0, 40);
}

export function ClaimMark({ claim }: { claim: NonNullable<BoardCard["claim"]> }) {
  return (
    <span className="bd-claim" title={revealText(claim.by)}>
      <Glyph name={`claim_${claim.state}`} size={16} label="" />
      <span className="k-trunc">{shortClaim(claim.by)}</span>
    </span>
  );
}
