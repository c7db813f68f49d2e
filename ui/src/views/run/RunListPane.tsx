// The list of runs beside a run: what waits, what runs, what was. On a narrow window it is a drawer.
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { ListFilter, PanelLeftClose, Search } from "lucide-react";
import type { RunRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { useNow } from "../../app/clock";
import { Elapsed } from "../../app/Elapsed";
import { questionTitle } from "../../app/questions";
import { Link, navigate, runAddress } from "../../app/router";
import { neighbour } from "../../app/trail";
import { useWidth } from "../../app/useWidth";
import { useI18n } from "../../i18n";
import { IconButton } from "../../kit/Button";
import { revealText } from "../../kit/text";
import { Glyph } from "../../kit/Glyph";
import { remember, remembered } from "../../app/memory";
import { cancelWords, hasEnded } from "./facts";

/** Content narrower than this has the list as a drawer, in rem. */
const DRAWER_BELOW = 59.75;

export interface ListPane {
  open: boolean;
  toggle: () => void;
  close: () => void;
}

/** Whether the list is there. As a drawer it closes when another run is chosen. */
export function useListPane(root: RefObject<HTMLElement | null>, run: string, waits: boolean): ListPane {
  // Until somebody decides, a run that waits has the list of what else waits beside it.
  const [wide, setWide] = useState<boolean | null>(() => remembered<boolean | null>("run.list", null));
  const [asks, setAsks] = useState(waits);
  useEffect(() => {
    if (waits) setAsks(true);
  }, [waits]);
  const [drawer, setDrawer] = useState(false);
  const width = useWidth(root);
  // Before it is measured it counts as narrow: a list that comes a moment later is better than one over the question.
  const narrow = width === undefined || width < DRAWER_BELOW;
  useEffect(() => setDrawer(false), [run]);
  const shown = wide ?? asks;
  return {
    open: narrow ? drawer : shown,
    toggle: () => {
      if (narrow) setDrawer(!drawer);
      else {
        setWide(!shown);
        remember("run.list", !shown);
      }
    },
    close: () => {
      if (narrow) setDrawer(false);
      else {
        setWide(false);
        remember("run.list", false);
      }
    },
  };
}

/** The runs of the same project around this one. */
export function useSiblings(run: string, project: string): { index: number | undefined; total: number; at: (step: -1 | 1) => string | undefined } {
  const page = useData("runs", { query: { project }, limit: 200 }, { keepPrevious: true });
  const rows = page.data?.rows ?? [];
  const index = rows.findIndex((row) => row.runId === run);
  // The list a person came from goes before the project's own order.
  return {
    index: index < 0 ? undefined : index,
    total: page.data?.total ?? rows.length,
    at: (step) => neighbour(run, step) ?? (index < 0 ? undefined : rows[index + step]?.runId),
  };
}

interface Group {
  key: string;
  title: string;
  count?: number;
  rows: { row: RunRow; second: string }[];
}

export function RunListPane({ run, pane }: { run: string; pane: ListPane }) {
  return pane.open ? <OpenPane run={run} pane={pane} /> : null;
}

function OpenPane({ run, pane }: { run: string; pane: ListPane }) {
  const { t, format } = useI18n();
  const now = useNow(10_000);
  const home = useData("home", {});
  const recent = useData("runs", { query: {}, limit: 60 }, { keepPrevious: true });
  const body = useRef<HTMLDivElement>(null);

  const groups = useMemo((): Group[] => {
    const waiting = home.data?.waiting ?? [];
    const running = home.data?.running ?? [];
    const shown = new Set([...waiting.map(({ run: row }) => row.runId), ...running.map((row) => row.runId)]);
    const out: Group[] = [];
    if (waiting.length > 0)
      out.push({
        key: "waiting",
        title: t("run.listWaiting"),
        count: Math.max(waiting.length, home.data?.today.waiting ?? 0),
        rows: waiting.map(({ run: row, question }) => ({ row, second: questionTitle(question, t) })),
      });
    if (running.length > 0)
      out.push({
        key: "running",
        title: t("run.listRunning"),
        count: Math.max(running.length, home.data?.today.running ?? 0),
        rows: running.map((row) => ({
          row,
          second:
            [
              row.phase ?? row.step,
              row.progress ? (row.progress.total ? t("run.doneOf", { done: row.progress.done, total: row.progress.total }) : undefined) : undefined,
            ]
              .filter(Boolean)
              .join(t("run.listJoin")) || row.projectTitle,
        })),
      });
    let day: Group | undefined;
    for (const row of recent.data?.rows ?? []) {
      if (shown.has(row.runId)) continue;
      const key = new Date(row.createdAt).toDateString();
      if (day?.key !== key) {
        const age = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(row.createdAt).setHours(0, 0, 0, 0)) / 86_400_000);
        day = { key, title: age === 0 ? t("run.listToday") : age === 1 ? t("run.listYesterday") : format.shortDate(row.createdAt), rows: [] };
        out.push(day);
      }
      const second =
        row.status === "failed" || row.status === "timeout" ? row.error : row.status === "cancelled" ? cancelWords(row.cancelReason, t) : undefined;
      day.rows.push({ row, second: second || row.projectTitle });
    }
    return out;
  }, [home.data, recent.data, t, format, now]);

  const move = (event: KeyboardEvent) => {
    const links = [...(body.current?.querySelectorAll<HTMLAnchorElement>("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const next =
      event.key === "ArrowDown"
        ? at + 1
        : event.key === "ArrowUp"
          ? at - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? links.length - 1
              : undefined;
    if (next === undefined || !links[next]) return;
    event.preventDefault();
    links[next].focus();
  };
  const isShown = groups.some((group) => group.rows.some(({ row }) => row.runId === run));
  const first = groups[0]?.rows[0]?.row.runId;

  return (
    <>
      <div className="run-list-scrim" onClick={pane.close} aria-hidden="true" />
      <aside
        className="run-list"
        aria-label={t("run.list")}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            pane.close();
          }
        }}
      >
        <div className="run-list-bar">
          <span className="k-h2 k-grow">{t("run.list")}</span>
          <IconButton icon={ListFilter} label={t("run.listFilter")} size="small" onClick={() => navigate("/runs")} />
          <IconButton icon={Search} label={t("run.listSearch")} size="small" onClick={() => navigate("/runs?focus=search")} />
          <IconButton icon={PanelLeftClose} label={t("run.listHide")} keys="[" size="small" onClick={pane.toggle} />
        </div>
        <div className="run-list-body" ref={body} onKeyDown={move}>
          {groups.map((group) => (
            <div key={group.key} role="group" aria-label={group.title}>
              <h2 className="run-list-head">
                {group.title}
                {group.count !== undefined && <span className="k-num"> {format.number(group.count)}</span>}
              </h2>
              {group.rows.map(({ row, second }) => (
                <Link
                  key={row.runId}
                  to={runAddress(row.runId)}
                  className="run-list-row"
                  aria-current={row.runId === run ? "true" : undefined}
                  tabIndex={row.runId === run || (!isShown && row.runId === first) ? 0 : -1}
                >
                  <Glyph name={row.status} />
                  <span className="k-col k-grow">
                    <span className="k-r">
                      <span className="k-med k-trunc k-grow">{revealText(row.entrypointTitle)}</span>
                      <span className="k-xs k-dim k-num" title={format.absolute(row.createdAt)}>
                        {hasEnded(row.status) || row.status === "waiting_for_input" ? (
                          format.relative(row.finishedAt ?? row.stages.at(-1)?.at ?? row.createdAt, now)
                        ) : (
                          <Elapsed from={row.startedAt ?? row.createdAt} />
                        )}
                      </span>
                    </span>
                    <span className="k-sub k-trunc">{revealText(second)}</span>
                  </span>
                </Link>
              ))}
            </div>
          ))}
        </div>
      </aside>
    </>
  );
}
