// Runs as the design's pictures show them, and some that are too large or mean harm: for component tests and for looking.
import type { LogLine, LogPage, Question, RunDetail, RunNode, RunRow, Stage } from "../../../api/contract";

export interface Scene {
  detail: RunDetail;
  nodes: RunNode[];
  output?: unknown;
  /** Of a very large output, the beginning of its JSON; parts come by their JSON pointer. */
  beginning?: string;
  /** Lines by position. */
  lines: { count: number; at: (position: number) => LogLine };
  leftOut?: LogPage["leftOut"];
  preview?: { kept: number; keptTitles: string[]; asks: string[]; again: string[] };
}

const S = 1000;
const M = 60 * S;

/** All scenes of one moment. */
export function scenes(now: number): Record<string, Scene> {
  const row = (
    runId: string,
    projectTitle: string,
    entrypointTitle: string,
    status: RunRow["status"],
    stages: [RunRow["status"], number][],
    extra: Partial<RunRow> = {},
  ): RunRow => {
    const total = stages.reduce((sum, [, ms]) => sum + ms, 0);
    const isOver = status !== "running" && status !== "waiting_for_input" && status !== "queued";
    const createdAt = now - total - (isOver ? 20 * M : 0) - (runId.startsWith("20261123") ? 7 * 24 * 60 * M : 0);
    let at = createdAt;
    const list: Stage[] = stages.map(([one, ms], index) => {
      const stage: Stage = { status: one, at, ...(isOver || index < stages.length - 1 ? { until: at + ms } : {}) };
      at += ms;
      return stage;
    });
    return {
      runId,
      project: projectTitle.toLowerCase().replaceAll(" ", "-"),
      projectTitle,
      registered: true,
      entrypointId: entrypointTitle.toLowerCase().replaceAll(" ", "-"),
      entrypointTitle,
      status,
      origin: "mcp",
      client: "Claude Code",
      createdAt,
      startedAt: list.find((stage) => stage.status === "running")?.at,
      pinned: false,
      stages: list,
      ...(isOver ? { finishedAt: at, durationMs: at - createdAt } : {}),
      ...extra,
    };
  };
  const detail = (run: RunRow, extra: Partial<RunDetail> = {}): RunDetail => ({
    run,
    projectPath: "/home/ada/projects/weekly",
    clientVersion: "2.1",
    input: { week: "2026-11-30", sources: ["mail", "tracker"], tone: "plain", length: 400, dry: false },
    cliArgs: [],
    questions: [],
    files: [],
    children: [],
    bytes: 184_322,
    logLines: 0,
    nodes: 0,
    outputBytes: 0,
    canContinue: false,
    ownerAlive: run.status === "running",
    ...extra,
  });
  type Step = [title: string, kind: RunNode["kind"], from: number, took: number, status?: RunNode["status"], detail?: unknown];
  const nodes = (start: number, phases: [string, Step[]][]): RunNode[] => {
    const out: RunNode[] = [];
    for (const [title, steps] of phases) {
      const parent = out.length + 1;
      const began = steps.filter((step) => step[4] !== "queued" && step[4] !== "skipped");
      const isDone = began.length === steps.length && steps.every((step) => step[4] !== "running");
      const from = Math.min(...began.map((step) => step[2]));
      const to = Math.max(...began.map((step) => step[2] + step[3]));
      out.push({
        id: parent,
        kind: "phase",
        title,
        status: began.length === 0 ? "queued" : isDone ? "success" : "running",
        ...(began.length ? { startedAt: start + from } : {}),
        ...(isDone ? { finishedAt: start + to } : {}),
      });
      for (const [name, kind, at, took, status = "success", more] of steps) {
        const begun = status !== "queued" && status !== "skipped";
        out.push({
          id: out.length + 1,
          parent,
          kind,
          title: name,
          status,
          ...(begun ? { startedAt: start + at } : {}),
          ...(begun && status !== "running" && status !== "waiting_for_input" ? { finishedAt: start + at + took } : {}),
          ...(more === undefined ? {} : { detail: more }),
        });
      }
    }
    return out;
  };
  const few = (count: number, start: number, span: number): Scene["lines"] => ({
    count,
    at: (position) => ({
      position,
      stream: position % 17 === 5 ? "stderr" : "stdout",
      at: Math.round(start + (span * position) / Math.max(1, count)),
      text: `\u001b[32mok\u001b[0m line ${position + 1} of the log\n`,
    }),
  });

  const all: Record<string, Scene> = {};
  const add = (scene: Scene) => {
    scene.detail.logLines = scene.lines.count;
    scene.detail.nodes = scene.nodes.length;
    all[scene.detail.run.runId] = scene;
  };

  // 03, 05: a run that ended well, with a person asked on the way.
  {
    const run = row(
      "20261130-e1ka",
      "Weekly report",
      "Weekly page",
      "success",
      [
        ["queued", 400],
        ["running", 184 * S],
        ["waiting_for_input", 372 * S],
        ["running", 172 * S],
      ],
      { origin: "desktop", client: undefined },
    );
    const start = run.createdAt;
    const question: Question = {
      number: 1,
      kind: "form",
      askedAt: start + 184_400,
      form: {
        title: "Tone",
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
      answer: { action: "accept", content: { tone: "plain" }, by: "You", at: start + 556_400 },
    };
    add({
      detail: detail(run, {
        questions: [question],
        outputBytes: 41_000,
        files: [
          { name: "week-48.md", path: "/home/ada/projects/weekly/out/week-48.md", bytes: 2_900 },
          { name: "week-48.pdf", path: "/home/ada/projects/weekly/out/week-48.pdf", bytes: 1_200_000 },
          { name: "highlights.json", path: "/home/ada/projects/weekly/out/highlights.json", bytes: 8_400 },
        ],
      }),
      nodes: nodes(start, [
        [
          "Read",
          [
            ["Find notes", "step", 400, 400],
            ["Read 23 notes", "step", 1_900, 18 * S, "success", { what: "files" }],
            ["Load last week", "step", 1_900, 12, "success", { what: "key-value" }],
          ],
        ],
        [
          "Summarise",
          [
            ["Platform", "agent", 22 * S, 74 * S],
            [
              "Growth",
              "agent",
              22 * S,
              128 * S,
              "success",
              {
                tries: [
                  { startedAt: start + 22 * S, finishedAt: start + 80 * S, ok: false },
                  { startedAt: start + 86 * S, finishedAt: start + 150 * S, ok: true },
                ],
              },
            ],
            ["Design", "agent", 22 * S, 48 * S],
            ["Support", "agent", 70 * S, 58 * S, "success", { queuedAt: start + 22 * S }],
          ],
        ],
        [
          "Review",
          [
            ["Merge", "agent", 150 * S, 34 * S],
            ["Tone", "form", 184_400, 372 * S],
            ["Rewrite", "agent", 556_400, 56 * S],
            ["Check wording", "related", 612_400, 22 * S],
          ],
        ],
        [
          "Publish",
          [
            ["pandoc", "command", 636 * S, 78 * S],
            ["Write files", "step", 714 * S, 8 * S, "success", { what: "files" }],
          ],
        ],
      ]),
      output: {
        page: "# Week 48\n\nDeploys are back under **nine minutes**.\n\n- Two pagers at night\n- Refund queue is empty\n",
        highlights: [
          ["Platform", "Deploys are back under nine minutes", ["Rina", "Ole"], "high", 4],
          ["Platform", "Two pagers at night, both the same cache node", ["Ole"], "high", 2],
          ["Growth", "Trial form halves drop-off on phones", ["Mei"], "medium", 6],
          ["Design", "New table density ships to a tenth of accounts", ["Ana", "Tom"], "medium", 3],
          ["Support", "Refund queue is empty for the first time since May", ["Jo"], "low", 1],
          ["Support", "Help pages in Portuguese are half done", ["Bia"], "low", 2],
        ].map(([team, text, people, weight, sources]) => ({ team, text, people, weight, sources })),
        totals: { notes: 23, words: 412, truncated: false, reviewer: null },
        tone: "plain",
      },
      lines: few(214, start, 728 * S),
    });
    const older = row(
      "20261123-5dqe",
      "Weekly report",
      "Weekly page",
      "success",
      [
        ["queued", 300],
        ["running", 542 * S],
      ],
      {},
    );
    const begin = older.createdAt;
    add({
      detail: detail(older, {
        input: { week: "2026-11-23", sources: ["mail", "tracker"], tone: "warm", length: 400, dry: false },
        outputBytes: 38_000,
        questions: [{ ...question, answer: { action: "accept", content: { tone: "warm" }, by: "Claude Code", at: begin + 200 * S } }],
        files: [
          { name: "week-47.md", path: "/x/week-47.md", bytes: 2_700 },
          { name: "highlights.json", path: "/x/highlights.json", bytes: 8_400 },
        ],
      }),
      nodes: nodes(begin, [
        ["Read", [["Find notes", "step", 300, 14 * S]]],
        ["Summarise", [["Platform", "agent", 15 * S, 87 * S]]],
        ["Review", [["Merge", "agent", 110 * S, 105 * S]]],
        ["Publish", [["pandoc", "command", 220 * S, 114 * S]]],
      ]),
      output: {
        page: "# Week 47\n\nDeploys take **fourteen** minutes.\n",
        highlights: [
          { team: "Platform", text: "Deploys take fourteen minutes", people: ["Rina", "Ole"], weight: "medium", sources: 4 },
          { team: "Growth", text: "Trial form halves drop-off on phones", people: ["Mei"], weight: "medium", sources: 6 },
        ],
        totals: { notes: 19, words: 388, truncated: false, reviewer: null },
        tone: "warm",
      },
      lines: few(190, begin, 542 * S),
    });
  }
  // 04: a run at work.
  {
    const run = row(
      "20261130-6hfc",
      "Weekly report",
      "Weekly page",
      "running",
      [
        ["queued", 600],
        ["running", 132 * S],
      ],
      { phase: "Summarise" },
    );
    const start = run.createdAt;
    add({
      detail: detail(run),
      nodes: nodes(start, [
        [
          "Read",
          [
            ["Find notes", "step", 600, 400],
            ["Read 23 notes", "step", 1_000, 1_900, "success", { what: "files" }],
            ["Load last week", "step", 1_000, 12, "success", { what: "key-value" }],
          ],
        ],
        [
          "Summarise",
          [
            ["Platform", "agent", 3 * S, 74 * S],
            ["Design", "agent", 3 * S, 48 * S],
            ["Sales", "agent", 3 * S, 52 * S],
            [
              "Growth",
              "agent",
              3 * S,
              111 * S,
              "failed",
              {
                try: 2,
                tries: 2,
                tokens: 8_214,
                error: "The answer does not match its schema: highlights[2].weight is “urgent”; allowed are high, medium, low.",
                prompt: "Summarise the notes of Growth.",
                answer: '{"highlights":[]}',
              },
            ],
            ["Support", "agent", 74 * S, 0, "running"],
            ["People", "agent", 91 * S, 0, "running"],
            ["Finance", "agent", 0, 0, "queued", { queuedAt: start + 3 * S }],
            ["Legal", "agent", 0, 0, "queued", { queuedAt: start + 3 * S }],
          ],
        ],
        [
          "Review",
          [
            ["Merge", "agent", 0, 0, "queued"],
            ["Tone", "form", 0, 0, "queued"],
            ["Check wording", "related", 0, 0, "queued", { what: "run in House style" }],
          ],
        ],
        [
          "Publish",
          [
            ["pandoc", "command", 0, 0, "queued", { what: "program, asks you" }],
            ["Write files", "step", 0, 0, "queued", { what: "files" }],
          ],
        ],
      ]),
      lines: few(96, start, 130 * S),
    });
  }
  // 06: a failed run with a long log.
  {
    const run = row(
      "20261130-zz1c",
      "Invoice intake",
      "Post to ledger",
      "failed",
      [
        ["queued", 3 * S],
        ["running", 35 * S],
      ],
      { client: "VS Code", error: "Ledger mismatch" },
    );
    const start = run.createdAt + 3 * S;
    const tail: [LogLine["stream"], string][] = [
      ["flow", "phase Post"],
      ["stdout", "ledger: open period \u001b[36m2026-11\u001b[0m, \u001b[32mbalanced\u001b[0m"],
      ...["INV-20418|1,204.00|Harbour Supplies", "INV-20419|88.40|Northlight Print", "INV-20420|7,310.55|Vela Freight"].map(
        (text): [LogLine["stream"], string] => {
          const [id, sum, name] = text.split("|");
          return ["stdout", `posting \u001b[36m${id}\u001b[0m  \u001b[33m${sum} EUR\u001b[0m  ${name} \u001b[32mok\u001b[0m`];
        },
      ),
      ["stderr", "\u001b[33mwarning:\u001b[0m INV-20421 has no cost centre, using the default 4000"],
      ["flow", "tool call http POST ledger.internal/v2/entries, 38 lines"],
      ["stdout", "posting \u001b[36mINV-20422\u001b[0m  \u001b[33m19,870.00 EUR\u001b[0m  Keel & Sons"],
      ["stderr", "\u001b[31merror:\u001b[0m ledger refused the entry: debit 19,870.00 ≠ credit 19,780.00"],
      ["stderr", "  at post_entry (ledger.py:212)"],
      ["stderr", "  at run (post.py:64)"],
      ["stderr", "  hint: the supplier’s discount line 3 carries tax; see \u001b[34mdocs/ledger.md\u001b[0m section 4"],
      ["flow", "step INV-20422 failed after 212 ms, try 1 of 3"],
      ["stdout", "retry in 1 s"],
      ["stdout", "10 %\r40 %\r上传附件 发票-20422.pdf [\u001b[35m████████████\u001b[0m░░░░] 66 %\n"],
      ["stderr", "\u001b[31merror:\u001b[0m ledger refused the entry: debit 19,870.00 ≠ credit 19,780.00"],
      ["stdout", "rolling back 4 entries … \u001b[32mdone\u001b[0m"],
      ["flow", "fail: Ledger mismatch, errCode 7"],
    ];
    const count = 128_432;
    const line = (position: number): LogLine => {
      const at = Math.round(start + (35 * S * position) / count);
      const last = tail[position - (count - tail.length)];
      if (last) return { position, stream: last[0], at, text: last[1] };
      return {
        position,
        stream: position % 3_131 === 7 ? "stderr" : "stdout",
        at,
        text: `read page ${position % 48} of \u001b[36mINV-${20_000 + (position % 900)}\u001b[0m, entry ${position}\n`,
      };
    };
    add({
      detail: detail(run, {
        error: {
          code: "step_failed",
          message: "Ledger mismatch: debit 19,870.00 ≠ credit 19,780.00",
          errCode: 7,
          cause: "POST https://ledger.internal/v2/entries answered 409",
          data: { period: "2026-11", closed: false },
        },
      }),
      nodes: nodes(start, [
        ["Read", [["Read invoices", "step", 0, 11 * S]]],
        ["Match", [["Match entries", "step", 11 * S, 16 * S]]],
        ["Post", [["INV-20422", "step", 34_980, 15, "failed", { error: "ledger refused the entry" }]]],
      ]),
      lines: { count, at: line },
    });
  }
  // 07: a form, 07b: an approval.
  const questionForm: Question = {
    number: 1,
    canDecline: true,
    kind: "form",
    askedAt: now - M,
    expiresAt: now + 30 * 24 * 60 * M,
    form: {
      title: "Which tone should the page take?",
      message: "The draft is ready: 412 words from 23 notes. It is rewritten once with your answer, then published.",
      fields: [
        {
          name: "tone",
          type: "select",
          required: true,
          title: "Tone",
          options: [
            { value: "plain", title: "Plain", description: "Short sentences, numbers first" },
            { value: "warm", title: "Warm", description: "Names people, thanks them" },
          ],
          default: "plain",
        },
        {
          name: "leaveOut",
          type: "checkboxes",
          title: "Leave out",
          options: ["Support", "Growth", "Design", "Sales", "Legal", "People"].map((value) => ({ value })),
        },
        { name: "words", type: "integer", title: "At most, words", minimum: 80, maximum: 2_000 },
        { name: "more", type: "string", title: "Anything to add", maxLength: 2_000 },
      ],
    },
  };
  {
    const run = row("20261130-k7mq", "Weekly report", "Weekly page", "waiting_for_input", [
      ["queued", 400],
      ["running", 180 * S],
      ["waiting_for_input", M],
    ]);
    const start = run.createdAt;
    add({
      detail: detail(run, { questions: [questionForm], callOpenUntil: now + 228 * S }),
      nodes: nodes(start, [
        ["Read", [["23 notes", "step", 400, 2_300]]],
        [
          "Summarise",
          [
            ["Platform", "agent", 3 * S, 74 * S],
            ["Design", "agent", 3 * S, 151 * S],
          ],
        ],
        ["Merge", [["412 words", "agent", 155 * S, 20 * S]]],
      ]),
      lines: few(62, start, 180 * S),
    });
  }
  const approval: Question = {
    number: 1,
    kind: "approval",
    askedAt: now - 62 * M,
    expiresAt: now + 30 * 24 * 60 * M,
    form: {
      title: "Allow gh release create v4.2.0?",
      message: "Publish v4.2.0 on the hosting site, with the notes that were just written.",
      fields: [],
    },
    approval: {
      program: "gh",
      args: ["release", "create", "v4.2.0", "--title", "4.2.0, Harbour", "--notes-file", "notes/4.2.0.md", "--verify-tag"],
      folder: "/home/ada/projects/release-notes",
      env: ["GH_TOKEN", "PATH", "HOME"],
      mayHaveHappened: false,
    },
  };
  {
    const run = row(
      "20261130-9xwd",
      "Release notes",
      "Publish release",
      "waiting_for_input",
      [
        ["running", 101 * S],
        ["waiting_for_input", 62 * M],
      ],
      { client: "Codex" },
    );
    add({
      detail: detail(run, { questions: [approval], clientVersion: "0.98", callOpenUntil: now - 57 * M }),
      nodes: [],
      lines: few(62, run.createdAt, 100 * S),
    });
    const twice = row(
      "20261130-2nd1",
      "Release notes",
      "Publish release",
      "waiting_for_input",
      [
        ["running", 101 * S],
        ["waiting_for_input", 5 * M],
      ],
      { client: "Codex" },
    );
    add({
      detail: detail(twice, { questions: [{ ...approval, approval: { ...approval.approval!, mayHaveHappened: true } }] }),
      nodes: [],
      lines: few(62, twice.createdAt, 100 * S),
    });
  }
  // 16: a guided workflow.
  {
    const run = row("20261130-t3gd", "Paper review", "Full review", "running", [["running", 1_284 * S]], { client: "Zed" });
    const start = run.createdAt;
    const step = (id: number, title: string, name: string, status: RunNode["status"], from: number, took: number, guided: object): RunNode => ({
      id,
      kind: "step",
      title,
      status,
      ...(status === "queued" ? {} : { startedAt: start + from }),
      ...(status === "success" ? { finishedAt: start + from + took } : {}),
      detail: { guided: { id: name, ...guided } },
    });
    add({
      detail: detail(run, { clientVersion: "0.221" }),
      nodes: [
        step(1, "Collect candidates", "collect", "success", 0, 250 * S, {}),
        step(2, "Screen abstracts", "screen", "success", 250 * S, 662 * S, {
          override: { reason: "Two abstracts exist only in Portuguese; both were read in the original.", by: "Zed", at: start + 910 * S },
          gate: [
            { title: "Every candidate has a verdict", note: "process requirement, all 42 rows have one", status: "success", ms: 100 },
            { title: "screening.csv fits its schema", note: "42 rows, 5 columns", status: "success", ms: 12 },
            { title: "Reasons are in English", note: "rows 17 and 31 are not; sent back once, then overridden", status: "failed", ms: 38 * S },
          ],
          outputs: [
            { name: "screening_table", path: "reviews/screening.csv", bytes: 18_000 },
            { name: "screening_summary", value: "14 of 42 kept" },
          ],
          tries: [
            { number: 1, status: "failed", note: "sent back: “Reasons are in English” failed for 2 rows", ms: 401 * S },
            { number: 2, status: "overridden", note: "same 2 rows, passed with reason", ms: 261 * S },
          ],
        }),
        step(3, "Select for depth", "select", "running", 912 * S, 0, { with: "Zed" }),
        step(4, "Review each paper", "review", "queued", 0, 0, { workflow: true }),
        { ...step(6, "Read the paper", "read", "queued", 0, 0, {}), parent: 4 },
        step(5, "Write the report", "report", "queued", 0, 0, {}),
      ],
      lines: few(41, start, 1_200 * S),
    });
  }
  // 17: a run whose process vanished.
  {
    const run = row("20261130-4nwo", "Price watch", "Compare prices", "interrupted", [["running", 51 * S]], { client: "Gemini CLI" });
    const start = run.createdAt;
    add({
      detail: detail(run, { clientVersion: "0.42", canContinue: true }),
      nodes: nodes(start, [
        [
          "Fetch",
          [
            ["Load shops", "step", 0, 300],
            ["Fetch list pages", "step", 300, 8_100, "success", { what: "http, 12 requests" }],
          ],
        ],
        [
          "Compare",
          [
            ["Shop A", "agent", 8 * S, 14 * S],
            ["Shop B", "agent", 8 * S, 17 * S],
            ["Shop C", "agent", 40 * S, 0, "running"],
            ["Compare", "agent", 0, 0, "queued"],
          ],
        ],
      ]),
      preview: {
        kept: 4,
        keptTitles: ["Load shops", "Fetch list pages", "Shop A", "Shop B"],
        asks: ["POST alerts.internal/send"],
        again: ["Shop C"],
      },
      lines: few(1_204, start, 51 * S),
    });
  }
  // Too large: a thousand nodes, a million lines.
  {
    const run = row("20261130-bign", "Load", "A thousand members", "running", [["running", 600 * S]]);
    const start = run.createdAt;
    const steps = (count: number, from: number, statusOf: (index: number) => RunNode["status"]): Step[] =>
      Array.from({ length: count }, (_, index): Step => [
        `Member ${index + 1}`,
        "agent",
        from + index * 90,
        4 * S + ((index * 7919) % 30_000),
        statusOf(index),
      ]);
    add({
      detail: detail(run),
      nodes: nodes(start, [
        ["Read", steps(200, 0, () => "success")],
        ["Summarise", steps(400, 60 * S, (index) => (index % 9 === 4 ? "failed" : "success"))],
        ["Check", steps(250, 150 * S, (index) => (index % 3 === 0 ? "running" : index % 3 === 1 ? "success" : "queued"))],
        ["Write", steps(150, 400 * S, () => "queued")],
      ]),
      lines: few(10, start, 100),
    });
    const long = row("20261130-mill", "Load", "A million lines", "running", [["running", 3_600 * S]]);
    add({ detail: detail(long), nodes: [], lines: few(1_000_000, long.createdAt, 3_600 * S) });
  }
  // Means harm.
  {
    const run = row("20261130-evil", "Hostile", "<img src=x onerror=alert(1)> \u202egnp.exe", "failed", [["running", 2 * S]], {
      error: "<script>alert(1)</script>\u202e",
    });
    const huge = "A".repeat(10_000_000);
    add({
      detail: detail(run, {
        input: { "<b>key</b>": "<img src=x onerror=alert(1)>", __proto__x: "\u200b\u202e" },
        error: { code: "step_failed", message: `<img src=x onerror="window.hurt=1"> ${"long ".repeat(4_000)}` },
        files: [{ name: "../../<img src=x>.md", path: "/tmp/x", bytes: 1 }],
      }),
      nodes: [
        { id: 1, kind: "phase", title: "<img src=x onerror=alert(1)>", status: "failed", startedAt: run.createdAt, finishedAt: run.createdAt + S },
        {
          id: 2,
          parent: 1,
          kind: "agent",
          title: "\u202e<svg onload=alert(1)>",
          status: "failed",
          startedAt: run.createdAt,
          finishedAt: run.createdAt + S,
          detail: { error: "<img src=x onerror=alert(1)>" },
        },
      ],
      lines: {
        count: 5,
        at: (position) => ({
          position,
          stream: "stdout",
          at: run.createdAt,
          text:
            position === 0
              ? huge
              : position === 1
                ? "<img src=x onerror=alert(1)>\n"
                : position === 2
                  ? "\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007 \u202egnp.exe\n"
                  : position === 3
                    ? Array.from({ length: 3_000 }, (_, index) => `piece ${index}`).join("\n")
                    : "\u001b[38;2;250;249;246mhidden on paper\u001b[0m",
        }),
      },
    });
  }
  return all;
}
