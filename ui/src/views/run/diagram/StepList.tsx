// The members as a list by phase: complete, by keyboard, and only what is on screen is drawn.
import { reachedBy } from "../../../app/listKeys";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, ListTree, PanelRightClose } from "lucide-react";
import { useScrollPlace } from "../../../app/places";
import { useI18n } from "../../../i18n";
import { IconButton } from "../../../kit/Button";
import { Glyph } from "../../../kit/Glyph";
import { Icon } from "../../../kit/Icon";
import { useFindStep } from "../useFindStep";
import type { Lane, Member } from "./model";
import { caption } from "./model";
import { captionText, laneTitle, memberGlyph, memberMs, memberTitle } from "./words";

type Row = { key: string; lane: Lane; member?: Member };

interface StepListProps {
  lanes: readonly Lane[];
  selected: string | null;
  now: number;
  end: number | undefined;
  onSelect: (key: string) => void;
  onOpen: (key: string) => void;
  onHide: () => void;
}

export function StepList({ lanes, selected, now, end, onSelect, onOpen, onHide }: StepListProps) {
  const { t, format } = useI18n();
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [choice, setChoice] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [grouped, setGrouped] = useState(true);
  const finder = useFindStep(scroller, "dg-find");
  const [active, setActive] = useState<string | null>(null);

  // Open at first unless everything in it completed; a person's choice stands.
  const isOpen = (lane: Lane) =>
    choice.get(lane.key) ??
    (lane.members.length > 0 &&
      !lane.members.every((member) => member.status === "success" || member.status === "skipped" || member.status === "queued"));
  const { needle } = finder;
  const openKeys = lanes
    .filter(isOpen)
    .map((lane) => lane.key)
    .join("\n");
  const rows = useMemo((): Row[] => {
    const open = new Set(openKeys.split("\n"));
    if (needle || !grouped)
      return lanes.flatMap((lane) =>
        lane.members
          .filter((member) => !needle || member.node.title.toLowerCase().includes(needle))
          .map((member) => ({ key: `n:${member.node.id}`, lane, member })),
      );
    return lanes.flatMap((lane): Row[] => [
      { key: `p:${lane.key}`, lane },
      ...(open.has(lane.key) ? lane.members.map((member) => ({ key: `n:${member.node.id}`, lane, member })) : []),
    ]);
  }, [lanes, openKeys, needle, grouped]);

  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.member ? 1.75 : 2) * rem,
    overscan: 10,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const at = rows.findIndex((row) => row.key === (active ?? selected));
  useScrollPlace(scroller, "steps", rows.length > 0);

  // A selection from the canvas opens its phase here and comes into view.
  useEffect(() => {
    if (!selected) return;
    setActive(selected);
    const lane = lanes.find((one) => one.members.some((member) => `n:${member.node.id}` === selected));
    if (lane && !isOpen(lane)) setChoice((old) => new Map(old).set(lane.key, true));
    // oxlint-disable-next-line react/exhaustive-deps -- only a new selection opens its phase; a person may close it again
  }, [selected]);
  useEffect(() => {
    const index = rows.findIndex((row) => row.key === selected);
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
    // oxlint-disable-next-line react/exhaustive-deps -- states that change must not scroll; the number of rows says when the phase has opened
  }, [selected, rows.length]);

  const toggle = (lane: Lane, to = !isOpen(lane)) => setChoice((old) => new Map(old).set(lane.key, to));
  const reach = (index: number) => {
    const row = rows[index];
    if (!row) return;
    setActive(row.key);
    if (row.member) onSelect(row.key);
    virtual.scrollToIndex(index, { align: "auto" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[at];
    switch (event.key) {
      case "ArrowRight":
        if (row && !row.member) toggle(row.lane, true);
        break;
      case "ArrowLeft":
        if (row?.member) setActive(`p:${row.lane.key}`);
        else if (row) toggle(row.lane, false);
        break;
      case "Enter":
        if (row?.member) onOpen(row.key);
        else if (row) toggle(row.lane);
        break;
      case " ":
        if (row?.member) onSelect(row.key);
        else if (row) toggle(row.lane);
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
  const total = lanes.reduce((sum, lane) => sum + lane.members.length, 0);
  const finished = lanes.reduce(
    (sum, lane) => sum + lane.members.filter((member) => member.node.finishedAt || member.status === "success" || member.status === "failed").length,
    0,
  );

  return (
    <>
      <div className="dg-side-head">
        <h2 className="k-h3">{t("run.steps")}</h2>
        <span className="k-sub k-num">{t("run.stepsFinished", { count: total, finished })}</span>
        <span className="k-grow" />
        {finder.button}
        <IconButton icon={ListTree} label={t("run.groupByPhase")} size="small" pressed={grouped} onClick={() => setGrouped(!grouped)} />
        <IconButton icon={PanelRightClose} label={t("run.stepsToggle")} keys="]" size="small" onClick={onHide} />
      </div>
      {finder.box}
      <div
        ref={scroller}
        className="dg-list"
        role="tree"
        tabIndex={0}
        aria-label={t("run.steps")}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        onKeyDown={onKeyDown}
      >
        {rows.length === 0 && <p className="k-list-none">{t("run.noStepFound")}</p>}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="presentation">
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const common = {
              id: `${id}-${item.index}`,
              role: "treeitem",
              "aria-selected": row.key === selected,
              "data-active": item.index === at || undefined,
              style: { transform: `translateY(${item.start}px)`, height: item.size },
            } as const;
            if (!row.member) {
              const open = isOpen(row.lane);
              return (
                <div
                  key={row.key}
                  {...common}
                  aria-level={1}
                  aria-expanded={open}
                  className="dg-phase"
                  onClick={() => {
                    setActive(row.key);
                    toggle(row.lane);
                  }}
                >
                  <Icon of={open ? ChevronDown : ChevronRight} size={14} />
                  <span className="k-trunc k-semi">{laneTitle(t, row.lane)}</span>
                  <span className="k-grow" />
                  <span className="k-sub k-trunc dg-caption">{captionText(t, caption(row.lane.members))}</span>
                </div>
              );
            }
            const ms = memberMs(row.member, now, end);
            return (
              <div
                key={row.key}
                {...common}
                aria-level={2}
                className="dg-item"
                style={{ ...common.style, paddingLeft: `${(grouped && !needle ? 2.25 : 0.75) + Math.min(6, row.member.depth) * 0.75}rem` }}
                onClick={() => {
                  setActive(row.key);
                  onSelect(row.key);
                }}
                onDoubleClick={() => onOpen(row.key)}
              >
                <Glyph name={memberGlyph(row.member.status, row.member.node)} />
                <span className="k-trunc k-grow">{memberTitle(t, row.member.node)}</span>
                <span className="k-sub k-num">
                  {ms !== undefined
                    ? format.duration(row.member.status === "running" ? Math.floor(ms / 1000) * 1000 : ms)
                    : row.member.status === "queued" && memberGlyph(row.member.status, row.member.node) === "queued"
                      ? t("run.queuedWord")
                      : ""}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}
