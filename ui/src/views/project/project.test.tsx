import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import type { ProjectOverview } from "../../api/contract";
import { createMockHost, type MockHost } from "../../host/mock";

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: "/project/weekly-report", ...options });
  await expect.element(page.getByRole("tab", { name: /Overview|概览/ })).toBeVisible();
  return rendered;
}

/** A host whose answer to one command is changed. */
function withAnswer(name: string, change: (answer: never, request: never) => unknown): MockHost {
  const host = createMockHost({ settings: { language: "en", theme: "light" } });
  const call = host.call.bind(host);
  host.call = (async (asked: string, request: never) => {
    const answer = await call(asked as never, request);
    return asked === name ? change(answer as never, request) : answer;
  }) as typeof host.call;
  return host;
}

test("Health names what the board found, and leads there", async () => {
  await open({ at: "/project/harbor-board/overview" });
  await expect.element(page.getByText("The board has 3 findings")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: "Show", exact: true }));
  await expect.poll(() => location.hash).toBe("#/project/harbor-board/board?part=findings");
});

describe("entrypoints", () => {
  test("each says what it takes; drafts carry a tag; the broken one is last with file, line and message", async () => {
    const { host } = await open();
    const rows = [...document.querySelectorAll(".pj-main .k-panel:first-of-type > li")];
    expect(rows[0]!.textContent).toContain("Weekly page");
    expect(rows[0]!.textContent).toContain("week*date");
    await expect.element(page.getByText("Draft", { exact: true })).toBeVisible();
    const broken = document.querySelector(".pj-broken")!;
    expect(broken.nextElementSibling).toBeNull();
    expect(broken.textContent).toContain("workflows/archive.ts");
    expect(broken.textContent).toContain("line 14: phases must name at least one phase");
    const reveal = vi.spyOn(host, "reveal");
    await userEvent.click(page.getByRole("button", { name: "Show file" }));
    expect(reveal).toHaveBeenCalledWith("/home/ada/work/weekly-report/workflows/archive.ts");
  });

  test("what an AI client starts has no Run anywhere, and leads to the Dock", async () => {
    const { host } = await open({ at: "/project/paper-review" });
    await expect.element(page.getByText("started by an AI client")).toBeVisible();
    await expect.element(page.getByText("1 offered to AI clients")).toBeVisible();
    expect(page.getByRole("button", { name: /^Run Review/ }).elements()).toEqual([]);
    await userEvent.keyboard("r");
    expect(page.getByRole("dialog").elements()).toEqual([]);
    await userEvent.click(page.getByRole("button", { name: "Connect a client" }));
    await expect.poll(() => location.hash).toBe("#/project/paper-review/dock");
    expect(host.calls.some(({ name }) => name === "start_run")).toBe(false);
  });

  test("the row leads to its runs, a bar to one run, Run to the form", async () => {
    const { host } = await open();
    const overview = await host.call("project_overview", { project: "weekly-report" });
    const last = overview.entrypoints[0]!.recent.at(-1)!;
    await expect.element(page.getByRole("group", { name: "Last runs of Weekly page" })).toBeVisible();
    const links = document.querySelectorAll<HTMLAnchorElement>(".pj-bars")[0]!.querySelectorAll("a");
    expect(links.length).toBe(overview.entrypoints[0]!.recent.length);
    expect(links[links.length - 1]!.getAttribute("href")).toBe(`#/run/${last.runId}`);
    await userEvent.click(page.getByText("The page for one week, with highlights and open points"));
    await expect.poll(() => location.hash).toBe("#/runs?project=weekly-report&entrypoint=weekly-page");
    history.back();
    await userEvent.click(page.getByRole("button", { name: "Run Convert" }));
    await expect.element(page.getByRole("dialog", { name: /Run Convert/ })).toBeVisible();
  });

  test("twenty bars are one stop for Tab", async () => {
    await open();
    await expect.element(page.getByRole("group", { name: "Last runs of Weekly page" })).toBeVisible();
    const links = [...document.querySelectorAll<HTMLAnchorElement>(".pj-bars")[0]!.querySelectorAll("a")];
    expect(links.filter((link) => link.tabIndex === 0)).toHaveLength(1);
    links.at(-1)!.focus();
    await userEvent.keyboard("{ArrowLeft}");
    expect(document.activeElement).toBe(links.at(-2));
  });
});

