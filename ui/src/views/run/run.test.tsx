import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout, settle } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import { navigate } from "../../app/router";
import type { MockOptions } from "../../host/mock";
import { isGuided } from "./steps/model";
import { createSceneHost } from "./testing/host";

const segments = () => location.hash.replace(/^#\//, "").split("?")[0]?.split("/") ?? [];
const params = () => new URLSearchParams(location.hash.split("?")[1] ?? "");
const tab = (name: string | RegExp) => page.getByRole("tab", { name });
const calls = (host: ReturnType<typeof createSceneHost>, name: string) =>
  host.calls.filter((call) => call.name === name).map((call) => call.request as Record<string, unknown>);

async function open(at: string, options: MockOptions = {}) {
  const host = createSceneHost({ ...options, settings: { language: "en", theme: "light", ...options.settings } });
  const rendered = await renderApp({ at: `/run/${at}`, host });
  await expect.element(page.getByRole("tablist")).toBeVisible();
  await expect.poll(() => segments()[2]).toBeTruthy();
  await settle();
  return { ...rendered, host };
}

/** One address per tab and state. */
const VIEWS = [
  "20261130-e1ka/output",
  "20261130-e1ka/timeline",
  "20261130-e1ka/input",
  "20261130-6hfc/diagram?step=8",
  "20261130-zz1c/output",
  "20261130-zz1c/logs",
  "20261130-k7mq",
  "20261130-9xwd",
  "20261130-2nd1",
  "20261130-t3gd/steps?step=2",
  "20261130-4nwo",
];

describe("every tab and state", () => {
  test.each(VIEWS)(
    "%s is accessible and fits in every size",
    async (at) => {
      await open(at);
      await expectAccessible(document.querySelector("#content") ?? document.body);
      await expectGoodLayout(() => document.querySelector("#content") ?? document.body);
    },
    60_000,
  );
  test.each(VIEWS)(
    "%s in the dark, in Chinese",
    async (at) => {
      await open(at, { settings: { theme: "dark", language: "zh-CN" } });
      await expectAccessible(document.querySelector("#content") ?? document.body);
      await expectGoodLayout(() => document.querySelector("#content") ?? document.body);
    },
    60_000,
  );
});

describe("the head", () => {
  test.each([
    ["en", "person", "by a person"],
    ["zh-CN", "client_gone", "客户端已离开"],
  ] as const)("why a run was cancelled is said in words, %s", async (language, cancelReason, words) => {
    const host = createSceneHost({ settings: { language, theme: "light" } });
    const run = host.rows().find(({ status }) => status === "cancelled")!;
    host.update(run.runId, { cancelReason });
    await renderApp({ at: `/run/${run.runId}`, host });
    await expect.element(page.getByText(words).first()).toBeVisible();
  });

  test("a run opens where its state says", async () => {
    for (const [run, expected] of [
      ["20261130-k7mq", "question"],
      ["20261130-zz1c", "output"],
      ["20261130-6hfc", "diagram"],
      ["20261130-t3gd", "steps"],
    ] as const) {
      const { unmount } = await open(run);
      expect(segments()[2]).toBe(expected);
      await unmount();
    }
  });
  test("numbers go to tabs, and the address follows", async () => {
    await open("20261130-e1ka");
    await userEvent.keyboard("3");
    await expect.poll(() => segments()[2]).toBe("timeline");
    await userEvent.keyboard("4");
    await expect.element(page.getByRole("searchbox", { name: "Search the log" })).toBeVisible();
  });
  test("cancelling asks, with the safe side first", async () => {
    const { host } = await open("20261130-6hfc");
    await userEvent.keyboard("{Control>}.{/Control}");
    await expect.element(page.getByRole("button", { name: "Keep running" })).toHaveFocus();
    expect(calls(host, "cancel_run")).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
    expect(calls(host, "cancel_run")).toEqual([{ run: "20261130-6hfc" }]);
  });
  test("pinning can be undone", async () => {
    const { host } = await open("20261130-e1ka");
    await userEvent.keyboard("p");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect
      .poll(() => calls(host, "pin_run"))
      .toEqual([
        { run: "20261130-e1ka", pinned: true },
        { run: "20261130-e1ka", pinned: false },
      ]);
  });
  test("an ended run can be run again and compared", async () => {
    const { host } = await open("20261130-e1ka");
    expect(page.getByRole("button", { name: "Cancel run" }).elements()).toHaveLength(0);
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await expect.poll(() => calls(host, "start_run")[0]).toMatchObject({ entrypoint: "weekly-page", input: { tone: "plain" } });
  });
  test("a run that isn't there says so", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    await renderApp({ at: "/run/nothing", host });
    await expect.element(page.getByRole("alert")).toHaveTextContent("not_found");
  });
  test("the list of runs opens and closes with its key", async () => {
    await open("20261130-e1ka");
    await userEvent.keyboard("[[");
    await expect.element(page.getByRole("complementary", { name: "Runs" })).toBeVisible();
    await userEvent.keyboard("[[");
    await expect.poll(() => page.getByRole("complementary", { name: "Runs" }).elements().length).toBe(0);
  });
});

