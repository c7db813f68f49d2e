// The board of the mock: the same gates as the real one, in memory.
import type { ApiError, BoardCard, BoardCardDetail, BoardNeed, BoardRefusal, BoardStatus, BoardView, Commands, JsonValue } from "../../api/contract";
import { boardCards, type MockCard } from "./boardData";

export interface MockBoardOptions {
  /** Cards besides those of the pictures. */
  cards?: number;
  hostile?: boolean;
  readOnly?: boolean;
  /** No card, document, fragment or finding. */
  empty?: boolean;
}

/** Handles for tests. */
export interface MockBoard {
  cards: MockCard[];
  /** Changes a card as another program would on disk. */
  change(id: string, change: Partial<MockCard>): void;
  /** How many findings there are by now. */
  findings(): number;
  handlers: Pick<
    { [N in keyof Commands]: (request: Commands[N][0]) => Commands[N][1] },
    "board_view" | "board_card" | "board_refusals" | "board_call" | "board_mend" | "board_acceptance"
  >;
}

const ACTOR = "ada@studio";
const status = (id: string, needs: BoardNeed[] = [], more: Partial<BoardStatus> = {}): BoardStatus => ({
  id,
  hidden: false,
  terminal: false,
  needs,
  ...more,
});
const STATUSES: BoardStatus[] = [
  status("backlog"),
  status("next"),
  status("doing", ["claim"]),
  status("review"),
  status("blocked", ["reason"]),
  status("done", [], { terminal: true }),
  status("deferred", ["reason"], { hidden: true }),
  status("discarded", ["reason"], { hidden: true, terminal: true }),
];
const refuse = (code: string, message: string, kind: ApiError["code"] = "conflict"): ApiError => ({ code: kind, message, detail: { code } });

const DOCUMENTS = ["Counter handbook", "How orders flow", "Deploying to the sandbox", "Queue internals", "Error codes", "Reading the export"].map(
  (title, index) => ({
    id: index < 4 ? `DOC-000${index + 1}` : `PATH-${index}B335630`,
    kind: "doc",
    recordType: ["guide", "architecture", "runbook", "reference"][index % 4],
    documentKind: ["guide", "architecture", "runbook", "reference"][index % 4],
    title,
    status: ["current", "draft", "stale"][index % 3],
    path: index < 4 ? `.project/docs/guide/DOC-000${index + 1}.md` : `docs/${title.toLowerCase().replaceAll(" ", "-")}.md`,
    managed: index < 4,
    updated: `2026-11-${28 - index}`,
  }),
);
const MEMORY = [
  ["decisions", "Prices are cached per tenant, not per user", "accepted"],
  ["learnings", "The sandbox forgets callbacks after an hour", "active"],
  ["incidents", "Export stopped on the last day of the month", "resolved"],
  ["conventions", "Error codes are never reused", "active"],
].map(([collection, title, status], index) => ({
  id: `MEM-000${index + 1}`,
  kind: "memory",
  collection,
  title,
  status,
  path: `.project/memory/${collection}/MEM-000${index + 1}.md`,
  updated: `2026-11-${22 - index}`,
}));
const CHANGELOG =
  "## Unreleased\n\n### Added\n\n- Orders take an idempotency key. (HB-0214)\n- The price list is cached per tenant.\n\n### Fixed\n\n- Search ignores accents. (HB-0201)\n- `GET /health` waits for the deploy to end.\n";
const ISSUES = [
  {
    severity: "error",
    module: "cards",
    code: "missing-dependency",
    id: "HB-0207",
    file: "HB-0207.md",
    message: "HB-0207 depends on HB-0190, which does not exist.",
  },
  {
    severity: "warning",
    module: "cards",
    code: "card-claim-stale",
    id: "HB-0198",
    file: "HB-0198.md",
    message: "The claim of Cursor#77de is 31 hours old; the lease is 24 hours.",
  },
  {
    severity: "warning",
    module: "docs",
    code: "doc-review-overdue",
    id: "DOC-0003",
    file: ".project/docs/runbook/DOC-0003.md",
    message: "Deploying to the sandbox was to be reviewed on 2026-10-01.",
  },
];

