// The runs of the mock: a few written by hand (those of the design's pictures), the rest generated.
import type { Question, RunRow, RunStatus, Stage } from "../../api/contract";
import { projects } from "./projects";
import { createRandom, pick, type Random } from "./random";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clients = ["claude-code", "codex-mcp-client", "Visual Studio Code", "gemini-cli-mcp-client", "cursor-vscode", "zed"];

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** `20261130-zz1c`: the day, and a part that tells runs of a day apart. */
export function runId(at: number, tail: string): string {
  const date = new Date(at);
  return `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-${tail}`;
}

export interface Shape {
  /** Milliseconds of each stretch, in order. */
  stretches: [RunStatus, number][];
  end: RunStatus;
}

/** A run from its stretches, begun at `at`. */
export function row(at: number, tail: string, project: string, entrypoint: string, shape: Shape, extra: Partial<RunRow> = {}): RunRow {
  const owner = projects.find(({ key }) => key === project);
  const title = owner?.entrypoints.find(({ id }) => id === entrypoint)?.title ?? entrypoint;
  const stages: Stage[] = [];
  let time = at;
  for (const [status, length] of shape.stretches) {
    stages.push({ status, at: time, until: time + length });
    time += length;
  }
  const over = ["success", "failed", "timeout", "cancelled", "interrupted"].includes(shape.end);
  if (over) {
    stages.push({ status: shape.end, at: time, until: time });
  } else {
    const last = stages.at(-1);
    if (last && last.status === shape.end) delete last.until;
    else stages.push({ status: shape.end, at: time });
  }
  return {
    runId: runId(at, tail),
    project,
    projectTitle: owner?.title ?? project,
    registered: owner !== undefined,
    entrypointId: entrypoint,
    entrypointTitle: title,
    status: shape.end,
    origin: "mcp",
    client: "claude-code",
    createdAt: at,
    startedAt: stages.find(({ status }) => status === "running")?.at,
    ...(over ? { finishedAt: time, durationMs: time - at } : {}),
    pinned: false,
    stages,
    ...extra,
  };
}

export interface Waiting {
  run: RunRow;
  question: Question;
  callOpenUntil?: number;
}

/** The three questions of the picture. */
export function waitingRuns(now: number): Waiting[] {
  const invoice = row(
    now - 19 * HOUR,
    "t3ab",
    "invoice-intake",
    "close-month",
    {
      stretches: [
        ["queued", 800],
        ["running", 42 * SECOND],
        ["waiting_for_input", 1],
      ],
      end: "waiting_for_input",
    },
    { phase: "Close" },
  );
  const release = row(
    now - 65 * MINUTE,
    "9xwd",
    "release-notes",
    "publish",
    {
      stretches: [
        ["running", 3 * MINUTE],
        ["waiting_for_input", 1],
      ],
      end: "waiting_for_input",
    },
    { client: "codex-mcp-client", phase: "Publish" },
  );
  const weekly = row(
    now - 12 * MINUTE,
    "k7mq",
    "weekly-report",
    "weekly-page",
    {
      stretches: [
        ["queued", 3 * SECOND],
        ["running", 3 * MINUTE + 4 * SECOND],
        ["waiting_for_input", 1],
      ],
      end: "waiting_for_input",
    },
    { phase: "Review" },
  );
  return [
    {
      run: invoice,
      question: {
        number: 1,
        kind: "form",
        canDecline: true,
        askedAt: now - 19 * HOUR + 43 * SECOND,
        form: {
          title: "Which account takes the difference of 90.00 EUR?",
          message: "Bank statement and ledger differ by 90.00 EUR for October. The difference comes from invoice 2026-1841.",
          fields: [
            {
              name: "account",
              type: "select",
              required: true,
              title: "Account",
              options: [
                { value: "6855", title: "6855 Bank charges" },
                { value: "2150", title: "2150 Exchange differences" },
                { value: "4980", title: "4980 Other expenses" },
                { value: "none", title: "None, keep it open" },
                { value: "ask", title: "Ask the bank" },
              ],
            },
            { name: "note", type: "string", title: "Note for the auditor", maxLength: 400 },
          ],
        },
      },
    },
    {
      run: release,
      question: {
        number: 1,
        kind: "approval",
        askedAt: now - 62 * MINUTE,
        form: { title: "Allow gh release create v4.2.0?", fields: [] },
        approval: {
          program: "gh",
          args: ["release", "create", "v4.2.0", "--title", "Harbor 4.2.0", "--notes-file", "out/notes.md", "--target", "main"],
          folder: "/home/ada/src/harbor",
          env: ["GH_TOKEN", "PATH"],
          mayHaveHappened: false,
        },
      },
    },
    {
      run: weekly,
      question: {
        number: 1,
        kind: "form",
        canDecline: true,
        askedAt: now - 72 * SECOND,
        expiresAt: now + 228 * SECOND,
        form: {
          title: "Which tone should the page take?",
          message: "Two readers are new this week. The draft has 412 words.",
          fields: [
            {
              name: "tone",
              type: "select",
              required: true,
              title: "Tone",
              options: [
                { value: "plain", title: "Plain", description: "Facts first, no adjectives" },
                { value: "warm", title: "Warm", description: "A short greeting, then the facts" },
                { value: "brief", title: "Brief", description: "Five lines at most" },
              ],
            },
            { name: "note", type: "string", title: "Note to the writer", maxLength: 400 },
          ],
        },
      },
      callOpenUntil: now + 228 * SECOND,
    },
  ];
}

