// What the palette offers, made from what the page has in memory.
import {
  Bell,
  Bot,
  Database,
  Globe,
  History,
  Info,
  Keyboard,
  KeyRound,
  Layers,
  type LucideIcon,
  Play,
  Plug,
  RotateCcw,
  Settings,
  SlidersHorizontal,
  SquareArrowOutUpRight,
  Wrench,
} from "lucide-react";
import type { AppSettings, Home, ProjectOverview, ProjectRow, RunRow } from "../api/contract";
import type { Action } from "../app/actions";
import { clientName } from "../app/clients";
import { openRunForm } from "../app/overlays";
import { address, navigate, projectAddress, runAddress } from "../app/router";
import { questionTitle } from "../app/questions";
import { SETTINGS_SECTIONS, settingsAddress, type SettingsSection } from "../app/settingsSections";
import { projectIcon } from "../app/Sidebar";
import type { I18n, MessageKey } from "../i18n";
import { hasEnded, revealText, type GlyphName } from "../kit";
import type { Rankable } from "./match";

export type Group = "do" | "waiting" | "projects" | "runs" | "settings";
export const GROUPS: readonly Group[] = ["do", "waiting", "projects", "runs", "settings"];

export interface Item extends Rankable {
  id: string;
  group: Group;
  icon?: LucideIcon;
  glyph?: GlyphName;
  keys?: string;
  /** At the right end: a time, already said, or one that ticks. */
  end?: string;
  clock?: { since: number } | { until: number };
  /** Why it can't be done now. */
  off?: string;
  run: () => void;
  /** What else can be done with it: Tab lists them, Ctrl Enter does the first. Made when asked for; most are never looked at. */
  more?: () => Item[];
}

export interface Sources {
  actions: readonly Action[];
  home: Home | undefined;
  projects: readonly ProjectRow[];
  overviews: readonly ProjectOverview[];
  /** The project on screen, whose entrypoints come first. */
  project: string | undefined;
  /** Found by the store, behind the first answer. */
  runs: readonly RunRow[];
  now: number;
}

/** 1 for now, less for longer ago; 0 after about a month. */
function recency(at: number | undefined, now: number): number {
  if (at === undefined) return 0;
  const hours = Math.max(0, now - at) / 3_600_000;
  return Math.max(0, 1 - Math.log2(1 + hours) / 10);
}

function actionItems(sources: Sources): Item[] {
  return sources.actions
    .filter((action) => action.palette !== false)
    .map((action) => ({
      id: `action ${action.id}`,
      group: "do" as const,
      title: action.title,
      icon: action.icon ?? (action.group === "go" ? SquareArrowOutUpRight : Play),
      keys: action.keys,
      off: action.off,
      // What the view on screen can do comes first, going elsewhere last.
      recent: action.group === "do" ? 1.2 : action.group === "view" ? 0.4 : 0,
      run: action.run,
    }));
}

function entrypointItems(sources: Sources, { t }: I18n): Item[] {
  return sources.overviews.flatMap((overview) =>
    overview.entrypoints
      .filter((row) => row.runnable)
      .flatMap((row) => {
        const project = overview.project.key;
        const name = revealText(row.title);
        const last = row.recent.at(-1);
        const again: Item | undefined = last && {
          id: `again ${project} ${row.id}`,
          group: "do",
          title: t("palette.runAgain", { name }),
          icon: RotateCcw,
          keys: "Ctrl Enter",
          recent: recency(last.at, sources.now) * 0.9,
          run: () => openRunForm({ project, entrypoint: row.id, from: last.runId }),
        };
        const runs = (): Item => ({
          id: `runs ${project} ${row.id}`,
          group: "do",
          title: t("palette.runsOf", { name }),
          icon: History,
          run: () => navigate(address(["runs"], { project, entrypoint: row.id })),
        });
        const item: Item = {
          id: `run ${project} ${row.id}`,
          group: "do",
          title: t("palette.run", { name }),
          sub: revealText(overview.project.title),
          also: row.id,
          icon: Play,
          recent: recency(last?.at, sources.now) + (project === sources.project ? 1 : 0),
          run: () => openRunForm({ project, entrypoint: row.id }),
          more: () => (again ? [again, runs()] : [runs()]),
        };
        return again ? [item, again] : [item];
      }),
  );
}

