import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import type { DockPlan, DockTest, DockView } from "../../api/contract";
import { createMockHost, type MockHost } from "../../host/mock";
import { paint } from "./highlight";
import { commandWords, limitsOf, paramWords } from "./words";

async function open(client?: string, options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: `/project/weekly-report/dock${client ? `?client=${client}` : ""}`, ...options });
  await expect.poll(() => document.querySelector(".dk-box .k-diff, .dk-nothing, .dk-nothing-page")).not.toBeNull();
  return rendered;
}

function withAnswers(answers: Record<string, (answer: never, request: never) => unknown>, settings = {}): MockHost {
  const host = createMockHost({ settings: { language: "en", theme: "light", ...settings } });
  const call = host.call.bind(host);
  host.call = (async (asked: string, request: never) => {
    const answer = await call(asked as never, request);
    const change = answers[asked];
    return change ? change(answer as never, request) : answer;
  }) as typeof host.call;
  return host;
}

const head = (name: string) => page.getByRole("heading", { name, level: 2 });

describe("the list of clients", () => {
  test("those found here first, with their state; the one that differs is open", async () => {
    await open();
    const heads = [...document.querySelectorAll(".dk-head")].map((one) => one.textContent);
    expect(heads).toEqual(["On this computer", "Not found here"]);
    await expect.element(head("Codex")).toBeVisible();
    await expect.element(page.getByRole("button", { name: /Claude Code.*in step/ })).toBeVisible();
  });

  test("choosing is in the address; a search narrows; arrows move", async () => {
    await open();
    await userEvent.click(page.getByRole("button", { name: /Cursor/ }));
    await expect.element(head("Cursor")).toBeVisible();
    expect(location.hash).toContain("client=cursor");
    await userEvent.keyboard("{ArrowDown}{Enter}");
    await expect.element(head("Gemini CLI")).toBeVisible();
    await page.getByRole("searchbox", { name: "Find a client" }).fill("zed");
    expect(document.querySelectorAll(".dk-client")).toHaveLength(1);
  });
});

describe("copy", () => {
  test("command, link, snippet as far as the client has them; what is shown is what is copied", async () => {
    const { host } = await open("claude-code");
    const view = await host.call("dock", { server: "weekly-report" });
    const client = view.clients.find((one) => one.id === "claude-code")!;
    const forms = [...document.querySelectorAll(".dk-box [role=radio]")].map((one) => one.textContent);
    expect(forms).toEqual(["Command", "Snippet"]);
    expect(document.querySelector(".dk-code")!.textContent).toBe(client.command);
    await userEvent.click(page.getByRole("button", { name: "Copy", exact: true }));
    await expect.element(page.getByRole("button", { name: "Copied" })).toBeVisible();
    expect(host.copied).toEqual([client.command]);
    await userEvent.click(page.getByRole("radio", { name: "Snippet" }));
    expect(document.querySelector(".dk-code")!.textContent).toBe(client.snippet.text);
  });
});

describe("words", () => {
  test("a command is cut at the gaps between its words; what is quoted stays whole", () => {
    const command = `claude mcp add-json my-key '{"a": "b c", "d": "it'\\''s"}' -e "x \\" y" -s  user`;
    expect(commandWords(command).join("")).toBe(command);
    expect(commandWords(command).filter((word) => word.trim())).toEqual([
      "claude",
      "mcp",
      "add-json",
      "my-key",
      `'{"a": "b c", "d": "it'\\''s"}'`,
      "-e",
      `"x \\" y"`,
      "-s",
      "user",
    ]);
    // A quote that nothing closes is a character.
    expect(commandWords("say it's so").join("")).toBe("say it's so");
  });
  test("no word of a command is broken", async () => {
    await open("claude-code");
    const words = [...document.querySelectorAll(".dk-code .dk-word")];
    expect(words.map((word) => word.textContent)).toContain('"command":"/opt/workflow-code/workflow-code",');
    // One line of text each.
    for (const word of words) expect(word.getBoundingClientRect().height).toBeLessThan(25);
  });
  test("limits are sentences, one a line, without backticks", async () => {
    expect(limitsOf({ limits: "60 s; its file is YAML; " } as never)).toEqual(["60 s", "Its file is YAML"]);
    expect(limitsOf({} as never)).toEqual([]);
    await open("claude-code");
    const limits = [...document.querySelectorAll(".dk-fact")].find((row) => row.querySelector("dt")?.textContent === "Limits");
    expect([...limits!.querySelectorAll("dd")].map((line) => line.textContent)).toEqual([
      "30 s (MCP_TIMEOUT)",
      "timeout of the entry, in milliseconds",
      "The project's file needs the person's approval in Claude Code",
      "It starts three servers at a time",
    ]);
    expect([...limits!.querySelectorAll("code")].map((code) => code.textContent)).toEqual(["MCP_TIMEOUT", "timeout"]);
  });
  test("what a tool needs has a star, where the project says so", () => {
    const tool = { name: "main", params: ["week", "tone"] };
    expect(paramWords(tool, [{ id: "main", params: [{ name: "week", type: "date", required: true }] }] as never)).toBe("week*, tone");
    expect(paramWords(tool, [])).toBe("week, tone");
  });
});

