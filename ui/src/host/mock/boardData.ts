// The board of the mock: the cards of the pictures, and as many more as asked for.
import type { BoardCard } from "../../api/contract";
import { createRandom, pick } from "./random";

/** A card with what only its own page shows. */
export interface MockCard extends BoardCard {
  text: string;
  criteria: { text: string; done: boolean }[];
  activity: { at?: string; who?: string; text: string }[];
  notes: string[];
}

const HOUR = 3_600_000;
const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const stamp = (at: number) => new Date(at).toISOString();

const ADJECTIVES = ["Slow", "Missing", "Flaky", "Unused", "Loud", "Unclear", "Duplicate", "Stale"];
const THINGS = [
  "index on orders",
  "retry in the mailer",
  "test of the importer",
  "header on errors",
  "copy in the invoice",
  "metric of the queue",
  "cache of prices",
  "flag for exports",
];
const CRITERIA = [
  "The failing case has a test",
  "No request takes longer than 200 ms",
  "The handbook says how",
  "Old clients still work",
  "A note in the changelog",
  "Logs name the tenant",
];
const AREAS = ["backend", "web", "ops", "docs"];
const TYPES = ["feature", "bug", "task", "chore", "docs", "audit"];

type Short = [number: number, status: string, priority: string, type: string, title: string, done: number, total: number, more?: Partial<BoardCard>];

function shown(now: number): Short[] {
  const claim = (by: string, state: "live" | "held" | "stale", ago: number, scope?: string[]): Partial<BoardCard> => ({
    claim: { by, state, since: now - ago, ...(scope ? { scope } : {}) },
  });
  return [
    [231, "backlog", "medium", "feature", "Rate limits answer with Retry-After", 0, 4],
    [228, "backlog", "low", "chore", "Rename the tenants table", 0, 2],
    [226, "backlog", "low", "docs", "Explain webhook signatures", 0, 3],
    [219, "backlog", "low", "feature", "Paging tokens expire after a day", 0, 5],
    [214, "next", "high", "feature", "Idempotency keys on POST /orders", 0, 6],
    [217, "next", "high", "bug", "Health page lies during a deploy", 0, 3],
    [222, "next", "medium", "audit", "Audit who reads the export", 0, 4, { area: "ops" }],
    [
      207,
      "doing",
      "critical",
      "bug",
      "Retry queue loses its order",
      3,
      5,
      { ...claim("Claude Code#3f9a", "live", 14 * 60_000, ["src/queue", "src/retry.rs"]), depends: ["HB-0199"], tags: ["queue", "orders"] },
    ],
    [
      209,
      "doing",
      "high",
      "feature",
      "Cache the price list per tenant",
      2,
      4,
      claim("Codex#81c0", "live", 42 * 60_000, ["src/queue/prices.rs", "src/cache"]),
    ],
    [211, "doing", "medium", "task", "Move secrets to the keyring", 1, 3, claim("mara@studio", "held", 5 * HOUR, ["src/secrets"])],
    [198, "doing", "low", "docs", "Old SDK samples", 1, 2, claim("Cursor#77de", "stale", 31 * HOUR, ["docs/sdk"])],
    [203, "review", "high", "feature", "Structured errors on every route", 4, 4, { area: "ops" }],
    [205, "review", "medium", "feature", "Import 10,000 rows in one go", 5, 6],
    [189, "blocked", "high", "task", "Bank callback in sandbox", 2, 5, { updated: day(now - 9 * 24 * HOUR), due: day(now - 2 * 24 * HOUR) }],
    [201, "done", "medium", "bug", "Search ignores accents", 3, 3],
    [196, "done", "low", "feature", "Release notes from changelog", 2, 2],
    [199, "done", "medium", "task", "Queue writes are fsynced", 2, 2],
    [174, "deferred", "low", "idea", "Orders over email", 0, 1],
    [160, "discarded", "low", "idea", "A desktop widget", 0, 0],
  ];
}

