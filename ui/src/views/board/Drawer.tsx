// A card's own page, beside the board: facts, check list, text, what happened, notes. The board stays in reach.
import { type RefObject, useEffect, useMemo, useRef } from "react";
import { ChevronDown, ChevronUp, FileText, X } from "lucide-react";
import type { BoardCard, BoardCardDetail, BoardView } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { useNow } from "../../app/clock";
import { setParams } from "../../app/router";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { BoneRows, Button, CopyIconButton, Empty, ErrorState, Glyph, IconButton, Markdown, Reveal, revealText, Some, toastError } from "../../kit";
import { Acceptance } from "./Acceptance";
import { CardLink, Facts } from "./Facts";
import { longClaim, PriorityBars } from "./Marks";
import { momentOf, notesOf, type Overlap, partsOfBody } from "./model";
import { NoteBox } from "./NoteBox";
import type { BoardWriter } from "./useBoard";
import type { Refusal } from "./useMoves";
import { relationWord, statusWord } from "./words";

export interface DrawerProps {
  project: string;
  /** The project's folder, for showing the card's file. */
  folder: string;
  id: string;
  view: BoardView;
  /** The filtered list, in the order of the columns. */
  order: readonly string[];
  overlaps: readonly Overlap[];
  refusal: Refusal | null;
  writer: BoardWriter;
  onMove: (card: BoardCard, status: string, anchor: Element) => void;
  onClose: () => void;
}

/** Today's times as clock times, the rest as dates. */
function When({ at }: { at: number | undefined }) {
  const { format } = useI18n();
  const now = useNow(60_000);
  if (at === undefined) return null;
  return (
    <span className="k-dim k-num" title={format.absolute(at)}>
      {new Date(at).toDateString() === new Date(now).toDateString() ? format.time(at) : format.shortDate(at)}
    </span>
  );
}

/** What was said or done, one after the other. */
function Trail<T extends { who?: string; text: string }>({ items, momentOf }: { items: readonly T[]; momentOf: (item: T) => number | undefined }) {
  return (
    <Some items={items}>
      {(shown) => (
        <ul>
          {shown.map((item, index) => (
            <li key={index} className="bd-event">
              <span className="bd-event-dot" />
              <span className="k-break" dir="auto">
                {item.who && <span className="k-med">{revealText(item.who)}</span>}
                {item.who && " · "}
                {revealText(item.text)}
              </span>
              <When at={momentOf(item)} />
            </li>
          ))}
        </ul>
      )}
    </Some>
  );
}

function Story({ detail, view }: { detail: BoardCardDetail; view: BoardView }) {
  const { t } = useI18n();
  const { text, notes } = useMemo(() => partsOfBody(detail.body), [detail.body]);
  const list = useMemo(() => notesOf(notes), [notes]);
  return (
    <>
      {text !== "" && (
        <section className="bd-section">
          <h3 className="k-h3 bd-section-head">{t("board.description")}</h3>
          <Markdown text={text} />
        </section>
      )}
      {list.length > 0 && (
        <section className="bd-section">
          <h3 className="k-h3 bd-section-head">{t("board.notes")}</h3>
          <Trail items={list} momentOf={(note) => note.at} />
        </section>
      )}
      <section className="bd-section">
        <h3 className="k-h3 bd-section-head">{t("board.activity")}</h3>
        {detail.activity.length === 0 ? (
          <p className="k-sub">{t("board.noActivity")}</p>
        ) : (
          <Trail items={detail.activity} momentOf={(event) => momentOf(event.at)} />
        )}
      </section>
      {detail.related.length > 0 && (
        <section className="bd-section">
          <h3 className="k-h3 bd-section-head">{t("board.related")}</h3>
          <Some items={detail.related}>
            {(shown) => (
              <ul>
                {shown.map((other, index) => (
                  <li key={index} className="bd-related">
                    <CardLink id={other.id} view={view} />
                    <span className="k-grow k-break" dir="auto">
                      {revealText(other.title)}
                    </span>
                    <span className="k-sub">{relationWord(other.relation, t)}</span>
                  </li>
                ))}
              </ul>
            )}
          </Some>
        </section>
      )}
    </>
  );
}

/** The focus goes into the page when it opens, and to the point that is unmet after a refused move. */
function useOpeningFocus(
  root: RefObject<HTMLElement | null>,
  title: RefObject<HTMLElement | null>,
  refusal: Refusal | null,
  isLoaded: boolean,
): void {
  const shown = useRef<Refusal | null>(null);
  const opened = useRef(false);
  useEffect(() => {
    if (!opened.current) {
      opened.current = true;
      title.current?.focus({ preventScroll: true });
    }
    if (!refusal || !isLoaded || shown.current === refusal) return;
    shown.current = refusal;
    const unmet = root.current?.querySelector<HTMLElement>(
      refusal.point === "acceptance"
        ? ".bd-criterion:not([data-done]) [role=checkbox]"
        : refusal.point === "claim"
          ? ".bd-facts [data-unmet] button"
          : ".bd-refusal",
    );
    const scroller = root.current?.querySelector(".bd-drawer-body");
    if (!unmet || !scroller) return;
    // Not `scrollIntoView`: that moves whatever can be moved, the window's frame included.
    const { top, bottom } = scroller.getBoundingClientRect();
    const box = unmet.getBoundingClientRect();
    if (box.top < top || box.bottom > bottom) scroller.scrollBy({ top: box.top - (top + bottom) / 2, behavior: "instant" });
    unmet.focus({ preventScroll: true });
  }, [root, title, refusal, isLoaded]);
}

