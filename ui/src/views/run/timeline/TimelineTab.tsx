// The waterfall: when each step was at work, where the time went, and why it took this long.
import { reachedBy } from "../../../app/listKeys";
import { type KeyboardEvent, memo, type PointerEvent, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useActions } from "../../../app/actions";
import { useNow } from "../../../app/clock";
import { navigate, runAddress, setParams, useAddress, useParam } from "../../../app/router";
import { useScrollPlace } from "../../../app/places";
import { useI18n } from "../../../i18n";
import { Icon } from "../../../kit/Icon";
import { Glyph } from "../../../kit/Glyph";
import { Kbd } from "../../../kit/Kbd";
import { Segmented } from "../../../kit/Segmented";
import { Switch } from "../../../kit/Switch";
import { lanes as makeLanes, nodeFacts } from "../diagram/model";
import { kindText, memberGlyph, memberTitle } from "../diagram/words";
import { hasEnded } from "../facts";
import { remember, remembered } from "../../../app/memory";
import { Nothing } from "../parts";
import type { TabProps } from "../types";
import { useFindStep } from "../useFindStep";
import { type Bar, longestChain, type TimeRow, timeRows, waits, whereTimeWent, wholeSpan } from "./model";
import { Overview } from "./Overview";
import { idleGaps, inside, type Span, timeScale, type TimeScale, zoomRange } from "./scale";
import "./timeline.css";

