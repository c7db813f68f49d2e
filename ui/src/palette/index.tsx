// The palette: everything that can be done or opened, by typing. It opens on what is in memory; the store's search comes behind.
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { ArrowRight, ChevronRight, Search, SquareArrowOutUpRight } from "lucide-react";
import { Dialog as Base } from "@base-ui/react/dialog";
import { useData } from "../api/queries";
import { useAllActions } from "../app/actions";
import { useNow } from "../app/clock";
import { address, navigate, runAddress, useAddress } from "../app/router";
import { useSettings } from "../app/settings";
import { useLately, useOverviews } from "../app/useOverviews";
import { useI18n } from "../i18n";
import { Glyph, Icon, Kbd, revealText } from "../kit";
import { GROUPS, itemsOf, type Group, type Item, type Sources } from "./items";
import { rank, readMode, runLink, type Mode, type Ranked } from "./match";
import "./palette.css";

export interface PaletteProps {
  open: boolean;
  /** What the field holds at first. */
  text?: string;
  onClose: () => void;
}

const MOST: Record<Group, number> = { do: 6, waiting: 4, projects: 5, runs: 5, settings: 4 };
/** Without a search: a short list to start from. */
const MOST_AT_FIRST: Record<Group, number> = { do: 6, waiting: 3, projects: 3, runs: 3, settings: 0 };
const MOST_ALONE = 40;
/** How long typing may rest before the store is asked, in milliseconds. */
const ASK_AFTER = 120;
/** Projects whose entrypoints are read when the palette opens. */
const READ_AHEAD = 12;

const IN_MODE: Record<Mode, readonly Group[]> = {
  all: GROUPS,
  actions: ["do", "settings"],
  runs: ["waiting", "runs"],
  projects: ["projects"],
};

/** The text after typing has rested. */
function useRested(text: string, after: number): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), after);
    return () => clearTimeout(timer);
  }, [text, after]);
  return rested;
}

function useSources(find: string, asks: boolean) {
  const { segments } = useAddress();
  const now = useNow(60_000);
  const actions = useAllActions();
  const home = useData("home", {}).data;
  const projects = useData("projects", {}).data;
  const rested = useRested(find.trim(), ASK_AFTER);
  const answer = useData("runs", { query: { text: rested }, limit: 8 }, { enabled: asks && rested.length >= 2, keepPrevious: true });
  const { overviews } = useOverviews(useLately(projects, READ_AHEAD));
  const current = rested === find.trim() && rested.length >= 2;
  const found = asks && rested.length >= 2 ? answer.data?.rows : undefined;
  const project = segments[0] === "project" ? segments[1] : undefined;
  const sources = useMemo<Sources>(
    () => ({ actions, home, projects: projects ?? [], overviews, project, runs: found ?? [], now }),
    [actions, home, projects, overviews, project, found, now],
  );
  return { sources, total: current && !answer.isFetching ? answer.data?.total : undefined };
}

/** A time that ticks: how long a run goes on, or how long a call stays open. */
function Clock({ clock }: { clock: NonNullable<Item["clock"]> }) {
  const { t, format } = useI18n();
  const now = useNow(1000);
  if ("since" in clock) return <span className="k-sub k-num">{format.clock(now - clock.since)}</span>;
  return clock.until > now ? <span className="k-sm k-wait k-num">{t("common.left", { time: format.clock(clock.until - now) })}</span> : null;
}

function Marked({ text, ranges }: { text: string; ranges: [number, number][] }) {
  if (ranges.length === 0) return text;
  const parts = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(text.slice(at, from), <b key={from}>{text.slice(from, to)}</b>);
    at = to;
  }
  parts.push(text.slice(at));
  return parts;
}

interface Listed {
  group?: Group;
  rows: Ranked<Item>[];
}