const HOSTILE = `<img src=x onerror="window.hacked=1"> \u202ecod.exe [link](javascript:alert(1)) ${"long".repeat(40)}`;

/** `extra` further cards; `hostile`: one whose every text tries something. */
export function boardCards(now: number, extra: number, hostile: boolean): MockCard[] {
  const random = createRandom(7);
  const make = ([number, status, priority, type, title, done, total, more]: Short): MockCard => {
    const id = `HB-${String(number).padStart(4, "0")}`;
    return {
      id,
      title,
      type,
      status,
      priority,
      area: "backend",
      tags: [],
      depends: [],
      ...(total > 0 ? { acceptance: { done, total } } : {}),
      updated: day(now - number * 60_000),
      revision: `sha256:${number}-1`,
      archived: false,
      path: `.project/cards/${id}.md`,
      text: "",
      criteria: Array.from({ length: total }, (_, index) => ({ text: CRITERIA[(number + index) % CRITERIA.length] as string, done: index < done })),
      activity: [{ at: stamp(now - 26 * HOUR), who: "mara@studio", text: "backlog → next" }],
      notes: [],
      ...more,
    };
  };
  const cards = shown(now).map(make);
  const retry = cards.find(({ id }) => id === "HB-0207") as MockCard;
  retry.text =
    "Two workers take from the same queue after a restart, and the **second** one starts at the head again.\n\n```\nworker-2  took 1841 before 1840\n```\n\nSeen on `orders` and `mail`; not on `exports`.";
  retry.criteria = [
    "Items keep their order after a worker restart",
    "A poisoned item does not block the rest",
    "Order is kept per tenant",
    "Load test: 10,000 items, none out of place",
    "Note in the changelog",
  ].map((text, index) => ({ text, done: index < 3 }));
  retry.activity = [
    { at: stamp(now - 1 * 60_000), who: "Claude Code#3f9a", text: "verify retry-order: passed, checked #1" },
    { at: stamp(now - 14 * 60_000), who: "Claude Code#3f9a", text: "claimed" },
    { at: stamp(now - 90 * 60_000), who: "mara@studio", text: "next → doing" },
    { at: stamp(now - 26 * HOUR), who: "mara@studio", text: "backlog → next" },
  ];
  retry.notes = ["- 2026-11-30 09:12Z mara@studio — the fix of HB-0199 made it rarer, not gone"];
  const statuses = ["backlog", "backlog", "backlog", "next", "review", "done", "done", "done", "done", "done", "done", "doing"];
  for (let index = 0; index < extra; index++) {
    const total = Math.floor(random() * 6);
    const status = extra > 200 ? pick(random, statuses) : index < 20 ? "backlog" : "done";
    const done = status === "done" ? total : status === "backlog" ? 0 : Math.floor(random() * (total + 1));
    cards.push(
      make([
        1000 + index,
        status,
        pick(random, ["high", "medium", "medium", "low", "low"]),
        pick(random, TYPES),
        `${pick(random, ADJECTIVES)} ${pick(random, THINGS)}`,
        done,
        total,
        { area: pick(random, AREAS), ...(status === "doing" ? { claim: { by: "mara@studio", state: "held", since: now - HOUR } } : {}) },
      ]),
    );
  }
  if (hostile) {
    const card = make([
      666,
      "doing",
      "critical",
      "bug",
      HOSTILE,
      0,
      1,
      { area: HOSTILE, tags: [HOSTILE], claim: { by: HOSTILE, state: "live", since: now, scope: [HOSTILE] } },
    ]);
    card.text = `${HOSTILE}\n\n<script>window.hacked=1</script>`;
    card.criteria = [{ text: HOSTILE, done: false }];
    card.activity = [{ who: HOSTILE, text: HOSTILE }];
    card.notes = [`- 2026-11-30 09:12Z ${HOSTILE} — ${HOSTILE}`];
    cards.push(card);
  }
  return cards;
}