describe("writing", () => {
  test("writes the shown change, offers Undo, tests by itself", async () => {
    const { host } = await open("cursor");
    await userEvent.click(page.getByRole("button", { name: "Write to file" }));
    await expect
      .poll(() => host.calls.find(({ name }) => name === "dock_write")?.request)
      .toMatchObject({ server: "weekly-report", client: "cursor", scope: "user", remove: false, fingerprint: "b1c7" });
    await expect.poll(() => host.calls.some(({ name }) => name === "dock_test")).toBe(true);
    await expect.element(page.getByRole("button", { name: "Undo" })).toBeVisible();
    await expect.element(page.getByText("works", { exact: true }).first()).toBeVisible();
    await userEvent.click(page.getByRole("button", { name: "Undo" }));
    await expect.poll(() => host.calls.find(({ name }) => name === "dock_undo")?.request).toEqual({ id: "w1" });
  });

  test("a file that changed meanwhile is not written; the new change is shown", async () => {
    const { host } = await open("cursor");
    host.fail("dock_write", { code: "conflict", message: "the file changed" });
    const plans = () => host.calls.filter(({ name }) => name === "dock_plan").length;
    const before = plans();
    await userEvent.click(page.getByRole("button", { name: "Write to file" }));
    await expect.element(page.getByText("nothing was written", { exact: false })).toBeVisible();
    await expect.poll(plans).toBeGreaterThan(before);
    expect(host.calls.some(({ name }) => name === "dock_test")).toBe(false);
  });

  test("a scope asks for its own change", async () => {
    const { host } = await open("cursor");
    await userEvent.click(page.getByRole("radio", { name: "For this project" }));
    await expect
      .poll(() => host.calls.filter(({ name }) => name === "dock_plan").at(-1)?.request)
      .toMatchObject({ client: "cursor", scope: "project" });
  });

  test("in step: nothing to change, and it can be taken out", async () => {
    const { host } = await open("claude-code");
    await expect.element(page.getByText("Nothing to change.", { exact: false })).toBeVisible();
    await userEvent.click(page.getByRole("button", { name: "Take out" }));
    await userEvent.click(page.getByRole("button", { name: "Remove from file" }));
    await expect.poll(() => host.calls.find(({ name }) => name === "dock_write")?.request).toMatchObject({ client: "claude-code", remove: true });
  });

  test("differs: the same place repairs", async () => {
    await open("codex");
    await expect.element(page.getByRole("button", { name: "Repair" })).toBeVisible();
    await expect.element(page.getByText("The file names another executable: /usr/local/bin/workflow-code")).toBeVisible();
  });

  test("signs and words carry the change, not colour alone", async () => {
    const host = withAnswers({
      dock_plan: (plan: DockPlan) => ({
        ...plan,
        diff: [
          { sign: "-", text: 'command = "/tmp/old"', oldLine: 31 },
          { sign: "+", text: 'command = "/usr/bin/new"', newLine: 31 },
        ],
      }),
    });
    await open("codex", { host });
    const lines = [...document.querySelectorAll(".k-diff-line")].map((one) => one.textContent);
    expect(lines[0]).toMatch(/^31-removed/);
    expect(lines[1]).toMatch(/^31\+added/);
  });
});

test("a client without a file of ours is set up by hand: what to copy, nothing to write", async () => {
  const { host } = await renderApp({ at: "/project/weekly-report/dock?client=jetbrains" });
  await expect.element(page.getByText("JetBrains AI Assistant is set up in its own settings.", { exact: false })).toBeVisible();
  expect(document.querySelectorAll(".dk-code")).toHaveLength(1);
  expect(host.calls.some(({ name }) => name === "dock_plan")).toBe(false);
});

test("who asks and what is lost are said in words", async () => {
  await open("cursor");
  await expect.element(page.getByText("Asks you in its own window.")).toBeVisible();
  await expect.element(page.getByText("in Cursor, else here")).toBeVisible();
  await expect.element(page.getByText("the tool is left out", { exact: false })).toBeVisible();
  await expect.element(page.getByText("A copy is kept beside it")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: /Codex/ }));
  await expect.element(page.getByText("here", { exact: true })).toBeVisible();
});

