// Who started a run, as a tile and a name: clients are two letters, a person an outline, a parent run an arrow.
import type { RunRow } from "../api/contract";
import type { MessageKey } from "../i18n";

const TILES: Record<string, string> = {
  "claude code": "CC",
  "claude desktop": "Cl",
  codex: "Cx",
  "vs code": "VS",
  cursor: "Cu",
  "gemini cli": "Ge",
  zed: "Ze",
  windsurf: "Wi",
};

/** Two letters for a client; the first two of the name where it isn't known. */
export function tileOf(client: string): string {
  return TILES[client.toLowerCase()] ?? [...client.replaceAll(/[^\p{L}\p{N}]/gu, "")].slice(0, 2).join("");
}

export interface From {
  /** For the tile; absent: a person. */
  letters?: string;
  name: string;
}

/** What it takes of a run to tell. */
export type FromFields = Pick<RunRow, "origin" | "client" | "parent" | "parentTitle">;

/** `t` makes the words for a person. */
export function fromOf(run: FromFields, t: (key: MessageKey) => string): From {
  if (run.origin === "related" || (run.parent && !run.client)) return { letters: "↳", name: run.parentTitle ?? run.parent ?? t("common.relatedRun") };
  if (run.client) return { letters: tileOf(run.client), name: run.client };
  if (run.origin === "cli") return { letters: ">_", name: t("common.commandLine") };
  if (run.origin === "mcp") return { letters: "?", name: t("common.unknownClient") };
  return { name: t("common.you") };
}