export function Drawer({ project, folder, id, view, order, overlaps, refusal, writer, onMove, onClose }: DrawerProps) {
  const { t, rich } = useI18n();
  const host = useHost();
  const root = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const card = view.cards.find((one) => one.id === id);
  const detail = useData("board_card", { project, id });
  useOpeningFocus(root, title, refusal, detail.data !== undefined);
  useEffect(() => {
    if (body.current) body.current.scrollTop = 0;
  }, [id]);

  const at = order.indexOf(id);
  const previous = at > 0 ? order[at - 1] : undefined;
  const next = at >= 0 ? order[at + 1] : undefined;
  useActions([
    { id: "board.close", title: t("board.closeCard"), group: "view", keys: "Esc", palette: false, run: onClose },
    ...(previous
      ? [
          {
            id: "board.previous",
            title: t("board.previousCard"),
            group: "view" as const,
            keys: "Alt ↑",
            everywhere: true,
            run: () => setParams({ card: previous }),
          },
        ]
      : []),
    ...(next
      ? [
          {
            id: "board.next",
            title: t("board.nextCard"),
            group: "view" as const,
            keys: "Alt ↓",
            everywhere: true,
            run: () => setParams({ card: next }),
          },
        ]
      : []),
  ]);

  const absolute = card && (/^(?:[/\\]|[A-Za-z]:)/.test(card.path) ? card.path : `${folder.replace(/[/\\]+$/, "")}/${card.path}`);
  const notFound = !card && (detail.error?.code === "not_found" || (detail.data !== undefined && !detail.isFetching));
  return (
    <aside
      ref={root}
      className="bd-drawer"
      aria-label={t("board.cardLabel", { id })}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <div className="bd-drawer-head">
        {card && <PriorityBars priority={card.priority} spoken />}
        <span className="k-mono k-trunc">{revealText(id)}</span>
        <CopyIconButton text={id} label={t("board.copyId")} />
        <span className="k-grow" />
        {at >= 0 && <span className="k-sub k-num">{t("board.ofAll", { n: at + 1, all: order.length })}</span>}
        <IconButton
          icon={ChevronUp}
          label={t("board.previousCard")}
          keys="Alt ↑"
          size="small"
          disabled={!previous}
          onClick={() => setParams({ card: previous })}
        />
        <IconButton
          icon={ChevronDown}
          label={t("board.nextCard")}
          keys="Alt ↓"
          size="small"
          disabled={!next}
          onClick={() => setParams({ card: next })}
        />
        <IconButton icon={X} label={t("board.closeCard")} keys="Esc" size="small" onClick={onClose} />
      </div>
      <div className="bd-drawer-body" ref={body}>
        {notFound ? (
          <Empty glyph="notice" title={t("board.notFound")}>
            <Button onClick={onClose}>{t("board.closeCard")}</Button>
          </Empty>
        ) : (
          card && (
            <>
              <h2 ref={title} tabIndex={-1} className="bd-drawer-title" dir="auto">
                <Reveal text={card.title} limit={400} />
              </h2>
              {refusal && (
                <div className="bd-refusal" role="group" aria-label={t("board.notMoved", { column: statusWord(refusal.status, t) })} tabIndex={-1}>
                  <Glyph name="notice" size={15} label="" />
                  <span className="k-break">
                    <span className="k-med">{t("board.notMoved", { column: statusWord(refusal.status, t) })}</span>
                    <br />
                    {refusal.reasons.join(" ")}
                  </span>
                </div>
              )}
              <Facts
                card={card}
                view={view}
                refusals={detail.data?.refusals}
                writer={writer}
                isClaimUnmet={refusal?.point === "claim"}
                onMove={(status, anchor) => onMove(card, status, anchor)}
              />
              {overlaps.map((other) => (
                <div key={other.card.id} className="bd-refusal">
                  <Glyph name="notice" size={15} label="" />
                  <span className="k-break">
                    {rich("board.alsoTouches", {
                      id: other.card.id,
                      name: longClaim(other.card.claim?.by ?? ""),
                      path: <span className="k-mono">{other.paths.map(revealText).join(", ")}</span>,
                    })}
                  </span>
                </div>
              ))}
              {detail.data ? (
                <>
                  <Acceptance
                    key={id}
                    project={project}
                    id={id}
                    detail={detail.data}
                    revision={card.revision}
                    readOnly={view.readOnly || card.archived}
                    isUnmet={refusal?.point === "acceptance"}
                    writer={writer}
                  />
                  <Story detail={detail.data} view={view} />
                </>
              ) : detail.error ? (
                <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
              ) : (
                <BoneRows rows={4} />
              )}
            </>
          )
        )}
      </div>
      {card && (
        <div className="bd-drawer-foot">
          <NoteBox key={id} project={project} card={card} view={view} writer={writer} />
          <Button icon={FileText} onClick={() => absolute && void host.reveal(absolute).catch((thrown: unknown) => toastError(thrown, t))}>
            {t("board.openFile")}
          </Button>
        </div>
      )}
    </aside>
  );
}