describe("where a run leads", () => {
  const end = (host: ReturnType<typeof createSceneHost>) => {
    const detail = host.scenes["20261130-6hfc"]!.detail;
    detail.run = { ...detail.run, status: "success", finishedAt: Date.now(), durationMs: 1_000 };
    host.changed("20261130-6hfc");
  };
  test("who only looks is led to the output when the run ends", async () => {
    localStorage.clear();
    const { host } = await open("20261130-6hfc");
    expect(segments()[2]).toBe("diagram");
    end(host);
    await expect.poll(() => segments()[2]).toBe("output");
  });
  test("who does anything there stays", async () => {
    localStorage.clear();
    const { host } = await open("20261130-6hfc");
    document.querySelector("[role=tabpanel]")!.dispatchEvent(new WheelEvent("wheel", { bubbles: true }));
    end(host);
    await expect.element(page.getByRole("button", { name: "Run again", exact: true })).toBeVisible();
    expect(segments()[2]).toBe("diagram");
  });
  test("opened in a small window, a question stands before the list of what else waits", async () => {
    localStorage.clear();
    const host = createSceneHost({ settings: { language: "en", theme: "light" } });
    await renderApp({ at: "/run/20261130-k7mq", host, width: 1024, height: 700 });
    await expect.element(page.getByRole("button", { name: "Answer and continue" })).toBeVisible();
    expect(document.querySelector(".run-list")).toBeNull();
    expect(document.querySelector(".run-list-scrim")).toBeNull();
    await page.viewport(1600, 900);
    await expect.element(page.getByRole("complementary", { name: "Runs" })).toBeVisible();
  });
});

