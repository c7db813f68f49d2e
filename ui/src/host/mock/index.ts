// A host without a backend, for development and for the tests of components. It answers the whole contract from memory.
import type { ApiError, AppInfo, AppSettings, Commands, Host, JsonValue, RunRow, RunStatus, StoreChanged } from "../../api/contract";
import { createMockBoard, type MockBoard, type MockBoardOptions } from "./board";
import { dockClients, dockPlan, dockTested, dockView } from "./dock";
import {
  ENDED,
  entrypointRow,
  findingsOf,
  generatedProjects,
  type MockProject,
  projectRow,
  projects as allProjects,
  sampleProject,
} from "./projects";
import { generatedRuns, hostileRuns, row as makeRow, shownRuns, type Waiting, waitingRuns } from "./rows";
import { detailOf, fileOf, logsOf, nodesOf, outputOf, searchLogs } from "./run";
import { matches, page, perDay } from "./search";

export interface MockOptions {
  /** Runs to generate besides those of the pictures. */
  runs?: number;
  /** No project, no run. */
  empty?: boolean;
  /** Every reading command but `app_info` fails. */
  broken?: boolean;
  /** Milliseconds before an answer. */
  delay?: number;
  /** Runs change by themselves, every so many milliseconds. */
  live?: number;
  /** Nothing waits, nothing runs. */
  calm?: boolean;
  /** A run whose every text is hostile. */
  hostile?: boolean;
  /** Projects beside the shown ones. */
  projects?: number;
  /** The board of a project that has one. */
  board?: MockBoardOptions;
  settings?: Partial<AppSettings>;
  locale?: string;
  platform?: AppInfo["platform"];
}

/** The mock with handles for tests. */
export interface MockHost extends Host {
  /** Every call so far, in order. */
  calls: { name: string; request: unknown }[];
  rows(): RunRow[];
  board: MockBoard;
  /** Puts a new run at the top and tells the page. */
  add(change?: Partial<RunRow>): RunRow;
  /** Changes a run and tells the page. */
  update(run: string, change: Partial<RunRow>): void;
  /** Lets a command fail from now on, or work again. */
  fail(name: keyof Commands, error: ApiError | null): void;
  /** A broken store works again. */
  mend(): void;
  /** Sends a change as the feed would. */
  emit(change: Partial<StoreChanged>): void;
  /** Moves the store on without telling the page. */
  moveSilently(): void;
  over(isOver: boolean): void;
  drop(paths: string[]): void;
  notified: { title: string; body: string; run: string }[];
  copied: string[];
  title: string;
}

type Handlers = { [N in keyof Commands]: (request: Commands[N][0]) => Commands[N][1] | Promise<Commands[N][1]> };

const notFound = (what: string): ApiError => ({ code: "not_found", message: `${what} is not in the store.` });

