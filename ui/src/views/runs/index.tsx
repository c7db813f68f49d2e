// Runs: the history of every project, searched by one box, kept in the address.
import { Database, History, Play } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunRow } from "../../api/contract";
import { useActions } from "../../app/actions";
import { Bar } from "../../app/Bar";
import { useNow } from "../../app/clock";
import { openRunForm } from "../../app/overlays";
import { navigate, runAddress, setParams, stepId, useAddress } from "../../app/router";
import { settingsAddress } from "../../app/settingsSections";
import { useTitle } from "../../app/title";
import { setTrail } from "../../app/trail";
import { useTotalRuns } from "../../app/useTotalRuns";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { startOfDay } from "../../i18n/format";
import { Button } from "../../kit/Button";
import { Kbd } from "../../kit/Kbd";
import { announce } from "../../kit/Live";
import { Bone, Empty, ErrorState, Late } from "../../kit/States";
import { DayBars } from "./DayBars";
import { FilterChips } from "./FilterChips";
import { NoMatch } from "./NoMatch";
import { type Filters, fromParams, isEmpty, toParams, toQuery } from "./query";
import { RunHead, RunTable, type TableHandle } from "./RunTable";
import { SavedViews } from "./SavedViews";
import { SearchBox } from "./SearchBox";
import { SelectionBar } from "./SelectionBar";
import { useRunList } from "./useRunList";
import "./runs.css";

/** Where the list was left, by the step of the history; for "back". */
const places = new Map<string, { top: number; run: string | undefined }>();

const NOTHING: ReadonlySet<string> = new Set();

/** The frame of the list: its head, a day, and bars where the words will be. Nothing moves when they come. */
function Loading({ searching }: { searching: boolean }) {
  const { t } = useI18n();
  return (
    <Late>
      <div className="runs-loading" aria-busy="true" role="status" aria-label={t("runs.opening")}>
        <div aria-hidden="true">
          <RunHead searching={searching} />
          <div className="runs-day">
            <Bone width="9rem" />
          </div>
        </div>
        {Array.from({ length: 10 }, (_, index) => (
          <div key={index} className="runs-grid runs-row" aria-hidden="true" style={{ opacity: 1 - index * 0.09 }}>
            <span />
            <span className="runs-bone-glyph">
              <Bone width="1rem" height="1rem" />
            </span>
            <span className="k-col runs-bones">
              <Bone width={`${5 + ((index * 3) % 4)}rem`} />
              <Bone width={`${3 + ((index * 5) % 3)}rem`} height="0.5rem" />
            </span>
            <span className="runs-c-note" />
            <span className="runs-c-id">
              <Bone width="6rem" />
            </span>
            <span className="runs-c-from">
              <Bone width="5rem" />
            </span>
            <span className="runs-c-life">
              <Bone width="6rem" height="0.3125rem" />
            </span>
            <span className="runs-right">
              <Bone width="2.5rem" />
            </span>
            <span className="runs-right">
              <Bone width="2rem" />
            </span>
          </div>
        ))}
      </div>
    </Late>
  );
}

