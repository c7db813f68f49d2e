// The list: fixed row heights, only what is on screen is drawn, the head of the day sticks.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp } from "lucide-react";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { RunRow } from "../../api/contract";
import { useNow } from "../../app/clock";
import { useRem } from "../../app/useRem";
import { useI18n } from "../../i18n";
import { startOfDay } from "../../i18n/format";
import { announce } from "../../kit/Live";
import { Icon } from "../../kit/Icon";
import { dayAt, withDays } from "./days";
import { Row } from "./Row";
import { PAGE, type RunList } from "./useRunList";

/** Heights in rem. */
const ROW = 3;
const DAY = 1.75;

/** What the view can do with the list. */
export interface TableHandle {
  /** Moves the focus by so many rows, or to an end. */
  move: (to: number | "first" | "last") => void;
  /** The row with the focus. */
  current: () => RunRow | undefined;
  /** Puts the focus into the list. */
  focus: () => void;
}

export interface RunTableProps {
  list: RunList;
  /** Columns differ while a text is looked for. */
  searching: boolean;
  selected: ReadonlySet<string>;
  onSelect: (run: string, how: "toggle" | "range") => void;
  onOpen: (run: RunRow) => void;
  handle: RefObject<TableHandle | null>;
  scroller: RefObject<HTMLDivElement | null>;
  /** A place that the list was left at. */
  remembered: { top: number; run: string | undefined } | undefined;
  onLeave: (place: { top: number; run: string | undefined }) => void;
}

function DayHead({ day, now }: { day: number; now: number }) {
  const { t, format } = useI18n();
  const today = startOfDay(now);
  const name = day === today ? t("runs.today") : day === startOfDay(today - 1) ? t("runs.yesterday") : format.weekday(day);
  const date = day >= startOfDay(today - 1) ? format.weekdayDate(day) : format.longDate(day);
  const year = new Date(day).getFullYear();
  return (
    <>
      <b>{name}</b>
      <span className="k-sub">{year === new Date(now).getFullYear() ? date : `${date} ${year}`}</span>
    </>
  );
}

/** The names of the columns. */
export function RunHead({ searching }: { searching: boolean }) {
  const { t } = useI18n();
  return (
    <div className="runs-grid runs-head" role="row" aria-rowindex={1}>
      <span role="columnheader">
        <span className="k-visually-hidden">{t("runs.colSelect")}</span>
      </span>
      <span role="columnheader">
        <span className="k-visually-hidden">{t("runs.colStatus")}</span>
      </span>
      <span role="columnheader">{t("runs.colEntrypoint")}</span>
      <span role="columnheader" className="runs-c-note">
        {searching ? t("runs.colFound") : <span className="k-visually-hidden">{t("runs.colNote")}</span>}
      </span>
      <span role="columnheader" className="runs-c-id">
        {t("runs.colRun")}
      </span>
      <span role="columnheader" className="runs-c-from">
        {t("runs.colFrom")}
      </span>
      <span role="columnheader" className="runs-c-life">
        {t("runs.colCourse")}
      </span>
      <span role="columnheader" className="runs-right">
        {t("runs.colTook")}
      </span>
      <span role="columnheader" className="runs-right" aria-sort="descending">
        {t("runs.colStarted")}
      </span>
    </div>
  );
}

