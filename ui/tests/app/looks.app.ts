// Every view over the real store: no fault that axe finds, nothing wider than the window and nothing cut, also small and with large text.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Page } from "playwright-core";
import { layoutFaults } from "../layoutFaults";
import { register } from "./project";
import { Backend, Client, Home, Looker, PATIENCE } from "./world";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let home: Home;
let backend: Backend;
let looker: Looker;
let client: Client;
let page: Page;
/** What addresses of views stand for. */
const names: Record<string, string> = {};

beforeAll(async () => {
  home = new Home();
  names.project = register(home);
  home.say("board", "init", "--root", home.at("reports"));
  home.run("projects", "add", home.at("reports"), "--json");
  backend = await Backend.start(home);
  [looker, client] = await Promise.all([Looker.start(backend), Client.of(home, names.project)]);
  names.done = (await client.call("page", { week: "2026-11-23" })).runId;
  names.again = (await client.call("page", { week: "2026-11-30" })).runId;
  names.failed = (await client.call("ledger", {})).runId;
  const started = await backend.call("start_run", { project: names.project, entrypoint: "ask", input: {} });
  const asked = await backend.call("start_run", { project: names.project, entrypoint: "publish", input: {} });
  Object.assign(names, { waiting: started.run, leave: asked.run });
  for (const run of [names.waiting, names.leave])
    await vi.waitFor(
      async () => expect(((await backend.call("run", { run })) as { run: { status: string } }).run.status).toBe("waiting_for_input"),
      PATIENCE,
    );
  page = await looker.open("/");
}, 60_000);

afterAll(async () => {
  expect(looker?.said ?? []).toEqual([]);
  await looker?.end();
  await client?.end();
  await backend?.end();
  home?.remove();
});

const VIEWS = [
  "/",
  "/runs",
  "/runs?q=balanced",
  "/project/{project}",
  "/project/{project}/board",
  "/project/{project}/runs",
  "/project/{project}/dock",
  "/project/{project}/settings",
  "/run/{waiting}/question",
  "/run/{leave}/question",
  "/run/{done}/output",
  "/run/{failed}/output",
  "/run/{done}/diagram",
  "/run/{done}/timeline",
  "/run/{done}/logs",
  "/run/{done}/input",
  "/compare?a={done}&b={again}",
  "/settings",
];

const SIZES = [
  { name: "1280×820", width: 1280, height: 820, text: 100 },
  { name: "1024×700", width: 1024, height: 700, text: 100 },
  { name: "1280×820 at 200 %", width: 1280, height: 820, text: 200 },
  { name: "1024×700 at 200 %", width: 1024, height: 700, text: 200 },
];

/** Waits until nothing is on its way and nothing moves. */
async function settle(): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"], .k-bone') && document.querySelector("main > *"));
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.allSettled(
      document
        .getAnimations()
        .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
        .map((one) => one.finished),
    );
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

describe.each(["light", "dark"] as const)("%s", (theme) => {
  beforeAll(async () => {
    await backend.call("set_settings", { settings: { theme, language: theme === "dark" ? "zh-CN" : "en" } });
    await page.reload();
    await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
  });
  test.each(VIEWS)("%s", async (view) => {
    const at = view.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, at);
    const faults: string[] = [];
    for (const { name, width, height, text } of SIZES) {
      await page.setViewportSize({ width, height });
      await page.evaluate((percent) => {
        document.documentElement.style.fontSize = `${(16 * percent) / 100}px`;
      }, text);
      await settle();
      faults.push(...(await page.evaluate(layoutFaults, undefined)).map((fault) => `${name}: ${fault}`));
    }
    expect(faults.join("\n")).toBe("");
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: { run: () => Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
      };
      const { violations } = await axe.run();
      return violations.map(
        ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `  ${node.html.slice(0, 200)}\n  ${node.failureSummary}`).join("\n")}`,
      );
    });
    expect(found.join("\n\n")).toBe("");
  });
});