describe("test", () => {
  test("each stage with its time, then the tools", async () => {
    await open("cursor");
    await userEvent.click(page.getByRole("button", { name: "Test", exact: true }));
    await expect.element(page.getByText("31 ms")).toBeVisible();
    await expect.element(page.getByText("weekly-page").first()).toBeVisible();
    await expect.element(page.getByRole("button", { name: "Test again" })).toBeVisible();
  });

  test("a failure stops at its stage and says what to do", async () => {
    const failed: DockTest = {
      ok: false,
      stages: [{ name: "start", ok: false, ms: 1, detail: "No such file: /tmp/.mount_wk8xQ/usr/bin/workflow-code" }],
      tools: [],
      totalMs: 1,
      stderr: "\u001b[31mnot found\u202E",
      hint: "Repair writes a path that stays.",
      command: "/tmp/x",
    };
    const host = withAnswers({ dock_tested: () => ({ over: true, soFar: failed }) });
    await open("cursor", { host });
    await userEvent.click(page.getByRole("button", { name: "Test", exact: true }));
    await expect.element(page.getByText("does not start")).toBeVisible();
    await expect.element(page.getByText("Repair writes a path that stays.")).toBeVisible();
    expect([...document.querySelectorAll(".dk-stage [data-glyph]")].map((one) => one.getAttribute("data-glyph"))).toEqual(["failed", "todo", "todo"]);
    expect(document.querySelector(".dk-stderr")!.textContent).toBe("\\u001b[31mnot found\\u202e");
    await userEvent.click(page.getByRole("button", { name: "Copy details" }));
    await expect.poll(() => host.copied.length).toBe(1);
    expect(JSON.parse(host.copied[0]!)).toEqual(failed);
  });

  test("the result stays while another client is looked at", async () => {
    await open("cursor");
    await userEvent.click(page.getByRole("button", { name: "Test", exact: true }));
    await expect.element(page.getByRole("button", { name: "Test again" })).toBeVisible();
    await userEvent.click(page.getByRole("button", { name: /Gemini/ }));
    await expect.element(page.getByRole("button", { name: "Test again" })).toBeVisible();
  });
});

test("a name too long: says which tools are lost, and the short key changes what is copied and written", async () => {
  const { host } = await open("cursor");
  await expect.element(page.getByText("Cursor may drop long tool names")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: /Use short key/ }));
  await expect.poll(() => document.querySelector(".dk-code")!.textContent).toContain('"weekly"');
  await expect.poll(() => host.calls.filter(({ name }) => name === "dock_plan").at(-1)?.request).toMatchObject({ key: "weekly" });
});

describe("nothing to offer", () => {
  const nothing = () =>
    withAnswers({
      dock: (view: DockView) => ({ ...view, whyNot: "Both entrypoints stop it.", clients: [] }),
    });
  test("says why, entrypoint by entrypoint, and what can be done", async () => {
    const host = nothing();
    const reveal = vi.spyOn(host, "reveal");
    await open(undefined, { host });
    await expect.element(page.getByText("Nothing to offer yet")).toBeVisible();
    await expect.element(page.getByText("Both entrypoints stop it.")).toBeVisible();
    await expect.element(page.getByText("is a draft, so only you can run it")).toBeVisible();
    await userEvent.click(page.getByRole("button", { name: "Show file" }).first());
    expect(reveal).toHaveBeenCalled();
    const before = host.calls.filter(({ name }) => name === "dock").length;
    await userEvent.click(page.getByRole("button", { name: "Check again" }));
    await expect.poll(() => host.calls.filter(({ name }) => name === "dock").length).toBeGreaterThan(before);
  });
  test("is accessible and keeps to the window", async () => {
    await open(undefined, { host: nothing() });
    await expectAccessible();
    await expectGoodLayout();
  });
});

test("a project of two kinds has a switch for the server", async () => {
  const { host } = await renderApp({ at: "/project/harbor-board/dock" });
  await expect.element(page.getByRole("radiogroup", { name: "Which server" })).toBeVisible();
  await userEvent.click(page.getByRole("radio", { name: "Workflow" }));
  await expect.poll(() => host.calls.filter(({ name }) => name === "dock").at(-1)?.request).toMatchObject({ server: "harbor-board-workflow" });
});

test("colours of snippets never change the text", () => {
  const texts = ['{"a": "b: \\" c", // note\n "n": -1.5e3, "t": true}', '[mcp_servers.x]\ncommand = "/usr/bin/y" # ours\nn = 30\n', "plain"];
  for (const text of texts)
    for (const language of ["json", "jsonc", "toml", "plain"] as const)
      expect(
        paint(text, language)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
  expect(
    paint('{"a": "b"}', "json")
      .filter((piece) => piece.colour !== "plain")
      .map((piece) => [piece.text, piece.colour]),
  ).toEqual([
    ['"a"', "key"],
    ['"b"', "str"],
  ]);
});

describe("looks", () => {
  test.each([
    ["cursor", "light"],
    ["codex", "dark"],
    ["claude-code", "light"],
  ] as const)("%s is accessible, %s", async (client, theme) => {
    await open(client, { settings: { theme, language: "en" } });
    await userEvent.click(page.getByRole("button", { name: "Test", exact: true }));
    await expect.element(page.getByRole("button", { name: "Test again" })).toBeVisible();
    await expectAccessible();
  });
  test.each(["en", "zh-CN"] as const)("keeps to the window at every size, %s", async (language) => {
    await open("cursor", { settings: { language } });
    await expectGoodLayout();
  });
});
