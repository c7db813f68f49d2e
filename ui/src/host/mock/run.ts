// What one run of the mock holds: detail, nodes, logs, output, files.
import type { LogLine, LogPage, RunDetail, RunNode, RunRow } from "../../api/contract";
import { projects } from "./projects";
import { createRandom } from "./random";
import type { Waiting } from "./rows";

const isOver = (row: RunRow) => ["success", "failed", "timeout", "cancelled", "interrupted"].includes(row.status);

const seedOf = (row: RunRow) => [...row.runId].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 7);

export function outputOf(row: RunRow): unknown {
  if (!isOver(row)) return null;
  return {
    title: "Week 48",
    words: 412,
    published: false,
    highlights: [
      { kind: "mail", text: "The printer contract ends in January; two offers are in.", weight: 3 },
      { kind: "tracker", text: "Harbor 4.2 is ready but for the release notes.", weight: 5 },
      { kind: "calendar", text: "The auditor comes on Thursday at ten.", weight: 2 },
    ],
    open: ["Who signs the printer contract?", "Is the ledger closed for October?"],
    page: "# Week 48\n\nTwo things went well this week, and one did not.\n\n- The offers for the printer are in.\n- Harbor 4.2 is ready.\n\nThe ledger is **still open**.",
    sources: { mail: { read: 184, used: 12 }, tracker: { read: 61, used: 9 }, calendar: { read: 22, used: 4 } },
    cost: null,
  };
}

const phases = [
  { title: "Collect", steps: ["Read mail", "Read tracker", "Read calendar"] },
  { title: "Summarise", steps: ["Mail", "Tracker", "Calendar", "Join"] },
  { title: "Review", steps: ["Which tone should the page take?"] },
  { title: "Write", steps: ["Write the page", "Check wording", "Save out/page.md"] },
];

export function nodesOf(row: RunRow): RunNode[] {
  const random = createRandom(seedOf(row));
  const end = row.finishedAt ?? Date.now();
  const start = row.startedAt ?? row.createdAt;
  const span = Math.max(1, end - start);
  const over = isOver(row);
  const nodes: RunNode[] = [];
  let id = 1;
  const reach = over ? (row.status === "success" ? 4 : 3) : row.status === "waiting_for_input" ? 3 : 2;
  phases.forEach((phase, phaseIndex) => {
    const begin = start + (span * phaseIndex) / 4;
    const finish = start + (span * (phaseIndex + 1)) / 4;
    const isLast = phaseIndex === reach - 1;
    const status: RunNode["status"] =
      phaseIndex >= reach
        ? over
          ? "skipped"
          : "queued"
        : isLast
          ? row.status === "waiting_for_input"
            ? "waiting_for_input"
            : over
              ? row.status === "success"
                ? "success"
                : "failed"
              : "running"
          : "success";
    const parent = id++;
    const began = status !== "skipped" && status !== "queued";
    nodes.push({
      id: parent,
      kind: "phase",
      title: phase.title,
      status,
      ...(began ? { startedAt: begin } : {}),
      ...(status === "success" || status === "failed" ? { finishedAt: finish } : {}),
    });
    phase.steps.forEach((title, index) => {
      const from = begin + ((finish - begin) * index * 0.8) / phase.steps.length;
      const to = Math.min(finish, from + (finish - begin) * (0.2 + random() * 0.6));
      const lastStep = index === phase.steps.length - 1;
      const own: RunNode["status"] = !began ? status : isLast && lastStep ? status : "success";
      const kind: RunNode["kind"] =
        phase.title === "Review"
          ? "form"
          : phase.title === "Summarise"
            ? "agent"
            : title === "Check wording"
              ? "related"
              : title.startsWith("Save")
                ? "command"
                : "step";
      nodes.push({
        id: id++,
        parent,
        kind,
        title,
        status: own,
        ...(began ? { startedAt: from } : {}),
        ...(own === "success" || own === "failed" ? { finishedAt: to } : {}),
        detail:
          kind === "agent"
            ? {
                provider: "claude",
                model: "default",
                tries: [{ startedAt: from, finishedAt: to, ok: own !== "failed" }],
                tokens: { input: 18_204, output: 911 },
                prompt: `Summarise what ${title.toLowerCase()} says about week 48.`,
              }
            : kind === "command"
              ? { program: "cp", args: ["draft.md", "out/page.md"], exitCode: 0 }
              : { note: `${title} of ${phase.title}` },
      });
    });
  });
  return nodes;
}

/** How many lines a run of the mock has written. */
export function logLinesOf(row: RunRow): number {
  if (row.status === "queued") return 0;
  return 400 + (seedOf(row) % 4000);
}

const lines = [
  "\u001B[32m✓\u001B[0m read 48 files from inbox",
  "\u001B[1mphase\u001B[0m Summarise",
  "agent claude answered after 3.1 s, 911 tokens",
  "\u001B[33mwarn\u001B[0m 2 messages have no date",
  "\u001B[90m14:31:58\u001B[0m wrote draft.md (412 words)",
  "https://tracker.internal/api/issues?week=48 200 in 41 ms",
  "\u001B[38;5;208mprogress\u001B[0m 31 of 48",
  '{"level":"info","msg":"joined three summaries","words":412}',
  "waiting for ledger.internal:4430",
];