export function TimelineTab({ detail, nodes, go }: TabProps) {
  const { t, format } = useI18n();
  const { run } = detail;
  const live = !hasEnded(run.status);
  const tick = useNow(1000);
  const now = live ? tick : (run.finishedAt ?? tick);
  const end = live ? undefined : (run.finishedAt ?? undefined);
  const { search } = useAddress();
  const [step, setStep] = useParam("step");
  const [order, setOrder] = useState<"phase" | "start">("phase");
  const [compress, setCompress] = useState(() => remembered("run.timeline.compress", true));
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [width, setWidth] = useState(0);
  const [hover, setHover] = useState<{ x: number; y: number; row?: TimeRow } | null>(null);
  const [active, setActive] = useState<string | null>(null);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const finder = useFindStep(scroller, "tl-find");
  const { needle } = finder;
  const track = useRef<HTMLDivElement>(null);

  const lanes = useMemo(() => makeLanes(nodes, run.status), [nodes, run.status]);
  const whole = useMemo(() => wholeSpan(run, nodes, now), [run, nodes, now]);
  const rows = useMemo(() => {
    const all = timeRows(lanes, needle ? "start" : order, closed, now, end);
    return needle ? all.filter((row) => (row.title ?? "").toLowerCase().includes(needle)) : all;
  }, [lanes, order, closed, now, end, needle]);
  const waited = useMemo(() => waits(run, now), [run, now]);
  const allBars = useMemo(() => timeRows(lanes, "start", new Set(), now, end).flatMap((row) => row.bars), [lanes, now, end]);
  const gaps = useMemo(
    () =>
      idleGaps(
        whole,
        allBars.filter((bar) => bar.kind === "ran" || bar.kind === "failed"),
        waited,
      ),
    [whole, allBars, waited],
  );
  const chain = useMemo(() => longestChain(nodes, 6), [nodes]);
  const went = whereTimeWent(run, now);

  const from = Number(search.get("from"));
  const to = Number(search.get("to"));
  const isZoomed = Number.isFinite(from) && Number.isFinite(to) && to > from && search.get("from") !== null;
  const range = isZoomed ? inside({ from, to: Math.max(to, from + 10) }, whole) : whole;
  const scale = useMemo(
    () => timeScale({ from: range.from, to: range.to }, width, compress ? gaps : []),
    [range.from, range.to, width, compress, gaps],
  );
  const zoom = useCallback(
    (next: Span | null) =>
      setParams(
        next && next.to - next.from < (whole.to - whole.from) * 0.999
          ? { from: Math.round(next.from), to: Math.round(next.to) }
          : { from: null, to: null },
      ),
    [whole],
  );

  const hasRows = nodes.length > 0;
  useLayoutEffect(() => {
    const element = track.current;
    if (!element) return undefined;
    const measure = () => setWidth(element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [hasRows]);

  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === "phase" ? 1.625 : 1.5) * rem,
    overscan: 12,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  useScrollPlace(scroller, "timeline", hasRows);
  const selected = step ? `n:${step}` : null;
  const at = rows.findIndex((row) => row.key === (active ?? selected));
  useEffect(() => {
    const index = rows.findIndex((row) => row.key === selected);
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
    // oxlint-disable-next-line react/exhaustive-deps -- only a new selection scrolls, not rows that change
  }, [selected]);

  const around = () => (hover ? scale.time(hover.x) : (range.from + range.to) / 2);
  const openRow = (row: TimeRow | undefined) => {
    if (!row) return;
    if (row.kind === "phase") {
      setClosed((old) => {
        const next = new Set(old);
        if (!next.delete(row.lane)) next.add(row.lane);
        return next;
      });
      return;
    }
    const { child, log } = row.member ? nodeFacts(row.member.node) : { child: undefined, log: undefined };
    if (child) navigate(runAddress(child));
    else go("logs", log === undefined ? { at: row.member?.node.startedAt } : { line: log });
  };
  // Rows are drawn again only when they change, so what they call stays the same function.
  const latest = useRef(openRow);
  useEffect(() => {
    latest.current = openRow;
  });
  const choose = useCallback(
    (row: TimeRow) => {
      setActive(row.key);
      if (row.member) setStep(String(row.member.node.id));
      else latest.current(row);
    },
    [setStep],
  );
  const openMember = useCallback((row: TimeRow) => {
    if (row.member) latest.current(row);
  }, []);
  const reach = (index: number) => {
    const row = rows[index];
    if (!row) return;
    setActive(row.key);
    if (row.member) setStep(String(row.member.node.id));
    virtual.scrollToIndex(index, { align: "auto" });
  };
  const pan = (share: number) =>
    isZoomed && zoom(inside({ from: range.from + (range.to - range.from) * share, to: range.to + (range.to - range.from) * share }, whole));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
      case "Enter":
      case " ":
        openRow(rows[at]);
        break;
      default: {
        const to = reachedBy(event.key, at, rows.length);
        if (to === undefined) return;
        reach(to);
      }
    }
    event.preventDefault();
    event.stopPropagation();
  };
  useActions([
    {
      id: "timeline.in",
      title: t("run.zoomIn"),
      group: "view",
      keys: "+",
      alias: ["="],
      palette: false,
      run: () => zoom(zoomRange(range, whole, 1.6, around())),
    },
    {
      id: "timeline.out",
      title: t("run.zoomOut"),
      group: "view",
      keys: "-",
      palette: false,
      run: () => zoom(zoomRange(range, whole, 1 / 1.6, around())),
    },
    { id: "timeline.whole", title: t("run.wholeRun"), group: "view", keys: "0", run: () => zoom(null) },
    { id: "timeline.left", title: t("run.panLeft"), group: "view", keys: "←", palette: false, run: () => pan(-0.2) },
    { id: "timeline.right", title: t("run.panRight"), group: "view", keys: "→", palette: false, run: () => pan(0.2) },
  ]);

  // Zoom with Ctrl and the wheel at the pointer; sideways scrolling pans.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent) => {
      const box = track.current?.getBoundingClientRect();
      if (!box) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom(zoomRange(range, whole, Math.exp(-event.deltaY * 0.003), scale.time(event.clientX - box.left)));
      } else if (isZoomed && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan(event.deltaX / Math.max(1, box.width));
      }
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  });

  if (!hasRows && run.stages.length === 0) return <Nothing text={t(live ? "run.noStepsYet" : "run.noSteps")} />;
  const onMove = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return;
    const x = event.clientX - box.left;
    if (x < 0 || x > box.width) {
      setHover(null);
      return;
    }
    const key = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset.row;
    setHover({ x, y: event.clientY, ...(key ? { row: rows[Number(key)] } : {}) });
  };
  const stats: { key: string; label: string; value: string; wait?: boolean }[] = [
    { key: "queued", label: t("run.wentQueued"), value: went.queued === undefined ? t("run.notRecorded") : format.duration(went.queued) },
    { key: "worker", label: t("run.wentWorker"), value: t("run.notRecorded") },
    { key: "ran", label: t("run.wentRan"), value: went.ran === undefined ? t("run.notRecorded") : format.duration(went.ran) },
    { key: "waited", label: t("run.wentWaited"), value: went.waited > 0 ? format.duration(went.waited) : t("run.wentNot"), wait: went.waited > 0 },
    { key: "records", label: t("run.wentRecords"), value: t("run.notRecorded") },
  ];
  const ticks = scale.ticks(96);
  const labelled = ticks.filter((one) => one.x < width - 34);
  const axisText = (time: number) => {
    const ms = Math.round(time - whole.from);
    if (ms < 1) return "0";
    if (ms < 60_000 && ms % 1_000 === 0) return t("common.secondsShort", { n: ms / 1_000 });
    if (ms % 3_600_000 === 0) return t("run.axisHours", { h: ms / 3_600_000 });
    if (ms % 60_000 === 0 && ms < 3_600_000) return t("run.axisMinutes", { m: ms / 60_000 });
    return format.duration(ms);
  };

  return (
    <div className="tl">
      <div className="tl-top">
        <dl className="tl-why">
          {stats.map((stat) => (
            <div key={stat.key}>
              <dt className="k-xs k-dim">{stat.label}</dt>
              <dd
                className={stat.value === t("run.notRecorded") || stat.value === t("run.wentNot") ? "tl-unknown" : stat.wait ? "k-wait" : undefined}
              >
                {stat.value}
              </dd>
            </div>
          ))}
          {chain.length > 1 && (
            <div className="tl-chain">
              <dt className="k-xs k-dim">{t("run.longestChain")}</dt>
              <dd className="k-sm k-trunc">
                {chain.map((link, index) => (
                  <span key={link.node.id}>
                    {index > 0 && <span className="k-dim"> → </span>}
                    <button
                      type="button"
                      className="tl-link"
                      onClick={() => {
                        setStep(String(link.node.id));
                        setActive(`n:${link.node.id}`);
                      }}
                    >
                      {link.queuedMs > 1_000
                        ? t("run.chainQueued", { name: memberTitle(t, link.node), took: format.duration(link.queuedMs) })
                        : memberTitle(t, link.node)}
                    </button>
                  </span>
                ))}
              </dd>
            </div>
          )}
        </dl>
        <div className="tl-tools">
          <Segmented
            label={t("run.orderBy")}
            value={order}
            onChange={setOrder}
            items={[
              { value: "phase", label: t("run.byPhase") },
              { value: "start", label: t("run.byStart") },
            ]}
          />
          {finder.button}
          {finder.box}
        </div>
        <Overview whole={whole} range={range} bars={allBars} onRange={zoom} />
        <div className="tl-axis">
          <span className="k-xs k-dim">{t("run.step")}</span>
          <div className="tl-ticks" ref={track} aria-hidden="true">
            {labelled.map((one) => (
              <span key={one.at} className="tl-tick" style={{ left: one.x }}>
                {axisText(one.at)}
              </span>
            ))}
            {scale.gaps.map((gap) => (
              <span key={gap.from} className="tl-gap-label" data-waited={gap.waited || undefined} style={{ left: gap.x, width: gap.width }}>
                {format.duration(gap.to - gap.from)}
              </span>
            ))}
            {hover && (
              <span className="tl-cursor-time" style={{ left: Math.min(Math.max(hover.x, 28), Math.max(28, width - 28)) }}>
                {axisText(scale.time(hover.x))}
              </span>
            )}
          </div>
        </div>
      </div>
      <div
        ref={scroller}
        className="tl-body"
        role="tree"
        tabIndex={0}
        aria-label={t("run.tab_timeline")}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        onKeyDown={onKeyDown}
        onPointerMove={onMove}
        onPointerLeave={() => setHover(null)}
      >
        <div className="tl-world" style={{ height: Math.max(virtual.getTotalSize(), 1) }}>
          <div className="tl-grid" aria-hidden="true">
            {ticks
              .filter((one) => one.x > 1)
              .map((one) => (
                <span key={one.at} style={{ left: one.x }} />
              ))}
            {scale.gaps.map((gap) => (
              <span key={gap.from} className="tl-gap" data-waited={gap.waited || undefined} style={{ left: gap.x, width: gap.width }} />
            ))}
            {hover && <span className="tl-cursor" style={{ left: hover.x }} />}
          </div>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <RowView
                key={row.key}
                row={row}
                index={item.index}
                id={`${id}-${item.index}`}
                top={item.start}
                height={item.size}
                scale={scale}
                start={whole.from}
                selected={row.key === selected}
                active={item.index === at}
                open={!closed.has(row.lane)}
                onSelect={choose}
                onOpen={openMember}
              />
            );
          })}
        </div>
        {hover?.row && hover.row.bars.length > 0 && (
          <Tip row={hover.row} x={hover.x} y={hover.y} whole={whole} bounds={scroller.current} labels={width} />
        )}
      </div>
      <div className="run-foot">
        <span className="tl-legend">
          <i className="tl-key" data-kind="ran" />
          {t("run.legendRan")}
        </span>
        <span className="tl-legend">
          <i className="tl-key" data-kind="queued" />
          {t("run.legendQueued")}
        </span>
        <span className="tl-legend">
          <i className="tl-key" data-kind="waited" />
          {t("run.legendWaited")}
        </span>
        <span className="tl-legend">
          <i className="tl-key" data-kind="failed" />
          {t("run.legendFailed")}
        </span>
        <span className="k-grow" />
        {isZoomed && (
          <button type="button" className="k-link" onClick={() => zoom(null)}>
            {t("run.wholeRun")}
          </button>
        )}
        <label className="tl-legend">
          {t("run.compressIdle")}
          <Switch
            checked={compress}
            label={t("run.compressIdle")}
            onChange={(next) => {
              setCompress(next);
              remember("run.timeline.compress", next);
            }}
          />
        </label>
        <span className="tl-hint">
          <span className="k-sep" />
          {t("run.timelineHint")}
          <Kbd keys="0" />
          {t("run.timelineHintWhole")}
        </span>
      </div>
    </div>
  );
}