describe("a question", () => {
  const send = () => page.getByRole("button", { name: "Answer and continue" });
  test("what is typed survives tabs, updates and a new window, and is gone when sent", async () => {
    const { host, unmount } = await open("20261130-k7mq");
    await page.getByRole("textbox", { name: "Anything to add" }).fill("Name the cache node");
    host.changed("20261130-k7mq");
    await tab("Output").click();
    await tab("Question").click();
    await expect.element(page.getByRole("textbox", { name: "Anything to add" })).toHaveValue("Name the cache node");
    await unmount();
    const again = await open("20261130-k7mq");
    await expect.element(page.getByRole("textbox", { name: "Anything to add" })).toHaveValue("Name the cache node");
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await expect
      .poll(() => calls(again.host, "answer")[0])
      .toMatchObject({ run: "20261130-k7mq", question: 1, action: "accept", content: { tone: "plain", more: "Name the cache node" } });
    await expect.element(page.getByText(/You answered at/)).toBeVisible();
    expect(Object.keys(localStorage).filter((key) => key.startsWith("draft:"))).toEqual([]);
    await expect.element(page.getByRole("heading", { level: 1 })).toHaveFocus();
  });
  test("secrets are never kept", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    host.scenes["20261130-k7mq"]?.detail.questions[0]?.form.fields.push({ name: "token", type: "secret", title: "Token" });
    await renderApp({ at: "/run/20261130-k7mq", host });
    await page.getByLabelText("Token", { exact: true }).fill("hunter2");
    await page.getByRole("textbox", { name: "Anything to add" }).fill("x");
    await expect.poll(() => localStorage.getItem("draft:20261130-k7mq:1")).toContain('"more":"x"');
    expect(JSON.stringify({ ...localStorage })).not.toContain("hunter2");
    await expect.element(page.getByRole("note")).toHaveTextContent("so it is asked here");
  });
  test("wrong answers are not sent: the message is under the field, the focus in it", async () => {
    const { host, unmount } = await open("20261130-k7mq");
    await page.getByRole("spinbutton", { name: "At most, words" }).fill("20");
    await send().click();
    await expect.element(page.getByText("Between 80 and 2,000")).toBeVisible();
    await expect.element(page.getByRole("spinbutton", { name: "At most, words" })).toHaveFocus();
    expect(calls(host, "answer")).toEqual([]);
    // The wrong draft must not meet the next test.
    await unmount();
    localStorage.clear();
  });
  test("declining asks first, and says what follows", async () => {
    const { host } = await open("20261130-k7mq");
    await page.getByRole("button", { name: "Decline" }).click();
    await expect.element(page.getByRole("button", { name: "Keep the question" })).toHaveFocus();
    expect(calls(host, "answer")).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Decline" }).click();
    await expect.poll(() => calls(host, "answer")[0]).toEqual({ run: "20261130-k7mq", question: 1, action: "decline" });
  });
  test("answered elsewhere: the form locks, the text stays, who and when is said", async () => {
    const { host } = await open("20261130-k7mq");
    await page.getByRole("textbox", { name: "Anything to add" }).fill("my words");
    const scene = host.scenes["20261130-k7mq"];
    if (!scene?.detail.questions[0]) throw new Error("no scene");
    scene.detail.questions[0].answer = { action: "accept", content: { tone: "warm" }, by: "Claude Code", at: Date.now() };
    scene.detail.run = { ...scene.detail.run, status: "running" };
    host.changed("20261130-k7mq");
    await expect.element(page.getByText(/Claude Code answered at/)).toHaveTextContent("Warm");
    await expect.poll(() => document.querySelector<HTMLTextAreaElement>(".run-ask textarea")?.value).toBe("my words");
    expect(send().elements()).toHaveLength(0);
    expect(segments()[2]).toBe("question");
  });
  test("while it is sent, nothing can be changed or sent twice", async () => {
    const { host } = await open("20261130-k7mq");
    host.fail("answer", null);
    const call = host.call;
    let release = () => {};
    host.call = ((name: never, request: never) =>
      name === "answer"
        ? new Promise((resolve) => {
            host.calls.push({ name, request });
            release = () => resolve({} as never);
          })
        : call(name, request)) as typeof host.call;
    await send().click();
    await expect.element(page.getByRole("button", { name: "Sending" })).toBeDisabled();
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    expect(calls(host, "answer")).toHaveLength(1);
    release();
  });
});

describe("an approval", () => {
  const approve = () => page.getByRole("button", { name: /^Approve once/ });
  test("the whole command is shown, one option a line, and the environment's values are not", async () => {
    await open("20261130-9xwd");
    const text = document.querySelector(".run-command")?.textContent ?? "";
    for (const word of ["gh", "release", "create", "v4.2.0", "--title", "4.2.0, Harbour", "--notes-file", "notes/4.2.0.md", "--verify-tag"])
      expect(text).toContain(word);
    expect(document.querySelectorAll(".run-command-line")).toHaveLength(4);
    // What is set decides what the program does: there is no standing leave for such a call.
    expect(page.getByRole("checkbox").elements()).toEqual([]);
  });
  test("the command stands there once, in plain quotes, and what is said about it is in the window's language", async () => {
    await open("20261130-9xwd", { settings: { language: "zh-CN" } });
    const ask = document.querySelector(".run-ask")!;
    expect(ask.getAttribute("aria-label")).toBe("运行 gh？");
    expect(ask.querySelector(".run-ask-head")!.textContent).toContain("工作流请求允许运行这个程序");
    expect(ask.querySelector(".run-ask-head")!.textContent).not.toContain("v4.2.0");
    expect(ask.textContent).not.toMatch(/[“”]/u);
    expect(document.querySelector(".run-command")!.textContent).toContain('"4.2.0, Harbour"');
  });
  test("neither Enter nor a key pressed too early approves; Ctrl Enter does after half a second", async () => {
    const { host } = await open("20261130-9xwd");
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    expect(calls(host, "answer")).toEqual([]);
    await expect.element(approve()).toBeEnabled();
    (approve().element() as HTMLElement).focus();
    await userEvent.keyboard("{Enter}");
    expect(calls(host, "answer")).toEqual([]);
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await expect.poll(() => calls(host, "answer")).toEqual([{ run: "20261130-9xwd", question: 1, action: "accept" }]);
  });
  test("the button is not pressable before half a second", async () => {
    const began = performance.now();
    await open("20261130-9xwd");
    if (performance.now() - began < 400) await expect.element(approve()).toBeDisabled();
    await expect.element(approve()).toBeEnabled();
    expect(performance.now() - began).toBeGreaterThan(500);
  });
  test("denying is one key, and from now on goes along only when it was ticked", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const approval = host.scenes["20261130-9xwd"]?.detail.questions[0]?.approval;
    if (!approval) throw new Error("no scene");
    approval.env = [];
    await renderApp({ at: "/run/20261130-9xwd", host });
    await page.getByRole("checkbox", { name: "Allow exactly this command" }).click();
    await userEvent.keyboard("{Control>}{Backspace}{/Control}");
    await expect.poll(() => calls(host, "answer")).toEqual([{ run: "20261130-9xwd", question: 1, action: "decline" }]);
  });
  test("after a crash it asks whether to do it again, and offers no standing leave", async () => {
    await open("20261130-2nd1");
    await expect.element(page.getByRole("heading", { name: "This may already have happened. Do it again?" })).toBeVisible();
    await expect.element(page.getByRole("button", { name: /^Treat as denied/ })).toBeVisible();
    expect(page.getByRole("checkbox").elements()).toHaveLength(0);
  });
});

