// The sidebar: where to go, what waits, whether the page is live. Narrow, it is a rail of icons with the same links.
import {
  Ellipsis,
  FolderPlus,
  History,
  House,
  SquareKanban,
  type LucideIcon,
  MessagesSquare,
  PanelLeft,
  Plus,
  Route,
  Search,
  Settings,
  Workflow,
} from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { ProjectRow } from "../api/contract";
import { useData } from "../api/queries";
import { useFeed, useFeedState } from "../api/feed";
import { useI18n } from "../i18n";
import { IconButton } from "../kit/Button";
import { Glyph } from "../kit/Glyph";
import { Icon } from "../kit/Icon";
import { Kbd } from "../kit/Kbd";
import { Reveal } from "../kit/Reveal";
import { revealText } from "../kit/text";
import { Tooltip } from "../kit/Tooltip";
import { useAddProject } from "./DropOverlay";
import { firstProjects } from "./mostProjects";
import { openPalette } from "./overlays";
import { Link, projectAddress, runAddress, useAddress } from "./router";
import { useRoving } from "./useRoving";
import { useTotalRuns } from "./useTotalRuns";

/** A project's icon is that of its first kind. */
export function projectIcon(project: ProjectRow): LucideIcon {
  switch (project.servers[0]?.kind) {
    case "guided":
      return Route;
    case "board":
    case "kanban":
      return SquareKanban;
    case "conversation":
      return MessagesSquare;
    case "folder":
      return FolderPlus;
    default:
      return Workflow;
  }
}

interface ItemProps {
  to: string;
  icon?: LucideIcon;
  mark?: ReactNode;
  label: string;
  /** Said after the label by assistive technology, and in the rail's tooltip. */
  state?: string;
  current: boolean;
  rail: boolean;
  /** At the right end; in the rail at the icon's corner. */
  end?: ReactNode;
}

function Item({ to, icon, mark, label, state, current, rail, end }: ItemProps) {
  const name = revealText(label);
  const link = (
    <Link
      to={to}
      className={rail ? "app-rail-item" : "app-item"}
      aria-current={current ? "page" : undefined}
      aria-label={rail ? (state ? `${name}, ${state}` : name) : undefined}
      data-roving
    >
      {icon ? <Icon of={icon} size={rail ? 17 : 16} className="app-item-icon" /> : mark}
      {!rail && (
        <span className="app-item-label" title={name.length > 24 ? name : undefined}>
          <Reveal text={label} limit={200} />
        </span>
      )}
      {end && <span aria-hidden="true">{end}</span>}
      {!rail && state && <span className="k-visually-hidden">, {state}</span>}
    </Link>
  );
  return rail ? (
    <Tooltip text={state ? `${name}, ${state}` : name} side="right">
      {link}
    </Tooltip>
  ) : (
    link
  );
}

/** One thing, the first that holds: number waiting, running, notice. */
function projectMark(
  project: ProjectRow,
  rail: boolean,
  say: (kind: "waiting" | "running" | "notice" | "missing") => string,
): { end?: ReactNode; state?: string } {
  if (project.waiting > 0)
    return {
      state: say("waiting"),
      end: rail ? <span className="app-rail-square" /> : <span className="app-count app-count-wait">{project.waiting}</span>,
    };
  if (project.running > 0) return { state: say("running"), end: <Glyph name="running" size={rail ? 10 : 14} label="" /> };
  if (project.notice || project.missing)
    return { state: say(project.missing ? "missing" : "notice"), end: <Glyph name="notice" size={rail ? 10 : 14} label="" /> };
  return {};
}

/** What is not listed is found by typing. */
function AllProjects({ rail, count }: { rail: boolean; count: number }) {
  const { t, format } = useI18n();
  const words = t("shell.allProjects", { count: format.number(count) });
  const button = (
    <button
      type="button"
      className={rail ? "app-rail-item" : "app-item"}
      aria-label={rail ? words : undefined}
      data-roving
      onClick={() => openPalette("@")}
    >
      <Icon of={Ellipsis} size={rail ? 17 : 16} className="app-item-icon" />
      {!rail && <span className="app-item-label">{words}</span>}
    </button>
  );
  return rail ? (
    <Tooltip text={words} side="right">
      {button}
    </Tooltip>
  ) : (
    button
  );
}

/** Whether the page is live. A click checks again. */
function Live({ rail }: { rail: boolean }) {
  const { t, format } = useI18n();
  const feed = useFeed();
  const { state, changedAt, error } = useFeedState();
  const words = state === "live" ? t("shell.live") : state === "behind" ? t("shell.behind") : t("shell.notLive");
  const changed = changedAt === undefined ? undefined : t("shell.changedAt", { time: format.timeSeconds(changedAt) });
  const mark = state === "down" ? <Glyph name="notice" size={12} label="" /> : <i className="app-live-dot" data-state={state} />;
  const hint = state === "down" ? `${t("shell.notLiveHint")}${error ? `: ${error.message}` : ""}` : [words, changed].filter(Boolean).join(", ");
  return (
    <Tooltip text={hint} side={rail ? "right" : "top"}>
      <button
        type="button"
        className={rail ? "app-rail-item" : "app-live"}
        aria-label={rail ? hint : undefined}
        data-roving
        onClick={() => void feed.check(true)}
      >
        {mark}
        {!rail && (
          <>
            <span>{words}</span>
            <span className="k-grow" />
            {state === "live" && changed && <span className="k-dim k-num">{changed}</span>}
          </>
        )}
      </button>
    </Tooltip>
  );
}

