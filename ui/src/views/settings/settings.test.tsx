import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import type { ConnectionStatus } from "../../api/contract";
import { createMockHost } from "../../host/mock";
import { urlFault } from "./Connection";

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: "/settings", ...options });
  await expect.element(page.getByRole("heading", { name: /^(Settings|设置)$/ })).toBeVisible();
  return rendered;
}
const changes = (host: { calls: { name: string; request: unknown }[] }) =>
  host.calls.filter(({ name }) => name === "set_settings").map(({ request }) => (request as { settings: unknown }).settings);

describe("applied at once", () => {
  test("theme, text size, language", async () => {
    const { host } = await open();
    await userEvent.click(page.getByRole("radio", { name: "Dark" }));
    await expect.poll(() => document.documentElement.dataset.theme).toBe("dark");
    await userEvent.click(page.getByRole("radio", { name: "125 %" }));
    await expect.poll(() => document.documentElement.style.fontSize).toBe("20px");
    await userEvent.click(page.getByRole("radio", { name: "简体中文" }));
    await expect.element(page.getByRole("heading", { name: "外观" })).toBeVisible();
    expect(document.documentElement.lang).toBe("zh-CN");
    expect(changes(host)).toEqual([{ theme: "dark" }, { textSize: 125 }, { language: "zh-CN" }]);
  });

  test("a setting that isn't kept goes back and says why", async () => {
    const { host } = await open();
    host.fail("set_settings", { code: "disk_full", message: "No space left." });
    await userEvent.click(page.getByRole("switch", { name: "A run failed" }));
    await expect.element(page.getByText("The disk is full", { exact: false }).first()).toBeVisible();
    await expect.element(page.getByRole("switch", { name: "A run failed" })).toBeChecked();
  });

  test("notifications and single keys", async () => {
    const { host } = await open();
    await userEvent.click(page.getByRole("switch", { name: "A run is done" }));
    await userEvent.click(page.getByRole("switch", { name: "Single letters as keys" }));
    expect(changes(host)).toEqual([{ notify: { waits: true, failed: true, interrupted: true, finished: true } }, { singleKeys: false }]);
  });

  test("how long runs stay", async () => {
    const { host } = await open();
    await userEvent.click(page.getByRole("combobox", { name: /Keep runs for/ }));
    await userEvent.click(page.getByRole("option", { name: "1 year" }));
    await page.getByRole("spinbutton", { name: "Use at most" }).fill("2000");
    await userEvent.keyboard("{Tab}");
    await expect.poll(() => changes(host)).toEqual([{ retention: { days: 365 } }, { retention: { days: 365, megabytes: 2000 } }]);
    await expect.element(page.getByText(/of 2 GB/)).toBeVisible();
    await userEvent.click(page.getByRole("combobox", { name: /Give up waiting runs after/ }));
    await userEvent.click(page.getByRole("option", { name: "7 days" }));
    await expect.poll(() => changes(host).at(-1)).toEqual({ waitDays: 7 });
  });
});

describe("space", () => {
  test("says what pruning would free before it does, and asks", async () => {
    const { host } = await open();
    await userEvent.click(page.getByRole("button", { name: /^Free/ }).first());
    await expect.element(page.getByText(/^Delete .* runs? and free/)).toBeVisible();
    await expect.element(page.getByRole("button", { name: "Keep them" })).toHaveFocus();
    expect(host.calls.some(({ name }) => name === "prune")).toBe(false);
    await userEvent.click(page.getByRole("button", { name: "Delete runs" }));
    await expect.poll(() => host.calls.find(({ name }) => name === "prune")?.request).toMatchObject({ project: expect.any(String) });
    await expect.element(page.getByText(/^Deleted .* freed/).first()).toBeVisible();
  });
});