/** The two running ones and the recent ones of the picture. */
export function shownRuns(now: number): RunRow[] {
  const running: RunRow[] = [
    row(
      now - 112 * SECOND,
      "m2xa",
      "invoice-intake",
      "read-invoices",
      {
        stretches: [
          ["queued", 400],
          ["running", 1],
        ],
        end: "running",
      },
      { client: "Visual Studio Code", phase: "Extract", progress: { done: 31, total: 48 } },
    ),
    row(now - 132 * SECOND, "w8pp", "weekly-report", "weekly-page", { stretches: [["running", 1]], end: "running" }, { phase: "Summarise" }),
  ];
  const recent: RunRow[] = [
    row(now - 2 * MINUTE - 5000, "b04s", "weekly-report", "convert", {
      stretches: [
        ["queued", 300],
        ["running", 3800],
      ],
      end: "success",
    }),
    row(
      now - 30 * MINUTE,
      "r5ty",
      "release-notes",
      "draft",
      {
        stretches: [
          ["running", 110 * SECOND],
          ["waiting_for_input", 62 * SECOND],
          ["running", 48 * SECOND],
        ],
        end: "success",
      },
      { client: "codex-mcp-client" },
    ),
    row(
      now - 41 * MINUTE,
      "zz1c",
      "invoice-intake",
      "post-to-ledger",
      {
        stretches: [
          ["queued", 2 * SECOND],
          ["running", 36 * SECOND],
        ],
        end: "failed",
      },
      { client: "Visual Studio Code", error: "Ledger refused the entry: period 2026-10 is closed (errCode 7)" },
    ),
    row(
      now - 48 * MINUTE,
      "h6jd",
      "house-style",
      "check-wording",
      { stretches: [["running", 2600]], end: "success" },
      { origin: "related", client: undefined, parent: runId(now - 72 * MINUTE, "e1ka"), parentTitle: "Weekly page" },
    ),
    row(
      now - 72 * MINUTE,
      "e1ka",
      "weekly-report",
      "weekly-page",
      {
        stretches: [
          ["queued", 3 * SECOND],
          ["running", 184 * SECOND],
          ["waiting_for_input", 372 * SECOND],
          ["running", 169 * SECOND],
        ],
        end: "success",
      },
      { origin: "desktop", client: undefined, pinned: true },
    ),
    row(
      now - 3 * HOUR,
      "4nwo",
      "price-watch",
      "compare-prices",
      { stretches: [["running", 51 * SECOND]], end: "interrupted" },
      { client: "gemini-cli-mcp-client" },
    ),
    row(
      now - 5 * HOUR,
      "u9lh",
      "invoice-intake",
      "read-invoices",
      {
        stretches: [
          ["queued", 6 * SECOND],
          ["running", 5 * SECOND],
        ],
        end: "cancelled",
      },
      { client: "Visual Studio Code", cancelReason: "client" },
    ),
    row(now - 5.2 * HOUR, "d7gi", "harbor-board", "close-card", { stretches: [["running", 200]], end: "success" }, { client: "cursor-vscode" }),
    row(
      now - 6 * HOUR,
      "c3we",
      "invoice-intake",
      "read-invoices",
      {
        stretches: [
          ["queued", 4 * SECOND],
          ["running", 327 * SECOND],
        ],
        end: "success",
      },
      { client: "Visual Studio Code", pinned: true },
    ),
    row(
      now - 20 * HOUR,
      "x0rg",
      "price-watch",
      "compare-prices",
      { stretches: [["running", 30 * MINUTE]], end: "timeout" },
      { client: "gemini-cli-mcp-client", error: "The run took longer than 30 minutes" },
    ),
  ];
  return [...running, ...recent];
}