interface RowViewProps {
  row: TimeRow;
  index: number;
  id: string;
  top: number;
  height: number;
  scale: TimeScale;
  start: number;
  selected: boolean;
  active: boolean;
  open: boolean;
  onSelect: (row: TimeRow) => void;
  onOpen: (row: TimeRow) => void;
}

const RowView = memo(function RowView({ row, index, id, top, height, scale, start, selected, active, open, onSelect, onOpen }: RowViewProps) {
  const { t, format } = useI18n();
  const isPhase = row.kind === "phase";
  const last = row.bars.at(-1);
  const facts = row.member ? nodeFacts(row.member.node) : undefined;
  const took = row.ms === undefined ? "" : format.duration(row.ms);
  const beside = [
    facts?.try !== undefined && facts.try > 1 ? t("run.tryTook", { n: facts.try, took }) : took,
    row.queuedMs !== undefined && row.queuedMs > 1_000 && !facts?.earlier.length
      ? t("run.tookQueued", { took: format.duration(row.queuedMs) })
      : undefined,
  ]
    .filter(Boolean)
    .join(t("run.listJoin"));
  const title = isPhase
    ? row.title === undefined
      ? t("run.noPhase")
      : row.title || t("run.emptyPhase")
    : row.member
      ? memberTitle(t, row.member.node)
      : "";
  const lastX = last ? scale.x(last.to) : 0;
  const spoken = row.bars
    .map((bar) => t(`run.spoken_${bar.kind}`, { from: format.duration(Math.max(0, bar.from - start)), took: format.duration(bar.to - bar.from) }))
    .join(t("run.listJoin"));
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={isPhase ? 1 : 2}
      {...(isPhase ? { "aria-expanded": open } : {})}
      aria-selected={selected}
      data-active={active || undefined}
      data-row={index}
      className={isPhase ? "tl-row tl-row-phase" : "tl-row"}
      style={{ transform: `translateY(${top}px)`, height }}
      onClick={() => onSelect(row)}
      onDoubleClick={() => onOpen(row)}
    >
      <div className="tl-label">
        {isPhase ? (
          <Icon of={open ? ChevronDown : ChevronRight} size={14} />
        ) : (
          row.member && <Glyph name={memberGlyph(row.member.status, row.member.node)} label="" size={15} />
        )}
        <span className="k-trunc k-grow">{title}</span>
        {!isPhase && <span className="k-visually-hidden">{spoken}</span>}
        <span className="k-xs k-dim k-num tl-kind">
          {isPhase
            ? took
            : row.member
              ? kindText(t, { ...row.member, node: { ...row.member.node, detail: facts?.what ? { what: facts.what } : undefined } })
              : ""}
        </span>
      </div>
      <div className="tl-track" aria-hidden="true">
        {row.bars.map((bar, at) => (
          <BarView key={at} bar={bar} phase={isPhase} scale={scale} />
        ))}
        {!isPhase && last && last.kind !== "waited" && lastX < scale.width + 4 && lastX > -80 && (
          <span
            className="tl-beside"
            style={lastX > scale.width - 90 ? { right: scale.width - scale.x(row.bars[0]?.from ?? 0) + 6 } : { left: lastX + 6 }}
          >
            {beside}
          </span>
        )}
      </div>
    </div>
  );
});