export function createMockHost(options: MockOptions = {}): MockHost {
  const begun = Date.now();
  let waiting: Waiting[] = options.empty || options.calm ? [] : waitingRuns(begun);
  let rows: RunRow[] = options.empty
    ? []
    : [
        ...waiting.map(({ run }) => run),
        ...shownRuns(begun).filter((row) => !options.calm || ENDED.includes(row.status)),
        ...(options.hostile ? hostileRuns(begun) : []),
        ...generatedRuns(begun, options.runs ?? 400),
      ].sort((a, b) => b.createdAt - a.createdAt);
  let projects: MockProject[] = options.empty ? [] : [...allProjects, ...generatedProjects(options.projects ?? 0)];
  let seq = 1;
  let added = 0;
  const failures = new Map<string, ApiError>();
  const listeners = new Set<(change: StoreChanged) => void>();
  const overListeners = new Set<(over: boolean) => void>();
  const dropListeners = new Set<(paths: string[]) => void>();
  const relations = new Map<string, { alias: string; other: string }[]>();
  let settings: AppSettings = {
    theme: "system",
    language: "system",
    textSize: 100,
    singleKeys: true,
    notify: { waits: true, failed: true, interrupted: true, finished: false },
    retention: { days: 90 },
    waitDays: 30,
    dismissed: [],
    ...options.settings,
  };
  let connection: Commands["connection"][1] = { source: "none", state: "signed_out" };

  const reading = new Set<string>([
    "home",
    "projects",
    "project_overview",
    "runs",
    "runs_per_day",
    "run",
    "run_row",
    "dock",
    "storage",
    "providers",
    "changes_since",
    "board_view",
    "board_card",
    "board_refusals",
  ]);
  const find = (run: string): RunRow => {
    const row = rows.find(({ runId }) => runId === run);
    if (!row) throw notFound(`Run ${run}`);
    return row;
  };
  const findProject = (key: string): MockProject => {
    const project = projects.find((one) => one.key === key || key.startsWith(one.key));
    if (!project) throw notFound(`Project ${key}`);
    return project;
  };
  const emit = (change: Partial<StoreChanged>) => {
    seq++;
    const whole: StoreChanged = { runs: [], projects: [], all: false, ...change, seq };
    for (const listener of listeners) listener(whole);
  };
  const later = (change: Partial<StoreChanged>) => void window.setTimeout(() => emit(change), 60);
  const counts = (key: string) => ({
    waiting: rows.filter(({ project, status }) => project === key && status === "waiting_for_input").length,
    running: rows.filter(({ project, status }) => project === key && status === "running").length,
  });
  const projectRows = () => projects.map((project) => projectRow(project, counts(project.key), begun));

  /** Ends what a run does now and begins `status`. */
  const move = (run: string, status: RunStatus, change: Partial<RunRow> = {}) => {
    const now = Date.now();
    rows = rows.map((row) => {
      if (row.runId !== run) return row;
      const stages = row.stages.map((stage) => (stage.until === undefined ? { ...stage, until: now } : stage));
      const over = ENDED.includes(status);
      stages.push({ status, at: now, ...(over ? { until: now } : {}) });
      return { ...row, status, stages, ...(over ? { finishedAt: now, durationMs: now - row.createdAt } : {}), ...change };
    });
    if (status !== "waiting_for_input") waiting = waiting.filter((one) => one.run.runId !== run);
  };

  const start = (project: string, entrypoint: string, change: Partial<RunRow> = {}): RunRow => {
    const fresh = makeRow(
      Date.now(),
      `n${(added++).toString(36).padStart(3, "0")}`,
      project,
      entrypoint,
      { stretches: [["running", 1]], end: "running" },
      { origin: "desktop", client: undefined, ...change },
    );
    rows = [fresh, ...rows];
    return fresh;
  };

  const addFolder = (path: string): Commands["project_add"][1] => {
    const title = path.split("/").findLast(Boolean) ?? path;
    const project: MockProject = {
      key: title.toLowerCase().replaceAll(/\W+/g, "-"),
      title,
      path,
      kinds: ["workflow"],
      description: "",
      entrypoints: [],
    };
    projects = [...projects, project];
    later({ projects: [project.key] });
    return { projects: projectRows(), added: [project.key] };
  };

  const board = createMockBoard({ hostile: options.hostile, ...options.board }, (project) => emit({ projects: [project] }));

  const handlers: Handlers = {
    ...board.handlers,
    app_info: () => ({
      version: "0.1.0",
      profile: "default",
      dataDir: "/home/ada/.local/share/workflow-code",
      database: "/home/ada/.local/share/workflow-code/workflow.db",
      platform: options.platform ?? "linux",
      locale: options.locale ?? "en",
      executable: "/opt/workflow-code/workflow-code",
      settings,
      profiles: ["default", "dev"],
      seq,
    }),
    set_settings: ({ settings: change }) => (settings = { ...settings, ...change }),
    home: () => {
      const today = new Date().setHours(0, 0, 0, 0);
      const ofToday = rows.filter(({ createdAt }) => createdAt >= today);
      const took = ofToday
        .map(({ durationMs }) => durationMs ?? 0)
        .filter((ms) => ms > 0)
        .sort((a, b) => a - b);
      return {
        waiting: waiting.map((one) => ({ ...one, run: find(one.run.runId) })).sort((a, b) => a.question.askedAt - b.question.askedAt),
        running: rows.filter(({ status }) => status === "running" || status === "queued"),
        recent: rows.filter(({ status }) => ENDED.includes(status)).slice(0, 20),
        today: {
          runs: ofToday.length,
          failed: ofToday.filter(({ status }) => status === "failed" || status === "timeout").length,
          interrupted: ofToday.filter(({ status }) => status === "interrupted").length,
          waiting: waiting.length,
          running: rows.filter(({ status }) => status === "running").length,
          medianMs: took[Math.floor(took.length / 2)],
        },
        total: rows.length,
        projects: projects.length,
        seq,
      };
    },
    projects: projectRows,
    project_overview: ({ project: key }) => {
      const project = findProject(key);
      const own = rows.filter((row) => row.project === project.key);
      return {
        project: projectRow(project, counts(project.key), begun),
        description: project.description,
        entrypoints: project.entrypoints.map((entrypoint) =>
          entrypointRow(
            entrypoint,
            own
              .filter(({ entrypointId }) => entrypointId === entrypoint.id)
              .slice(0, 20)
              .reverse()
              .map(({ runId, status, durationMs, createdAt }) => ({ runId, status, durationMs, at: createdAt })),
          ),
        ),
        warnings: [],
        findings: findingsOf(project),
        ...(project.kinds.includes("board") ? { boardFindings: board.findings() } : {}),
        relations: [
          ...(project.key === "weekly-report"
            ? [{ alias: "style", other: "house-style", otherTitle: "House style", path: "/home/ada/work/house-style", here: true, there: true }]
            : []),
          ...(relations.get(project.key) ?? []).map(({ alias, other }) => ({
            alias,
            other,
            otherTitle: projects.find((one) => one.key === other)?.title,
            here: true,
            there: false,
          })),
        ],
        clients: dockClients.map(({ id, name, tile, found, state, file, detail }) => ({ id, name, tile, found, state, file, detail })),
        recent: own.slice(0, 8),
      };
    },
    project_add: ({ path }) => {
      if (path.endsWith("/empty"))
        throw { code: "no_project", message: `\`${path}\` has no package.json with entrypoints`, detail: { path } } satisfies ApiError;
      return addFolder(path);
    },
    project_make: ({ path }) => addFolder(path),
    project_sample: () => ({
      path: "/home/ada/workflow-code-sample",
      ...(projects.some(({ key }) => key === sampleProject.key) ? { project: sampleProject.key } : {}),
    }),
    project_add_sample: () => {
      if (!projects.includes(sampleProject)) projects = [sampleProject, ...projects];
      later({ projects: [sampleProject.key] });
      return { project: sampleProject.key };
    },
    project_remove: ({ project }) => {
      projects = projects.filter(({ key }) => key !== project);
      later({ projects: [project] });
      return {};
    },
    project_settings: () => ({
      retention: { days: 90 },
      allowExec: ["gh pr list *"],
      environment: [
        { name: "TRACKER_TOKEN", set: true, source: ".env" },
        { name: "SHOP_TOKEN", set: false, source: "missing" },
      ],
      notifications: true,
    }),
    set_project_settings: (request) => ({
      retention: request.retention ?? { days: 90 },
      allowExec: request.allowExec ?? ["gh pr list *"],
      ...(request.provider ? { provider: request.provider } : {}),
      environment: [],
      notifications: request.notifications ?? true,
    }),
    relate: ({ project, alias, other }) => {
      relations.set(project, [...(relations.get(project) ?? []), { alias, other }]);
      later({ projects: [project] });
      return {};
    },
    unrelate: ({ project, alias }) => {
      relations.set(
        project,
        (relations.get(project) ?? []).filter((one) => one.alias !== alias),
      );
      later({ projects: [project] });
      return {};
    },
    mend_finding: ({ project, finding }) => ({ findings: findingsOf(findProject(project)).filter(({ id }) => id !== finding) }),
    runs: ({ query, after, limit }) => page(rows, query, after, limit ?? 200),
    runs_per_day: ({ query, days }) => perDay(rows, query, days, Date.now()),
    run: ({ run }) =>
      detailOf(
        find(run),
        waiting.find((one) => one.run.runId === run),
      ),
    run_row: ({ runs }) => rows.filter(({ runId }) => runs.includes(runId)),
    run_output: ({ run, path }) => {
      let output: JsonValue = outputOf(find(run));
      for (const part of (path ?? "").split(/[.[\]]+/).filter((name) => name && name !== "output"))
        output = (output as Record<string, JsonValue> | null)?.[part];
      return { output, bytes: JSON.stringify(output ?? null).length, truncated: false };
    },
    run_nodes: ({ run }) => nodesOf(find(run)),
    run_logs: ({ run, from, limit, stream }) => logsOf(find(run), from, limit, stream),
    run_log_search: ({ run, text, limit, stream }) => searchLogs(find(run), text, limit ?? 1000, stream),
    run_file: ({ name }) => fileOf(name),
    check_input: ({ project, entrypoint, input }) => {
      const params = findProject(project).entrypoints.find(({ id }) => id === entrypoint)?.params ?? [];
      const given = (input ?? {}) as Record<string, unknown>;
      return {
        faults: params
          .filter(({ name, required }) => required && (given[name] === undefined || given[name] === ""))
          .map(({ name, title }) => ({ path: name, message: `${title ?? name} is wanted` })),
      };
    },
    start_run: ({ project, entrypoint }) => {
      const fresh = start(findProject(project).key, entrypoint);
      later({ runs: [fresh.runId], projects: [project] });
      return { run: fresh.runId };
    },
    answer: ({ run }) => {
      if (find(run).status !== "waiting_for_input")
        throw { code: "already_answered", message: `Question 1 of ${run} is answered already.` } satisfies ApiError;
      move(run, "running", { phase: "Write" });
      later({ runs: [run] });
      return {};
    },
    continue_preview: () => ({
      kept: 5,
      keptTitles: ["Read mail", "Read tracker", "Read calendar", "Mail", "Tracker"],
      asks: [],
      again: ["Calendar"],
    }),
    continue_run: ({ run }) => {
      move(run, "running");
      later({ runs: [run] });
      return {};
    },
    cancel_run: ({ run }) => {
      find(run);
      move(run, "cancelled", { cancelReason: "person" });
      later({ runs: [run] });
      return {};
    },
    pin_run: ({ run, pinned }) => {
      rows = rows.map((row) => (row.runId === run ? { ...row, pinned } : row));
      later({ runs: [run] });
      return {};
    },
    delete_run: ({ run }) => {
      rows = rows.filter(({ runId }) => runId !== run);
      later({ runs: [run] });
      return {};
    },
    export_run: ({ run, to }) => ({ path: to ?? `/home/ada/Downloads/${run}.json` }),
    copy_as: ({ run, form }) => {
      const row = find(run);
      return {
        text:
          form === "command"
            ? `workflow-code run ${row.entrypointId} --week 2026-11-25`
            : JSON.stringify({ method: "tools/call", params: { name: row.entrypointId, arguments: { week: "2026-11-25" } } }),
      };
    },
    dock: ({ server, key }) => dockView(server, projectRow(findProject(server), counts(server), begun), key),
    dock_plan: ({ server, client, remove }) => dockPlan(server, client, remove ?? false),
    dock_write: ({ client }) => ({ id: "w1", file: dockClients.find(({ id }) => id === client)?.file ?? "", backup: "backup" }),
    dock_undo: () => ({}),
    dock_test: ({ server }) => ({ test: server }),
    dock_tested: ({ test, seen }) => dockTested(test, seen),
    save_as: ({ to }) => ({ path: to }),
    connection: () => connection,
    connection_login: ({ url, store }) => (connection = { url, source: store, state: "works" }),
    connection_logout: () => (connection = { source: "none", state: "signed_out" }),
    providers: () => [
      { name: "claude", kind: "command", installed: true, detail: "/usr/local/bin/claude 2.1.4", isDefault: true },
      { name: "codex", kind: "command", installed: true, detail: "/usr/local/bin/codex 0.61.0", isDefault: false },
      { name: "gemini", kind: "command", installed: false, isDefault: false },
    ],
    storage: () => ({
      file: "/home/ada/.local/share/workflow-code/workflow.db",
      bytes: 1_284_113_000,
      rows: projects.map(({ key, title }) => {
        const own = rows.filter(({ project }) => project === key);
        return {
          project: key,
          title,
          runs: own.length,
          bytes: own.length * 184_322,
          prunable: { runs: Math.floor(own.length / 5), bytes: Math.floor(own.length / 5) * 184_322 },
        };
      }),
    }),
    prune: ({ project }) => {
      const gone = rows.filter((row) => matches(row, project ? { project } : {})).slice(-20);
      rows = rows.filter((row) => !gone.includes(row));
      later({ all: true });
      return { runs: gone.length, bytes: gone.length * 184_322 };
    },
    changes_since: ({ seq: since }) => ({ seq, runs: [], projects: [], all: since < seq }),
  };

  const host: MockHost = {
    calls: [],
    board,
    notified: [],
    copied: [],
    title: "",
    async call<N extends keyof Commands>(name: N, request: Commands[N][0]): Promise<Commands[N][1]> {
      host.calls.push({ name, request });
      if (options.delay) await new Promise((resolve) => window.setTimeout(resolve, options.delay));
      else await Promise.resolve();
      const failure = failures.get(name);
      if (failure) throw failure;
      if (options.broken && reading.has(name))
        throw {
          code: "store_unavailable",
          message: "unable to open database file: /home/ada/.local/share/workflow-code/workflow.db",
        } satisfies ApiError;
      return structuredClone(await handlers[name](request)) as Commands[N][1];
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pickFolder: async () => "/home/ada/work/new-project",
    pickFiles: async (multiple) => (multiple ? ["/home/ada/a.pdf", "/home/ada/b.pdf"] : ["/home/ada/a.pdf"]),
    async pickSave(name) {
      return `/home/ada/Documents/${name}`;
    },
    async copyText(text) {
      host.copied.push(text);
      await navigator.clipboard?.writeText(text).catch(() => undefined);
    },
    reveal: async () => {},
    openLink: async () => {},
    async notify(title, body, run) {
      host.notified.push({ title, body, run });
    },
    onDrop(listener) {
      dropListeners.add(listener);
      return () => dropListeners.delete(listener);
    },
    async setTitle(title) {
      host.title = title;
      document.title = title;
    },
    onNavigate: () => () => {},
    onOver(listener) {
      overListeners.add(listener);
      return () => overListeners.delete(listener);
    },
    ready: async () => null,
    rows: () => rows,
    add(change) {
      const fresh = start("weekly-report", "weekly-page", { origin: "mcp", client: "claude-code", ...change });
      emit({ runs: [fresh.runId] });
      return fresh;
    },
    update(run, change) {
      if (change.status) move(run, change.status, change);
      else rows = rows.map((row) => (row.runId === run ? { ...row, ...change } : row));
      emit({ runs: [run] });
    },
    fail(name, error) {
      if (error) failures.set(name, error);
      else failures.delete(name);
    },
    emit,
    mend() {
      options = { ...options, broken: false };
    },
    moveSilently() {
      seq++;
    },
    over(isOver) {
      for (const listener of overListeners) listener(isOver);
    },
    drop(paths) {
      for (const listener of dropListeners) listener(paths);
    },
  };

  if (options.live) startLife(host, options.live);
  return host;
}

/** Lets runs begin, go on, ask and end, one thing at a time. */
function startLife(host: MockHost, every: number): void {
  let beat = 0;
  window.setInterval(() => {
    beat++;
    const running = host.rows().filter(({ status }) => status === "running");
    const first = running.at(-1);
    if (beat % 5 === 0 || !first) host.add({ progress: { done: 0, total: 20 }, phase: "Collect" });
    else if (beat % 7 === 0)
      host.update(first.runId, {
        status: beat % 2 ? "failed" : "success",
        ...(beat % 2 ? { error: "The step “Extract” ended with exit code 2" } : {}),
      });
    else if (first.progress)
      host.update(first.runId, { progress: { ...first.progress, done: Math.min(first.progress.total ?? 99, first.progress.done + 1) } });
    else host.update(first.runId, { phase: beat % 2 ? "Summarise" : "Write" });
  }, every);
}

/** Options from the page's address: `?mock=empty,broken,calm,hostile&runs=10000&delay=800&live=1000&lang=zh-CN&theme=dark&text=200`. */
export function createMockHostFromAddress(search: string): MockHost {
  const params = new URLSearchParams(search);
  const flags = new Set((params.get("mock") ?? "").split(","));
  const number = (name: string) => (params.has(name) ? Number(params.get(name)) : undefined);
  const settings: Partial<AppSettings> = {};
  const theme = params.get("theme");
  const language = params.get("lang");
  if (theme === "light" || theme === "dark") settings.theme = theme;
  if (language === "en" || language === "zh-CN") settings.language = language;
  if (params.has("text")) settings.textSize = Number(params.get("text"));
  const platform = params.get("platform");
  return createMockHost({
    runs: number("runs") ?? 10_000,
    board: { cards: number("cards"), empty: flags.has("emptyboard"), readOnly: flags.has("readonly") },
    delay: number("delay"),
    live: number("live"),
    empty: flags.has("empty"),
    broken: flags.has("broken"),
    calm: flags.has("calm"),
    hostile: flags.has("hostile"),
    settings,
    ...(platform === "macos" || platform === "windows" ? { platform } : {}),
  });
}
