// Pictures of every view: light and dark, both languages, small and large, empty and broken. `node scripts/screenshots.mjs --help`.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { BROWSER, FLAGS } from "./browser.mjs";

const HELP = `Makes pictures of every view.

  --out FOLDER     where they go (default: screenshots)
  --url ADDRESS    a page that is already served; without it the page is started here, on the mock host
  --host http      the page asks a dev server of the backend instead of the mock; \`cargo xtask screenshots\` starts one, else with --url
  --only TEXT      only pictures whose name holds the text
  --list           only tell the names
`;

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "screenshots" },
    url: { type: "string" },
    host: { type: "string" },
    only: { type: "string" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

/** What can be seen. `find`: the last part of a run's id on the mock, `status` and `entrypoint`: what to take from a real store; `keys`: pressed when it is there; `mock`: how the mock is. */
const VIEWS = [
  { name: "home", at: "/" },
  { name: "home-calm", at: "/", mock: "calm" },
  { name: "home-hostile", at: "/", mock: "hostile" },
  { name: "home-error", at: "/", mock: "broken" },
  { name: "first-start", at: "/", mock: "empty" },
  { name: "runs", at: "/runs" },
  { name: "runs-search", at: "/runs?q=ledger&status=failed,timeout&after=30d", keys: ["j", "x", "j", "x"] },
  { name: "runs-none", at: "/runs?q=proxy&status=failed&project=price-watch&after=30d" },
  { name: "runs-error", at: "/runs", mock: "broken" },
  { name: "runs-loading", at: "/runs", delay: 3000, wait: 1500 },
  { name: "project", at: "/project/weekly-report" },
  { name: "project-findings", at: "/project/price-watch" },
  { name: "dock", at: "/project/weekly-report/dock" },
  { name: "board", at: "/project/harbor-board/board" },
  { name: "board-card", at: "/project/harbor-board/board?card=HB-0207" },
  { name: "board-memory", at: "/project/harbor-board/board?part=memory" },
  { name: "project-runs", at: "/project/weekly-report/runs" },
  { name: "project-settings", at: "/project/weekly-report/settings" },
  { name: "run-question", find: "k7mq", status: "waiting_for_input", entrypoint: "ask", tab: "question" },
  { name: "run-approval", find: "9xwd", status: "waiting_for_input", entrypoint: "publish", tab: "question" },
  { name: "run-output", find: "e1ka", status: "success", tab: "output" },
  { name: "run-failed", find: "zz1c", status: "failed", tab: "output" },
  { name: "run-diagram", find: "e1ka", status: "success", tab: "diagram" },
  { name: "run-timeline", find: "e1ka", status: "success", tab: "timeline" },
  { name: "run-logs", find: "e1ka", status: "success", tab: "logs" },
  { name: "run-input", find: "e1ka", status: "success", tab: "input" },
  { name: "run-interrupted", find: "4nwo", status: "interrupted" },
  { name: "run-running", find: "m2xa", status: "running" },
  { name: "compare", compare: ["c3we", "u9lh"] },
  { name: "settings", at: "/settings" },
  { name: "palette", at: "/", keys: ["Control+k"] },
  { name: "keys", at: "/runs", keys: ["?"] },
  { name: "run-form", at: "/project/weekly-report", keys: ["r"] },
];

/** How it is looked at. `of`: only these views; the rest is looked at once. */
const LOOKS = [
  { name: "light-en", theme: "light", lang: "en", width: 1280, height: 820 },
  { name: "dark-en", theme: "dark", lang: "en", width: 1280, height: 820 },
  { name: "light-zh", theme: "light", lang: "zh-CN", width: 1280, height: 820 },
  { name: "small-light-en", theme: "light", lang: "en", width: 1024, height: 700 },
  { name: "least-dark-zh", theme: "dark", lang: "zh-CN", width: 720, height: 520 },
  { name: "large-light-en", theme: "light", lang: "en", width: 1280, height: 820, text: 200 },
];

/** A real store can't be emptied or broken for a picture. */
const views = options.host === "http" ? VIEWS.filter(({ mock, delay }) => !mock && !delay) : VIEWS;
const pictures = views
  .flatMap((view) => LOOKS.map((look) => ({ name: `${view.name}-${look.name}`, view, look })))
  .filter(({ name }) => !options.only || name.includes(options.only));
if (options.list) {
  for (const { name } of pictures) console.log(name);
  process.exit(0);
}

/** Serves the page on the mock; answers its address and how to end it. */
async function serve() {
  const { createServer } = await import("vite");
  const root = path.join(import.meta.dirname, "..");
  const cacheDir = await mkdtemp(path.join(tmpdir(), "workflow-code-page-"));
  const server = await createServer({
    root,
    configFile: path.join(root, "vite.config.ts"),
    cacheDir,
    server: { port: 0, strictPort: false, host: "127.0.0.1", hmr: false },
  });
  await server.listen();
  return {
    url: `http://127.0.0.1:${server.httpServer.address().port}/`,
    async end() {
      await server.close();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}

/** Asks the backend's dev server, for pictures of a real store. */
const ask = (page, name, request) =>
  page.evaluate(
    async (body) => {
      const response = await fetch("/rpc", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      return (await response.json()).ok;
    },
    { name, request },
  );

/** The id of a run: on the mock by its last part (ids begin with the day), in a real store the newest of that status. */
async function idOf(page, tail, status, entrypoint) {
  if (options.host === "http") {
    const found = await ask(page, "runs", { query: { ...(status ? { status: [status] } : {}), ...(entrypoint ? { entrypoint } : {}) }, limit: 1 });
    const run = found?.rows[0]?.runId;
    if (!run) throw new Error(`the store has no run that is ${status ?? "of any kind"}`);
    return run;
  }
  return page.evaluate(async (end) => {
    const { createMockHost } = await import("/src/host/mock/index.ts");
    return createMockHost()
      .rows()
      .find(({ runId }) => runId.endsWith(end))?.runId;
  }, tail);
}

async function addressOf(page, view) {
  if (view.compare) {
    const ids = [];
    if (options.host === "http")
      ids.push(...((await ask(page, "runs", { query: { status: ["success"] }, limit: 2 }))?.rows ?? []).map(({ runId }) => runId));
    else for (const tail of view.compare) ids.push(await idOf(page, tail));
    return `/compare?a=${ids[1] ?? ids[0]}&b=${ids[0]}`;
  }
  if (view.find) return `/run/${await idOf(page, view.find, view.status, view.entrypoint)}${view.tab ? `/${view.tab}` : ""}`;
  if (options.host === "http" && view.at.startsWith("/project/")) {
    const [first] = (await ask(page, "projects", {})) ?? [];
    if (!first) throw new Error("the store has no project");
    return view.at.replace(/^\/project\/[^/]+/, `/project/${encodeURIComponent(first.key)}`);
  }
  return view.at;
}

/** Waits until nothing is asked any more and what moves once has come to rest. */
async function settle(page) {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]') && document.querySelector("main > *"), undefined, {
    timeout: 15_000,
  });
  // Answers that are on their way: nothing but the clock changes the page any more.
  await page.waitForTimeout(300);
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
        .map((one) => one.finished),
    ),
  );
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