function BarView({ bar, phase, scale }: { bar: Bar; phase: boolean; scale: TimeScale }) {
  const left = Math.max(-4, scale.x(bar.from));
  const right = Math.min(scale.width + 4, scale.x(bar.to));
  if (right < 0 || left > scale.width) return null;
  return (
    <i className="tl-bar" data-kind={phase ? "phase" : bar.kind} data-now={bar.now || undefined} style={{ left, width: Math.max(3, right - left) }} />
  );
}

function Tip({ row, x, y, whole, bounds, labels }: { row: TimeRow; x: number; y: number; whole: Span; bounds: HTMLElement | null; labels: number }) {
  const { t, format } = useI18n();
  const box = bounds?.getBoundingClientRect();
  if (!box) return null;
  const left = box.width - labels - 20 + x;
  const top = y - box.top + 18 + (bounds?.scrollTop ?? 0);
  const flip = left > box.width - 260;
  return (
    <div className="tl-tip" role="presentation" style={{ top, ...(flip ? { right: box.width - left + 12 } : { left: left + 12 }) }}>
      <span className="k-semi k-trunc">{row.title || t("run.emptyLabel")}</span>
      {row.bars.map((bar, index) => (
        <span key={index} className="k-num">
          {t(`run.spoken_${bar.kind}`, { from: format.duration(Math.max(0, bar.from - whole.from)), took: format.duration(bar.to - bar.from) })}
          <span className="k-dim"> {t("run.fromTo", { from: format.timeSeconds(bar.from), to: format.timeSeconds(bar.to) })}</span>
        </span>
      ))}
    </div>
  );
}
