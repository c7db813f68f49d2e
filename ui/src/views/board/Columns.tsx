// The canvas with the columns: one tab stop, arrows inside, Shift with an arrow moves the card, the pointer drags it.
import { type KeyboardEvent, type Ref, useEffect, useId, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { BoardCard, BoardView } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { useI18n } from "../../i18n";
import { announce } from "../../kit";
import { CardFace } from "./Card";
import { Column, type DropHint } from "./Column";
import { type BoardColumn, type Overlap, refusalOf } from "./model";
import { inWords } from "./reasons";
import { useDrag } from "./useDrag";
import type { Moves } from "./useMoves";

export interface ColumnsProps {
  project: string;
  view: BoardView;
  /** All columns that could be shown, for moves by key. */
  columns: BoardColumn[];
  /** Only this one is drawn, where the window is narrow. */
  only?: string;
  overlaps: ReadonlyMap<string, Overlap[]>;
  open: string | null;
  moves: Moves;
  /** Gives the focus to a card: the page of a card calls it when it closes. */
  focusRef: Ref<(id: string) => void>;
  onOpen: (card: BoardCard) => void;
  onNew: (status: string) => void;
}

interface Place {
  column: number;
  row: number;
}

function placeOf(columns: readonly BoardColumn[], id: string | undefined): Place | undefined {
  for (let column = 0; column < columns.length; column++) {
    const row = (columns[column] as BoardColumn).cards.findIndex((card) => card.id === id);
    if (row >= 0) return { column, row };
  }
  return undefined;
}

export function Columns({ project, view, columns, only, overlaps, open, moves, focusRef, onOpen, onNew }: ColumnsProps) {
  const { t } = useI18n();
  const canvas = useRef<HTMLDivElement>(null);
  const hintId = useId();
  const [active, setActive] = useState<string>();
  const wantFocus = useRef<string | null>(null);
  const focused = useRef<HTMLElement | null>(null);
  const lastPlace = useRef<Place>({ column: 0, row: 0 });

  const shown = useMemo(() => (only ? columns.filter(({ status }) => status.id === only) : columns), [columns, only]);
  const place = placeOf(shown, active);
  const first = shown.find(({ cards }) => cards.length > 0)?.cards[0]?.id;
  const stop = place ? active : first;
  const cardOf = (id: string | undefined) => view.cards.find((card) => card.id === id);

  const focus = (id: string) => {
    wantFocus.current = id;
    setActive(id);
  };
  useImperativeHandle(focusRef, () => focus);

  // A card that went away gives the focus to the next one; a card that moved keeps it.
  useLayoutEffect(() => {
    const isLost =
      focused.current !== null && !focused.current.isConnected && (document.activeElement === document.body || document.activeElement === null);
    const at = placeOf(shown, active);
    if (at) {
      lastPlace.current = at;
      if (isLost) wantFocus.current = active ?? null;
    } else if (active !== undefined) {
      const cards = shown[lastPlace.current.column]?.cards ?? [];
      const next = cards[Math.min(lastPlace.current.row, cards.length - 1)]?.id ?? first;
      setActive(next);
      if (next && isLost) {
        wantFocus.current = next;
        announce(t("board.rowGone", { id: active }));
      }
    }
    if (isLost) focused.current = null;
  }, [shown, active, first, t]);
  useEffect(() => {
    const id = wantFocus.current;
    if (id === null) return;
    const element = canvas.current?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);
    if (!element) return;
    wantFocus.current = null;
    element.focus();
  });

  const { drag, ghost, start } = useDrag(
    canvas,
    () => undefined,
    async (id, status) => {
      const card = cardOf(id);
      if (!card || card.status === status) return "refused";
      return moves.attempt(card, status, canvas.current?.querySelector(`[data-column="${CSS.escape(status)}"] .bd-column-head`) ?? null);
    },
  );
  const dragged = cardOf(drag?.id);
  const refusals = inWords(useData("board_refusals", { project, id: drag?.id ?? "" }, { enabled: drag !== null }).data, dragged, t);

  const hintFor = (status: string): DropHint | undefined => {
    if (!drag || !dragged) return undefined;
    const refusal = refusalOf(refusals, status);
    return { isOwn: dragged.status === status, isOver: drag.over === status, reasons: refusal?.reasons ?? [], needs: refusal?.needs ?? [] };
  };

  const moveBy = (step: -1 | 1) => {
    const card = cardOf(stop);
    if (!card || view.readOnly) return;
    const at = columns.findIndex(({ status }) => status.id === card.status);
    const target = columns[at + step];
    if (!target) return announce(t("board.noColumnBeyond"));
    focus(card.id);
    void moves.attempt(card, target.status.id, canvas.current?.querySelector(`[data-card="${CSS.escape(card.id)}"]`) ?? null);
  };

  const go = (key: string): boolean => {
    const at = placeOf(shown, stop);
    if (!at) return false;
    const rowIn = (column: number, row: number) => {
      const cards = shown[column]?.cards ?? [];
      return cards[Math.max(0, Math.min(row, cards.length - 1))]?.id;
    };
    let next: string | undefined;
    if (key === "ArrowDown") next = rowIn(at.column, at.row + 1);
    else if (key === "ArrowUp") next = rowIn(at.column, at.row - 1);
    else if (key === "Home") next = rowIn(at.column, 0);
    else if (key === "End") next = rowIn(at.column, Number.MAX_SAFE_INTEGER);
    else {
      const step = key === "ArrowRight" ? 1 : -1;
      for (let column = at.column + step; column >= 0 && column < shown.length && next === undefined; column += step) next = rowIn(column, at.row);
    }
    if (next !== undefined) focus(next);
    return true;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || !event.target.closest("[data-card]") || event.altKey || event.ctrlKey || event.metaKey) return;
    const sideways = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.shiftKey) {
      if (sideways === 0) return;
      event.preventDefault();
      moveBy(sideways);
    } else if (["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && go(event.key)) event.preventDefault();
  };
  useActions([
    { id: "board.down", title: t("board.actNext"), group: "view", keys: "J", palette: false, run: () => void go("ArrowDown") },
    { id: "board.up", title: t("board.actPrevious"), group: "view", keys: "K", palette: false, run: () => void go("ArrowUp") },
    { id: "board.left", title: t("board.actMoveLeft"), group: "do", keys: "Shift ←", palette: false, run: () => moveBy(-1) },
    { id: "board.right", title: t("board.actMoveRight"), group: "do", keys: "Shift →", palette: false, run: () => moveBy(1) },
  ]);

  return (
    <div
      className="bd-canvas"
      ref={canvas}
      data-scrolls-x
      data-only={only !== undefined || undefined}
      role="group"
      aria-label={t("board.boardLabel")}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        focused.current = event.target.closest<HTMLElement>("[data-card]");
      }}
    >
      <span id={hintId} hidden>
        {t("board.keysHint")}
      </span>
      {shown.map((column, index) => (
        <Column
          key={column.status.id}
          column={column}
          overlaps={overlaps}
          active={stop}
          open={open}
          lifted={drag?.id}
          moving={moves.moving}
          hint={hintFor(column.status.id)}
          describedBy={hintId}
          onOpen={onOpen}
          onFocus={(card) => setActive(card.id)}
          onLift={view.readOnly || only !== undefined ? undefined : start}
          onNew={!view.readOnly && !column.status.terminal && (index < 2 || only !== undefined) ? () => onNew(column.status.id) : undefined}
        />
      ))}
      {drag &&
        dragged &&
        createPortal(
          <div className="bd-ghost" ref={ghost} style={{ width: drag.width, transform: "translate(-200vw, 0)" }} aria-hidden="true">
            <div className="bd-card">
              <CardFace card={dragged} overlaps={overlaps.get(dragged.id)} />
            </div>
          </div>,
          document.body,
        )}
    </div>
  );
}