function projectItems(sources: Sources, { t }: I18n): Item[] {
  return sources.projects.flatMap((project, index): Item[] => {
    const title = revealText(project.title);
    const go = (id: string, key: MessageKey, icon: LucideIcon, tab?: string): Item => ({
      id: `${id} ${project.key}`,
      group: "do",
      title: t(key, { name: title }),
      icon,
      run: () => navigate(projectAddress(project.key, tab)),
    });
    const connect = { ...go("connect", "palette.connect", Plug, "dock"), sub: t("project.dock") };
    return [
      {
        id: `project ${project.key}`,
        group: "projects",
        title,
        sub: revealText(project.path),
        also: project.key,
        icon: projectIcon(project),
        keys: index < 9 ? `G ${index + 1}` : undefined,
        recent: recency(project.usedAt, sources.now),
        run: () => navigate(projectAddress(project.key)),
        more: () => [
          ...(project.servers.some(({ kind }) => kind === "workflow")
            ? [{ ...go("start", "palette.runIn", Play), run: () => openRunForm({ project: project.key }) }]
            : []),
          connect,
          go("history", "palette.runsOf", History, "runs"),
          go("settings", "palette.settingsOf", Settings, "settings"),
        ],
      },
      connect,
    ];
  });
}

function runItem(run: RunRow, sources: Sources, { t, format }: I18n): Item {
  const more = (): Item[] => [
    {
      id: `again ${run.runId}`,
      group: "do",
      title: t("palette.runAgain", { name: revealText(run.entrypointTitle) }),
      icon: RotateCcw,
      keys: "Ctrl Enter",
      run: () => openRunForm({ project: run.project, entrypoint: run.entrypointId, from: run.runId }),
    },
    ...(["output", "logs", "timeline"] as const).map((tab): Item => ({
      id: `${tab} ${run.runId}`,
      group: "do",
      title: t(`palette.open_${tab}`),
      icon: SquareArrowOutUpRight,
      run: () => navigate(runAddress(run.runId, tab)),
    })),
  ];
  return {
    id: `open ${run.runId}`,
    group: "runs",
    title: revealText(run.entrypointTitle),
    sub: [run.runId, revealText(run.phase ?? run.step ?? "")].filter(Boolean).join(", "),
    also: `${run.projectTitle} ${run.client ?? ""} ${run.client ? clientName(run.client) : ""} ${run.error ?? ""}`,
    glyph: run.status,
    ...(hasEnded(run.status) ? { end: format.relative(run.createdAt, sources.now) } : { clock: { since: run.startedAt ?? run.createdAt } }),
    recent: recency(run.createdAt, sources.now),
    run: () => navigate(runAddress(run.runId)),
    more,
  };
}

function waitingItems(sources: Sources, { t }: I18n): Item[] {
  return (sources.home?.waiting ?? []).map(({ run, question, callOpenUntil }): Item => {
    const name = revealText(run.entrypointTitle);
    return {
      id: `answer ${run.runId}`,
      group: "waiting",
      title: revealText(questionTitle(question, t)),
      sub: name,
      ...(callOpenUntil && callOpenUntil > sources.now ? { clock: { until: callOpenUntil } } : {}),
      also: run.runId,
      glyph: "waiting_for_input",
      run: () => navigate(runAddress(run.runId, "question")),
    };
  });
}

const SECTION_ICONS: Record<SettingsSection, LucideIcon> = {
  appearance: SlidersHorizontal,
  language: Globe,
  connection: KeyRound,
  notifications: Bell,
  agents: Bot,
  space: Database,
  profiles: Layers,
  keyboard: Keyboard,
  health: Wrench,
  about: Info,
};

function settingItems({ t }: I18n, update: (change: Partial<AppSettings>) => void): Item[] {
  const sections: Item[] = SETTINGS_SECTIONS.map((name) => ({
    id: `settings ${name}`,
    group: "settings",
    title: t(`settings.${name}`),
    sub: t("settings.title"),
    icon: SECTION_ICONS[name],
    run: () => navigate(settingsAddress(name)),
  }));
  const themes: Item[] = (["light", "dark", "system"] as const).map((theme) => ({
    id: `theme ${theme}`,
    group: "settings",
    title: t("palette.theme", { name: t(`settings.theme_${theme}`) }),
    icon: SlidersHorizontal,
    run: () => update({ theme }),
  }));
  const languages: Item[] = (["en", "zh-CN"] as const).map((language) => ({
    id: `language ${language}`,
    group: "settings",
    title: t("palette.language", { name: t(language === "en" ? "settings.english" : "settings.chinese") }),
    also: "language 语言 chinese 中文 english",
    icon: Globe,
    run: () => update({ language }),
  }));
  return [...sections, ...themes, ...languages];
}

/** Everything that can be chosen now, not yet ranked. */
export function itemsOf(sources: Sources, i18n: I18n, update: (change: Partial<AppSettings>) => void): Item[] {
  const known = new Map<string, RunRow>();
  for (const run of [...(sources.home?.running ?? []), ...(sources.home?.recent ?? []), ...sources.runs]) known.set(run.runId, run);
  return [
    ...actionItems(sources),
    ...entrypointItems(sources, i18n),
    ...waitingItems(sources, i18n),
    ...projectItems(sources, i18n),
    ...[...known.values()].map((run) => runItem(run, sources, i18n)),
    ...settingItems(i18n, update),
  ];
}
