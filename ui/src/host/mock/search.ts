// The mock's run list: the conditions of a query, pages by key, runs per day.
import type { RunQuery, RunRow, RunsPage } from "../../api/contract";

const DAY = 86_400_000;

const lowered = (text: string) => text.toLowerCase();

/** Where a text is found in a run, as the store says it. */
function find(row: RunRow, text: string): RunRow["found"] | null {
  const wanted = lowered(text);
  const parts: [NonNullable<RunRow["found"]>["part"], string][] = [
    ["id", row.runId],
    ["entrypoint", row.entrypointTitle],
    ["error", row.error ?? ""],
    ["log", row.error ? `waiting for ledger.internal:4430 … ${row.error}` : `read 48 files from ${row.project}, wrote out/page.md`],
    ["input", `{"project":"${row.projectTitle}","tone":"plain"}`],
  ];
  for (const [part, content] of parts) {
    const start = lowered(content).indexOf(wanted);
    if (start < 0) continue;
    const cut = Math.max(0, start - 20);
    const shown = (cut > 0 ? "…" : "") + content.slice(cut, cut + 200);
    return { part, text: shown, start: start - cut + (cut > 0 ? 1 : 0), length: wanted.length };
  }
  return null;
}

export function matches(row: RunRow, query: RunQuery): RunRow | null {
  if (query.status?.length && !query.status.includes(row.status)) return null;
  if (query.project && row.project !== query.project) return null;
  if (query.entrypoint && row.entrypointId !== query.entrypoint) return null;
  if (query.client && row.client !== query.client) return null;
  if (query.origin && row.origin !== query.origin) return null;
  if (query.after !== undefined && row.createdAt < query.after) return null;
  if (query.before !== undefined && row.createdAt >= query.before) return null;
  if (query.tookMoreMs !== undefined && (row.durationMs ?? 0) <= query.tookMoreMs) return null;
  if (query.tookLessMs !== undefined && (row.durationMs ?? Infinity) >= query.tookLessMs) return null;
  if (query.pinned !== undefined && row.pinned !== query.pinned) return null;
  if (!query.text) return row;
  const found = find(row, query.text);
  return found ? { ...row, found } : null;
}

export function page(rows: RunRow[], query: RunQuery, after: string | undefined, limit: number): RunsPage {
  const found: RunRow[] = [];
  let total = 0;
  let passed = after === undefined;
  for (const row of rows) {
    const hit = matches(row, query);
    if (hit) {
      total++;
      if (passed && found.length <= limit) found.push(hit);
    }
    if (row.runId === after) passed = true;
  }
  const more = found.length > limit;
  const shown = found.slice(0, limit);
  return { rows: shown, ...(more ? { next: shown.at(-1)?.runId } : {}), total, complete: true };
}

export function perDay(rows: RunRow[], query: RunQuery, days: number, now: number): { day: string; runs: number; failed: number }[] {
  const counts = new Map<string, { runs: number; failed: number }>();
  const day = (at: number) => {
    const date = new Date(at);
    return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
  };
  const result: { day: string; runs: number; failed: number }[] = [];
  const noon = new Date(now).setHours(12, 0, 0, 0);
  for (let back = days - 1; back >= 0; back--) counts.set(day(noon - back * DAY), { runs: 0, failed: 0 });
  for (const row of rows) {
    const entry = counts.get(day(row.createdAt));
    if (!entry || !matches(row, query)) continue;
    entry.runs++;
    if (row.status === "failed" || row.status === "timeout") entry.failed++;
  }
  for (const [key, { runs, failed }] of counts) result.push({ day: key, runs, failed });
  return result;
}
