// The clients of the mock's computer, and what the Dock would write.
import type { DockClient, DockPlan, DockTest, DockTested, DockView, ProjectRow } from "../../api/contract";

const command = "/opt/workflow-code/workflow-code";

function client(id: string, name: string, tile: string, state: DockClient["state"], rest: Partial<DockClient> = {}): DockClient {
  return {
    id,
    name,
    tile,
    found: state !== "absent",
    state,
    file: `/home/ada/.config/${id}/mcp.json`,
    scopes: ["user", "project"],
    forms: ["snippet"],
    snippet: { language: "json", text: "" },
    asks: "yes",
    nameLosses: [],
    ...rest,
  };
}

export const dockClients: DockClient[] = [
  client("claude-code", "Claude Code", "CC", "in_step", {
    forms: ["command", "snippet"],
    command: `claude mcp add-json weekly-report '{"type":"stdio","command":"${command}","args":["--workflow-mcp","weekly-report"],"timeout":1800000}' -s user`,
    limits:
      "30 s (`MCP_TIMEOUT`); `timeout` of the entry, in milliseconds; The project's file needs the person's approval in Claude Code; It starts three servers at a time",
    file: "/home/ada/.claude.json",
  }),
  client("codex", "Codex", "Cx", "differs", {
    detail: "The file names another executable: /usr/local/bin/workflow-code",
    file: "/home/ada/.codex/config.toml",
    forms: ["command", "snippet"],
    asks: "no",
  }),
  client("vs-code", "VS Code", "VS", "not_added", { forms: ["link", "snippet"], link: "vscode:mcp/install?%7B%22name%22%3A%22weekly-report%22%7D" }),
  client("cursor", "Cursor", "Cu", "not_added", {
    forms: ["link", "snippet"],
    nameLosses: [{ tool: "weekly-report__collect-everything-from-every-source-of-the-week", effect: "dropped" }],
    limits: "Names up to 60 characters together",
  }),
  client("gemini-cli", "Gemini CLI", "Ge", "not_added"),
  client("zed", "Zed", "Ze", "absent"),
  client("windsurf", "Windsurf", "Wi", "absent", { asks: "perhaps" }),
  client("jetbrains", "JetBrains AI Assistant", "JB", "absent", { scopes: [], file: undefined, limits: "Set up in its own settings" }),
];

function config(server: string): string {
  return JSON.stringify({ mcpServers: { [server]: { command, args: ["--workflow-mcp", server] } } }, null, 2);
}

export function dockView(server: string, project: ProjectRow, key?: string): DockView {
  const name = key ?? server;
  const served = project.servers.find(({ id }) => id === server)?.served ?? true;
  return {
    server,
    project: project.key,
    key: name,
    shortKey: server.slice(0, 6),
    command,
    args: ["--workflow-mcp", server],
    config: config(name),
    clients: served
      ? dockClients.map((one) => ({
          ...one,
          snippet: {
            language: one.id === "codex" ? "toml" : "json",
            text: one.id === "codex" ? `[mcp_servers.${name}]\ncommand = "${command}"\nargs = ["--workflow-mcp", "${server}"]\n` : config(name),
          },
        }))
      : [],
    ...(served ? {} : { whyNot: "A conversation has no tools to offer." }),
  };
}

export function dockPlan(server: string, id: string, remove: boolean): DockPlan {
  const one = dockClients.find((entry) => entry.id === id);
  const before = ["{", '  "mcpServers": {', '    "files": { "command": "mcp-files" }'];
  const added = [`    "${server}": {`, `      "command": "${command}",`, `      "args": ["--workflow-mcp", "${server}"]`, "    }"];
  return {
    client: id,
    file: one?.file ?? "",
    backup: one?.file?.replace(/\/[^/]*$/, ""),
    action: one?.state === "in_step" && !remove ? "nothing" : remove ? "remove" : one?.state === "differs" ? "replace" : "add",
    diff: [
      ...before.map((text, index) => ({ sign: " " as const, text, oldLine: index + 1, newLine: index + 1 })),
      ...added.map((text, index) => ({
        sign: remove ? ("-" as const) : ("+" as const),
        text,
        ...(remove ? { oldLine: 4 + index } : { newLine: 4 + index }),
      })),
      { sign: " ", text: "  }", oldLine: 4, newLine: 8 },
      { sign: " ", text: "}", oldLine: 5, newLine: 9 },
    ],
    fingerprint: "b1c7",
  };
}

export function dockTest(server: string, ok: boolean): DockTest {
  return {
    ok,
    stages: [
      { name: "start", ms: 4, ok: true, detail: "pid 48213" },
      { name: "initialize", ms: 31, ok: true, detail: "Workflow Code 0.1.0, protocol 2025-11-25" },
      ok ? { name: "tools", ms: 12, ok: true, detail: "3 tools" } : { name: "tools", ok: false, detail: "The project's folder is not there." },
    ],
    tools: ok
      ? [
          {
            name: "weekly-page",
            title: "Weekly page",
            description: "The page for one week, with highlights and open points",
            params: ["week", "tone", "sources"],
          },
          { name: "convert", title: "Convert", description: "Turns a finished page into PDF and HTML", params: ["page", "format"] },
        ]
      : [],
    totalMs: 47,
    ...(ok ? {} : { stderr: "workflow-code: /home/ada/work/weekly-report: not there", hint: "Put the folder back or remove the project." }),
    command: `${command} --workflow-mcp ${server}`,
  };
}

/** One stage more than was seen; the test of `price-watch` fails. */
export function dockTested(server: string, seen: number): DockTested {
  const whole = dockTest(server, server !== "price-watch");
  if (seen >= whole.stages.length - 1) return { over: true, soFar: whole };
  return { over: false, soFar: { ...whole, ok: false, stages: whole.stages.slice(0, seen + 1), tools: [], stderr: undefined, hint: undefined } };
}