describe("output", () => {
  test("the first table is shown, what is chosen goes into the address, forms change", async () => {
    await open("20261130-e1ka");
    await expect
      .poll(() => [...document.querySelectorAll(".ou-side th")].map((cell) => cell.textContent))
      .toEqual(["team", "text", "people", "weight", "sources"]);
    await page.getByRole("treeitem", { name: /^page/ }).click();
    await expect.poll(() => params().get("value")).toBe("output.page");
    await expect.element(page.getByRole("heading", { name: "Week 48" })).toBeVisible();
    await page.getByRole("radio", { name: "JSON" }).click();
    await expect.element(page.getByText(/"# Week 48\\n/).last()).toBeVisible();
  });
  test("keys and values are found as one types", async () => {
    await open("20261130-e1ka");
    await page.getByRole("searchbox", { name: "Find a key or value" }).fill("reviewer");
    await page.getByRole("treeitem").filter({ hasText: "reviewer" }).click();
    await expect.poll(() => params().get("value")).toBe("output.totals.reviewer");
  });
  test("of an output too large to send, the beginning is a tree and what is chosen comes whole", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = host.scenes["20261130-e1ka"];
    if (!scene) throw new Error("no scene");
    const text = JSON.stringify(scene.output);
    scene.beginning = text.slice(0, text.indexOf("Growth"));
    scene.detail.outputBytes = 12_000_000;
    await renderApp({ at: "/run/20261130-e1ka/output", host });
    await expect.element(page.getByText(/Only the beginning of this output is shown; it is 12 MB/)).toBeVisible();
    await page.getByRole("treeitem", { name: /^highlights/ }).click();
    await expect.poll(() => document.querySelectorAll(".ou-side tbody tr").length).toBe(6);
    expect(calls(host, "run_output").some((request) => request.path === "/highlights")).toBe(true);
  });
  test("the window is called after the run", async () => {
    const { host } = await open("20261130-e1ka");
    await expect.poll(() => host.title).toContain("Weekly page");
  });
  test("a failure shows code, message, the last error lines, and leads into the log", async () => {
    await open("20261130-zz1c");
    await expect.element(page.getByRole("region", { name: "What went wrong" })).toHaveTextContent("step_failed");
    await page.getByRole("button", { name: "To line 128,430 of the log" }).click();
    await expect.poll(() => segments()[2]).toBe("logs");
    await expect.poll(() => document.querySelector('[data-position="128429"]')?.className).toContain("lg-target");
  });
  test("files are previewed and shown in their folder", async () => {
    await open("20261130-e1ka");
    await page.getByRole("button", { name: "Preview" }).first().click();
    await expect.element(page.getByRole("heading", { name: "Week 48" })).toBeVisible();
  });
  test("an interrupted run says what Continue would do, and does it only when asked", async () => {
    const { host } = await open("20261130-4nwo");
    await expect.element(page.getByText("4 kept, 1 asks, 1 runs again")).toBeVisible();
    expect(calls(host, "continue_run")).toEqual([]);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await expect.poll(() => calls(host, "continue_run")).toEqual([{ run: "20261130-4nwo" }]);
  });
});

describe("diagram", () => {
  test("list, canvas and inspector agree", async () => {
    await open("20261130-6hfc/diagram");
    await page.getByRole("treeitem").filter({ hasText: "Growth" }).click();
    await expect.poll(() => document.querySelector(".dg-box[data-selected]")?.textContent).toContain("Growth");
    await expect.element(page.getByRole("region", { name: "About this step" })).toHaveTextContent("8,214 tokens");
    await userEvent.keyboard("{ArrowDown}");
    await expect.poll(() => document.querySelector(".dg-box[data-selected]")?.textContent).toContain("Support");
  });
  test("a thousand members: few elements, all of them in the list", async () => {
    await open("20261130-bign/diagram");
    await expect.poll(() => document.querySelectorAll(".dg-box").length).toBeGreaterThan(0);
    expect(document.querySelectorAll(".dg-box").length).toBeLessThan(120);
    expect(document.querySelectorAll(".dg-list [role=treeitem]").length).toBeLessThan(60);
    await expect.element(page.getByText("1,000, 683 finished")).toBeVisible();
  });
});

describe("timeline", () => {
  test("rows are chosen by keyboard, phases fold, zoom is in the address", async () => {
    await open("20261130-e1ka/timeline");
    const rows = () => document.querySelectorAll(".tl-row").length;
    const before = rows();
    await page.getByRole("treeitem", { name: /^Read ?20 s/ }).click();
    await expect.poll(rows).toBe(before - 3);
    await userEvent.keyboard("+");
    await expect.poll(() => params().get("from")).not.toBeNull();
    await userEvent.keyboard("0");
    await expect.poll(() => params().get("from")).toBeNull();
  });
  test("a figure that wasn't recorded says so", async () => {
    await open("20261130-e1ka/timeline");
    expect(page.getByText("not recorded").elements()).toHaveLength(2);
    await expect.element(page.getByText("6 m 12 s").first()).toBeVisible();
  });
});

test("five hundred files and a thousand parameters are drawn as far as they are asked for", async () => {
  const host = createSceneHost({ settings: { language: "en" } });
  const scene = Object.values(host.scenes).find((one) => one.detail.files.length > 0 && one.detail.run.status === "success");
  if (!scene) throw new Error("no scene");
  const [file] = scene.detail.files;
  scene.detail.files = Array.from({ length: 500 }, (_, at) => ({ name: `file ${at}.txt`, path: `/tmp/file ${at}.txt`, bytes: file?.bytes ?? 1 }));
  scene.detail.input = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`name${at}`, at]));
  await renderApp({ at: `/run/${scene.detail.run.runId}/output`, host });
  await expect.poll(() => document.querySelectorAll(".ou-file").length).toBe(60);
  await page.getByRole("button", { name: "Show 240 more of 500" }).click();
  await expect.poll(() => document.querySelectorAll(".ou-file").length).toBe(300);
  navigate(`/run/${scene.detail.run.runId}/input`);
  await expect.poll(() => document.querySelectorAll(".in-row").length).toBe(60);
});
test("three thousand guided steps: those up to the chosen one, and the keys go on", async () => {
  const host = createSceneHost({ settings: { language: "en" } });
  const scene = Object.values(host.scenes).find((one) => isGuided(one.nodes));
  const step = scene?.nodes.find((node) => node.kind === "step");
  if (!scene || !step) throw new Error("no scene");
  scene.nodes = Array.from({ length: 3_000 }, (_, at) => ({
    ...step,
    id: at + 1,
    parent: undefined,
    title: `Step ${at}`,
    status: "success" as const,
  }));
  await renderApp({ at: `/run/${scene.detail.run.runId}/steps?step=1`, host });
  const items = () => document.querySelectorAll(".gd-item").length;
  await expect.poll(items).toBe(60);
  document.querySelector<HTMLElement>(".gd-item")?.focus();
  await userEvent.keyboard("{End}");
  await expect.poll(() => document.activeElement?.textContent).toContain("Step 2999");
  expect(items()).toBe(3_000);
});