export default function Palette({ open, text: initial = "", onClose }: PaletteProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const [, update] = useSettings();
  const id = useId();
  const [text, setText] = useState(initial);
  const [at, setAt] = useState(0);
  const [inside, setInside] = useState<Item>();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const { mode, find } = readMode(text);
  const link = inside ? undefined : runLink(text);
  const { sources, total } = useSources(find, mode === "all" || mode === "runs");

  const { lists, took } = useMemo(() => {
    const begun = performance.now();
    const lists: Listed[] = [];
    if (inside) {
      lists.push({ rows: rank(inside.more?.() ?? [], find) });
    } else {
      const items = itemsOf(sources, i18n, update);
      if (link) {
        const open: Item = {
          id: "link",
          group: "do",
          title:
            link.line === undefined ? t("palette.openRun", { run: link.run }) : t("palette.openLine", { run: link.run, line: String(link.line) }),
          icon: SquareArrowOutUpRight,
          run: () => navigate(link.line === undefined ? runAddress(link.run) : address(["run", link.run, "logs"], { line: link.line })),
        };
        lists.push({ group: "do", rows: [{ item: open, title: [], sub: [] }] });
      }
      for (const group of IN_MODE[mode]) {
        const ranked = rank(
          items.filter((item) => item.group === group),
          find,
        );
        const rows = ranked.slice(0, mode !== "all" ? MOST_ALONE : find.trim() === "" ? MOST_AT_FIRST[group] : MOST[group]);
        if (rows.length > 0) lists.push({ group, rows });
      }
      if (find.trim() !== "" && (mode === "all" || mode === "runs")) {
        const all: Item = {
          id: "all runs",
          group: "runs",
          title: t("palette.allRunsWith", { text: find.trim() }),
          sub: total === undefined ? undefined : t("common.runsCount", { count: total }),
          icon: Search,
          run: () => navigate(address(["runs"], { q: find.trim() })),
        };
        const runs = lists.find((one) => one.group === "runs" && one.rows[0]?.item.id !== "link");
        const row: Ranked<Item> = { item: all, title: [], sub: [] };
        if (runs) runs.rows.push(row);
        else lists.push({ group: "runs", rows: [row] });
      }
    }
    return { lists, took: performance.now() - begun };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `link` follows from `text`
  }, [inside, sources, i18n, update, mode, find, text, total, t]);

  const rows = lists.flatMap((one) => one.rows);
  const current = rows[Math.min(at, rows.length - 1)];
  const place = (row: Ranked<Item> | undefined) => (row ? `${id}-${rows.indexOf(row)}` : undefined);

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, text]);

  const choose = (item: Item | undefined) => {
    if (!item || item.off) return;
    // Closed first: what it does may open something of its own.
    onClose();
    item.run();
  };
  const type = (next: string) => {
    setText(next);
    setAt(0);
  };
  const leave = () => {
    setInside(undefined);
    type("");
  };

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step && rows.length > 0) {
      const next = at + step;
      setAt(Math.abs(step) === 1 ? (next + rows.length) % rows.length : Math.max(0, Math.min(rows.length - 1, next)));
    } else if (event.key === "Enter") {
      choose(event.ctrlKey || event.metaKey ? (current?.item.more?.()[0] ?? current?.item) : current?.item);
    } else if (event.key === "Tab" && !event.shiftKey) {
      if (current?.item.more && !inside) {
        setInside(current.item);
        type("");
      }
    } else if (inside && ((event.key === "Backspace" && text === "") || (event.key === "Tab" && event.shiftKey))) {
      leave();
    } else if (event.key === "Escape" && inside) {
      event.stopPropagation();
      leave();
    } else return;
    event.preventDefault();
  };

  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="k-scrim" />
        <Base.Popup className="pal" initialFocus={input}>
          <Base.Title className="k-visually-hidden">{t("palette.title")}</Base.Title>
          <div className="pal-field">
            <Icon of={Search} size={18} />
            {inside && (
              <span className="k-chip k-chip-on">
                <span className="k-trunc">{inside.title}</span>
              </span>
            )}
            <input
              ref={input}
              type="text"
              role="combobox"
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={place(current)}
              aria-label={t("palette.title")}
              placeholder={inside ? t("palette.whatWith") : t("palette.placeholder")}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => type(event.target.value)}
              onKeyDown={onKeyDown}
            />
            {text !== "" && (
              <span className="k-sub k-num" role="status">
                {t("palette.hits", { count: rows.length, took: i18n.format.duration(took) })}
              </span>
            )}
          </div>
          <div ref={list} className="pal-list" role="listbox" id={`${id}-list`} aria-label={t("palette.title")}>
            {lists.map(({ group, rows: members }, index) => (
              <div key={`${group} ${index}`} role="group" aria-label={group ? t(`palette.group_${group}`) : inside?.title}>
                {group && (
                  <div className="pal-group" aria-hidden="true">
                    {t(`palette.group_${group}`)}
                  </div>
                )}
                {members.map((row) => {
                  const { item } = row;
                  const on = row === current;
                  return (
                    <div
                      key={item.id}
                      id={place(row)}
                      role="option"
                      aria-selected={on}
                      aria-disabled={item.off ? true : undefined}
                      title={item.off}
                      className="pal-item"
                      onMouseMove={() => setAt(rows.indexOf(row))}
                      onClick={() => choose(item)}
                    >
                      {item.glyph ? <Glyph name={item.glyph} /> : item.icon && <Icon of={item.icon} size={16} />}
                      <span className="pal-title k-trunc">
                        <Marked text={item.title} ranges={row.title} />
                      </span>
                      <span className="k-sub k-trunc pal-sub">
                        {item.off ? revealText(item.off) : item.sub && <Marked text={item.sub} ranges={row.sub} />}
                      </span>
                      {item.end && <span className="k-sub k-num">{item.end}</span>}
                      {item.clock && <Clock clock={item.clock} />}
                      {on && !item.keys && <Kbd keys="Enter" />}
                      {item.keys && <Kbd keys={item.keys} />}
                      {item.id === "all runs" && <Icon of={ArrowRight} size={14} />}
                      {on && item.more && !inside && <Icon of={ChevronRight} size={14} />}
                    </div>
                  );
                })}
              </div>
            ))}
            {rows.length === 0 && <p className="pal-none">{t("palette.nothing", { text: find.trim() })}</p>}
          </div>
          <div className="pal-foot">
            <span className="k-r">
              <Kbd keys="↑ ↓" /> {t("palette.move")}
            </span>
            <span className="k-r">
              <Kbd keys="Enter" /> {t("palette.do")}
            </span>
            <span className="k-r">
              <Kbd keys="Tab" /> {t("palette.more")}
            </span>
            <span className="k-grow" />
            <span className="k-r pal-modes">
              {(["actions", "runs", "projects"] as const).map((one, index) => (
                <span key={one}>
                  <b>{[">", "#", "@"][index]}</b> {t(`palette.mode_${one}`)}
                </span>
              ))}
            </span>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