function logLine(row: RunRow, position: number, total: number): LogLine {
  const start = row.startedAt ?? row.createdAt;
  const span = (row.finishedAt ?? Date.now()) - start;
  const at = Math.round(start + (span * position) / Math.max(1, total));
  if (position % 97 === 0) return { position, stream: "flow", at, text: `phase ${phases[Math.floor((position / total) * 4)]?.title ?? "Write"}` };
  if (row.error && position >= total - 2) return { position, stream: "stderr", at, text: `\u001B[31merror:\u001B[0m ${row.error}` };
  const random = createRandom(position + seedOf(row))();
  return { position, stream: random < 0.08 ? "stderr" : "stdout", at, text: lines[Math.floor(random * 997) % lines.length] as string };
}

export function logsOf(row: RunRow, from: number, limit: number, stream?: LogLine["stream"]): LogPage {
  const total = logLinesOf(row);
  const result: LogLine[] = [];
  let position = Math.max(0, from);
  while (position < total && result.length < limit) {
    const line = logLine(row, position, total);
    if (!stream || line.stream === stream) result.push(line);
    position++;
  }
  return { lines: result, next: position, end: total };
}

export function searchLogs(row: RunRow, text: string, limit: number, stream?: LogLine["stream"]): { positions: number[]; total: number } {
  const wanted = text.toLowerCase();
  const total = logLinesOf(row);
  const positions: number[] = [];
  let found = 0;
  for (let position = 0; position < total; position++) {
    const line = logLine(row, position, total);
    if ((stream && line.stream !== stream) || !line.text.toLowerCase().includes(wanted)) continue;
    found++;
    if (positions.length < limit) positions.push(position);
  }
  return { positions, total: found };
}

export function detailOf(row: RunRow, waiting: Waiting | undefined): RunDetail {
  const project = projects.find(({ key }) => key === row.project);
  const answered = row.stages.filter(({ status, until }) => status === "waiting_for_input" && until !== undefined);
  const failed = row.status === "failed" || row.status === "timeout";
  return {
    run: row,
    projectPath: project?.path ?? "/home/ada/gone",
    projectUuid: "2f0c8a0e-7f6e-4f0f-9a4e-1c2d3e4f5a6b",
    ...(row.client ? { clientVersion: "2.1.4", protocol: "2025-11-25" } : {}),
    input: { week: "2026-11-25", tone: "plain", sources: ["mail", "tracker"], length: 400 },
    cliArgs: ["run", row.entrypointId, "--week", "2026-11-25", "--tone", "plain"],
    questions: waiting
      ? [waiting.question]
      : answered.map((stage, index) => ({
          number: index + 1,
          kind: "form",
          form: {
            title: "Which tone should the page take?",
            fields: [
              {
                name: "tone",
                type: "select",
                title: "Tone",
                options: [
                  { value: "plain", title: "Plain" },
                  { value: "warm", title: "Warm" },
                ],
              },
            ],
          },
          askedAt: stage.at,
          answer: { action: "accept", content: { tone: "plain" }, by: row.client ?? "You", at: stage.until ?? stage.at },
        })),
    ...(failed
      ? {
          error: {
            code: row.status === "timeout" ? "timeout" : "step_failed",
            message: row.error ?? "The step failed",
            errCode: 7,
            cause: "POST https://ledger.internal:4430/entries answered 409",
            data: { period: "2026-10", closed: true },
          },
        }
      : {}),
    files: isOver(row)
      ? [
          { name: "page.md", path: `${project?.path ?? ""}/out/page.md`, bytes: 2841 },
          { name: "chart.png", path: `${project?.path ?? ""}/out/chart.png`, bytes: 68 },
          { name: "sources.zip", path: `${project?.path ?? ""}/out/sources.zip`, bytes: 1_482_113 },
        ]
      : [],
    children: row.entrypointId === "weekly-page" && isOver(row) ? ["20261130-h6jd"] : [],
    bytes: 184_322,
    logLines: logLinesOf(row),
    nodes: nodesOf(row).length,
    outputBytes: isOver(row) ? 1204 : 0,
    canContinue: row.status === "interrupted",
    ownerAlive: !isOver(row),
    ...(waiting?.callOpenUntil ? { callOpenUntil: waiting.callOpenUntil } : {}),
  };
}

/** One pixel, for the preview of a picture. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function fileOf(name: string) {
  if (name.endsWith(".png")) return { kind: "image" as const, base64: PIXEL, mime: "image/png", bytes: 68, truncated: false };
  if (name.endsWith(".md"))
    return {
      kind: "text" as const,
      text: "# Week 48\n\nTwo things went well this week, and one did not.\n",
      mime: "text/markdown",
      bytes: 2841,
      truncated: false,
    };
  return { kind: "other" as const, bytes: 1_482_113, truncated: false };
}