describe("back", () => {
  const away = async () => {
    navigate("/runs");
    await expect.element(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
    history.back();
  };
  test("brings the place in a log back; so does coming back to the tab", async () => {
    await open("20261130-mill/logs");
    const list = () => document.querySelector<HTMLElement>(".lg-list");
    const shown = () => [...document.querySelectorAll<HTMLElement>("[data-position]")].map((row) => Number(row.dataset.position));
    await expect.poll(() => shown().at(-1)).toBe(999_999);
    (list() as HTMLElement).scrollTop = 10_000_000;
    await expect.poll(() => shown().includes(500_010)).toBe(true);
    await settle();
    await away();
    await expect.poll(() => shown().includes(500_010)).toBe(true);
    await tab(/^Output/).click();
    await expect.poll(() => list()).toBeNull();
    await tab(/^Logs/).click();
    await expect.poll(() => shown().includes(500_010)).toBe(true);
  });
  test("brings the place in a timeline and in the steps back", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = Object.values(host.scenes).find((one) => one.nodes.some((node) => node.kind === "agent"));
    const node = scene?.nodes.find((one) => one.kind === "agent");
    if (!scene || !node) throw new Error("no scene");
    scene.nodes = Array.from({ length: 500 }, (_, at) => ({
      ...node,
      id: at + 1,
      parent: undefined,
      title: `Agent ${at}`,
      status: at ? ("success" as const) : ("failed" as const),
    }));
    await renderApp({ at: "/runs", host });
    for (const [view, box] of [
      ["timeline", ".tl-body"],
      ["diagram", ".dg-list"],
    ] as const) {
      navigate(`/run/${scene.detail.run.runId}/${view}`);
      const scroller = () => document.querySelector<HTMLElement>(box);
      await expect.poll(() => (scroller()?.scrollHeight ?? 0) > 4_000).toBe(true);
      (scroller() as HTMLElement).scrollTop = 3_000;
      await settle();
      await away();
      await expect.poll(() => scroller()?.scrollTop).toBe(3_000);
    }
  });
});

