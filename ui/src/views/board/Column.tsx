// One column: its head, why it would refuse the lifted card, its cards. Long columns draw only what is on screen.
import { type PointerEvent, useEffect, useLayoutEffect, useRef } from "react";
import { Plus } from "lucide-react";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { BoardCard, BoardNeed } from "../../api/contract";
import { useRem } from "../../app/useRem";
import { useI18n } from "../../i18n";
import { Glyph, IconButton } from "../../kit";
import { Card, useCardName } from "./Card";
import type { BoardColumn, Overlap } from "./model";
import { statusWord } from "./words";

/** From this many cards on a column is virtual. */
const MANY = 30;
/** A card's usual height and the gap below it, in rem. */
const HEIGHT = 5.5;
const GAP = 0.375;

/** What the column says to the card that is being dragged. */
export interface DropHint {
  isOwn: boolean;
  isOver: boolean;
  /** In words, fit to be shown. */
  reasons: readonly string[];
  needs: readonly BoardNeed[];
}

export interface ColumnProps {
  column: BoardColumn;
  overlaps: ReadonlyMap<string, Overlap[]>;
  active: string | undefined;
  open: string | null;
  lifted: string | undefined;
  moving: ReadonlyMap<string, string>;
  hint?: DropHint;
  describedBy: string;
  onOpen: (card: BoardCard) => void;
  onFocus: (card: BoardCard) => void;
  onLift?: (id: string, event: PointerEvent<HTMLElement>) => void;
  onNew?: () => void;
}

/** Cards that come or go above keep those on screen where they are. */
function useSteadyScroll(scroller: React.RefObject<HTMLDivElement | null>, cards: readonly BoardCard[]): () => void {
  const anchor = useRef<{ id: string; top: number } | null>(null);
  const look = () => {
    const box = scroller.current;
    if (!box || box.scrollTop === 0) {
      anchor.current = null;
      return;
    }
    const edge = box.getBoundingClientRect().top;
    for (const card of box.querySelectorAll<HTMLElement>("[data-card]")) {
      const { top, bottom } = card.getBoundingClientRect();
      if (bottom > edge) {
        anchor.current = { id: card.dataset.card ?? "", top: top - edge };
        return;
      }
    }
  };
  const order = cards.map(({ id }) => id).join("\n");
  const before = useRef(order);
  useLayoutEffect(() => {
    const box = scroller.current;
    const held = anchor.current;
    if (before.current !== order && box && held) {
      const card = box.querySelector<HTMLElement>(`[data-card="${CSS.escape(held.id)}"]`);
      if (card) box.scrollBy({ top: card.getBoundingClientRect().top - box.getBoundingClientRect().top - held.top, behavior: "instant" });
    }
    before.current = order;
  }, [order, scroller]);
  return look;
}

export function Column({ column, overlaps, active, open, lifted, moving, hint, describedBy, onOpen, onFocus, onLift, onNew }: ColumnProps) {
  const { t, format } = useI18n();
  const nameOf = useCardName();
  const scroller = useRef<HTMLDivElement>(null);
  const rem = useRem();
  const { status, cards } = column;
  const isVirtual = cards.length > MANY;
  // Cards that have the focus or are lifted stay in the page wherever they are.
  const kept = cards.flatMap(({ id }, index) => (id === active || id === lifted ? [index] : []));
  const virtual = useVirtualizer({
    count: isVirtual ? cards.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT * rem,
    gap: GAP * rem,
    overscan: 5,
    getItemKey: (index) => cards[index]?.id ?? index,
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), ...kept])].sort((one, other) => one - other),
  });
  useEffect(() => virtual.measure(), [virtual, rem]);
  const look = useSteadyScroll(scroller, cards);

  const word = statusWord(status.id, t);
  const draw = (card: BoardCard) => (
    <Card
      card={card}
      name={nameOf(card, overlaps.get(card.id))}
      overlaps={overlaps.get(card.id)}
      isStop={card.id === active}
      isOpen={card.id === open}
      isLifted={card.id === lifted}
      isMoving={moving.has(card.id)}
      describedBy={describedBy}
      onOpen={() => onOpen(card)}
      onFocus={() => onFocus(card)}
      onPointerDown={onLift && ((event) => onLift(card.id, event))}
    />
  );
  const refuses = hint && !hint.isOwn && hint.reasons.length > 0;
  const wish =
    hint && !hint.isOwn && !refuses
      ? hint.needs.includes("reason")
        ? t("board.asksReason")
        : hint.needs.some((need) => need === "evidence" || need === "run")
          ? t("board.asksEvidence")
          : hint.needs.includes("claim")
            ? t("board.claimsForYou")
            : null
      : null;

  return (
    <section
      className="bd-column"
      data-column={status.id}
      data-over={(hint?.isOver && !hint.isOwn) || undefined}
      data-refuses={refuses || undefined}
      aria-label={t("board.columnLabel", { column: word, count: cards.length })}
    >
      <div className="bd-column-head">
        <h2 className="bd-column-name k-trunc">{word}</h2>
        <span className="bd-count k-num">{format.number(cards.length)}</span>
        <span className="k-grow" />
        {onNew && <IconButton icon={Plus} label={t("board.newCardIn", { column: word })} size="small" iconSize={14} onClick={onNew} />}
      </div>
      {refuses && (
        <div className="bd-gate">
          <Glyph name="notice" size={15} label="" />
          <span className="k-break">{hint.reasons.join(" ")}</span>
        </div>
      )}
      {wish && <div className="bd-wish">{wish}</div>}
      {hint?.isOver && !hint.isOwn && <div className="bd-slot" data-refuses={refuses || undefined} />}
      <div className="bd-column-scroll" ref={scroller} onScroll={look}>
        {cards.length === 0 ? (
          <p className="bd-column-empty">{t("board.emptyColumn")}</p>
        ) : isVirtual ? (
          // Two lists: cards of the one that stayed in the other would still be measured.
          <ul key="virtual" className="bd-cards-virtual" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const card = cards[item.index];
              return (
                card && (
                  <li
                    key={item.key}
                    ref={virtual.measureElement}
                    data-index={item.index}
                    aria-setsize={cards.length}
                    aria-posinset={item.index + 1}
                    style={{ transform: `translateY(${item.start}px)` }}
                  >
                    {draw(card)}
                  </li>
                )
              );
            })}
          </ul>
        ) : (
          <ul key="all" className="bd-cards">
            {cards.map((card) => (
              <li key={card.id}>{draw(card)}</li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
