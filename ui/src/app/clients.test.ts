import { expect, test } from "vitest";
import { clientName, fromOf, tileOf } from "./clients";

test("clients are known by the names they send, however these are written", () => {
  const sent: [string, string, string][] = [
    ["claude-code", "CC", "Claude Code"],
    ["Claude Code", "CC", "Claude Code"],
    ["claude-ai", "Cl", "Claude Desktop"],
    ["codex-mcp-client", "Cx", "Codex"],
    ["Visual Studio Code - Insiders", "VS", "VS Code"],
    ["vscode", "VS", "VS Code"],
    ["cursor-vscode", "Cu", "Cursor"],
    ["gemini-cli-mcp-client", "Ge", "Gemini CLI"],
    ["cline_cli", "CI", "Cline CLI"],
    ["opencode", "OC", "OpenCode"],
  ];
  for (const [client, tile, name] of sent) expect([tileOf(client), clientName(client)]).toEqual([tile, name]);
});

test("a name that only begins with the same letters is another client", () => {
  expect([tileOf("amplify"), clientName("amplify")]).toEqual(["am", "amplify"]);
  expect(fromOf({ origin: "mcp", client: "zedd" }, (key) => key)).toEqual({ letters: "ze", name: "zedd" });
});
