// The window's contract. Names and shapes are fixed (the backend and the page are written at the same time against them);
// additions are fine, renames are not without telling the other side by editing this file.
// Everything is JSON, camelCase. Times are milliseconds since the epoch (number) unless said otherwise. Optional = absent or null.

export type RunStatus = "queued" | "running" | "waiting_for_input" | "success" | "failed" | "timeout" | "cancelled" | "interrupted";
export type Origin = "mcp" | "desktop" | "cli" | "related";
export type ProjectKind = "workflow" | "guided" | "board" | "conversation" | "kanban" | "folder";
export type JsonValue = unknown;

// Errors cross the border as this, never as bare strings. The page shows a localized text per code and `message` in mono below it.
export type ApiErrorCode =
  | "not_found"
  | "invalid_input"
  | "conflict"
  | "running"
  | "already_answered"
  | "not_waiting"
  | "project_missing"
  | "project_broken"
  | "store_unavailable"
  | "store_too_new"
  | "disk_full"
  | "permission"
  | "secret_service"
  | "client_file"
  | "unsupported"
  | "internal";
export interface ApiError {
  code: ApiErrorCode;
  message: string;
  detail?: JsonValue;
  hint?: string;
}

// One stretch of a run's life, for lifelines. `until` absent = still so.
export interface Stage {
  status: RunStatus;
  at: number;
  until?: number;
}
export interface RunRow {
  runId: string;
  project: string;
  projectTitle: string;
  registered: boolean;
  entrypointId: string;
  entrypointTitle: string;
  status: RunStatus;
  origin: Origin;
  client?: string;
  parent?: string;
  /** entrypoint's title of the parent run */ parentTitle?: string;
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  durationMs?: number;
  cancelReason?: string;
  pinned: boolean;
  stages: Stage[];
  phase?: string; // the running phase or step's title, for running rows
  progress?: { done: number; total?: number };
  error?: string; // one line, failed rows
  found?: { part: "log" | "error" | "input" | "output" | "answer" | "node" | "id" | "entrypoint"; text: string; start: number; length: number }; // search only
}
export interface ParamOption {
  value: JsonValue;
  title?: string;
  description?: string;
}
export interface Param {
  // as model::Param serialises
  name: string;
  type:
    | "string"
    | "positional"
    | "select"
    | "number"
    | "integer"
    | "boolean"
    | "checkboxes"
    | "date"
    | "datetime"
    | "time"
    | "file"
    | "secret"
    | "json";
  required?: boolean;
  multiple?: boolean;
  default?: JsonValue;
  title?: string;
  description?: string;
  options?: ParamOption[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}
export interface Form {
  title: string;
  message?: string;
  fields: Param[];
}
export interface Question {
  number: number;
  kind: "form" | "approval";
  form: Form;
  child?: string;
  askedAt: number;
  expiresAt?: number;
  answer?: { action: "accept" | "decline" | "cancel"; content: JsonValue; by: string; at: number };
  // approvals: the whole command, for 07b
  approval?: { program: string; args: string[]; folder: string; env: string[]; mayHaveHappened: boolean };
}
export interface WaitingRow {
  run: RunRow;
  question: Question;
  /** the client's call is still open until then */ callOpenUntil?: number;
}
export interface Home {
  waiting: WaitingRow[];
  running: RunRow[];
  recent: RunRow[];
  today: {
    runs: number;
    failed: number;
    waiting: number;
    running: number;
    interrupted?: number;
    /** of the runs that ended today */ medianMs?: number;
  };
  /** all runs in the store */ total?: number;
  projects: number;
  seq: number;
}

export interface ServerRow {
  id: string;
  kind: ProjectKind;
  uuid?: string;
  served: boolean;
  whyNot?: string;
}
export interface ProjectRow {
  // one per folder
  key: string; // the first server's id; what every project command takes as `project`
  title: string;
  path: string;
  missing: boolean;
  servers: ServerRow[];
  waiting: number;
  running: number;
  notice: boolean;
  addedAt: number;
  usedAt: number;
}
export interface EntrypointRow {
  id: string;
  title: string;
  description?: string;
  draft: boolean;
  params: Param[];
  source: "script" | "command" | "orchestration" | "dynamic" | "guided" | "board";
  file?: string;
  readOnly?: boolean;
  destructive?: boolean;
  openWorld?: boolean;
  recent: { runId: string; status: RunStatus; durationMs?: number; at: number }[]; // last 20, oldest first
  error?: { message: string; file?: string; line?: number }; // broken: listed last
}
export interface Finding {
  id: string;
  severity: "error" | "warning" | "note";
  title: string;
  detail?: string;
  hint?: string;
  mend?: { label: string };
}
export interface RelationRow {
  alias: string;
  other?: string;
  otherTitle?: string;
  path?: string;
  here: boolean;
  there: boolean;
}
export interface ProjectOverview {
  project: ProjectRow;
  description?: string;
  entrypoints: EntrypointRow[];
  warnings: string[];
  findings: Finding[];
  relations: RelationRow[];
  clients: DockClientState[];
  recent: RunRow[];
}
export interface ProjectSettings {
  retention: { days?: number; runs?: number; megabytes?: number };
  allowExec: string[];
  provider?: string;
  environment: { name: string; set: boolean; source: ".env" | "process" | "missing" }[];
  notifications: boolean;
}

export interface RunQuery {
  text?: string;
  status?: RunStatus[];
  project?: string;
  entrypoint?: string;
  client?: string;
  origin?: Origin;
  after?: number;
  before?: number;
  tookMoreMs?: number;
  tookLessMs?: number;
  pinned?: boolean;
}
export interface RunsPage {
  rows: RunRow[];
  next?: string;
  total?: number;
  complete: boolean;
}
export interface RunNode {
  id: number;
  parent?: number;
  kind: "phase" | "step" | "agent" | "form" | "command" | "related";
  title: string;
  status: "queued" | "running" | "waiting_for_input" | "success" | "failed" | "cancelled" | "skipped";
  startedAt?: number;
  finishedAt?: number;
  detail?: JsonValue;
}
export interface RunDetail {
  run: RunRow;
  projectPath: string;
  projectUuid?: string;
  clientVersion?: string;
  protocol?: string;
  input: JsonValue;
  cliArgs: string[];
  questions: Question[];
  error?: { code: string; message: string; errCode?: number; cause?: string; data?: JsonValue };
  files: { name: string; path: string; bytes: number }[];
  children: string[];
  bytes: number;
  logLines: number;
  nodes: number;
  outputBytes: number;
  canContinue: boolean;
  ownerAlive: boolean;
  callOpenUntil?: number;
}
export interface LogLine {
  position: number;
  stream: "stdout" | "stderr" | "flow";
  at: number;
  text: string;
}
export interface LogPage {
  lines: LogLine[];
  next: number;
  end: number;
  leftOut?: { position: number; entries: number; bytes: number };
}
export interface Fault {
  path: string;
  message: string;
}
export interface ContinuePreview {
  kept: number;
  keptTitles: string[];
  asks: string[];
  again: string[];
  note?: string;
}

export interface DockClientState {
  id: string;
  name: string;
  tile: string;
  found: boolean;
  state: "absent" | "in_step" | "differs" | "not_added";
  file?: string;
  detail?: string;
}
export interface DockClient extends DockClientState {
  scopes: ("user" | "project")[];
  forms: ("command" | "link" | "snippet")[];
  command?: string;
  link?: string;
  snippet: { language: "json" | "toml" | "jsonc" | "yaml"; text: string };
  asks: string;
  nameLosses: { tool: string; effect: string }[];
  limits?: string;
}
export interface DockView {
  server: string;
  project: string;
  key: string;
  shortKey: string;
  command: string;
  args: string[];
  config: string;
  clients: DockClient[];
  whyNot?: string;
}
export interface DiffLine {
  sign: " " | "+" | "-";
  text: string;
  oldLine?: number;
  newLine?: number;
}
export interface DockPlan {
  client: string;
  file: string;
  backup?: string;
  action: "create" | "add" | "replace" | "remove" | "nothing";
  diff: DiffLine[];
  fingerprint: string;
}
export interface DockWritten {
  id: string;
  file: string;
  backup?: string;
}
export interface TestStage {
  name: "start" | "initialize" | "tools";
  ms?: number;
  ok: boolean;
  detail?: string;
}
export interface DockTest {
  ok: boolean;
  stages: TestStage[];
  tools: { name: string; title?: string; description?: string; params: string[] }[];
  totalMs: number;
  stderr?: string;
  hint?: string;
  command: string;
}

export interface ConnectionStatus {
  url?: string;
  source: "environment" | "keyring" | "file" | "none";
  state: "works" | "locked" | "no_service" | "signed_out" | "failed";
  message?: string;
}
export interface StorageRow {
  project: string;
  title: string;
  runs: number;
  bytes: number;
  prunable: { runs: number; bytes: number };
}
export interface Storage {
  file: string;
  bytes: number;
  rows: StorageRow[];
}
export interface AppSettings {
  theme: "system" | "light" | "dark";
  language: "system" | "en" | "zh-CN";
  textSize: number;
  singleKeys: boolean;
  notify: { waits: boolean; failed: boolean; interrupted: boolean; finished: boolean };
  provider?: string;
  retention: { days?: number; runs?: number; megabytes?: number };
  dismissed: string[];
}
export interface AppInfo {
  version: string;
  profile: string;
  dataDir: string;
  database: string;
  platform: "linux" | "macos" | "windows";
  locale: string;
  executable: string;
  settings: AppSettings;
  profiles: string[];
  seq: number;
}
export interface ProviderRow {
  name: string;
  kind: "command" | "http" | "canned";
  installed: boolean;
  detail?: string;
  isDefault: boolean;
}
export interface StoreChanged {
  seq: number;
  runs: string[];
  projects: string[];
  all: boolean;
}

// name: [request, response]
export interface Commands {
  app_info: [{}, AppInfo];
  set_settings: [{ settings: Partial<AppSettings> }, AppSettings];
  home: [{}, Home];
  projects: [{}, ProjectRow[]];
  project_overview: [{ project: string }, ProjectOverview];
  project_add: [{ path: string; kind?: ProjectKind }, { projects: ProjectRow[]; added: string[] }];
  project_add_sample: [{}, { project: string }];
  project_remove: [{ project: string; purge?: boolean }, {}];
  project_settings: [{ project: string }, ProjectSettings];
  set_project_settings: [
    { project: string; retention?: ProjectSettings["retention"]; allowExec?: string[]; provider?: string | null; notifications?: boolean },
    ProjectSettings,
  ];
  relate: [{ project: string; alias: string; other: string }, {}];
  unrelate: [{ project: string; alias: string }, {}];
  mend_finding: [{ project: string; finding: string }, { findings: Finding[] }];
  runs: [{ query: RunQuery; after?: string; limit?: number }, RunsPage]; // `after` = RunsPage.next (keyset)
  runs_per_day: [{ query: RunQuery; days: number }, { day: string; runs: number; failed: number }[]];
  run: [{ run: string }, RunDetail];
  run_row: [{ runs: string[] }, RunRow[]]; // for live updates of rows on screen
  run_output: [{ run: string; path?: string }, { output: JsonValue; bytes: number; truncated: boolean }];
  run_nodes: [{ run: string }, RunNode[]];
  run_logs: [{ run: string; from: number; limit: number; stream?: LogLine["stream"] }, LogPage];
  run_log_search: [{ run: string; text: string; stream?: LogLine["stream"]; limit?: number }, { positions: number[]; total: number }];
  run_file: [
    { run: string; name: string },
    { kind: "text" | "image" | "other"; text?: string; base64?: string; mime?: string; bytes: number; truncated: boolean },
  ];
  check_input: [{ project: string; entrypoint: string; input: JsonValue }, { faults: Fault[] }];
  start_run: [{ project: string; entrypoint: string; input: JsonValue }, { run: string }];
  answer: [{ run: string; question: number; action: "accept" | "decline" | "cancel"; content?: JsonValue; always?: boolean }, {}];
  continue_preview: [{ run: string }, ContinuePreview];
  continue_run: [{ run: string }, {}];
  cancel_run: [{ run: string }, {}];
  pin_run: [{ run: string; pinned: boolean }, {}];
  delete_run: [{ run: string }, {}];
  export_run: [{ run: string; to?: string }, { path: string }];
  copy_as: [{ run: string; form: "command" | "mcp" }, { text: string }];
  dock: [{ server: string; key?: string }, DockView];
  dock_plan: [{ server: string; client: string; scope?: "user" | "project"; key?: string; remove?: boolean }, DockPlan];
  dock_write: [{ server: string; client: string; scope?: "user" | "project"; key?: string; remove?: boolean; fingerprint: string }, DockWritten];
  dock_undo: [{ id: string }, {}];
  dock_test: [{ server: string }, DockTest];
  connection: [{}, ConnectionStatus];
  connection_login: [{ url: string; key: string; store: "keyring" | "file" }, ConnectionStatus];
  connection_logout: [{}, ConnectionStatus];
  providers: [{}, ProviderRow[]];
  storage: [{}, Storage];
  prune: [{ project?: string }, { runs: number; bytes: number }];
  changes_since: [{ seq: number }, StoreChanged];
}

// What the page talks to. Two hosts: `tauri` (ships) and `http` (dev server: POST /rpc {name, request} -> 200 {ok: …} | {error: ApiError};
// GET /events = SSE, `data: StoreChanged`), both in ui/src/host/. Tauri: invoke("rpc", {name, request}), event "store-changed".
export interface Host {
  call<N extends keyof Commands>(name: N, request: Commands[N][0]): Promise<Commands[N][1]>; // rejects with ApiError
  onChange(listener: (change: StoreChanged) => void): () => void;
  pickFolder(): Promise<string | null>;
  pickFiles(multiple: boolean): Promise<string[]>;
  copyText(text: string): Promise<void>;
  reveal(path: string): Promise<void>; // show in folder (host checks that the path belongs to a run or project)
  openLink(url: string): Promise<void>; // https only
  notify(title: string, body: string, run: string): Promise<void>;
  onDrop(listener: (paths: string[]) => void): () => void;
  setTitle(title: string): Promise<void>;
  onNavigate(listener: (address: string) => void): () => void; // second instance or notification click asks for a view
  onOver(listener: (over: boolean) => void): () => void; // files are being dragged over the window
  ready(): Promise<string | null>; // the page listens and has painted; answers the view it was asked for meanwhile
}

// ---- The board of a project (view Board). ----
export interface BoardCard {
  id: string;
  title: string;
  type: string;
  status: string;
  priority: string;
  area?: string;
  tags: string[];
  parent?: string;
  depends: string[];
  owner?: string;
  claim?: { by: string; state: "live" | "held" | "stale" | "orphaned"; since?: number; scope?: string[] };
  acceptance?: { done: number; total: number };
  updated: string;
  due?: string;
  revision: string;
  archived: boolean;
  path: string;
}
export interface BoardStatus {
  id: string;
  hidden: boolean;
  terminal: boolean;
  needs: BoardNeed[];
}
export type BoardNeed = "reason" | "evidence" | "run" | "claim";
export interface BoardView {
  statuses: BoardStatus[];
  types: string[];
  priorities: string[];
  areas: string[];
  cards: BoardCard[];
  documents: number;
  fragments: number;
  findings: number;
  actor: string;
  readOnly: boolean;
  /** changes when anything changed on disk */ mark: string;
}
export interface BoardRefusal {
  status: string;
  /** empty = allowed, after `needs` are given */ reasons: string[];
  /** the board's own code of each reason, in the same order: the page has words of its own for those it knows */ codes?: string[];
  needs: BoardNeed[];
}
export interface BoardCardDetail {
  /** `project_get_record`'s record with body */ record: JsonValue;
  body: string;
  acceptance: { text: string; done: boolean; line: number }[];
  activity: { at?: string; who?: string; text: string }[];
  refusals: BoardRefusal[];
  related: { id: string; title: string; status?: string; relation: string }[];
}
export interface Commands {
  board_view: [{ project: string }, BoardView];
  board_card: [{ project: string; id: string }, BoardCardDetail];
  board_refusals: [{ project: string; id: string }, BoardRefusal[]];
  /** `tool`: one of the board's tools, arguments and result exactly as over MCP. Recorded in the history (origin desktop). Refusals reject with `detail.code` = the board's own code. */
  board_call: [{ project: string; tool: string; arguments: JsonValue }, JsonValue];
  board_acceptance: [{ project: string; id: string; line: number; done: boolean; revision: string }, BoardCardDetail];
}