describe("health", () => {
  test("a finding goes only when the new check says so", async () => {
    let left = true;
    const host = withAnswer("mend_finding", (answer: { findings: unknown[] }) =>
      left ? { findings: [{ id: "env-missing", severity: "error", title: "SHOP_TOKEN is not set", mend: { label: "Add it to .env" } }] } : answer,
    );
    await open({ at: "/project/price-watch", host });
    await userEvent.click(page.getByRole("button", { name: "Add it to .env" }));
    await expect.element(page.getByText("Still so after a new check").first()).toBeVisible();
    await expect.element(page.getByText("SHOP_TOKEN is not set")).toBeVisible();
    left = false;
    await userEvent.click(page.getByRole("button", { name: "Add it to .env" }));
    await expect.poll(() => document.querySelector(".pj-aside")!.textContent).not.toContain("SHOP_TOKEN is not set");
  });

  test("errors come before warnings; without any it says so", async () => {
    const { unmount } = await open({ at: "/project/price-watch" });
    const findings = [...document.querySelectorAll(".pj-finding")].map((one) => one.textContent);
    expect(findings[0]).toContain("SHOP_TOKEN");
    expect(findings[1]).toContain("No provider");
    await unmount();
    await open({ at: "/project/house-style" });
    await expect.element(page.getByText("Everything is in order")).toBeVisible();
  });
});

describe("relations", () => {
  test("say which side is missing and can be confirmed, ended, made", async () => {
    const host = withAnswer("project_overview", (answer: ProjectOverview) => ({
      ...answer,
      relations: [
        { alias: "style", other: "house-style", otherTitle: "House style", here: true, there: true },
        { alias: "notes", other: "release-notes", otherTitle: "Release notes", here: true, there: false },
        { alias: "books", other: "invoice-intake", otherTitle: "Invoice intake", here: false, there: true },
      ],
    }));
    await open({ host });
    await expect.element(page.getByText("both sides")).toBeVisible();
    await expect.element(page.getByText("waits for the other side")).toBeVisible();
    await userEvent.click(page.getByRole("button", { name: "Confirm there" }));
    await expect
      .poll(() => host.calls.find(({ name }) => name === "relate")?.request)
      .toEqual({ project: "release-notes", alias: "notes", other: "weekly-report" });
    await userEvent.click(page.getByRole("button", { name: "Confirm here" }));
    await expect
      .poll(() => host.calls.filter(({ name }) => name === "relate")[1]?.request)
      .toEqual({ project: "weekly-report", alias: "books", other: "invoice-intake" });
    await userEvent.click(page.getByRole("button", { name: "End the relation style" }));
    await expect.element(page.getByRole("button", { name: "Keep", exact: true })).toHaveFocus();
    await userEvent.click(page.getByRole("button", { name: "End relation", exact: true }));
    await expect.poll(() => host.calls.find(({ name }) => name === "unrelate")?.request).toEqual({ project: "weekly-report", alias: "style" });
  });
});

describe("settings", () => {
  test("names of the environment, never values; patterns, provider and limits are kept at once", async () => {
    const { host } = await open({ at: "/project/weekly-report/settings" });
    await expect.element(page.getByText("TRACKER_TOKEN")).toBeVisible();
    await expect.element(page.getByText("not set", { exact: true })).toBeVisible();
    await userEvent.click(page.getByRole("textbox", { name: "Commands that run without asking" }));
    await userEvent.keyboard("git status*{Enter}");
    await expect
      .poll(() => host.calls.find(({ name }) => name === "set_project_settings")?.request)
      .toEqual({ project: "weekly-report", allowExec: ["gh pr list *", "git status*"] });
    await page.getByRole("spinbutton", { name: "Keep at most" }).fill("x");
    await userEvent.keyboard("{Tab}");
    expect(host.calls.filter(({ name }) => name === "set_project_settings")).toHaveLength(1);
    await page.getByRole("spinbutton", { name: "Keep at most" }).fill("500");
    await userEvent.keyboard("{Tab}");
    await expect
      .poll(() => host.calls.filter(({ name }) => name === "set_project_settings")[1]?.request)
      .toEqual({ project: "weekly-report", retention: { days: 90, runs: 500 } });
  });

  test("removing asks first, keeps the runs, and only purges when told", async () => {
    const { host } = await open({ at: "/project/house-style/settings" });
    await userEvent.click(page.getByRole("button", { name: "Remove…" }));
    await expect.element(page.getByText("Its files and its runs stay.", { exact: false })).toBeVisible();
    await expect.element(page.getByRole("button", { name: "Keep", exact: true })).toHaveFocus();
    await userEvent.click(page.getByRole("checkbox", { name: "Delete its runs as well" }));
    await expect.element(page.getByRole("button", { name: "Remove and delete runs" })).toBeVisible();
    await userEvent.click(page.getByRole("checkbox", { name: "Delete its runs as well" }));
    await userEvent.click(page.getByRole("button", { name: "Remove", exact: true }));
    await expect.poll(() => host.calls.find(({ name }) => name === "project_remove")?.request).toEqual({ project: "house-style", purge: false });
    await expect.poll(() => location.hash).toBe("#/");
  });
});