describe("connection", () => {
  test("an address has to be https, or http on this computer", () => {
    expect(urlFault("https://flows.example.org")).toBeUndefined();
    expect(urlFault("http://127.0.0.1:8080")).toBeUndefined();
    expect(urlFault("http://flows.example.org")).toBe("scheme");
    expect(urlFault("javascript:alert(1)")).toBe("scheme");
    expect(urlFault("flows.example.org")).toBe("form");
    expect(urlFault(" ")).toBe("empty");
  });

  test("signing in sends the pair, forgets the key in the page; signing out asks", async () => {
    const { host } = await open();
    await page.getByLabelText("Server", { exact: true }).fill("https://flows.example.org");
    await page.getByLabelText("Admin key", { exact: true }).fill("k-123");
    await userEvent.click(page.getByRole("button", { name: "Sign in" }));
    await expect
      .poll(() => host.calls.find(({ name }) => name === "connection_login")?.request)
      .toEqual({ url: "https://flows.example.org", key: "k-123", store: "keyring" });
    await expect.element(page.getByText("Signed in to flows.example.org").first()).toBeVisible();
    expect(document.body.innerHTML).not.toContain("k-123");
    expect(JSON.stringify(localStorage)).not.toContain("k-123");
    await userEvent.click(page.getByRole("button", { name: "Sign out" }));
    expect(host.calls.some(({ name }) => name === "connection_logout")).toBe(false);
    await userEvent.click(page.getByRole("button", { name: "Sign out" }).last());
    await expect.poll(() => host.calls.some(({ name }) => name === "connection_logout")).toBe(true);
    await expect.element(page.getByLabelText("Server", { exact: true })).toBeVisible();
  });

  test.each([
    ["locked", "keyring", "The keyring is locked"],
    ["no_service", "none", "This computer has no keyring service"],
    ["failed", "file", "The connection does not work"],
  ] as const)("%s has its own words and glyph", async (state, source, words) => {
    const host = createMockHost({ settings: { language: "en", theme: "light" } });
    const call = host.call.bind(host);
    const status: ConnectionStatus = { state, source, url: "https://x.example", message: "because <b>" };
    host.call = ((name: string, request: never) =>
      name === "connection" ? Promise.resolve(status) : call(name as never, request)) as typeof host.call;
    await open({ host });
    await expect.element(page.getByText(words)).toBeVisible();
    await expect.element(page.getByText("because <b>", { exact: false })).toBeVisible();
  });
});

describe("finding", () => {
  test("marks what matches and scrolls there; the list itself stays whole", async () => {
    await open();
    const all = document.querySelectorAll("[data-setting]").length;
    await page.getByRole("searchbox", { name: "Find a setting" }).fill("single");
    await expect.poll(() => document.querySelectorAll("[data-found]").length).toBe(1);
    expect(document.querySelectorAll("[data-setting]").length).toBe(all);
    const row = document.querySelector("[data-found]")!.getBoundingClientRect();
    expect(row.top).toBeGreaterThan(40);
    expect(row.bottom).toBeLessThan(820);
    await userEvent.keyboard("{Enter}");
    await expect.element(page.getByRole("switch", { name: "Single letters as keys" })).toHaveFocus();
  });

  test("a section of the address is scrolled to, the window itself is not", async () => {
    await open({ at: "/settings?section=about" });
    await expect.poll(() => document.querySelector("#settings-about")!.getBoundingClientRect().top).toBeLessThan(500);
    expect(document.querySelector(".app-main")!.scrollTop).toBe(0);
    expect(document.querySelector(".app")!.getBoundingClientRect().top).toBe(0);
  });
});

describe("sections", () => {
  test("Retention of the runs leads to the space that is used", async () => {
    await renderApp({ at: "/runs" });
    await userEvent.click(page.getByRole("button", { name: "Retention" }));
    await expect.element(page.getByRole("button", { name: "History and space" })).toHaveAttribute("aria-current", "true");
    await expect.poll(() => document.querySelector("#settings-space")!.getBoundingClientRect().top).toBeLessThan(200);
  });

  test("the list of sections follows what is scrolled to", async () => {
    await open();
    const scroller = document.querySelector(".st-scroll")!;
    const current = () => document.querySelector(".st-nav [aria-current]")?.textContent;
    expect(current()).toBe("Appearance");
    const space = document.querySelector('[data-section="space"]')!;
    scroller.scrollTop += space.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    await expect.poll(current).toBe("History and space");
    scroller.scrollTop = 0;
    await expect.poll(current).toBe("Appearance");
  });
});

describe("looks", () => {
  test.each(["light", "dark"] as const)("accessible, %s", async (theme) => {
    await open({ settings: { theme, language: "en" } });
    await expect.element(page.getByRole("list", { name: "Space by project" })).toBeInTheDocument();
    await expectAccessible();
  });
  test.each(["en", "zh-CN"] as const)("keeps to the window at every size, %s", async (language) => {
    await open({ settings: { language } });
    await expectGoodLayout();
  });
});
