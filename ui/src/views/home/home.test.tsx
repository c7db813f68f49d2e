import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";

const rows = () => page.getByRole("main").getByRole("link");

test("the oldest question is first, and the row is the question", async () => {
  await renderApp();
  await expect.element(page.getByRole("heading", { name: "Waiting for you" })).toBeVisible();
  const names = page.getByText(/asked /);
  await expect.element(names.first()).toBeVisible();
  await expect.element(rows().filter({ hasText: "Which account takes the difference" })).toBeVisible();
  const all = [...document.querySelectorAll(".home-wait-title")].map((title) => title.textContent);
  expect(all[0]).toContain("Which account takes");
  expect(all[2]).toContain("Which tone");
});

test.each(["en", "zh-CN"] as const)("columns of the three lists stand under each other, %s", async (language) => {
  await renderApp({ settings: { language } });
  await expect.poll(() => document.querySelectorAll(".home-row-recent").length).toBeGreaterThan(2);
  const lefts = (what: string) => new Set([...document.querySelectorAll(what)].map((cell) => Math.round(cell.getBoundingClientRect().left)));
  expect([...lefts(".home-from")]).toHaveLength(1);
  expect([...lefts(".home-time, .home-progress, .home-life")]).toHaveLength(1);
});

test("how long a call stays open is as high as its row's other words", async () => {
  await renderApp();
  await expect.poll(() => document.querySelector(".home-left")).not.toBeNull();
  const middle = (element: Element | null | undefined) => {
    const box = element!.getBoundingClientRect();
    return (box.top + box.bottom) / 2;
  };
  const left = document.querySelector(".home-left");
  expect(Math.abs(middle(left) - middle(left?.closest(".home-wait")?.querySelector(".home-from")))).toBeLessThanOrEqual(0.5);
});

test("an approval is never decided here: it says Review and leads to the question", async () => {
  await renderApp();
  const row = rows().filter({ hasText: "gh release create v4.2.0" });
  await expect.element(row).toHaveTextContent("Review");
  await row.click();
  expect(location.hash).toMatch(/^#\/run\/\d{8}-9xwd\/question$/);
});

test("J and K walk all rows, Enter opens", async () => {
  await renderApp();
  await expect.element(rows().first()).toBeVisible();
  await userEvent.keyboard("jjjj");
  expect(document.activeElement?.textContent).toContain("Read invoices");
  await userEvent.keyboard("k");
  expect(document.activeElement?.textContent).toContain("Which tone");
  await userEvent.keyboard("{Enter}");
  expect(location.hash).toMatch(/-k7mq\/question$/);
});

test("Enter without any focus answers the oldest question", async () => {
  await renderApp();
  await expect.element(rows().first()).toBeVisible();
  await userEvent.keyboard("{Enter}");
  expect(location.hash).toMatch(/-t3ab\/question$/);
});

test("a change comes in place, the focus and the row stay", async () => {
  const { host } = await renderApp();
  await expect.element(rows().first()).toBeVisible();
  const running = document.querySelector<HTMLElement>(".home-row-running .home-name");
  running?.focus();
  const run = host.rows().find(({ runId }) => runId.endsWith("m2xa"));
  host.update(run?.runId ?? "", { progress: { done: 47, total: 48 } });
  await expect.element(page.getByText("47 of 48")).toBeVisible();
  expect(document.activeElement).toBe(running);
});

test("cancelling asks first, and its default is the safe side", async () => {
  const { host } = await renderApp();
  await page.getByRole("button", { name: "Cancel" }).first().click();
  await expect.element(page.getByRole("button", { name: "Keep running" })).toHaveFocus();
  await userEvent.keyboard("{Enter}");
  expect(host.calls.some(({ name }) => name === "cancel_run")).toBe(false);
  await page.getByRole("button", { name: "Cancel" }).first().click();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect.poll(() => host.calls.filter(({ name }) => name === "cancel_run").length).toBe(1);
  await expect.element(page.getByText("Cancelled Read invoices")).toBeInTheDocument();
});

test("nothing waits: one line", async () => {
  await renderApp({ calm: true });
  await expect.element(page.getByText("Nothing waits for you")).toBeVisible();
  expect(document.querySelector(".home-waits")).toBeNull();
});

test("when the store goes away, what is here stays beside the error", async () => {
  const { host } = await renderApp();
  await expect.element(page.getByRole("heading", { name: "Waiting for you" })).toBeVisible();
  host.fail("home", { code: "store_unavailable", message: "unable to open database file" });
  host.emit({ all: true });
  await expect.element(page.getByRole("alert")).toHaveTextContent("store_unavailable");
  await expect.element(page.getByRole("heading", { name: "Waiting for you" })).toBeVisible();
});

test("an error at the start is shown where the data would be", async () => {
  const { host } = await renderApp({ broken: true });
  await expect.element(page.getByRole("alert")).toHaveTextContent("unable to open database file");
  await expect.element(page.getByRole("alert")).toHaveTextContent("store_unavailable");
  await expect.element(page.getByRole("button", { name: /Not live/ })).toBeVisible();
  expect(host.calls.filter(({ name }) => name === "home").length).toBe(1);
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await expect.poll(() => host.calls.filter(({ name }) => name === "home").length).toBe(2);
});

test("the first steps that are open stay as one line until it is put away", async () => {
  const { host } = await renderApp({ empty: true });
  await host.call("project_add", { path: "/home/ada/work/fresh" });
  host.emit({ projects: ["fresh"] });
  const line = page.getByRole("region", { name: "First steps" });
  await expect.element(line).toHaveTextContent("run an entrypoint");
  await page.getByRole("button", { name: "Put this line away" }).click();
  await expect.poll(() => document.querySelector(".home-steps")).toBeNull();
  expect(host.calls.find(({ name }) => name === "set_settings")?.request).toEqual({ settings: { dismissed: ["first-steps"] } });
});

test("hostile names are text", async () => {
  await renderApp({ hostile: true });
  await expect.element(page.getByText('<img src=x onerror="alert(1)">')).toBeVisible();
  expect(document.querySelector("main img")).toBeNull();
  expect(document.querySelector("main")?.textContent).toContain("\\u202e");
  expect(document.querySelector("main")?.textContent).not.toContain("\u202E");
});

test.each([
  ["light", "en"],
  ["dark", "en"],
  ["light", "zh-CN"],
] as const)("accessible in %s, %s", async (theme, language) => {
  await renderApp({ settings: { theme, language } });
  await expect.element(rows().first()).toBeVisible();
  await expectAccessible();
});

test.each(["en", "zh-CN"] as const)("fits in every size, %s", async (language) => {
  await renderApp({ hostile: true, settings: { language } });
  await expect.element(rows().first()).toBeVisible();
  await expectGoodLayout();
});

test("more wait and run than the store gives: how many is said, and where they all are", async () => {
  const { host } = await renderApp({ live: 0 });
  await expect.element(rows().first()).toBeVisible();
  const call = host.call;
  host.call = async (name, request) => {
    const answer = await call(name, request);
    if (name === "home") Object.assign((answer as { today: object }).today, { waiting: 1_300, running: 70 });
    return answer;
  };
  host.emit({ all: true });
  await expect.poll(() => document.querySelector('[aria-labelledby="home-running"] .k-num')?.textContent).toBe("70");
  await page.getByRole("button", { name: "All 1,300 that wait" }).click();
  await expect.poll(() => location.hash).toBe("#/runs?status=waiting_for_input");
});
