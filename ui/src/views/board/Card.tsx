// A card on its column. One button: it opens; dragging and Shift with an arrow move it.
import type { PointerEvent } from "react";
import { Calendar, CalendarX2 } from "lucide-react";
import type { BoardCard } from "../../api/contract";
import { useNow } from "../../app/clock";
import { useI18n } from "../../i18n";
import { Glyph, Icon, revealText } from "../../kit";
import { ClaimMark, PriorityBars, Ring, TypeIcon } from "./Marks";
import { daysSince, dueOf, type Overlap } from "./model";
import { priorityWord, typeWord } from "./words";

const CLAIM_WORDS = { live: "kit.claimLive", held: "kit.claimHeld", stale: "kit.claimStale", orphaned: "kit.claimOrphaned" } as const;

/** When it is due, and for a blocked one since when nothing happened. Only one of both. */
function Standing({ card }: { card: BoardCard }) {
  const { t, format } = useI18n();
  const now = useNow(60_000);
  if (card.claim) return <ClaimMark claim={card.claim} />;
  if (card.status === "blocked") return <span className="bd-aside k-trunc">{t("board.days", { count: daysSince(card.updated, now) })}</span>;
  const due = dueOf(card, now);
  if (!due) return null;
  return (
    <span
      className="bd-aside bd-due"
      data-late={due.isLate || undefined}
      title={t(due.isLate ? "board.overdue" : "board.due", { date: format.longDate(due.at) })}
    >
      <Icon of={due.isLate ? CalendarX2 : Calendar} size={12} />
      <span className="k-trunc">{format.shortDate(due.at)}</span>
    </span>
  );
}

/** What is drawn inside of a card; also of the one under the pointer while it is dragged. */
export function CardFace({ card, overlaps }: { card: BoardCard; overlaps?: readonly Overlap[] }) {
  const { rich } = useI18n();
  const other = overlaps?.[0];
  const hasFoot = (card.acceptance?.total ?? 0) > 0 || card.claim !== undefined || card.due !== undefined || card.status === "blocked";
  return (
    <>
      <span className="bd-card-head">
        <PriorityBars priority={card.priority} />
        <span className="bd-id">{revealText(card.id)}</span>
        <span className="k-grow" />
        <TypeIcon type={card.type} />
      </span>
      <span className="bd-card-title" dir="auto">
        {revealText(card.title)}
      </span>
      {hasFoot && (
        <span className="bd-card-foot">
          {card.acceptance && card.acceptance.total > 0 && <Ring {...card.acceptance} />}
          <Standing card={card} />
        </span>
      )}
      {other && (
        <span className="bd-overlap">
          <Glyph name="notice" size={13} label="" />
          <span className="k-break">
            {rich(overlaps.length > 1 ? "board.overlapsMore" : "board.overlaps", {
              id: <span className="k-num">{revealText(other.card.id)}</span>,
              n: overlaps.length - 1,
            })}
          </span>
        </span>
      )}
    </>
  );
}

/** The card in one sentence, for those who can't see it. */
export function useCardName(): (card: BoardCard, overlaps?: readonly Overlap[]) => string {
  const { t, format } = useI18n();
  return (card, overlaps) => {
    const due = dueOf(card, Date.now());
    return [
      `${revealText(card.id)} ${revealText(card.title)}`,
      typeWord(card.type, t),
      priorityWord(card.priority, t),
      ...(card.acceptance && card.acceptance.total > 0 ? [t("board.criteria", { done: card.acceptance.done, total: card.acceptance.total })] : []),
      ...(card.claim ? [t("board.claimedBy", { state: t(CLAIM_WORDS[card.claim.state]), name: revealText(card.claim.by) })] : []),
      ...(card.status === "blocked" ? [t("board.blockedFor", { count: daysSince(card.updated, Date.now()) })] : []),
      ...(due ? [t(due.isLate ? "board.overdue" : "board.due", { date: format.longDate(due.at) })] : []),
      ...(overlaps?.[0] ? [t("board.overlaps", { id: overlaps[0].card.id })] : []),
    ].join(t("board.join"));
  };
}

export interface CardProps {
  card: BoardCard;
  name: string;
  overlaps?: readonly Overlap[];
  /** The one card of the board that Tab reaches. */
  isStop: boolean;
  isOpen: boolean;
  /** It is being dragged: this is the pale copy left behind. */
  isLifted: boolean;
  /** The move is on its way. */
  isMoving: boolean;
  describedBy: string;
  onOpen: () => void;
  onFocus: () => void;
  onPointerDown?: (event: PointerEvent<HTMLElement>) => void;
}

export function Card({ card, name, overlaps, isStop, isOpen, isLifted, isMoving, describedBy, onOpen, onFocus, onPointerDown }: CardProps) {
  return (
    <button
      type="button"
      className="bd-card"
      data-card={card.id}
      data-lifted={isLifted || undefined}
      data-moving={isMoving || undefined}
      aria-current={isOpen || undefined}
      aria-describedby={describedBy}
      tabIndex={isStop ? 0 : -1}
      onClick={onOpen}
      onFocus={onFocus}
      onPointerDown={onPointerDown}
    >
      <span className="k-visually-hidden">{name}</span>
      <span className="bd-face" aria-hidden="true">
        <CardFace card={card} overlaps={overlaps} />
      </span>
    </button>
  );
}
