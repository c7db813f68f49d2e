// The window: sidebar, the view of the address, and what opens over it.
import { type RefObject, useEffect, useRef } from "react";
import { useData } from "../api/queries";
import { useHost } from "../host";
import { useI18n } from "../i18n";
import { type Action, useActions } from "./actions";
import { DropOverlay } from "./DropOverlay";
import { ErrorBoundary } from "./ErrorBoundary";
import { KeysOverlay } from "./KeysOverlay";
import { useKeyboard } from "./keyboard";
import { useRemembered } from "./memory";
import { useNotifications } from "./notifications";
import { closeOverlay, openKeys, openPalette, openRunForm, useOverlay } from "./overlays";
import { navigate, projectAddress, runAddress, useAddress } from "./router";
import { useSettings } from "./settings";
import { Sidebar } from "./Sidebar";
import { neighbour } from "./trail";
import { useWidth } from "./useWidth";
import { Palette, RunForm, viewOf } from "./views";

/** Below this width, in rem, the sidebar is a rail. */
const RAIL_BELOW = 64;

/** The actions of every view. */
function useGlobalActions(toggleSidebar: () => void): void {
  const { t } = useI18n();
  const { segments } = useAddress();
  const projects = useData("projects", {}).data ?? [];
  const run = segments[0] === "run" ? segments[1] : undefined;
  // The view of a project asks for the same; what only AI clients start has no key here.
  const here = segments[0] === "project" ? segments[1] : undefined;
  const overview = useData("project_overview", { project: here ?? "" }, { enabled: here !== undefined }).data;
  const nothing = here !== undefined && overview !== undefined && !overview.entrypoints.some((row) => row.runnable);
  const actions: Action[] = [
    { id: "palette", title: t("shell.actPalette"), group: "go", keys: "Ctrl K", everywhere: true, palette: false, run: () => openPalette() },
    { id: "keys", title: t("shell.actKeys"), group: "go", keys: "?", run: openKeys },
    { id: "home", title: t("shell.actHome"), group: "go", keys: "G H", run: () => navigate("/") },
    { id: "runs", title: t("shell.actRuns"), group: "go", keys: "G R", run: () => navigate("/runs") },
    { id: "settings", title: t("shell.actSettings"), group: "go", keys: "G S", alias: ["Ctrl ,"], run: () => navigate("/settings") },
    ...projects.slice(0, 9).map((project, index): Action => ({
      id: `project-${index + 1}`,
      title: t("shell.actProject", { name: project.title }),
      group: "go",
      keys: `G ${index + 1}`,
      palette: false,
      run: () => navigate(projectAddress(project.key)),
    })),
    { id: "back", title: t("shell.actBack"), group: "go", keys: "Alt ←", palette: false, run: () => history.back() },
    { id: "forward", title: t("shell.actForward"), group: "go", keys: "Alt →", palette: false, run: () => history.forward() },
    {
      id: "run",
      title: t("shell.actRun"),
      group: "do",
      keys: "R",
      off: nothing ? t("project.nothingToRun") : undefined,
      run: () => openRunForm(segments[0] === "project" ? { project: segments[1] } : {}),
    },
    { id: "sidebar", title: t("shell.actFold"), group: "go", keys: "Ctrl \\", run: toggleSidebar },
  ];
  if (run) {
    const previous = neighbour(run, -1);
    const next = neighbour(run, 1);
    if (previous)
      actions.push({ id: "previous-run", title: t("shell.actPreviousRun"), group: "go", keys: "Alt ↑", run: () => navigate(runAddress(previous)) });
    if (next) actions.push({ id: "next-run", title: t("shell.actNextRun"), group: "go", keys: "Alt ↓", run: () => navigate(runAddress(next)) });
  }
  useActions(actions);
}

/** The host asks for a view: a second start, a click on a notification. */
function useHostNavigation(): void {
  const host = useHost();
  useEffect(() => {
    const go = (to: string) => navigate(to.replace(/^#/, ""));
    const end = host.onNavigate(go);
    // After the first paint; what was asked for until then is the answer.
    const frame = requestAnimationFrame(() => {
      host.ready().then(
        (to) => to && go(to),
        () => undefined,
      );
    });
    return () => {
      cancelAnimationFrame(frame);
      end();
    };
  }, [host]);
}

/** When what had the focus went away with the old view, the new one gets it. */
function useViewFocus(main: RefObject<HTMLElement | null>, key: string): void {
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current === key) return;
    shown.current = key;
    if (document.activeElement === document.body || document.activeElement === null) main.current?.focus();
  }, [main, key]);
}

export function Shell() {
  const { t } = useI18n();
  const address = useAddress();
  const overlay = useOverlay();
  const [settings] = useSettings();
  const root = useRef<HTMLDivElement>(null);
  const main = useRef<HTMLElement>(null);
  const width = useWidth(root);
  const [folded, setFolded] = useRemembered("sidebar-folded", false);
  const narrow = width !== undefined && width < RAIL_BELOW;
  const rail = narrow || folded;
  const { data: projects } = useData("projects", {});

  useGlobalActions(() => setFolded(!folded));
  useKeyboard(settings.singleKeys);
  useHostNavigation();
  useNotifications();

  const view = viewOf(address, projects === undefined || projects.length > 0);
  const viewKey = `${view.name}/${address.segments[1] ?? ""}`;
  useViewFocus(main, viewKey);
  const first = view.name === "first";
  const { Component } = view;
  return (
    <div ref={root} className="app" data-rail={rail || undefined} data-bare={first || undefined}>
      <a
        className="app-skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("shell.skip")}
      </a>
      {!first && <Sidebar rail={rail} canUnfold={!narrow} onFold={() => setFolded(!folded)} />}
      <main ref={main} className="app-main" tabIndex={-1} id="content">
        <ErrorBoundary resetKey={viewKey}>
          <Component key={viewKey} />
        </ErrorBoundary>
      </main>
      <ErrorBoundary resetKey={overlay?.kind ?? ""}>
        {overlay?.kind === "palette" && <Palette open text={overlay.text} onClose={closeOverlay} />}
        {overlay?.kind === "run-form" && <RunForm open request={overlay.request} onClose={closeOverlay} />}
      </ErrorBoundary>
      {overlay?.kind === "keys" && <KeysOverlay onClose={closeOverlay} singleKeys={settings.singleKeys} />}
      <DropOverlay />
    </div>
  );
}
