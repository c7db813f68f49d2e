// The page over a real store, while real launchers write into it. Nothing is reloaded: what the page shows, it heard of.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { register } from "./project";
import { Backend, Client, Home, Looker, PATIENCE } from "./world";

let home: Home;
let project: string;
let backend: Backend;
let looker: Looker;
let client: Client;
let page: Page;

beforeAll(async () => {
  home = new Home();
  project = register(home);
  backend = await Backend.start(home);
  [looker, client] = await Promise.all([Looker.start(backend), Client.of(home, project)]);
}, 60_000);

afterEach(async () => {
  await page?.close();
  expect(looker.said.splice(0)).toEqual([]);
});

afterAll(async () => {
  await looker?.end();
  await client?.end();
  await backend?.end();
  home?.remove();
});

const open = async (at: string) => (page = await looker.open(at));
const tab = (name: string | RegExp) => page.getByRole("tab", { name });
const state = () => page.locator("header:has(h1)");
const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();
const runOf = () => page.url().split("#/run/")[1]?.split(/[/?]/)[0] ?? "";
/** Until the head of a run says so. */
const stands = (word: string) => expect.poll(() => state().innerText(), { timeout: PATIENCE }).toContain(word);

test("a client's run appears by itself, its log follows, and its end is seen", async () => {
  await open("/");
  const call = client.call("gate", {});
  const row = page.locator("section[aria-labelledby='home-running'] a[href^='#/run/']", { hasText: "Gate" });
  await row.waitFor();
  // How far it is was said by the run itself.
  await page.getByRole("progressbar", { name: "1 of 3" }).waitFor();
  await row.click();
  await stands("Running");
  await tab("Logs").click();
  await sees("the first line");
  home.write("reports/go", "");
  await sees("the last line");
  await stands("Success");
  const done = await call;
  expect(runOf()).toBe(done.runId);
  // And the lists know as well.
  await page.goBack();
  await page.locator("section[aria-labelledby='home-recent'] a", { hasText: "Gate" }).waitFor();
  expect(await page.locator("section[aria-labelledby='home-running']").count()).toBe(0);
});

test("a question of a client's run is answered here, and the client's own call goes on with it", async () => {
  await open("/");
  const call = client.call("ask", {});
  const waiting = page.locator("section[aria-labelledby='home-waiting'] a[href^='#/run/']");
  await waiting.waitFor();
  await expect.poll(() => page.title()).toMatch(/^\(1\)/);
  // It is asked in both places.
  await expect.poll(() => client.asked.length).toBe(1);
  await waiting.click();
  await stands("Waiting");
  await sees(/keeps this call open/);
  // What doesn't fit is not sent.
  await page.getByRole("button", { name: "Answer and continue" }).click();
  const field = page.getByRole("textbox", { name: "Name" });
  await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true);
  await field.fill("Ada");
  await page.keyboard.press("Control+Enter");
  await stands("Success");
  const done = await call;
  expect(done.output).toEqual({ greeting: "Hello, Ada" });
  expect(done.runId).toBe(runOf());
  // One stays where one was; what came out is beside it.
  await tab("Output").click();
  await sees(/Hello, Ada/);
  await tab("Input and answers").click();
  await sees("Ada");
  await expect.poll(() => page.title()).not.toMatch(/^\(/);
});

test("a question is declined here: the script is told, and decides", async () => {
  const started = await backend.call("start_run", { project, entrypoint: "ask", input: {} });
  await open(`/run/${started.run}`);
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Decline" }).click();
  await stands("Success");
  await tab("Output").click();
  await sees(/Hello, whoever you are/);
});

test("a program runs only with leave, which is given with the whole command in sight", async () => {
  await open(`/project/${project}`);
  await page.getByRole("button", { name: "Run Publish" }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^Run/ }).click();
  await stands("Waiting");
  await sees("Allow this program to run?");
  await sees("/usr/bin/printf");
  await sees("published %s");
  // Enter alone never gives leave.
  await page.keyboard.press("Enter");
  expect(await state().innerText()).toContain("Waiting");
  await page.getByRole("button", { name: "Approve once" }).click();
  await stands("Success");
  await tab("Output").click();
  await sees(/published the page/);
});

