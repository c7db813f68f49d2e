// A run's log: searched in the store, followed while it grows, folded by phase, a million lines and more.
import { type CSSProperties, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { ArrowDown, ChevronDown, ChevronRight, CaseSensitive, ChevronUp, Clock, Copy, Download, Regex, Search, WrapText, X } from "lucide-react";
import { useChanges } from "../../../api/feed";
import { useActions } from "../../../app/actions";
import { remember, remembered, useRemembered } from "../../../app/memory";
import { usePlace } from "../../../app/places";
import { setParams, useAddress } from "../../../app/router";
import { toApiError, useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { Button, IconButton } from "../../../kit/Button";
import { Icon } from "../../../kit/Icon";
import { Kbd } from "../../../kit/Kbd";
import { announce } from "../../../kit/Live";
import { Segmented } from "../../../kit/Segmented";
import { Empty, ErrorState } from "../../../kit/States";
import { Switch } from "../../../kit/Switch";
import { hasEnded } from "../facts";
import { Bones } from "../parts";
import type { TabProps } from "../types";
import { useSave } from "../useSave";
import { showControls, type ThemeName } from "./ansi";
import { LogList, type LogListControl, type LogPlace } from "./LogList";
import { EntryRow, HeadRow, WHOLE_ENTRY } from "./LogRowView";
import { entryLines, isPassing, type Needle, saysError } from "./lines";
import { LogPages } from "./pages";
import { phaseOf } from "./rows";
import { ScrollMarks } from "./ScrollMarks";
import { useErrorCount } from "./useStream";
import { namesPlace, useLogAddress } from "./useLogAddress";
import { useLogCopy } from "./useLogCopy";
import { type IsMeant, useLogGoal } from "./useLogGoal";
import { type StreamChoice, useLogRows } from "./useLogRows";
import { useLogSearch } from "./useLogSearch";
import { useLogSearchWalk } from "./useLogSearchWalk";
import "./logs.css";

/** Positions asked of the store at once; beyond it a count is all that is known. */
const MOST_HITS = 100_000;

function useTheme(): ThemeName {
  const read = () =>
    document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches)
      ? "dark"
      : "light";
  const subscribe = useCallback((changed: () => void) => {
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return useSyncExternalStore(subscribe, read);
}

/** Height of a line of the log in pixels at the present text size. */
function useRowHeight(): number {
  const read = () => Math.round(Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 1.25);
  const subscribe = useCallback((changed: () => void) => {
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
    window.addEventListener("resize", changed);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", changed);
    };
  }, []);
  return useSyncExternalStore(subscribe, read);
}

export function LogsTab({ detail, nodes }: TabProps) {
  const { t, format } = useI18n();
  const host = useHost();
  const { search: address } = useAddress();
  const run = detail.run.runId;
  const live = !hasEnded(detail.run.status);
  const theme = useTheme();
  const rowHeight = useRowHeight();
  const pages = useMemo(() => new LogPages((from, limit) => host.call("run_logs", { run, from, limit })), [host, run]);
  useSyncExternalStore(pages.subscribe, pages.snapshot);
  useEffect(() => void pages.tail(), [pages]);
  useChanges((change) => {
    if (change.all || change.runs.includes(run)) void pages.tail();
  });
  const { end } = pages;

  const [text, setText] = useState("");
  const [stream, setStream] = useState<StreamChoice>("all");
  const [matchesOnly, setMatchesOnly] = useState(false);
  const [wrap, setWrap] = useState(() => remembered("run.logs.wrap", true));
  const [sinceStart, setSinceStart] = useState(() => remembered("run.logs.sinceStart", false));
  // A failed run opens at its end, where it says why, and stays there while heights become known.
  const isFailed = detail.run.status === "failed" || detail.run.status === "timeout";
  const [was, keep] = usePlace<LogPlace & { follow: boolean }>("logs");
  const isNamed = namesPlace(address);
  const [follow, setFollow] = useState(was && !isNamed ? was.follow : (live || isFailed) && !isNamed);
  const [seenEnd, setSeenEnd] = useState(0);
  const [view, setView] = useState({ first: 0, last: 0, atEnd: true });
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<LogListControl | null>(null);

  // ---- what is searched, and which rows there are ----
  const settled = useSettled(text, 150);
  const filter = stream === "all" || stream === "flow" ? undefined : stream;
  const [exact, setExact] = useRemembered("run.logs.case", false);
  const [regex, setRegex] = useRemembered("run.logs.regex", false);
  const wanted = useMemo<Needle>(() => ({ text: settled, case: exact, regex }), [settled, exact, regex]);
  const { found, key: foundKey, fault } = useLogSearch(run, wanted, filter, MOST_HITS, settled !== "");
  const errors = useErrorCount(run);
  const positions = useMemo(() => found?.positions ?? [], [found]);
  const shownOnly = matchesOnly && settled !== "" && stream !== "flow";
  const log = useLogRows({ run, nodes, pages, stream, shownOnly, positions, foundKey });
  const { rows, meaning, phases, folded, flow, ofStream, lineOf, lineAt, unfold } = log;

  // ---- going places ----
  const { aim, forget } = useLogGoal({ log, pages, rowHeight, list });
  const go = useCallback(
    (position: number, isMeant?: IsMeant) => {
      setFollow(false);
      unfold(position);
      aim(position, isMeant);
    },
    [unfold, aim],
  );
  const viewFirst = useRef(0);
  const { match, current, step, errorAfter } = useLogSearchWalk({ run, positions, foundKey, wanted, most: MOST_HITS, viewFirst, go });
  const { target, setTarget, onNumber } = useLogAddress({ run, pages, lineAt, go });
  // Who comes back finds what was at the top.
  const hasRows = rows.count > 0;
  useEffect(() => {
    if (!hasRows || !was || was.follow || isNamed) return;
    unfold(was.key);
    list.current?.toPlace(was);
    // oxlint-disable-next-line react/exhaustive-deps -- once, when there are rows: what comes later moves nobody
  }, [hasRows]);
  const nextError = async () => {
    const position = await errorAfter(target ?? current ?? viewFirst.current - 1);
    if (position === undefined) {
      announce(t("run.noNextError"));
      return;
    }
    setTarget(position);
    go(position, saysError);
  };
  const toEnd = () => {
    setTarget(null);
    setFollow(true);
    list.current?.end();
  };
  const toggle = (id: number) => {
    setFollow(false);
    log.toggle(id);
  };
  // A line of the flow leads to what was printed at its time.
  const toTime = useCallback(
    (position: number) => {
      const event = flow?.[position];
      if (event) {
        setStream("all");
        setParams({ at: event.at, line: null });
      }
    },
    [flow],
  );
  const save = useSave();
  const saveLog = () => save({ run, part: "log", ...(filter ? { stream: filter } : {}) }, `${run}.log`);
  const copyAll = useLogCopy(run, filter, flow);
  useActions([
    {
      id: "logs.search",
      title: t("run.logSearch"),
      group: "view",
      keys: "/",
      run: () => {
        field.current?.focus();
        field.current?.select();
      },
    },
    { id: "logs.next", title: t("run.nextMatch"), group: "view", keys: "N", palette: false, run: () => step(1) },
    { id: "logs.previous", title: t("run.previousMatch"), group: "view", keys: "Shift N", palette: false, run: () => step(-1) },
    { id: "logs.error", title: t("run.nextError"), group: "view", keys: "E", run: () => void nextError() },
    {
      id: "logs.home",
      title: t("run.logHome"),
      group: "view",
      keys: "Home",
      palette: false,
      run: () => {
        setFollow(false);
        list.current?.home();
      },
    },
    { id: "logs.end", title: t("run.logEnd"), group: "view", keys: "End", palette: false, run: toEnd },
    { id: "logs.save", title: t("run.saveLog"), group: "do", keys: "S", run: saveLog },
    { id: "logs.follow", title: t("run.follow"), group: "view", keys: "F", run: () => (follow ? setFollow(false) : toEnd()) },
    {
      id: "logs.wrap",
      title: t("run.wrap"),
      group: "view",
      keys: "W",
      run: () => {
        setWrap(!wrap);
        remember("run.logs.wrap", !wrap);
      },
    },
  ]);

  // ---- rows ----
  const heightOf = useCallback(
    (row: number): number | undefined => {
      const one = rows.at(row);
      if (!one) return undefined;
      if (one.kind === "head") return Math.round(rowHeight * 1.4);
      if (one.kind !== "entry") return Math.round(rowHeight * 1.4);
      const entry = lineOf(one.position);
      if (!entry) return undefined;
      if (!flow && isPassing(entry.text, pages.get(one.position + 1)?.text)) return 0;
      const lines = entryLines(entry.text).length;
      return wrap && lines <= WHOLE_ENTRY ? undefined : lines * rowHeight;
    },
    // oxlint-disable-next-line react/exhaustive-deps -- `lineOf` is new at every render; what it reads is here
    [rows, pages, wrap, rowHeight, flow, ofStream],
  );
  const guessOf = (row: number): number | undefined => {
    const one = rows.at(row);
    const entry = one?.kind === "entry" ? lineOf(one.position) : undefined;
    return entry && entryLines(entry.text).length * rowHeight;
  };
  const start = detail.run.startedAt ?? detail.run.createdAt;
  const timeOf = (when: number) => (sinceStart ? `+${((when - start) / 1000).toFixed(3)}` : clockTime(when));
  const needle = useDeferredValue(wanted);
  const render = (row: number, clip: { from: number; to: number }) => {
    const one = rows.at(row);
    if (!one) return null;
    if (one.kind === "head")
      return (
        <HeadRow
          key={`h${one.phase.id}`}
          phase={one.phase}
          folded={one.folded}
          lines={one.phase.to - one.phase.from}
          rowHeight={rowHeight}
          onToggle={() => toggle(one.phase.id)}
        />
      );
    if (one.kind === "cut")
      return (
        <div key="cut" className="lg-cut" style={{ height: Math.round(rowHeight * 1.4) }}>
          {t("run.logCut", { count: one.entries, size: format.bytes(one.bytes) })}
        </div>
      );
    if (one.kind === "gap")
      return (
        <div key={`g${one.from}`} className="lg-gap" style={{ height: Math.round(rowHeight * 1.4) }}>
          {t("run.logGap", { count: one.to - one.from })}
        </div>
      );
    const entry = lineOf(one.position);
    if (entry && !flow && isPassing(entry.text, pages.get(one.position + 1)?.text)) return <div key={one.position} className="lg-none" />;
    const isLong = entry !== undefined && entry.text.length > 1_000 && entryLines(entry.text).length > WHOLE_ENTRY;
    return (
      <EntryRow
        key={one.position}
        line={entry}
        position={one.position}
        time={entry ? timeOf(entry.at) : ""}
        search={needle}
        current={one.position === current && settled !== ""}
        target={one.position === target}
        wrap={wrap}
        theme={theme}
        rowHeight={rowHeight}
        clipFrom={isLong ? clip.from : 0}
        clipTo={isLong ? clip.to : 0}
        onNumber={flow ? toTime : onNumber}
      />
    );
  };
  const keyOf = (row: number) => {
    const one = rows.at(row);
    return one === undefined ? 0 : one.kind === "entry" || one.kind === "cut" ? one.position : one.kind === "head" ? one.phase.from : one.from;
  };
  const onScrolled = ({ user, up, atEnd, first, last }: { user: boolean; up: boolean; atEnd: boolean; first: number; last: number }) => {
    setView((old) => (old.first === first && old.last === last && old.atEnd === atEnd ? old : { first, last, atEnd }));
    viewFirst.current = rows.at(first) ? keyOf(first) : 0;
    if (user) forget();
    const place = list.current?.place();
    if (place) keep({ ...place, follow: user ? atEnd : follow });
    if (flow) return;
    // Only what is in sight, and a little around it, is asked for; between folded phases lie lines that aren't.
    let [begin, stop] = [-1, -1];
    const ask = () => {
      if (begin >= 0) pages.want(begin - 60, stop + 61);
    };
    for (let row = first; row <= last; row += 1) {
      const one = rows.at(row);
      if (one?.kind !== "entry" || ofStream?.lines.has(one.position)) continue;
      if (begin >= 0 && one.position <= stop + 60) {
        stop = one.position;
        continue;
      }
      ask();
      begin = stop = one.position;
    }
    ask();
    if (user && up && !atEnd && follow) {
      setFollow(false);
      setSeenEnd(end);
    }
    if (user && atEnd && !follow) setFollow(true);
    if (atEnd) setSeenEnd(end);
  };
  useEffect(() => {
    if (!follow && view.atEnd) setSeenEnd(end);
  }, [follow, view.atEnd, end]);
  const topPosition = rows.count > 0 ? keyOf(Math.min(view.first, rows.count - 1)) : 0;
  const phase = shownOnly || ofStream || flow ? undefined : phaseOf(phases, topPosition);
  const above = phases.filter((one) => folded.has(one.id) && one.to <= topPosition);
  const fresh = follow ? 0 : Math.max(0, end - seenEnd);

  if (pages.error !== undefined && end === 0)
    return (
      <div className="run-padded">
        <ErrorState error={toApiError(pages.error)} onRetry={() => void pages.tail()} />
      </div>
    );
  if (!pages.ready) return <Bones lines={14} />;
  if (end === 0 && nodes.length === 0)
    return (
      <div className="run-padded">
        <Empty title={t(live ? "run.noLogYet" : "run.noLog")} />
      </div>
    );
  return (
    <div className="lg" style={{ "--lg-number": `${Math.max(4.75, 1.75 + format.number(end).length * 0.455).toFixed(2)}rem` } as CSSProperties}>
      <div className="lg-tools">
        <span className="k-input k-input-small lg-search">
          <Icon of={Search} size={14} />
          <input
            ref={field}
            type="search"
            value={text}
            placeholder={t("run.logSearch")}
            aria-label={t("run.logSearch")}
            onChange={(event) => {
              setText(event.target.value);
              if (event.target.value === "") setMatchesOnly(false);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter") {
                event.preventDefault();
                step(event.shiftKey ? -1 : 1);
              } else if (event.key === "Escape") {
                event.stopPropagation();
                event.preventDefault();
                if (text) {
                  setText("");
                  setMatchesOnly(false);
                } else list.current?.focus();
              }
            }}
          />
          {settled !== "" && found && (
            <span className={fault === undefined ? "k-sub k-num" : "k-sub k-fail"} role="status" title={fault}>
              {fault !== undefined ? t("run.noRegex") : found.total === 0 ? t("run.noMatch") : t("run.matchOf", { n: match + 1, of: found.total })}
            </span>
          )}
          <IconButton icon={CaseSensitive} label={t("run.matchCase")} size="small" pressed={exact} onClick={() => setExact(!exact)} />
          <IconButton icon={Regex} label={t("run.matchRegex")} size="small" pressed={regex} onClick={() => setRegex(!regex)} />
          {text !== "" && (
            <button
              type="button"
              className="k-input-button"
              aria-label={t("common.clear")}
              onClick={() => {
                setText("");
                setMatchesOnly(false);
                field.current?.focus();
              }}
            >
              <Icon of={X} size={14} />
            </button>
          )}
        </span>
        <IconButton
          icon={ChevronUp}
          label={t("run.previousMatch")}
          keys="Shift N"
          size="small"
          disabled={positions.length === 0}
          onClick={() => step(-1)}
        />
        <IconButton icon={ChevronDown} label={t("run.nextMatch")} keys="N" size="small" disabled={positions.length === 0} onClick={() => step(1)} />
        <label className="lg-only k-sub">
          {t("run.matchesOnly")}
          <Switch checked={shownOnly} disabled={settled === ""} label={t("run.matchesOnly")} onChange={setMatchesOnly} />
        </label>
        <span className="k-grow" />
        <Streams
          stream={stream}
          onChange={(next) => {
            setStream(next);
            setFollow(false);
          }}
          errors={errors}
        />
        <span className="k-sep lg-sep" />
        <IconButton
          icon={WrapText}
          label={t("run.wrap")}
          keys="W"
          pressed={wrap}
          onClick={() => {
            setWrap(!wrap);
            remember("run.logs.wrap", !wrap);
          }}
        />
        <IconButton
          icon={Clock}
          label={t(sinceStart ? "run.timeClock" : "run.timeSince")}
          pressed={sinceStart}
          onClick={() => {
            setSinceStart(!sinceStart);
            remember("run.logs.sinceStart", !sinceStart);
          }}
        />
        <IconButton icon={Copy} label={t("run.copyLog")} onClick={() => void copyAll()} />
        <IconButton icon={Download} label={t("run.saveLog")} keys="S" onClick={saveLog} />
      </div>
      <div className="lg-body">
        {phase && rows.at(view.first)?.kind !== "head" && (
          <div className="lg-stick">
            <button type="button" className="lg-stick-phase" aria-expanded={!folded.has(phase.id)} onClick={() => toggle(phase.id)}>
              <Icon of={folded.has(phase.id) ? ChevronRight : ChevronDown} size={13} />
              <span className="k-med">{showControls(phase.title) || t("run.emptyPhase")}</span>
            </button>
            <span className="k-dim k-num">
              {[
                t("run.phaseWord"),
                t("run.phaseLines", { count: Math.min(phase.to, end) - phase.from }),
                phase.ms === undefined ? undefined : format.duration(phase.ms),
              ]
                .filter(Boolean)
                .join(t("run.listJoin"))}
            </span>
            <span className="k-grow" />
            {above.length > 0 && (
              <span className="k-dim k-trunc lg-above">
                {t("run.foldedAbove", { what: above.map((one) => t("run.foldedPhase", { title: one.title, count: one.to - one.from })).join(" · ") })}
              </span>
            )}
          </div>
        )}
        {rows.count === 0 ? (
          <div className="run-padded">
            <Empty inline title={t(shownOnly ? "run.noMatch" : "run.streamEmpty")} />
          </div>
        ) : (
          <LogList
            count={rows.count}
            meaning={meaning}
            rowHeight={rowHeight}
            heightOf={heightOf}
            guessOf={guessOf}
            measured={wrap}
            keyOf={keyOf}
            rowOfKey={(key) => rows.rowOf(key)}
            render={render}
            follow={follow}
            onScrolled={onScrolled}
            control={list}
            label={t("run.tab_logs")}
          />
        )}
        <ScrollMarks rows={rows} positions={positions} current={current} />
        {fresh > 0 && (
          <Button className="lg-fresh" icon={ArrowDown} onClick={toEnd}>
            {t("run.newLines", { count: fresh })}
          </Button>
        )}
      </div>
      <LogFoot said={[t("run.lineCount", { count: end }), follow && live ? t("run.following") : undefined].filter(Boolean).join(t("run.listJoin"))} />
    </div>
  );
}

interface StreamsProps {
  stream: StreamChoice;
  onChange: (stream: StreamChoice) => void;
  /** What came on standard error, as far as it was counted. */
  errors: ReturnType<typeof useErrorCount>;
}

function Streams({ stream, onChange, errors }: StreamsProps) {
  const { t, format } = useI18n();
  return (
    <Segmented<StreamChoice>
      label={t("run.streams")}
      value={stream}
      onChange={onChange}
      items={[
        { value: "all", label: t("run.streamAll") },
        { value: "stdout", label: t("run.streamOut") },
        {
          value: "stderr",
          label: (
            <>
              {t("run.streamErr")}
              {errors && errors.count > 0 && (
                <span className="lg-count k-num">
                  {format.number(errors.count)}
                  {errors.isMore ? "+" : ""}
                </span>
              )}
            </>
          ),
        },
        { value: "flow", label: t("run.streamFlow") },
      ]}
    />
  );
}

/** How long the log is, and the keys. */
function LogFoot({ said }: { said: string }) {
  const { t } = useI18n();
  return (
    <div className="run-foot">
      <span className="k-num">{said}</span>
      <span className="lg-hint">
        <Kbd keys="/" />
        {t("run.hintSearch")}
      </span>
      <span className="lg-hint">
        <Kbd keys="N" />
        <Kbd keys="Shift N" />
        {t("run.hintNext")}
      </span>
      <span className="lg-hint">
        <Kbd keys="End" />
        {t("run.hintEnd")}
      </span>
      <span className="lg-hint">
        <Kbd keys="E" />
        {t("run.hintError")}
      </span>
      <span className="k-grow" />
      <span className="lg-hint">{t("run.hintNumber")}</span>
    </div>
  );
}

const pad = (value: number, length: number) => String(value).padStart(length, "0");
/** 13:52:02.118 */
function clockTime(at: number): string {
  const date = new Date(at);
  return `${pad(date.getHours(), 2)}:${pad(date.getMinutes(), 2)}:${pad(date.getSeconds(), 2)}.${pad(date.getMilliseconds(), 3)}`;
}

/** A value once it has stopped changing for a while. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
