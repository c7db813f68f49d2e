import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout, settle } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import type { MockOptions } from "../../host/mock";
import { createSceneHost } from "../run/testing/host";

const PAIR = "/compare?a=20261130-e1ka&b=20261123-5dqe";

async function open(at = PAIR, options: MockOptions = {}) {
  const host = createSceneHost({ ...options, settings: { language: "en", theme: "light", ...options.settings } });
  const rendered = await renderApp({ at, host });
  await expect.poll(() => document.querySelector(".cp")).not.toBeNull();
  return { ...rendered, host };
}
const section = (name: string) => page.getByRole("region", { name, exact: true });
const ready = async () => {
  await expect.element(section("Logs").getByText(/lines differ/)).toBeVisible();
  await settle();
};

describe("comparing", () => {
  test("A is the older one, whichever was named first; swapping turns them round", async () => {
    await open();
    await ready();
    const first = () => document.querySelector('.cp-card[data-side="A"]')?.textContent;
    expect(first()).toContain("20261123-5dqe");
    await page.getByRole("button", { name: "Swap A and B" }).click();
    await expect.poll(first).toContain("20261130-e1ka");
  });
  test("sections count what differs, and show it by words", async () => {
    await open();
    await ready();
    await expect.element(section("Input")).toHaveTextContent("2 of 5 parameters differ");
    expect([...document.querySelectorAll("#cp-input mark")].map((mark) => mark.textContent)).toEqual(["23", "30", "warm", "plain"]);
    await expect.element(section("Timing")).toHaveTextContent("waiting for you left out");
    await expect.element(section("Timing").getByText("+ 41 s")).toBeVisible();
    await expect.element(section("Files")).toHaveTextContent("only in B");
  });
  test("everything is shown when only differences is off", async () => {
    await open();
    await ready();
    const rows = () => document.querySelectorAll("#cp-input .cp-row").length;
    const before = rows();
    await page.getByRole("switch", { name: "Only differences" }).click();
    await expect.poll(rows).toBeGreaterThan(before);
  });
  test("in one column, both sides stand below each other", async () => {
    await open();
    await ready();
    await page.getByRole("radio", { name: "In one column" }).click();
    await expect.poll(() => document.querySelectorAll("#cp-input .cp-row").length).toBeGreaterThan(4);
    expect(document.querySelector("#cp-input .cp-row")?.children).toHaveLength(1);
  });
  test("the other run is chosen by keys alone", async () => {
    const host = createSceneHost({ settings: { language: "en", theme: "light" } });
    const scene = host.scenes["20261123-5dqe"]!;
    const { run } = scene.detail;
    host.scenes["20261122-m0re"] = {
      ...scene,
      detail: { ...scene.detail, run: { ...run, runId: "20261122-m0re", createdAt: run.createdAt - 5_000 } },
    };
    await renderApp({ at: "/compare?a=20261130-e1ka", host });
    await expect.element(page.getByRole("searchbox", { name: "Find a run" })).toHaveFocus();
    await expect.poll(() => document.querySelectorAll(".cp-picker-row").length).toBeGreaterThan(1);
    await userEvent.keyboard("{ArrowDown}");
    await expect.poll(() => document.activeElement?.className).toBe("cp-picker-row");
    const first = document.activeElement?.textContent ?? "";
    // What tells runs of a name apart: when it began, how long it took, who started it.
    expect(first).toMatch(/\d\d:\d\d:\d\d · .+ · .+/);
    await userEvent.keyboard("{ArrowDown}");
    expect(document.activeElement?.textContent).not.toBe(first);
    await userEvent.keyboard("{ArrowUp}{Enter}");
    await expect.poll(() => new URLSearchParams(location.hash.split("?")[1]).get("b")).toBeTruthy();
    expect(first).toContain(new URLSearchParams(location.hash.split("?")[1]).get("b"));
  });
  test("with one run, the other is chosen", async () => {
    await open("/compare?a=20261130-e1ka");
    await page.getByRole("button", { name: /20261123-5dqe/ }).click();
    await expect.poll(() => new URLSearchParams(location.hash.split("?")[1]).get("b")).toBe("20261123-5dqe");
  });
  test("the differences are copied as text", async () => {
    const { host } = await open();
    await ready();
    await page.getByRole("button", { name: "Copy as text" }).click();
    await expect.poll(() => host.copied.at(-1)).toContain('-   tone: "warm"');
  });
  test("keys go to sections, and only the pane scrolls", async () => {
    await open();
    await ready();
    await userEvent.keyboard("5");
    await expect.poll(() => document.querySelector("#cp-logs")?.getBoundingClientRect().top).toBeLessThan(400);
    expect(document.querySelector("#content")?.scrollTop).toBe(0);
    await expect.element(page.getByRole("heading", { level: 1 })).toBeVisible();
  });
  test("hostile text is text", async () => {
    await open("/compare?a=20261130-evil&b=20261130-zz1c");
    await expect
      .element(
        section("Logs")
          .getByText(/differ/)
          .first(),
      )
      .toBeVisible();
    expect(document.querySelectorAll("#content img, #content script")).toHaveLength(0);
    expect(document.querySelector(".cp-body")?.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
});

test.each([
  ["light", "en"],
  ["dark", "zh-CN"],
] as const)(
  "accessible and fitting in %s, %s",
  async (theme, language) => {
    await open(PAIR, { settings: { theme, language } });
    await expect.poll(() => document.querySelectorAll("#cp-logs .cp-row").length).toBeGreaterThan(0);
    await expectAccessible(document.querySelector("#content") ?? document.body);
    await expectGoodLayout(() => document.querySelector("#content") ?? document.body);
  },
  60_000,
);
