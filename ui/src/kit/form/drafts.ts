// Typed text is kept per form in this window until it is sent, so that it survives updates, tab switches and a closed window. Secret fields
// are never kept.
import type { Param } from "../../api/contract";
import type { Draft } from "./value";

const PREFIX = "draft:";
/** A draft above this many characters is not kept; a pasted book would crowd out the rest. */
const SIZE_LIMIT = 200_000;
/** The most drafts kept; the oldest goes first. */
const COUNT_LIMIT = 100;

interface Kept {
  at: number;
  draft: Draft;
}

function read(key: string): Kept | undefined {
  try {
    const text = localStorage.getItem(PREFIX + key);
    if (text === null) return undefined;
    const kept = JSON.parse(text) as Kept;
    return typeof kept === "object" && kept !== null && typeof kept.draft === "object" && kept.draft !== null ? kept : undefined;
  } catch {
    return undefined;
  }
}

export function loadDraft(key: string): Draft | undefined {
  return read(key)?.draft;
}

export function saveDraft(key: string, fields: readonly Param[], draft: Draft): void {
  const secret = new Set(fields.filter((field) => field.type === "secret").map((field) => field.name));
  const kept = Object.fromEntries(Object.entries(draft).filter(([name, value]) => !secret.has(name) && value !== undefined));
  const text = JSON.stringify({ at: Date.now(), draft: kept } satisfies Kept);
  try {
    if (text.length > SIZE_LIMIT) return;
    localStorage.setItem(PREFIX + key, text);
    const keys = Object.keys(localStorage).filter((other) => other.startsWith(PREFIX));
    if (keys.length > COUNT_LIMIT) {
      const byAge = keys.map((other) => [other, read(other.slice(PREFIX.length))?.at ?? 0] as const).sort((a, b) => a[1] - b[1]);
      for (const [other] of byAge.slice(0, keys.length - COUNT_LIMIT)) localStorage.removeItem(other);
    }
  } catch {
    // Storage is full or off: the draft lives as long as the view.
  }
}

export function dropDraft(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Nothing to take away then.
  }
}
