import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../tests/axe";
import { expectGoodLayout } from "../../tests/layout";
import { renderApp } from "../../tests/render";
import { match, rank, readMode, runLink } from "./match";

describe("ranking", () => {
  test("prefix before word start before anywhere", () => {
    const titles = ["unweekly", "Run Weekly page", "Weekly report"];
    expect(
      rank(
        titles.map((title) => ({ title })),
        "week",
      ).map(({ item }) => item.title),
    ).toEqual(["Weekly report", "Run Weekly page", "unweekly"]);
  });
  test("every word has to be there; hits are marked in order", () => {
    expect(match("Run Weekly page", "page run")?.ranges).toEqual([
      [0, 3],
      [11, 15],
    ]);
    expect(match("Run Weekly page", "page stop")).toBeUndefined();
    expect(match("运行「一页周报」", "周报")?.ranges).toEqual([[5, 7]]);
  });
  test("what was used lately wins among equals, the title beats the second line", () => {
    const items = [
      { title: "Convert", sub: "Weekly report", recent: 1 },
      { title: "Run Weekly page", recent: 0 },
      { title: "Run Weekly digest", recent: 1 },
    ];
    expect(rank(items, "week").map(({ item }) => item.title)).toEqual(["Run Weekly digest", "Run Weekly page", "Convert"]);
  });
  test("letters that grow in lower case don't shift the marks", () => {
    expect(match("İstanbul", "stan")?.ranges).toEqual([]);
  });
  test("modes and run links", () => {
    expect(readMode("> run")).toEqual({ mode: "actions", find: "run" });
    expect(readMode("#x")).toEqual({ mode: "runs", find: "x" });
    expect(readMode("@")).toEqual({ mode: "projects", find: "" });
    expect(runLink("20261130-zz1c")).toEqual({ run: "20261130-zz1c" });
    expect(runLink(" 20261130-zz1c#L128424 ")).toEqual({ run: "20261130-zz1c", line: 128_424 });
    expect(runLink("weekly")).toBeUndefined();
  });
});

const field = () => page.getByRole("combobox", { name: /Search or run|搜索或运行/ });
const options = () => [...document.querySelectorAll<HTMLElement>(".pal-item")];
const chosen = () => document.querySelector<HTMLElement>('.pal-item[aria-selected="true"]');

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: "/project/weekly-report", ...options });
  await expect.element(page.getByRole("tab", { name: /Overview|概览/ })).toBeVisible();
  await userEvent.keyboard("{Control>}k{/Control}");
  await expect.element(field()).toHaveFocus();
  return rendered;
}

test("opens at once: what it shows first waits for no answer", async () => {
  const { host } = await open();
  await userEvent.keyboard("{Escape}");
  await expect.element(field()).not.toBeInTheDocument();
  const answer = host.call;
  host.call = () => new Promise(() => undefined);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }));
  await expect.poll(() => options().length).toBeGreaterThan(5);
  host.call = answer;
});

test("typing finds actions, waiting questions, projects, runs; Enter does the first", async () => {
  await open();
  await field().fill("weekly p");
  await expect.poll(() => chosen()?.textContent).toContain("Run Weekly page");
  expect(chosen()!.querySelector("b")?.textContent).toBe("Weekly");
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("dialog", { name: /Run Weekly page/ })).toBeVisible();
});

test("groups in order; the store's runs come behind and all of them are one step away", async () => {
  const { host } = await open();
  await field().fill("wee");
  await expect
    .poll(() => host.calls.some(({ name, request }) => name === "runs" && (request as { query: { text?: string } }).query.text === "wee"))
    .toBe(true);
  await expect.element(page.getByText("All runs with “wee”")).toBeVisible();
  const groups = [...document.querySelectorAll(".pal-group")].map((one) => one.textContent);
  expect(groups).toEqual(["Do", "Waiting for you", "Projects", "Runs"]);
  await userEvent.click(page.getByText("All runs with “wee”"));
  await expect.poll(() => location.hash).toBe("#/runs?q=wee");
});

test("> @ # narrow it", async () => {
  await open();
  await field().fill("@inv");
  await expect.poll(() => options().map((one) => one.textContent)).toEqual([expect.stringContaining("Invoice intake")]);
  await field().fill(">theme");
  await expect.poll(() => options().length).toBe(3);
  await field().fill("#weekly");
  await expect.poll(() => [...document.querySelectorAll(".pal-group")].map((one) => one.textContent)).not.toContain("Do");
});

test("a pasted run id jumps there, with its line into the log", async () => {
  const { host } = await open();
  const run = host.rows()[3]!.runId;
  await field().fill(run);
  await userEvent.keyboard("{Enter}");
  await expect.poll(() => location.hash).toContain(`#/run/${run}`);
  await userEvent.keyboard("{Control>}k{/Control}");
  await field().fill(`${run}#L12`);
  await userEvent.keyboard("{Enter}");
  await expect.poll(() => location.hash).toBe(`#/run/${run}/logs?line=12`);
});

test("arrows go round, Tab lists what else can be done, Escape steps back, then closes", async () => {
  await open();
  await field().fill("weekly report");
  await expect.poll(() => options().length).toBeGreaterThan(1);
  await userEvent.keyboard("{ArrowUp}");
  expect(chosen()).toBe(options().at(-1));
  await field().fill("@weekly report");
  await userEvent.keyboard("{Tab}");
  await expect
    .poll(() => options().map((one) => one.textContent))
    .toEqual(expect.arrayContaining([expect.stringContaining("Settings of Weekly report")]));
  await userEvent.keyboard("{Escape}");
  await expect.element(field()).toBeVisible();
  await field().fill("@weekly report");
  await userEvent.keyboard("{Tab}settings{Enter}");
  await expect.poll(() => location.hash).toBe("#/project/weekly-report/settings");
});

test("every action of the view is in it, with its key", async () => {
  await open();
  await field().fill(">settings of the project");
  await expect.poll(() => chosen()?.textContent).toContain("4");
});

test("hostile names are text", async () => {
  await open({ hostile: true });
  await field().fill("img src");
  await expect.poll(() => options().length).toBeGreaterThan(0);
  expect(document.querySelectorAll(".pal img")).toHaveLength(0);
  expect(document.querySelector(".pal")!.textContent).not.toContain("\u202E");
});

describe("looks", () => {
  test.each(["light", "dark"] as const)("accessible, %s", async (theme) => {
    await open({ settings: { theme, language: "en" } });
    await field().fill("wee");
    await expect.poll(() => options().length).toBeGreaterThan(3);
    await expectAccessible();
  });
  test.each(["en", "zh-CN"] as const)("keeps to the window at every size, %s", async (language) => {
    await open({ settings: { language } });
    await expectGoodLayout(() => document.querySelector(".pal")!);
  });
});
