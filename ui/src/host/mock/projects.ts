// The projects of the mock: what is registered, and each one's entrypoints.
import type { EntrypointRow, Param, ProjectKind, ProjectOverview, ProjectRow, RunStatus } from "../../api/contract";

export interface MockEntrypoint {
  id: string;
  title: string;
  description: string;
  source: EntrypointRow["source"];
  params: Param[];
  draft?: boolean;
  error?: EntrypointRow["error"];
}

export interface MockProject {
  key: string;
  title: string;
  path: string;
  kinds: ProjectKind[];
  description: string;
  entrypoints: MockEntrypoint[];
  notice?: boolean;
  missing?: boolean;
}

const toneOptions = [
  { value: "plain", title: "Plain", description: "Facts first, no adjectives" },
  { value: "warm", title: "Warm", description: "A short greeting, then the facts" },
  { value: "brief", title: "Brief", description: "Five lines at most" },
];

export const weeklyPageParams: Param[] = [
  { name: "week", type: "date", required: true, title: "Week", description: "Any day of the week to write about" },
  { name: "tone", type: "select", title: "Tone", default: "plain", options: toneOptions },
  {
    name: "sources",
    type: "checkboxes",
    multiple: true,
    title: "Sources",
    options: [
      { value: "mail", title: "Mail" },
      { value: "tracker", title: "Tracker" },
      { value: "calendar", title: "Calendar" },
    ],
    default: ["mail", "tracker"],
  },
  { name: "length", type: "integer", title: "Words", minimum: 100, maximum: 2000, default: 400 },
  { name: "notes", type: "string", title: "Notes", description: "What must not be forgotten", maxLength: 2000 },
  { name: "pictures", type: "boolean", title: "Pictures", description: "Add the charts of the week", default: true },
  { name: "attachments", type: "file", multiple: true, title: "Attachments" },
  { name: "token", type: "secret", title: "Tracker token", description: "Not kept with the run" },
  { name: "extra", type: "json", title: "Extra", default: {} },
];

export const projects: MockProject[] = [
  {
    key: "weekly-report",
    title: "Weekly report",
    path: "/home/ada/work/weekly-report",
    kinds: ["workflow"],
    description: "Collects the week from mail, tracker and calendar and writes one page about it.",
    entrypoints: [
      {
        id: "weekly-page",
        title: "Weekly page",
        description: "The page for one week, with highlights and open points",
        source: "script",
        params: weeklyPageParams,
      },
      {
        id: "convert",
        title: "Convert",
        description: "Turns a finished page into PDF and HTML",
        source: "command",
        params: [
          { name: "page", type: "file", required: true, title: "Page" },
          { name: "format", type: "select", title: "Format", options: [{ value: "pdf" }, { value: "html" }], default: "pdf" },
        ],
      },
      {
        id: "collect",
        title: "Collect only",
        description: "Gathers the sources and stops before writing",
        source: "script",
        params: [{ name: "week", type: "date", required: true, title: "Week" }],
        draft: true,
      },
      {
        id: "archive",
        title: "archive",
        description: "",
        source: "script",
        params: [],
        error: { message: "`phases` must name at least one phase", file: "workflows/archive.ts", line: 14 },
      },
    ],
  },
  {
    key: "invoice-intake",
    title: "Invoice intake",
    path: "/home/ada/work/invoice-intake",
    kinds: ["workflow"],
    description: "Reads invoices, checks them against orders and posts them to the ledger.",
    entrypoints: [
      {
        id: "read-invoices",
        title: "Read invoices",
        description: "Extracts the fields of every file of a folder",
        source: "orchestration",
        params: [
          { name: "folder", type: "string", required: true, title: "Folder" },
          { name: "ocr", type: "boolean", title: "Read scans", default: true },
        ],
      },
      {
        id: "post-to-ledger",
        title: "Post to ledger",
        description: "Writes checked entries to the ledger",
        source: "command",
        params: [
          { name: "ledger", type: "string", required: true, title: "Ledger" },
          { name: "files", type: "file", multiple: true, title: "Files" },
        ],
      },
      {
        id: "close-month",
        title: "Close month",
        description: "Balances the month and asks about differences",
        source: "script",
        params: [{ name: "month", type: "string", required: true, title: "Month", pattern: "^\\d{4}-\\d{2}$" }],
      },
    ],
  },
  {
    key: "release-notes",
    title: "Release notes",
    path: "/home/ada/src/harbor",
    kinds: ["workflow"],
    description: "Drafts release notes from merged changes and publishes the release.",
    entrypoints: [
      {
        id: "draft",
        title: "Draft release notes",
        description: "From the last tag to now",
        source: "script",
        params: [{ name: "since", type: "string", title: "Since" }],
      },
      {
        id: "publish",
        title: "Publish release",
        description: "Tags, builds and publishes",
        source: "script",
        params: [{ name: "version", type: "string", required: true, title: "Version" }],
      },
    ],
  },
  {
    key: "paper-review",
    title: "Paper review",
    path: "/home/ada/papers/review",
    kinds: ["guided"],
    description: "A guided review in seven steps, each with its quality gate.",
    entrypoints: [
      {
        id: "review",
        title: "Review a paper",
        description: "Seven steps with gates",
        source: "guided",
        params: [],
      },
    ],
  },
  {
    key: "harbor-board",
    title: "Harbor API board",
    path: "/home/ada/src/harbor-api",
    kinds: ["board", "workflow"],
    description: "Work on the Harbor API as cards with gates.",
    entrypoints: [
      {
        id: "close-card",
        title: "Close card",
        description: "Checks the acceptance points and closes",
        source: "script",
        params: [{ name: "card", type: "string", required: true, title: "Card" }],
      },
    ],
  },
  {
    key: "house-style",
    title: "House style",
    path: "/home/ada/work/house-style",
    kinds: ["workflow"],
    description: "Checks wording against the house style.",
    entrypoints: [
      {
        id: "check-wording",
        title: "Check wording",
        description: "Lists sentences that break a rule",
        source: "script",
        params: [{ name: "text", type: "string", required: true, title: "Text", maxLength: 20_000 }],
      },
    ],
  },
  {
    key: "price-watch",
    title: "Price watch",
    path: "/home/ada/work/price-watch",
    kinds: ["workflow"],
    description: "Compares prices of three shops every morning.",
    notice: true,
    entrypoints: [
      {
        id: "compare-prices",
        title: "Compare prices",
        description: "Fetches and compares",
        source: "dynamic",
        params: [{ name: "basket", type: "json", title: "Basket", default: [] }],
      },
    ],
  },
];

