// Who started a run, as a tile and a name: clients are two letters, a person an outline, a parent run an arrow.
import type { RunRow } from "../api/contract";
import type { MessageKey } from "../i18n";

/**
 * What clients call themselves in words: how such a name begins, its tile, and what people call it. Tiles are those of `crates/clients`
 * (`table.rs`), which the Dock shows.
 */
const CLIENTS: readonly (readonly [begins: string, tile: string, name: string])[] = [
  ["claude code", "CC", "Claude Code"],
  ["claude desktop", "Cl", "Claude Desktop"],
  ["claude ai", "Cl", "Claude Desktop"],
  ["vs code", "VS", "VS Code"],
  ["visual studio code", "VS", "VS Code"],
  ["copilot cli", "Co", "Copilot CLI"],
  ["github copilot", "Co", "Copilot CLI"],
  ["cursor", "Cu", "Cursor"],
  ["codex", "Cx", "Codex"],
  ["gemini cli", "Ge", "Gemini CLI"],
  ["gemini", "Ge", "Gemini CLI"],
  ["zed", "Ze", "Zed"],
  ["windsurf", "Wi", "Windsurf"],
  ["open code", "OC", "OpenCode"],
  ["cline cli", "CI", "Cline CLI"],
  ["cline", "Ci", "Cline"],
  ["roo code", "Ro", "Roo Code"],
  ["qwen code", "Qw", "Qwen Code"],
  ["qwen cli", "Qw", "Qwen Code"],
  ["kimi", "Km", "Kimi CLI"],
  ["kiro", "Kr", "Kiro"],
  ["junie", "Ju", "Junie"],
  ["kilo code", "Kl", "Kilo Code"],
  ["kilo", "Kl", "Kilo Code"],
  ["antigravity", "An", "Antigravity"],
  ["continue", "Cn", "Continue"],
  ["goose", "Go", "Goose"],
  ["lm studio", "LM", "LM Studio"],
  ["jetbrains", "JB", "JetBrains AI Assistant"],
  ["amp", "Am", "Amp"],
  ["crush", "Cr", "Crush"],
];

/** `claude-code`, `Claude_Code` and `claudecode` are one client; what else stands behind (`codex-mcp-client`) does not matter. */
function known(client: string): (typeof CLIENTS)[number] | undefined {
  const words = client
    .toLowerCase()
    .split(/[-_ ]+/)
    .filter(Boolean);
  return CLIENTS.find(([begins]) => {
    const joined = begins.replaceAll(" ", "");
    return words.some((_, index) => words.slice(0, index + 1).join("") === joined);
  });
}

/** What people call a client; its own name where it isn't known. */
export function clientName(client: string): string {
  return known(client)?.[2] ?? client;
}

/** Two letters for a client; the first two of the name where it isn't known. */
export function tileOf(client: string): string {
  return known(client)?.[1] ?? [...client.replaceAll(/[^\p{L}\p{N}]/gu, "")].slice(0, 2).join("");
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
  if (run.client) return { letters: tileOf(run.client), name: clientName(run.client) };
  if (run.origin === "cli") return { letters: ">_", name: t("common.commandLine") };
  if (run.origin === "mcp") return { letters: "?", name: t("common.unknownClient") };
  return { name: t("common.you") };
}