const server = options.url ? { url: options.url, end: async () => {} } : await serve();
const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
let faults = 0;
try {
  await mkdir(options.out, { recursive: true });
  for (const { name, view, look } of pictures) {
    const context = await browser.newContext({
      viewport: { width: look.width, height: look.height },
      deviceScaleFactor: 1,
      reducedMotion: "reduce",
      locale: look.lang,
    });
    const page = await context.newPage();
    const said = [];
    page.on("pageerror", (error) => said.push(error.message));
    page.on("console", (message) => message.type() === "error" && said.push(message.text()));
    // The address of a backend has its token in it.
    const { origin, pathname, searchParams } = new URL(server.url);
    const base = origin + pathname;
    const search = new URLSearchParams({ ...Object.fromEntries(searchParams), theme: look.theme, lang: look.lang, runs: "2000" });
    if (look.text) search.set("text", String(look.text));
    if (view.mock) search.set("mock", view.mock);
    if (view.delay) search.set("delay", String(view.delay));
    if (options.host) search.set("host", options.host);
    try {
      await page.goto(`${base}?${search}#/settings`, { waitUntil: "commit" });
      // The mock takes its looks from the address; a real store keeps them.
      if (options.host === "http")
        await ask(page, "set_settings", { settings: { theme: look.theme, language: look.lang, textSize: look.text ?? 100 } });
      const address = await addressOf(page, view);
      await page.goto(`${base}?${search}#${address}`);
      await page.reload();
      if (view.wait) await page.waitForTimeout(view.wait + view.delay);
      else await settle(page);
      for (const key of view.keys ?? []) {
        await page.keyboard.press(key);
        await settle(page);
      }
      await page.screenshot({ path: path.join(options.out, `${name}.png`) });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) said.push(`scrolls sideways by ${wide} px`);
    } catch (error) {
      said.push(error.message.split("\n")[0]);
    }
    if (said.length > 0) faults++;
    console.log(`${said.length > 0 ? "✗" : "✓"} ${name}${said.length > 0 ? `: ${[...new Set(said)].join("; ")}` : ""}`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.end();
}
process.exit(faults > 0 ? 1 : 0);