test("an entrypoint is run from its form, with the defaults and what was typed, and again with a changed input", async () => {
  await open(`/project/${project}`);
  await page.getByRole("button", { name: "Run Weekly page" }).click();
  const sheet = page.getByRole("dialog");
  const run = sheet.getByRole("button", { name: /^Run/ });
  // Pressed with a fault, it goes to the fault.
  await run.click();
  await sheet.getByText(/1 field needs a change/).waitFor();
  await sheet.getByLabel("Week", { exact: true }).fill("2026-11-25");
  await run.click();
  await stands("Success");
  const first = runOf();
  const shown = (await backend.call("run", { run: first })) as { input: unknown };
  expect(shown.input).toMatchObject({ week: "2026-11-25" });
  await tab("Output").click();
  await sees("Tuesday");
  await tab("Logs").click();
  // What a run prints is text, whatever it looks like.
  await sees("<img src=x onerror=alert(1)> javascript:alert(1)");
  await tab("Diagram").click();
  await sees("Count");
  // Again, edited.
  await page.getByRole("button", { name: "More ways to run again" }).click();
  await page.getByRole("menuitem", { name: "Edit the input first" }).click();
  await expect.poll(() => sheet.getByLabel("Week", { exact: true }).inputValue()).toBe("2026-11-25");
  await sheet.getByLabel("Week", { exact: true }).fill("2026-11-30");
  await page.keyboard.press("Control+Enter");
  await expect.poll(runOf, { timeout: PATIENCE }).not.toBe(first);
  await stands("Success");
  // The two beside each other.
  await open(`/compare?a=${first}&b=${runOf()}`);
  await page.getByRole("region", { name: "Input", exact: true }).getByText("2026-11-25").first().waitFor();
  await page.getByRole("region", { name: "Input", exact: true }).getByText("2026-11-30").first().waitFor();
});

test("a client's run is cancelled here, and its call is told who did it", async () => {
  await open("/");
  const call = client.call("gate", { file: "never" }).catch((error: unknown) => ({ runId: "", isError: true, status: String(error) }));
  await page.locator("section[aria-labelledby='home-running'] a", { hasText: "Gate" }).click();
  await stands("Running");
  await page.keyboard.press("Control+.");
  const ask = page.getByRole("dialog");
  // The safe side has the focus.
  await expect.poll(() => ask.getByRole("button", { name: "Keep running" }).evaluate((one) => one === document.activeElement)).toBe(true);
  await ask.getByRole("button", { name: "Cancel run" }).click();
  await stands("Cancelled");
  const told = await call;
  expect(told.isError).toBe(true);
  const shown = (await backend.call("run", { run: runOf() })) as { run: { cancelReason: string } };
  expect(shown.run.cancelReason).toBe("person");
});

test("runs are found by a word, by a state and by who asked, and the address keeps it", async () => {
  const failed = await client.call("ledger", {});
  expect(failed.isError).toBe(true);
  await open("/runs");
  const box = page.getByRole("searchbox", { name: "Search runs" });
  await box.fill("4711");
  const rows = page.getByRole("grid", { name: "Runs" }).locator("a[href^='#/run/']");
  await expect.poll(() => rows.count(), { timeout: PATIENCE }).toBe(1);
  await sees(/Entry 4711 is not balanced/);
  await box.fill("");
  await box.pressSequentially("status:failed client:claude-code ");
  await page.getByRole("button", { name: "Remove the condition Status" }).waitFor();
  await expect.poll(() => page.url()).toContain("status=failed");
  expect(page.url()).toContain("client=claude-code");
  await expect.poll(() => rows.count(), { timeout: PATIENCE }).toBe(1);
  const address = page.url();
  await rows.first().click();
  await sees("errCode 7");
  await page.goBack();
  expect(page.url()).toBe(address);
  await expect.poll(() => rows.count(), { timeout: PATIENCE }).toBe(1);
});

test("a new run takes its place at the top of the list, and the bars count it", async () => {
  await open("/runs");
  const rows = page.getByRole("grid", { name: "Runs" }).locator("a[href^='#/run/']");
  await rows.first().waitFor();
  const done = await client.call("page", { week: "2026-11-23" });
  await expect.poll(() => rows.first().getAttribute("href"), { timeout: PATIENCE }).toContain(done.runId);
});

test("what the Dock copies, writes and tests is the same, and what was written can be taken back", async () => {
  const before = '{\n  "mcpServers": { "other": { "command": "x" } }\n}\n';
  home.write(".cursor/mcp.json", before);
  await open(`/project/${project}/dock?client=cursor`);
  await page.getByRole("radio", { name: "Snippet" }).click();
  const shown = await page.getByRole("region", { name: "Snippet" }).textContent();
  await page
    .getByRole("button", { name: /^Copy$/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.trim()).toBe(shown?.trim());
  const [server] = Object.values((JSON.parse(copied) as { mcpServers: Record<string, { command: string; args: string[] }> }).mcpServers);
  const other = await Client.start(home, server!.command, server!.args);
  const listed = (await other.request("tools/list", {})) as { tools: { name: string }[] };
  expect(listed.tools.map(({ name }) => name).sort()).toEqual(["ask", "gate", "ledger", "page", "publish"]);
  await other.end();
  // Written, tested by itself, and taken back.
  await page.getByRole("button", { name: "Write to file" }).click();
  await sees("works");
  await page.getByRole("button", { name: "Test again" }).waitFor();
  const written = JSON.parse(home.read(".cursor/mcp.json")) as { mcpServers: Record<string, unknown> };
  expect(Object.values(written.mcpServers)).toContainEqual(expect.objectContaining({ command: server!.command, args: server!.args }));
  expect(written.mcpServers.other).toEqual({ command: "x" });
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => home.read(".cursor/mcp.json")).toBe(before);
});