/** `tell` says to the page that something changed on disk. */
export function createMockBoard(options: MockBoardOptions, tell: (project: string) => void): MockBoard {
  const begun = Date.now();
  let mark = 1;
  let project = "";
  let issues = ISSUES;
  const board: MockBoard = {
    cards: options.empty ? [] : boardCards(begun, options.cards ?? 136, options.hostile ?? false),
    change,
    findings: () => (options.empty ? 0 : issues.length),
    handlers: {} as MockBoard["handlers"],
  };

  const find = (id: unknown): MockCard => {
    const card = board.cards.find((one) => one.id === id);
    if (!card) throw refuse("CARD_NOT_FOUND", `There is no card ${String(id)}.`, "not_found");
    return card;
  };
  function change(id: string, fresh: Partial<MockCard>): void {
    mark++;
    board.cards = board.cards.map((card) => {
      if (card.id !== id) return card;
      const next = { ...card, ...fresh, revision: `sha256:${id}-${mark}` };
      return {
        ...next,
        ...(next.criteria.length > 0 ? { acceptance: { done: next.criteria.filter(({ done }) => done).length, total: next.criteria.length } } : {}),
      };
    });
    window.setTimeout(() => tell(project), 30);
  }
  const log = (card: MockCard, text: string) => [{ at: new Date().toISOString(), who: ACTOR, text }, ...card.activity];
  const refusals = (card: MockCard): BoardRefusal[] =>
    STATUSES.map(({ id, needs }) => {
      const reasons: string[] = [];
      const codes: string[] = [];
      const wanted = needs.filter((need) => need !== "claim" || card.claim?.by !== ACTOR);
      if (id !== card.status) {
        if (card.claim && card.claim.by !== ACTOR) {
          codes.push("CARD_CLAIM_OWNER_MISMATCH");
          reasons.push(`${card.id} is held by ${card.claim.by}.`);
        }
        const left = (card.acceptance?.total ?? 0) - (card.acceptance?.done ?? 0);
        if (id === "done" && left > 0) {
          codes.push("CARD_ACCEPTANCE_UNMET");
          reasons.push(
            left === 1 ? `${card.id} has 1 criterion left. Done needs all of them.` : `${card.id} has ${left} criteria left. Done needs all of them.`,
          );
        }
        if (id === "done" && card.area === "ops") wanted.push("evidence", "run");
      }
      return { status: id, reasons, codes, needs: wanted };
    });
  const guard = (card: MockCard, revision: unknown) => {
    if (options.readOnly) throw refuse("MCP_SERVER_READ_ONLY", "The board is read-only.");
    if (revision && revision !== card.revision) throw refuse("CARD_WRITE_CONFLICT", `${card.id} was changed in the meantime.`);
  };
  const row = ({ text: _text, criteria: _criteria, activity: _activity, notes: _notes, ...card }: MockCard): BoardCard => card;
  const body = (card: MockCard): string =>
    [
      card.text,
      card.criteria.length > 0
        ? `## Acceptance criteria\n\n${card.criteria.map(({ text, done }) => `- [${done ? "x" : " "}] ${text}`).join("\n")}`
        : "",
      card.notes.length > 0 ? `## Notes\n\n${card.notes.join("\n")}` : "",
      `## Activity\n\n${card.activity.map(({ at, who, text }) => `- ${at ?? ""} ${who ?? ""} · ${text}`).join("\n")}`,
    ]
      .filter(Boolean)
      .join("\n\n");
  const detail = (card: MockCard): BoardCardDetail => ({
    record: { ...row(card), body: body(card) },
    body: body(card),
    acceptance: card.criteria.map(({ text, done }, index) => ({ text, done, line: 20 + index })),
    activity: card.activity,
    refusals: refusals(card),
    related:
      card.id === "HB-0207"
        ? [
            { id: "HB-0199", title: "Queue writes are fsynced", status: "done", relation: "depends" },
            { id: "ADR-0004", title: "One queue per tenant", status: "accepted", relation: "related" },
          ]
        : [],
  });

  const tools: Record<string, (args: Record<string, unknown>) => JsonValue> = {
    project_card_transition: (args) => {
      const card = find(args.id);
      guard(card, args.expectedRevision);
      const to = String(args.status);
      const refusal = refusals(card).find((one) => one.status === to);
      if (!refusal) throw refuse("CARD_ENUM_INVALID", `${to} is not a status.`, "invalid_input");
      if (refusal.reasons.length > 0) throw refuse("CARD_ACCEPTANCE_UNMET", refusal.reasons.join(" "));
      const { claim: _claim, ...free } = card;
      const text = `${card.status} → ${to}`;
      board.cards = board.cards.map((one) => (one.id === card.id ? free : one));
      change(card.id, {
        status: to,
        activity: log(card, text),
        ...(to === "doing" ? { claim: { by: ACTOR, state: "held", since: Date.now() } } : {}),
        notes: args.evidence ? [...card.notes, `- ${String(args.method)} verification: ${String(args.evidence)}`] : card.notes,
      });
      return { record: row(find(card.id)) };
    },
    project_card_claim: (args) => {
      const card = find(args.id);
      guard(card, args.expectedRevision);
      if (card.claim && card.claim.by !== args.actor && !args.force) throw refuse("CARD_ALREADY_CLAIMED", `${card.id} is held by ${card.claim.by}.`);
      change(card.id, {
        status: "doing",
        claim: { by: String(args.actor), state: "held", since: Date.now(), ...(card.claim?.scope ? { scope: card.claim.scope } : {}) },
        activity: log(card, "claimed"),
      });
      return { record: row(find(card.id)), warnings: [] };
    },
    project_card_release: (args) => {
      const card = find(args.id);
      guard(card, args.expectedRevision);
      if (card.claim && card.claim.by !== ACTOR && !args.force) throw refuse("CARD_CLAIM_OWNER_MISMATCH", `${card.id} is held by ${card.claim.by}.`);
      const { claim: _claim, ...free } = card;
      board.cards = board.cards.map((one) => (one.id === card.id ? free : one));
      change(card.id, { status: String(args.status ?? "next"), activity: log(card, "released") });
      return { record: row(find(card.id)) };
    },
    project_card_note: (args) => {
      const card = find(args.id);
      guard(card, undefined);
      change(card.id, { notes: [...card.notes, `- ${new Date().toISOString().slice(0, 16).replace("T", " ")}Z ${ACTOR} — ${String(args.text)}`] });
      return { record: row(find(card.id)) };
    },
    project_card_patch: (args) => {
      const card = find(args.id);
      guard(card, args.expectedRevision);
      change(card.id, args.changes as Partial<MockCard>);
      return { record: row(find(card.id)) };
    },
    project_card_create: (args) => {
      if (options.readOnly) throw refuse("MCP_SERVER_READ_ONLY", "The board is read-only.");
      const number = Math.max(0, ...board.cards.map(({ id }) => Number(id.split("-")[1]))) + 1;
      const id = `HB-${String(number).padStart(4, "0")}`;
      const text = String(args.body ?? "");
      const criteria = [...text.matchAll(/^- \[( |x)\] (.+)$/gm)].map((match) => ({ text: match[2] as string, done: match[1] === "x" }));
      board.cards = [
        ...board.cards,
        {
          id,
          title: String(args.title),
          type: String(args.type ?? "task"),
          status: String(args.status ?? "backlog"),
          priority: String(args.priority ?? "medium"),
          area: String(args.area ?? "backend"),
          tags: [],
          depends: [],
          updated: new Date().toISOString().slice(0, 10),
          revision: `sha256:${id}`,
          archived: false,
          path: `.project/cards/${id}.md`,
          text: text.replace(/\n*## Acceptance criteria[\s\S]*/, ""),
          criteria,
          activity: [],
          notes: [],
          ...(criteria.length > 0 ? { acceptance: { done: 0, total: criteria.length } } : {}),
        },
      ];
      mark++;
      window.setTimeout(() => tell(project), 30);
      return { record: row(find(id)) };
    },
    project_search: (args) => {
      const text = String(args.query).toLowerCase();
      const records = board.cards
        .filter((card) => `${card.id} ${card.title} ${body(card)}`.toLowerCase().includes(text))
        .slice(0, Number(args.limit ?? 20));
      return {
        records: records.map(({ id, title }) => ({ id, kind: "card", title })),
        total: records.length,
        offset: 0,
        limit: Number(args.limit ?? 20),
        mode: "lexical",
        provider: null,
        view: "summary",
      };
    },
    project_doc_list: () => ({ records: options.empty ? [] : DOCUMENTS, total: options.empty ? 0 : DOCUMENTS.length, offset: 0, limit: 200 }),
    project_memory_list: () => ({ records: options.empty ? [] : MEMORY, total: options.empty ? 0 : MEMORY.length, offset: 0, limit: 200 }),
    project_get_record: (args) => ({
      record: {
        ...[...DOCUMENTS, ...MEMORY].find(({ id }) => id === args.id),
        body: "# Handbook\n\nWhat the counter does, and **why**.\n\n- opens at nine\n- closes at six\n",
      },
    }),
    project_changelog_preview: () =>
      options.empty
        ? { fragments: [], groups: [], markdown: "" }
        : { fragments: [{ id: "CHG-0002" }, { id: "CHG-0003" }, { id: "CHG-0004" }, { id: "CHG-0005" }], groups: [], markdown: CHANGELOG },
    project_doctor: () => ({
      generatedAt: new Date().toISOString(),
      cards: board.cards.length,
      modules: {},
      counts: {
        error: options.empty ? 0 : issues.filter(({ severity }) => severity === "error").length,
        warning: options.empty ? 0 : issues.filter(({ severity }) => severity === "warning").length,
        info: 0,
      },
      ok: options.empty ?? false,
      issues: options.empty ? [] : issues,
    }),
  };

  board.handlers = {
    board_view: (request): BoardView => {
      project = request.project;
      return {
        statuses: STATUSES,
        types: ["epic", "idea", "feature", "bug", "task", "audit", "docs", "chore"],
        priorities: ["critical", "high", "medium", "low"],
        areas: ["backend", "web", "ops", "docs"],
        cards: board.cards.map(row),
        documents: options.empty ? 0 : DOCUMENTS.length,
        fragments: options.empty ? 0 : 4,
        memory: options.empty ? 0 : MEMORY.length,
        findings: board.findings(),
        mendable: ["agent-instructions-missing", "filename-stale"],
        actor: ACTOR,
        readOnly: options.readOnly ?? false,
        mark: String(mark),
      };
    },
    board_mend: ({ code }) => {
      issues = issues.filter((issue) => issue.code !== code);
      return { left: 0 };
    },
    board_card: ({ id }) => detail(find(id)),
    board_refusals: ({ id }) => refusals(find(id)),
    board_call: ({ tool, arguments: args }) => {
      const run = tools[tool];
      if (!run) throw refuse("MCP_TOOL_UNKNOWN", `There is no tool ${tool}.`, "invalid_input");
      return run((args ?? {}) as Record<string, unknown>);
    },
    board_acceptance: ({ id, line, done, revision }) => {
      const card = find(id);
      guard(card, revision);
      change(id, { criteria: card.criteria.map((one, index) => (index === line - 20 ? { ...one, done } : one)) });
      return detail(find(id));
    },
  };
  return board;
}