/** What `project_add_sample` makes. */
export const sampleProject: MockProject = {
  key: "sample",
  title: "sample",
  path: "/home/ada/workflow-code-sample",
  kinds: ["workflow"],
  description: "",
  entrypoints: [
    { id: "tour", title: "Tour", description: "Goes through two short phases, and asks you one question.", source: "script", params: [] },
    {
      id: "greet",
      title: "Greet",
      description: "Greets somebody, and remembers how often.",
      source: "script",
      params: [{ name: "name", type: "string", required: true, title: "Name" }],
    },
  ],
};

/** The project as the sidebar shows it. */
export function projectRow(project: MockProject, counts: { waiting: number; running: number }, now: number): ProjectRow {
  return {
    key: project.key,
    title: project.title,
    path: project.path,
    missing: project.missing ?? false,
    servers: project.kinds.map((kind, index) => ({
      id: index === 0 ? project.key : `${project.key}-${kind}`,
      kind,
      served: kind === "workflow" || kind === "guided" || kind === "board",
      ...(kind === "workflow" || kind === "guided" || kind === "board" ? {} : { whyNot: "This kind of folder has nothing to serve." }),
    })),
    waiting: counts.waiting,
    running: counts.running,
    notice: project.notice ?? false,
    addedAt: now - 90 * 86_400_000,
    usedAt: now - 120_000,
  };
}

/** The entrypoint with its last twenty runs. */
export function entrypointRow(entrypoint: MockEntrypoint, recent: EntrypointRow["recent"]): EntrypointRow {
  return {
    id: entrypoint.id,
    title: entrypoint.title,
    ...(entrypoint.description ? { description: entrypoint.description } : {}),
    draft: entrypoint.draft ?? false,
    params: entrypoint.params,
    source: entrypoint.source,
    runnable: entrypoint.source !== "guided" && !entrypoint.error,
    file: `workflows/${entrypoint.id}.ts`,
    readOnly: entrypoint.id === "check-wording",
    destructive: entrypoint.id === "publish",
    recent,
    ...(entrypoint.error ? { error: entrypoint.error } : {}),
  };
}

export function findingsOf(project: MockProject): ProjectOverview["findings"] {
  if (project.key === "price-watch")
    return [
      {
        id: "env-missing",
        severity: "error",
        title: "SHOP_TOKEN is not set",
        detail: "The entrypoint “Compare prices” asks for it.",
        hint: "Set it in .env.",
        mend: { label: "Add it to .env" },
      },
      {
        id: "no-provider",
        severity: "warning",
        title: "No provider for agents",
        detail: "Steps with agents fail until one is chosen.",
        hint: "Choose one in Settings.",
      },
    ];
  if (project.key === "weekly-report")
    return [{ id: "draft", severity: "note", title: "“Collect only” is a draft", detail: "Clients don't see it." }];
  return [];
}

export const ENDED: RunStatus[] = ["success", "failed", "timeout", "cancelled", "interrupted"];

/** Projects of a long registry. */
export function generatedProjects(count: number): MockProject[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `other-${index + 1}`,
    title: `Other project ${index + 1}`,
    path: `/home/ada/others/${index + 1}`,
    kinds: ["workflow"],
    description: "",
    entrypoints: [],
  }));
}