describe("logs", () => {
  const shown = () => [...document.querySelectorAll<HTMLElement>("[data-position]")].map((row) => Number(row.dataset.position));
  test("a million lines: a screenful of rows, at the end, at the beginning, anywhere", async () => {
    await open("20261130-mill/logs");
    await expect.poll(() => shown().at(-1)).toBe(999_999);
    expect(shown().length).toBeLessThan(70);
    await userEvent.keyboard("{Home}");
    await expect.poll(() => shown()[0]).toBe(0);
    const list = document.querySelector(".lg-list");
    if (!list) throw new Error("no list");
    list.scrollTop = 10_000_000;
    await expect.poll(() => shown().includes(500_010)).toBe(true);
    expect(shown().length).toBeLessThan(70);
  });
  test("search runs in the store; matches are counted, marked and walked", async () => {
    const { host } = await open("20261130-zz1c/logs");
    await userEvent.keyboard("/");
    await userEvent.keyboard("refused");
    await expect.element(page.getByText("1 of 2")).toBeVisible();
    await expect.poll(() => document.querySelector("mark[data-now]")?.textContent).toBe("refused");
    await userEvent.keyboard("{Enter}");
    await expect.element(page.getByText("2 of 2")).toBeVisible();
    expect(calls(host, "run_log_search").some((request) => request.text === "refused")).toBe(true);
    await page.getByRole("switch", { name: "Matches only" }).click();
    await expect.poll(() => shown().length).toBeLessThan(14);
  });
  test("search by case and by pattern; what is no pattern says so", async () => {
    const { host } = await open("20261130-zz1c/logs");
    await userEvent.keyboard("/");
    await userEvent.keyboard("REFUSED");
    await expect.element(page.getByText("1 of 2")).toBeVisible();
    await page.getByRole("button", { name: "Match case" }).click();
    await expect.element(page.getByText("No match")).toBeVisible();
    await page.getByRole("button", { name: "Regular expression" }).click();
    const box = page.getByRole("searchbox", { name: "Search the log" });
    await box.fill("ref[us]+ed");
    await expect.element(page.getByText("1 of 2")).toBeVisible();
    await expect.poll(() => document.querySelector("mark[data-now]")?.textContent).toBe("refused");
    expect(calls(host, "run_log_search").at(-1)).toMatchObject({ text: "ref[us]+ed", case: true, regex: true });
    await box.fill("(");
    await expect.element(page.getByText("Not a pattern")).toBeVisible();
  });
  test("the log is saved where a person chooses", async () => {
    const { host } = await open("20261130-zz1c/logs");
    await page.getByRole("button", { name: "Save the log as" }).click();
    await expect.poll(() => calls(host, "save_as")).toEqual([{ run: "20261130-zz1c", part: "log", to: "/home/ada/Documents/20261130-zz1c.log" }]);
    await expect.element(page.getByText(/Saved to/)).toBeVisible();
  });
  test("scrolling up ends following, new lines wait behind a pill, End follows again", async () => {
    const { host } = await open("20261130-mill/logs");
    await expect.poll(() => shown().at(-1)).toBe(999_999);
    const list = document.querySelector(".lg-list");
    const scene = host.scenes["20261130-mill"];
    if (!list || !scene) throw new Error("no list");
    list.scrollTop -= 2_000;
    await settle();
    await settle();
    const first = shown()[0];
    scene.lines.count += 1_204;
    host.changed("20261130-mill");
    await expect.element(page.getByRole("button", { name: "1,204 new lines" })).toBeVisible();
    expect(shown()[0]).toBe(first);
    await userEvent.keyboard("{End}");
    await expect.poll(() => shown().at(-1)).toBe(1_001_203);
  });
  const isMatchInSight = () => {
    const mark = document.querySelector("mark[data-now]")?.getBoundingClientRect();
    const list = document.querySelector(".lg-list")?.getBoundingClientRect();
    return mark && list ? mark.top >= list.top && mark.bottom <= list.bottom : false;
  };
  test.each([40, 900])("a match far down in an entry of %d lines comes into sight, and only its line is tinted", async (size) => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = host.scenes["20261130-mill"];
    if (!scene) throw new Error("no scene");
    const at = scene.lines.at;
    const text = (position: number) => Array.from({ length: size }, (_, index) => `${position} part ${index}`).join("\n");
    scene.lines = { count: 3_000, at: (position) => ({ ...at(position), text: text(position) }) };
    await renderApp({ at: "/run/20261130-mill/logs", host });
    await expect.poll(() => shown().at(-1)).toBe(2_999);
    await userEvent.keyboard("/");
    await userEvent.keyboard(`1234 part ${size - 3}`);
    await expect.poll(isMatchInSight).toBe(true);
    expect(document.querySelectorAll(".lg-line-current").length).toBe(1);
    expect(document.querySelector(".lg-current")).toBeNull();
  });
  test.each([1, 20])(
    "from match to match, over entries that were read but never drawn, of lines %d times as long as the window is wide",
    async (times) => {
      const host = createSceneHost({ settings: { language: "en" } });
      const scene = host.scenes["20261130-mill"];
      if (!scene) throw new Error("no scene");
      const at = scene.lines.at;
      const long = "long ".repeat(times * 40);
      const text = (position: number) => Array.from({ length: 40 }, (_, index) => (index === 30 && position % 50 === 0 ? "here" : long)).join("\n");
      scene.lines = { count: 400, at: (position) => ({ ...at(position), text: text(position) }) };
      await renderApp({ at: "/run/20261130-mill/logs", host });
      await expect.poll(() => shown().at(-1)).toBe(399);
      await userEvent.keyboard("{Home}/here");
      for (const match of [1, 2, 3, 4, 5]) {
        await expect.element(page.getByText(`${match} of 8`)).toBeVisible();
        await expect
          .poll(() => document.querySelector("mark[data-now]")?.closest("[data-position]")?.getAttribute("data-position"))
          .toBe(`${(match - 1) * 50}`);
        await expect.poll(isMatchInSight).toBe(true);
        await userEvent.keyboard("{Enter}");
      }
    },
  );
  test("the next error is looked for by pages, not line by line", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = host.scenes["20261130-mill"];
    if (!scene) throw new Error("no scene");
    const at = scene.lines.at;
    scene.lines = {
      count: 20_000,
      at: (position) => ({ ...at(position), text: position === 12_000 ? "error: here" : `{"error": null, "at": ${position}}` }),
    };
    await renderApp({ at: "/run/20261130-mill/logs", host });
    await expect.poll(() => shown().at(-1)).toBe(19_999);
    await userEvent.keyboard("{Home}");
    await expect.poll(() => shown()[0]).toBe(0);
    const before = calls(host, "run_logs").length;
    await userEvent.keyboard("e");
    await expect.poll(() => document.querySelector(".lg-target")?.textContent).toContain("error: here");
    expect(calls(host, "run_logs").length - before).toBeLessThan(60);
  });
  test("following entries of many lines lays out what is in sight, not a window full of entries", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = host.scenes["20261130-mill"];
    if (!scene) throw new Error("no scene");
    const at = scene.lines.at;
    const text = Array.from({ length: 40 }, (_, index) => `part ${index}`).join("\n");
    scene.lines = { count: 5_000, at: (position) => ({ ...at(position), text }) };
    await renderApp({ at: "/run/20261130-mill/logs", host });
    await expect.poll(() => shown().at(-1)).toBe(4_999);
    let drawn = 0;
    const observer = new MutationObserver((changes) => {
      for (const { addedNodes } of changes) drawn += [...addedNodes].filter((node) => node instanceof HTMLElement && node.matches(".lg-row")).length;
    });
    observer.observe(document.body, { childList: true, subtree: true });
    for (const count of [6_000, 7_000, 8_000]) {
      scene.lines.count = count;
      host.changed("20261130-mill");
      await expect.poll(() => shown().at(-1)).toBe(count - 1);
    }
    observer.disconnect();
    expect(drawn / 3).toBeLessThan(20);
  });
  test("a carriage return keeps its last state; errors are tinted; the phase at the top is named", async () => {
    await open("20261130-zz1c/logs");
    await expect.poll(() => document.querySelector(".lg-list")?.textContent).toContain("66 %");
    expect(document.querySelector(".lg-list")?.textContent).not.toContain("40 %");
    expect(document.querySelectorAll(".lg-bad").length).toBeGreaterThan(1);
    await expect.element(page.getByRole("button", { name: "Post", exact: true })).toBeVisible();
    await expect.element(page.getByText(/folded above: Read/)).toBeVisible();
  });
  test("a click on a number copies the line's link", async () => {
    const { host } = await open("20261130-zz1c/logs");
    await page.getByRole("button", { name: "Copy a link to line 128,430" }).click();
    await expect.poll(() => host.copied.at(-1)).toBe("20261130-zz1c#L128430");
    expect(params().get("line")).toBe("128430");
  });
  test("what the store left out is one row", async () => {
    const host = createSceneHost({ settings: { language: "en" } });
    const scene = host.scenes["20261130-e1ka"];
    if (!scene) throw new Error("no scene");
    scene.leftOut = { position: 10, entries: 190, bytes: 1_000_000 };
    const at = scene.lines.at;
    scene.lines = { count: 214, at };
    await renderApp({ at: "/run/20261130-e1ka/logs", host });
    await expect.element(page.getByText(/190 lines \(1 MB\) left out here/)).toBeVisible();
  });
});

describe("hostile text", () => {
  test.each(["output", "logs", "diagram", "timeline", "input"])("%s shows it as text and keeps its layout", async (name) => {
    await open(`20261130-evil/${name}`);
    await settle();
    const content = document.querySelector("#content");
    expect(content?.querySelectorAll("img, script, svg[onload]")).toHaveLength(0);
    expect((window as unknown as Record<string, unknown>).hurt).toBeUndefined();
    expect(content?.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(document.documentElement.clientWidth);
  });
  test("a single line of 10 MB is cut, and a thousand lines in one entry draw a screenful", async () => {
    await open("20261130-evil/logs");
    await userEvent.keyboard("{Home}");
    await expect.element(page.getByRole("button", { name: "show all 10,000,000 characters" })).toBeVisible();
    expect((document.querySelector('[data-position="0"]')?.textContent ?? "").length).toBeLessThan(3_000);
    await userEvent.keyboard("{End}");
    await expect.poll(() => document.querySelector(".lg-list")?.textContent).toContain("piece 2999");
    expect(document.querySelectorAll(".lg-line").length).toBeLessThan(200);
  });
});