export function RunTable({ list, searching, selected, onSelect, onOpen, handle, scroller, remembered, onLeave }: RunTableProps) {
  const { t, format } = useI18n();
  const now = useNow(60_000);
  const rem = useRem();
  const { rows, hasMore, isLoadingMore, loadMore } = list;
  const items = useMemo(() => withDays(rows), [rows]);
  const [current, setCurrent] = useState<string | undefined>(remembered?.run);
  const wantFocus = useRef(false);

  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (items[index]?.kind === "day" ? DAY : ROW) * rem,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    initialOffset: remembered?.top ?? 0,
  });
  useEffect(() => virtual.measure(), [virtual, rem, items]);

  const visible = virtual.getVirtualItems();
  const lastVisible = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && !list.isStale && lastVisible > items.length - PAGE) loadMore();
  }, [hasMore, isLoadingMore, list.isStale, lastVisible, items.length, loadMore]);

  // The place is kept for coming back.
  const place = useRef({ top: 0, run: current });
  useEffect(() => {
    place.current = { top: virtual.scrollOffset ?? 0, run: current };
  });
  const leave = useRef(onLeave);
  useEffect(() => {
    leave.current = onLeave;
  });
  useEffect(() => () => leave.current(place.current), []);

  // When the row with the focus goes away, the next one gets it.
  const lastIndex = useRef(0);
  useEffect(() => {
    if (current === undefined) return;
    const at = rows.findIndex(({ runId }) => runId === current);
    if (at >= 0) {
      lastIndex.current = at;
      return;
    }
    const next = rows[Math.min(lastIndex.current, rows.length - 1)];
    const hadFocus = document.activeElement === document.body || scroller.current?.contains(document.activeElement);
    setCurrent(next?.runId);
    if (next && hadFocus && !list.isStale) {
      wantFocus.current = true;
      announce(t("runs.rowGone"));
    }
  }, [rows, current, scroller, list.isStale, t]);

  useEffect(() => {
    if (!wantFocus.current || current === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-run="${CSS.escape(current)}"]`);
    if (!row) return;
    wantFocus.current = false;
    row.focus({ preventScroll: true });
  });

  useEffect(() => {
    handle.current = {
      current: () => rows.find(({ runId }) => runId === current),
      focus() {
        const run = current ?? rows[0]?.runId;
        if (run === undefined) return;
        wantFocus.current = true;
        setCurrent(run);
      },
      move(to) {
        if (rows.length === 0) return;
        const at = rows.findIndex(({ runId }) => runId === current);
        const next = to === "first" ? 0 : to === "last" ? rows.length - 1 : at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + to));
        const run = rows[next]?.runId;
        wantFocus.current = true;
        setCurrent(run);
        const index = items.findIndex((item) => item.kind === "run" && item.index === next);
        // The first row of the list shows the head of its day as well.
        virtual.scrollToIndex(next === 0 ? 0 : index, { align: "auto" });
      },
    };
    return () => {
      handle.current = null;
    };
  }, [handle, rows, items, current, virtual]);

  const stop = current ?? rows[0]?.runId;
  const offset = virtual.scrollOffset ?? 0;
  const top = visible.find(({ end }) => end > offset);
  const stickyDay = top && offset > 0 ? dayAt(items, top.index) : undefined;

  return (
    <div
      className="runs-table"
      role="grid"
      aria-label={t("runs.listLabel")}
      aria-rowcount={list.total === undefined ? -1 : list.total + 1}
      aria-multiselectable="true"
      data-searching={searching || undefined}
      data-stale={list.isStale || undefined}
      data-selecting={selected.size > 0 || undefined}
    >
      <RunHead searching={searching} />
      {list.waiting > 0 && (
        <button
          type="button"
          className="runs-new"
          onClick={() => {
            list.showWaiting();
            scroller.current?.scrollTo({ top: 0 });
          }}
        >
          <Icon of={ArrowUp} size={14} />
          {t("runs.newRuns", { count: list.waiting, n: list.waiting })}
        </button>
      )}
      <div ref={scroller} className="runs-scroll" role="presentation">
        {stickyDay !== undefined && (
          <div className="runs-day runs-day-stuck" aria-hidden="true">
            <DayHead day={stickyDay} now={now} />
          </div>
        )}
        <div className="runs-canvas" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {visible.map((one) => {
            const item = items[one.index];
            if (!item) return null;
            if (item.kind === "day") {
              return (
                <div key={one.key} className="runs-day" role="row" style={{ transform: `translateY(${one.start}px)`, height: one.size }}>
                  <span role="gridcell" aria-colspan={9} className="k-r">
                    <DayHead day={item.day} now={now} />
                  </span>
                </div>
              );
            }
            return (
              <Row
                key={one.key}
                run={item.run}
                index={item.index}
                top={one.start}
                height={one.size}
                searching={searching}
                selected={selected.has(item.run.runId)}
                stop={item.run.runId === stop}
                fresh={list.fresh.has(item.run.runId)}
                onFocus={setCurrent}
                onSelect={onSelect}
                onOpen={onOpen}
              />
            );
          })}
        </div>
        {isLoadingMore && lastVisible > items.length - 20 && <div className="runs-more k-sub">{t("runs.loadingMore")}</div>}
      </div>
      <span className="k-visually-hidden">{list.total === undefined ? "" : format.number(list.total)}</span>
    </div>
  );
}