/** Names from outside are hostile until shown otherwise. */
export function hostileRuns(now: number): RunRow[] {
  return [
    row(
      now - 7 * HOUR,
      "evil",
      "weekly-report",
      "convert",
      { stretches: [["running", 900]], end: "failed" },
      {
        entrypointTitle: '<img src=x onerror="alert(1)"> \u202Egnp.exe',
        projectTitle: `${"long".repeat(60)}<script>alert(1)</script>`,
        client: "evil\u200Bclient".repeat(20),
        error: "</div><script>alert(1)</script> \u202Ereversed",
        registered: false,
      },
    ),
  ];
}

function shapeOf(random: Random): Shape {
  const chance = random();
  const ran = Math.exp(random() * 9) * 100;
  const queued = random() < 0.4 ? random() * 5000 : 0;
  const stretches: [RunStatus, number][] = queued > 0 ? [["queued", queued]] : [];
  if (random() < 0.15) stretches.push(["running", ran * 0.6], ["waiting_for_input", ran * random()], ["running", ran * 0.4]);
  else stretches.push(["running", ran]);
  const end: RunStatus =
    chance < 0.86 ? "success" : chance < 0.94 ? "failed" : chance < 0.96 ? "timeout" : chance < 0.985 ? "cancelled" : "interrupted";
  return { stretches, end };
}

/** `count` runs that ended, newest first, at most 40 a day. */
export function generatedRuns(now: number, count: number): RunRow[] {
  const random = createRandom(20_261_130);
  const choices = projects.flatMap((project) =>
    project.entrypoints.filter((entrypoint) => !entrypoint.error).map((entrypoint) => ({ project, entrypoint })),
  );
  const rows: RunRow[] = [];
  let at = now - 21 * HOUR;
  for (let index = 0; index < count; index++) {
    at -= (DAY / 40) * (0.3 + random() * 1.8);
    const { project, entrypoint } = pick(random, choices);
    const shape = shapeOf(random);
    const mine = random() < 0.12;
    const failed = shape.end === "failed" || shape.end === "timeout";
    rows.push(
      row(Math.round(at), (index + 46_656).toString(36), project.key, entrypoint.id, shape, {
        ...(mine ? { origin: random() < 0.5 ? "desktop" : "cli", client: undefined } : { client: pick(random, clients) }),
        ...(failed
          ? {
              error: pick(random, [
                "The step “Extract” ended with exit code 2",
                "certificate of ledger.internal expired 3 days ago",
                "Ledger mismatch, errCode 7",
                "The answer wasn't valid JSON after 3 tries",
              ]),
            }
          : {}),
      }),
    );
  }
  return rows;
}