export interface SidebarProps {
  rail: boolean;
  /** Whether there is room to show it in full. */
  canUnfold: boolean;
  onFold: () => void;
}

export function Sidebar({ rail, canUnfold, onFold }: SidebarProps) {
  const { t, format } = useI18n();
  const { segments } = useAddress();
  const nav = useRef<HTMLElement>(null);
  const onKeyDown = useRoving(nav);
  const home = useData("home", {}).data;
  const all = useData("projects", {}).data ?? [];
  const pinned = useData("runs", { query: { pinned: true }, limit: 6 }).data?.rows ?? [];
  const addProject = useAddProject();
  const total = useTotalRuns();
  const waiting = home?.today.waiting ?? 0;
  const view = segments[0] ?? "home";
  const projects = firstProjects(all, view === "project" ? segments[1] : undefined);
  const waitingWords = t("shell.waitingCount", { count: waiting });
  const fold = canUnfold && (
    <IconButton icon={PanelLeft} label={rail ? t("shell.unfold") : t("shell.fold")} keys={"Ctrl \\"} size="small" onClick={onFold} data-roving />
  );

  return (
    <nav ref={nav} className={rail ? "app-side app-side-rail" : "app-side"} aria-label={t("shell.sidebar")} onKeyDown={onKeyDown}>
      <div className="app-side-top" data-tauri-drag-region>
        <Mark />
        {!rail && <b className="k-grow">{t("common.appName")}</b>}
        {!rail && fold}
      </div>
      <button
        type="button"
        className={rail ? "app-rail-item" : "app-find"}
        data-roving
        onClick={() => openPalette()}
        aria-label={rail ? t("shell.find") : undefined}
        title={rail ? t("shell.find") : undefined}
      >
        <Icon of={Search} size={rail ? 17 : 15} />
        {!rail && (
          <>
            <span className="k-grow k-trunc">{t("shell.find")}</span>
            <Kbd keys="Ctrl K" />
          </>
        )}
      </button>
      <div className="app-side-scroll">
        <Item
          to="/"
          icon={House}
          label={t("shell.home")}
          state={waiting > 0 ? waitingWords : undefined}
          current={view === "home"}
          rail={rail}
          end={waiting > 0 && <span className={rail ? "app-rail-count" : "app-count app-count-wait"}>{format.number(waiting)}</span>}
        />
        <Item
          to="/runs"
          icon={History}
          label={t("shell.runs")}
          current={view === "runs"}
          rail={rail}
          end={!rail && total !== undefined && <span className="app-count">{format.number(total)}</span>}
        />
        {rail ? (
          <hr />
        ) : (
          <div className="app-side-head">
            <span className="k-grow">{t("shell.projects")}</span>
            <IconButton icon={Plus} label={t("shell.addProject")} size="small" iconSize={14} onClick={() => void addProject()} data-roving />
          </div>
        )}
        {projects.map((project) => {
          const mark = projectMark(project, rail, (kind) =>
            kind === "waiting"
              ? t("shell.waitingCount", { count: project.waiting })
              : kind === "running"
                ? t("common.running")
                : kind === "missing"
                  ? t("shell.missingHere")
                  : t("shell.noticeHere"),
          );
          return (
            <Item
              key={project.key}
              to={projectAddress(project.key)}
              icon={projectIcon(project)}
              label={project.title}
              current={view === "project" && segments[1] === project.key}
              rail={rail}
              {...mark}
            />
          );
        })}
        {all.length > projects.length && <AllProjects rail={rail} count={all.length} />}
        {!rail && pinned.length > 0 && (
          <>
            <div className="app-side-head">{t("shell.pinned")}</div>
            {pinned.map((run) => (
              <Item
                key={run.runId}
                to={runAddress(run.runId)}
                mark={<Glyph name={run.status} size={14} />}
                label={run.entrypointTitle}
                current={view === "run" && segments[1] === run.runId}
                rail={false}
              />
            ))}
          </>
        )}
      </div>
      <div className="app-side-foot">
        <Item to="/settings" icon={Settings} label={t("shell.settings")} current={view === "settings"} rail={rail} />
        {rail && fold}
        <Live rail={rail} />
      </div>
    </nav>
  );
}

/** The product's mark: a thread with its two ends. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" style={{ width: `${size / 16}rem`, height: `${size / 16}rem` }}>
      <rect width="20" height="20" rx="5" fill="var(--ink-fill)" />
      <circle cx="5.2" cy="10" r="1.9" fill="var(--ink-on)" />
      <path d="M7.1 10h1.4" stroke="var(--ink-on)" strokeWidth="1.6" />
      <path d="M9.4 10h1.2M11.6 10h1.2" stroke="var(--ink-on)" strokeWidth="1.6" strokeOpacity=".55" />
      <circle cx="14.8" cy="10" r="1.9" fill="none" stroke="var(--ink-on)" strokeWidth="1.5" />
    </svg>
  );
}