export default function Runs() {
  const { t, format } = useI18n();
  const host = useHost();
  const { search } = useAddress();
  const [step] = useState(stepId);
  const total = useTotalRuns();
  const filters = useMemo(() => fromParams(search), [search]);
  // Conditions like "last 7 days" move with the day, not with the clock.
  const today = startOfDay(useNow(60_000));
  const query = useMemo(() => toQuery(filters, today), [filters, today]);
  const searching = query.text !== undefined;

  const scroller = useRef<HTMLDivElement>(null);
  const table = useRef<TableHandle>(null);
  const input = useRef<HTMLInputElement>(null);
  const pointerOnRows = useRef(false);
  // A row under the pointer isn't moved away: new ones wait until the pointer has left.
  const atTop = useCallback(() => (scroller.current?.scrollTop ?? 0) < 2 && !pointerOnRows.current, []);
  const list = useRunList(query, atTop);
  const { rows } = list;

  const change = useCallback((next: Filters) => setParams(toParams(next)), []);

  // Selection.
  const [selection, setSelection] = useState<{ of: unknown; runs: ReadonlySet<string> }>({ of: query, runs: NOTHING });
  const selected = selection.of === query ? selection.runs : NOTHING;
  const clearSelection = () => setSelection({ of: query, runs: NOTHING });
  const anchor = useRef<string | undefined>(undefined);
  const onSelect = useCallback(
    (run: string, how: "toggle" | "range") => {
      setSelection((old) => {
        const next = new Set(old.of === query ? old.runs : NOTHING);
        const from = rows.findIndex(({ runId }) => runId === anchor.current);
        const to = rows.findIndex(({ runId }) => runId === run);
        if (how === "range" && from >= 0 && to >= 0) {
          for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(row.runId);
        } else if (next.has(run)) next.delete(run);
        else next.add(run);
        return { of: query, runs: next };
      });
      anchor.current = run;
    },
    [rows, query],
  );
  const chosen = useMemo(() => rows.filter(({ runId }) => selected.has(runId)), [rows, selected]);

  useTitle(t("runs.title"));
  useEffect(() => setTrail(rows.map(({ runId }) => runId)), [rows]);
  const onOpen = useCallback((run: RunRow) => navigate(runAddress(run.runId)), []);
  const current = () => table.current?.current();

  useActions([
    { id: "search", title: t("runs.actSearch"), group: "view", keys: "/", palette: false, run: () => input.current?.select() },
    { id: "next-row", title: t("runs.actNext"), group: "view", keys: "J", alias: ["↓"], palette: false, run: () => table.current?.move(1) },
    { id: "previous-row", title: t("runs.actPrevious"), group: "view", keys: "K", alias: ["↑"], palette: false, run: () => table.current?.move(-1) },
    { id: "first-row", title: t("runs.actFirst"), group: "view", keys: "Home", palette: false, run: () => table.current?.move("first") },
    { id: "last-row", title: t("runs.actLast"), group: "view", keys: "End", palette: false, run: () => table.current?.move("last") },
    {
      id: "open-row",
      title: t("runs.actOpen"),
      group: "view",
      keys: "Enter",
      palette: false,
      run: () => {
        const run = current();
        if (run) onOpen(run);
      },
    },
    {
      id: "select",
      title: t("runs.actSelect"),
      group: "view",
      keys: "X",
      alias: ["Space"],
      palette: false,
      run: () => {
        const run = current();
        if (run) onSelect(run.runId, "toggle");
      },
    },
    {
      id: "select-range",
      title: t("runs.actSelectRange"),
      group: "view",
      keys: "Shift X",
      palette: false,
      run: () => {
        const run = current();
        if (run) onSelect(run.runId, "range");
      },
    },
    {
      id: "pin",
      title: t("common.pin"),
      group: "do",
      keys: "P",
      palette: false,
      run: () => {
        const run = current();
        if (run) void host.call("pin_run", { run: run.runId, pinned: !run.pinned }).catch(() => undefined);
      },
    },
    {
      id: "copy-id",
      title: t("common.copyRunId"),
      group: "do",
      keys: "Y",
      palette: false,
      run: () => {
        const run = current();
        if (run) void host.copyText(run.runId).then(() => announce(t("runs.idCopied", { id: run.runId })));
      },
    },
    {
      id: "escape",
      title: t("runs.actEscape"),
      group: "view",
      keys: "Esc",
      palette: false,
      run: () => {
        if (selected.size > 0) clearSelection();
        else if (filters.text) change({ ...filters, text: "" });
      },
    },
  ]);

  const result = (() => {
    if (list.isLoading || list.isStale || list.error || isEmpty(filters)) return "";
    const n = list.total ?? rows.length;
    const time = format.duration(list.tookMs ?? 0);
    const exact = list.complete && (list.total !== undefined || !list.hasMore);
    if (total === undefined) return t(exact ? "runs.foundOnly" : "runs.foundOnlyAtLeast", { count: n, n, time });
    return t(exact ? "runs.found" : "runs.foundAtLeast", { count: total, n, total, time });
  })();
  const oldest = rows.at(-1);
  const shown = list.total ?? rows.length;
  const oldestDay = (at: number) => (at >= today ? t("common.today") : at > today - 6 * 86_400_000 ? format.weekday(at) : format.longDate(at));
  // How old the oldest is, is known only when all of them are here.
  const footer = list.isLoading
    ? t("runs.opening")
    : !oldest
      ? ""
      : list.hasMore
        ? t(list.total === undefined ? "runs.footerAtLeast" : "runs.footerMore", { count: shown, n: shown })
        : t("runs.footer", {
            count: shown,
            n: shown,
            day: `${oldestDay(oldest.createdAt)} ${format.time(oldest.createdAt)}`,
          });
  const none = !list.isLoading && !list.error && rows.length === 0 && !list.hasMore;

  return (
    <>
      <Bar title={t("runs.title")}>
        <Button look="quiet" icon={Database} onClick={() => navigate(settingsAddress("space"))}>
          {t("runs.retention")}
        </Button>
        <Button icon={Play} keys="R" onClick={() => openRunForm()}>
          {t("common.run")}
        </Button>
      </Bar>
      <div className="runs-top">
        <SavedViews filters={filters} onChange={change} />
        <SearchBox filters={filters} onChange={change} result={result} inputRef={input} onLeave={() => table.current?.focus()} />
        {!list.error && <FilterChips filters={filters} onChange={change} rows={rows} />}
        {!list.error && !none && <DayBars filters={filters} onChange={change} />}
      </div>
      <div
        className="runs-body"
        onPointerMove={() => (pointerOnRows.current = true)}
        onPointerLeave={() => {
          pointerOnRows.current = false;
          if ((scroller.current?.scrollTop ?? 0) < 2) list.showWaiting();
        }}
      >
        {list.error ? (
          <div className="runs-error">
            <ErrorState error={list.error} onRetry={list.retry} />
          </div>
        ) : list.isLoading ? (
          <Loading searching={searching} />
        ) : none ? (
          isEmpty(filters) ? (
            <Empty icon={History} title={t("runs.none")} text={t("runs.noneText")}>
              <Button look="primary" icon={Play} onClick={() => openRunForm()}>
                {t("common.run")}
              </Button>
            </Empty>
          ) : (
            <NoMatch filters={filters} now={today} onChange={change} />
          )
        ) : (
          <RunTable
            key={JSON.stringify(query)}
            list={list}
            searching={searching}
            selected={selected}
            onSelect={onSelect}
            onOpen={onOpen}
            handle={table}
            scroller={scroller}
            remembered={places.get(step)}
            onLeave={(place) => places.set(step, place)}
          />
        )}
        {chosen.length > 0 && <SelectionBar runs={chosen} onClear={clearSelection} />}
      </div>
      <footer className="runs-foot">
        <span className="k-num">{footer}</span>
        <span className="k-grow" />
        {rows.length > 0 && (
          <span className="runs-hints" aria-hidden="true">
            <Kbd keys="J K" /> {t("runs.hintMove")} <Kbd keys="X" /> {t("runs.hintSelect")} <Kbd keys="Enter" /> {t("runs.hintOpen")} <Kbd keys="P" />{" "}
            {t("runs.hintPin")}
          </span>
        )}
      </footer>
    </>
  );
}