describe("when something is missing", () => {
  test("the folder is gone: says so, offers to look again and to remove; Run says why it can't", async () => {
    const host = withAnswer("project_overview", (answer: ProjectOverview) => ({ ...answer, project: { ...answer.project, missing: true } }));
    await open({ host });
    await expect.element(page.getByText("The folder is not there")).toBeVisible();
    await expect.element(page.getByRole("button", { name: /^Run/ })).toHaveAttribute("aria-disabled", "true");
    await expect.element(page.getByRole("button", { name: "Check again" })).toBeVisible();
  });

  test("an error is shown in place and can be tried again", async () => {
    const host = createMockHost({ settings: { language: "en", theme: "light" } });
    host.fail("project_overview", { code: "project_broken", message: "package.json: unexpected end of file" });
    await renderApp({ at: "/project/weekly-report", host });
    await expect.element(page.getByRole("main").getByRole("alert")).toHaveTextContent("package.json: unexpected end of file");
    host.fail("project_overview", null);
    await userEvent.click(page.getByRole("main").getByRole("button", { name: "Try again" }));
    await expect.element(page.getByRole("tab", { name: /Overview/ })).toBeVisible();
  });

  test("a slow answer shows the frame with grey bars", async () => {
    await renderApp({ at: "/project/weekly-report", delay: 600 });
    await expect.poll(() => document.querySelectorAll(".app-main .k-bone").length).toBeGreaterThan(3);
    await expect.element(page.getByRole("tab", { name: /Overview/ })).toBeVisible();
  });
});

test("names from a project are text", async () => {
  const evil = '<img src=x onerror="window.__evil=1">\u202E';
  const host = withAnswer("project_overview", (answer: ProjectOverview) => ({
    ...answer,
    description: evil,
    project: { ...answer.project, title: evil, path: `/home/${evil}` },
    warnings: [evil],
    findings: [{ id: "a", severity: "error", title: evil, detail: evil, mend: { label: evil } }],
    relations: [{ alias: evil, other: "x", otherTitle: evil, here: true, there: false }],
    entrypoints: answer.entrypoints.map((row) => ({
      ...row,
      title: evil,
      description: evil,
      ...(row.error ? { error: { message: evil, file: evil } } : {}),
    })),
    clients: answer.clients.map((client) => ({ ...client, name: evil, state: "differs" as const })),
  }));
  await open({ host });
  expect(document.querySelectorAll(".app-main img")).toHaveLength(0);
  expect(document.querySelector(".app-main")!.textContent).not.toContain("\u202E");
  expect("__evil" in window).toBe(false);
});

test("the list of runs of a project draws only what is on screen", async () => {
  await open({ at: "/project/weekly-report/runs", runs: 10_000 });
  await expect.element(page.getByRole("list", { name: "Runs" })).toBeVisible();
  expect(document.querySelectorAll(".pj-runs-row").length).toBeGreaterThan(10);
  expect(document.querySelectorAll(".pj-runs-row").length).toBeLessThan(60);
});

describe("looks", () => {
  test.each([
    ["overview", "light"],
    ["runs", "light"],
    ["settings", "light"],
    ["overview", "dark"],
    ["settings", "dark"],
  ] as const)("%s is accessible, %s", async (tab, theme) => {
    await open({ at: `/project/weekly-report/${tab}`, settings: { theme, language: "en" } });
    await expect.poll(() => document.querySelectorAll(".k-tab-panel .k-panel").length).toBeGreaterThan(0);
    await expectAccessible();
  });

  test.each([
    ["overview", "en"],
    ["runs", "en"],
    ["settings", "en"],
    ["overview", "zh-CN"],
    ["settings", "zh-CN"],
  ] as const)("%s keeps to the window at every size, %s", async (tab, language) => {
    await open({ at: `/project/weekly-report/${tab}`, settings: { language } });
    await expect.poll(() => document.querySelectorAll(".k-tab-panel .k-panel").length).toBeGreaterThan(0);
    await expectGoodLayout();
  });
});

test("runs that begin while the list is scrolled don't move it; a pill says how many", async () => {
  const { host } = await open({ at: "/project/weekly-report/runs", runs: 2000 });
  await expect.element(page.getByRole("list", { name: "Runs" })).toBeVisible();
  const list = document.querySelector(".pj-runs-list")!;
  list.scrollTop = 740;
  await expect.poll(() => list.scrollTop).toBe(740);
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const seen = () => {
    const middle = list.getBoundingClientRect().top + 200;
    return [...document.querySelectorAll(".pj-runs-row")].find((row) => row.getBoundingClientRect().bottom > middle)?.textContent;
  };
  const before = seen();
  host.add();
  host.add();
  await expect.element(page.getByRole("button", { name: "2 new" })).toBeVisible();
  expect(seen()).toBe(before);
  await userEvent.click(page.getByRole("button", { name: "2 new" }));
  await expect.element(page.getByRole("button", { name: "2 new" })).not.toBeInTheDocument();
});
