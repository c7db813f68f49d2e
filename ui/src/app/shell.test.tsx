import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../tests/axe";
import { settle } from "../../tests/layout";
import { layoutFaults } from "../../tests/layoutFaults";
import { renderApp, renderIn } from "../../tests/render";
import { currentActions } from "./actions";
import { useFileDrops } from "./DropOverlay";
import { ErrorBoundary } from "./ErrorBoundary";
import { keyOf, strokesOf } from "./keyboard";
import { useSettings } from "./settings";
import { address, navigate, parseAddress, setParams } from "./router";

const nav = () => page.getByRole("navigation", { name: "Sidebar" });
const hash = () => location.hash;

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp(options);
  await expect.element(nav()).toBeVisible();
  await expect.element(nav().getByRole("link", { name: /Weekly report/ })).toBeVisible();
  return rendered;
}

describe("addresses", () => {
  test("segments and parameters, also odd ones", () => {
    const made = address(["project", "a/b ü", "dock"], { q: "x & y", none: undefined, empty: "" });
    expect(made).toBe("/project/a%2Fb%20%C3%BC/dock?q=x+%26+y");
    const read = parseAddress(`#${made}`);
    expect(read.segments).toEqual(["project", "a/b ü", "dock"]);
    expect(read.search.get("q")).toBe("x & y");
    expect(parseAddress("#/%E0%A4%A").segments).toEqual(["%E0%A4%A"]);
    expect(parseAddress("").path).toBe("/");
  });

  test("parameters add up and leave no step behind", () => {
    const steps = history.length;
    setParams({ a: 1 });
    setParams({ b: "2" });
    setParams({ a: null });
    expect(hash()).toBe("#/?b=2");
    expect(history.length).toBe(steps);
  });

  test("an unknown address is Home", async () => {
    await open({ at: "/nowhere/at/all" });
    await expect.element(page.getByRole("heading", { name: "Home" })).toBeVisible();
  });
});

describe("keys", () => {
  const key = (init: KeyboardEventInit) => keyOf(new KeyboardEvent("keydown", init));
  test("are named as the design writes them", () => {
    expect(key({ key: "k", ctrlKey: true })).toBe("Ctrl K");
    expect(key({ key: "k", metaKey: true })).toBe("Ctrl K");
    expect(key({ key: "X", shiftKey: true })).toBe("Shift X");
    expect(key({ key: "?", shiftKey: true })).toBe("?");
    expect(key({ key: "ArrowUp", altKey: true })).toBe("Alt ↑");
    expect(key({ key: "ArrowLeft", shiftKey: true })).toBe("Shift ←");
    expect(strokesOf("G H")).toEqual(["G", "H"]);
    expect(strokesOf("Shift X")).toEqual(["Shift X"]);
    expect(strokesOf("Alt ↑")).toEqual(["Alt ↑"]);
  });

  test("G R goes to Runs, G 2 to the second project, G H home", async () => {
    await open();
    await userEvent.keyboard("gr");
    await expect.poll(hash).toBe("#/runs");
    await userEvent.keyboard("g2");
    await expect.poll(hash).toBe("#/project/invoice-intake");
    await userEvent.keyboard("gh");
    await expect.poll(hash).toBe("#/");
  });

  test("are typed into a field that has the focus", async () => {
    await open({ at: "/runs" });
    await userEvent.click(page.getByRole("searchbox"));
    await userEvent.keyboard("gh?");
    expect(hash()).toMatch(/^#\/runs/);
    await expect.element(page.getByRole("searchbox")).toHaveValue("gh?");
  });

  test("single letters can be turned off; Ctrl keys and arrows stay", async () => {
    await open({ settings: { singleKeys: false } });
    await userEvent.keyboard("gr");
    expect(hash()).toBe("#/");
    await userEvent.keyboard("{Control>},{/Control}");
    await expect.poll(hash).toBe("#/settings");
  });

  test("? lists what the view can do, from the list that the keyboard uses", async () => {
    await open({ at: "/runs" });
    await expect.element(page.getByRole("grid")).toBeVisible();
    await userEvent.keyboard("?");
    const sheet = page.getByRole("dialog", { name: "Keys" });
    await expect.element(sheet).toBeVisible();
    for (const { title, keys } of currentActions()) expect(sheet.element().textContent, `${keys}`).toContain(title);
    await userEvent.keyboard("{Escape}");
    await expect.poll(() => document.querySelector('[role="dialog"]')).toBeNull();
  });

  test("keys of the view are quiet while a dialog is open", async () => {
    await open();
    await userEvent.keyboard("?");
    await expect.element(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
    await userEvent.keyboard("r");
    await settle();
    expect(document.querySelectorAll('[role="dialog"]').length).toBe(1);
  });

  test.each(["/", "/runs", "/project/weekly-report", "/project/weekly-report/dock", "/project/harbor-board/board", "/settings"])(
    "no two actions of one moment share a key: %s",
    async (at) => {
      await open({ at });
      await expect.poll(() => document.querySelector('main [aria-busy="true"], main .k-bone')).toBeNull();
      await expect.poll(() => currentActions().length).toBeGreaterThan(8);
      if (at === "/runs") await userEvent.keyboard("j");
      const keys = currentActions().map(({ keys }) => keys);
      expect(keys.filter((one, index) => keys.indexOf(one) !== index)).toEqual([]);
    },
  );

  test("Alt arrows go back and forward", async () => {
    await open();
    navigate("/runs");
    await expect.element(page.getByRole("grid")).toBeVisible();
    await userEvent.keyboard("{Alt>}{ArrowLeft}{/Alt}");
    await expect.poll(hash).toBe("#/");
    await userEvent.keyboard("{Alt>}{ArrowRight}{/Alt}");
    await expect.poll(hash).toBe("#/runs");
  });
});

describe("sidebar", () => {
  test("shows what waits, also in the window's title", async () => {
    const { host } = await open();
    await expect.element(nav().getByRole("link", { name: /Home.*3 waiting/ })).toBeVisible();
    await expect.poll(() => host.title).toBe("(3) Home – Workflow Code");
    const waiting = host.rows().find(({ status }) => status === "waiting_for_input");
    host.update(waiting?.runId ?? "", { status: "success" });
    await expect.poll(() => host.title).toBe("(2) Home – Workflow Code");
  });

  test("a project's mark is the first thing that holds", async () => {
    await open();
    await expect.element(nav().getByRole("link", { name: /Invoice intake.*1 waiting/ })).toBeVisible();
    await expect.element(nav().getByRole("link", { name: /Price watch.*something to look at/ })).toBeVisible();
  });

  test("is one tab stop, with arrows inside", async () => {
    await open();
    const stops = () => [...document.querySelectorAll<HTMLElement>("nav [data-roving]")].filter(({ tabIndex }) => tabIndex === 0);
    expect(stops().length).toBe(1);
    stops()[0]?.focus();
    await userEvent.keyboard("{ArrowDown}");
    expect(document.activeElement?.textContent).toContain("Runs");
    await userEvent.keyboard("{End}");
    expect(document.activeElement?.textContent).toContain("Live");
    expect(stops().length).toBe(1);
  });

  test("is a rail below 1024 px, and at 200 % text", async () => {
    await open({ width: 1000 });
    await expect.poll(() => document.querySelector(".app-side-rail")).not.toBeNull();
    await page.viewport(1280, 820);
    await expect.poll(() => document.querySelector(".app-side-rail")).toBeNull();
    document.documentElement.style.fontSize = "32px";
    await expect.poll(() => document.querySelector(".app-side-rail")).not.toBeNull();
    expect(layoutFaults()).toEqual([]);
    // Every link of the rail has a name.
    for (const link of document.querySelectorAll("nav a")) expect(link.getAttribute("aria-label")).toBeTruthy();
  });

  test("folds and stays folded", async () => {
    const { unmount } = await open();
    await userEvent.keyboard("{Control>}\\{/Control}");
    await expect.poll(() => document.querySelector(".app-side-rail")).not.toBeNull();
    await unmount();
    await renderApp();
    await expect.poll(() => document.querySelector(".app-side-rail")).not.toBeNull();
  });

  test("the skip link leads to the content", async () => {
    await open();
    (document.querySelector(".app-skip") as HTMLElement).click();
    expect(document.activeElement?.tagName).toBe("MAIN");
  });
});

describe("a long registry", () => {
  test("the sidebar lists the last used and the open one; the palette finds the others", async () => {
    await open({ projects: 10_000, at: "/project/other-9000" });
    await expect.element(nav().getByRole("link", { name: "Other project 9000" })).toHaveAttribute("aria-current", "page");
    expect(
      nav()
        .getByRole("link", { name: /project/i })
        .elements().length,
    ).toBeLessThan(40);
    await userEvent.click(nav().getByRole("button", { name: /^All 10,0\d\d projects$/ }));
    await userEvent.keyboard("project 7777");
    await userEvent.click(page.getByRole("option", { name: /Other project 7777/ }));
    await expect.poll(hash).toBe("#/project/other-7777");
  });

  test("the window itself never scrolls, whatever lies hidden in a list", async () => {
    const { container } = await open({ projects: 10_000, height: 480 });
    container.id = "root";
    await expect.element(nav().getByRole("button", { name: /^All 10,0/ })).toBeInTheDocument();
    for (const element of [document.documentElement, document.body, container]) {
      element.scrollTop = 100;
      expect(element.scrollTop).toBe(0);
    }
    container.removeAttribute("id");
  });

  test("filters offer the last used", async () => {
    await open({ projects: 10_000, at: "/runs" });
    await userEvent.click(page.getByRole("button", { name: /^Project/ }));
    await expect.element(page.getByText(/type project:NAME/)).toBeVisible();
    expect(page.getByRole("menuitem").elements().length).toBeLessThan(40);
  });
});

describe("live", () => {
  test("tells when the last change came", async () => {
    const { host } = await open();
    host.add();
    await expect.element(nav().getByText(/changed \d\d:\d\d:\d\d/)).toBeVisible();
  });

  test("a feed that went silent is noticed on focus, and what is shown is asked again", async () => {
    const { host } = await open();
    const before = host.calls.filter(({ name }) => name === "home").length;
    host.moveSilently();
    window.dispatchEvent(new Event("focus"));
    await expect.poll(() => host.calls.filter(({ name }) => name === "home").length).toBeGreaterThan(before);
  });

  test("an unreachable store is said, and a click tries again", async () => {
    const { host } = await open();
    host.fail("changes_since", { code: "store_unavailable", message: "disk gone" });
    window.dispatchEvent(new Event("focus"));
    await expect.element(nav().getByText("Not live")).toBeVisible();
    host.fail("changes_since", null);
    await nav()
      .getByRole("button", { name: /Not live/ })
      .click();
    await expect.element(nav().getByText("Live", { exact: true })).toBeVisible();
  });

  test("a window that opened on a dead store comes to life by itself", async () => {
    const { host } = await renderApp({ broken: true, settings: { textSize: 110 } });
    host.fail("app_info", { code: "store_unavailable", message: "gone" });
    await expect.element(nav().getByText("Not live")).toBeVisible();
    host.fail("app_info", null);
    host.mend();
    await nav()
      .getByRole("button", { name: /Not live/ })
      .click();
    await expect.element(page.getByRole("heading", { name: "Waiting for you" })).toBeVisible();
    await expect.element(nav().getByText("Live", { exact: true })).toBeVisible();
  });

  test("answers arrive while changes keep coming faster than the store answers", async () => {
    const { host } = await open({ delay: 120 });
    const run = host.rows().find(({ status }) => status === "running")?.runId ?? "";
    let done = 0;
    const stream = window.setInterval(() => host.update(run, { progress: { done: ++done, total: 1000 }, phase: "Stream" }), 30);
    try {
      await expect.element(page.getByText("phase Stream").or(page.getByText("Stream")).first()).toBeVisible();
      const seen = document.querySelector(".home-phase")?.textContent;
      await expect.poll(() => document.querySelector(".home-phase")?.textContent).not.toBe(seen);
    } finally {
      window.clearInterval(stream);
    }
    await expect.element(page.getByText(`${done} of 1,000`)).toBeVisible();
  });

  test("only what a change concerns is asked again", async () => {
    const { host } = await open();
    const settings = host.calls.filter(({ name }) => name === "app_info").length;
    host.add();
    await expect.poll(() => host.calls.filter(({ name }) => name === "home").length).toBeGreaterThan(1);
    expect(host.calls.filter(({ name }) => name === "app_info").length).toBe(settings);
  });
});

describe("notifications", () => {
  const away = (isAway: boolean) => {
    Object.defineProperty(document, "hasFocus", { configurable: true, value: () => !isAway });
  };

  test("tell only while the window has no focus, once per run and state, without secrets or paths", async () => {
    const { host } = await open();
    const [first, second] = host.rows().filter(({ status }) => status === "running");
    away(true);
    host.update(first?.runId ?? "", { status: "failed", error: "boiler burst\nat /home/ada/secret.ts" });
    await expect.poll(() => host.notified.length).toBe(1);
    expect(host.notified[0]).toEqual({ title: `${first?.entrypointTitle} failed`, body: "boiler burst", run: first?.runId });
    host.emit({ runs: [first?.runId ?? ""] });
    away(false);
    host.update(second?.runId ?? "", { status: "failed" });
    // Had it been kept for later, the next one would bring it along.
    away(true);
    const third = host.rows().find(({ status }) => status === "waiting_for_input");
    host.update(third?.runId ?? "", { status: "interrupted" });
    await expect.poll(() => host.notified.length).toBe(2);
    expect(host.notified[1]?.title).toBe(`${third?.entrypointTitle} was interrupted`);
    away(false);
  });

  test("several within two seconds become one", async () => {
    const { host } = await open();
    away(true);
    const running = host.rows().filter(({ status }) => status === "running");
    for (const { runId } of running) host.update(runId, { status: "interrupted" });
    await expect.poll(() => host.notified.length).toBe(1);
    expect(host.notified[0]?.title).toBe("2 runs were interrupted");
    away(false);
  });

  test("switched off, nothing is told", async () => {
    const { host } = await open({ settings: { notify: { waits: false, failed: false, interrupted: false, finished: false } } });
    away(true);
    const run = host.rows().find(({ status }) => status === "running");
    host.update(run?.runId ?? "", { status: "failed" });
    // It was looked at, and nothing came of it.
    const lookedAt = () => host.calls.flatMap(({ name, request }) => (name === "run_row" ? (request as { runs: string[] }).runs : []));
    await expect.poll(lookedAt).toContain(run?.runId);
    await settle();
    expect(host.notified).toEqual([]);
    away(false);
  });
});

describe("dropping", () => {
  test("a folder becomes a project and is opened", async () => {
    const { host } = await open();
    host.drop(["/home/ada/work/new-thing"]);
    await expect.poll(hash).toBe("#/project/new-thing");
    await expect.element(page.getByText("Added new-thing")).toBeVisible();
  });

  test("what can't be added says why", async () => {
    const { host } = await open();
    host.fail("project_add", { code: "invalid_input", message: "There is nothing to run in it." });
    host.drop(["C:\\Users\\ada\\empty"]);
    await expect.element(page.getByText("empty can't be added: The input isn't accepted as it is").first()).toBeVisible();
    // What the backend said stands behind it, word for word.
    await page.getByText("Details", { exact: true }).first().click();
    await expect.element(page.getByText("There is nothing to run in it.").first()).toBeVisible();
  });

  test("a failure is said in the window's language", async () => {
    const { host } = await renderApp({ settings: { language: "zh-CN" } });
    await expect.element(page.getByRole("heading", { level: 1 })).toBeVisible();
    host.fail("project_add", { code: "disk_full", message: "No space left on device" });
    host.drop(["/home/ada/thing"]);
    await expect.element(page.getByText("无法添加「thing」：磁盘已满").first()).toBeVisible();
  });

  test("an ordinary folder can be made a project", async () => {
    const { host } = await open();
    host.drop(["/home/ada/empty"]);
    await expect.element(page.getByText("has no package.json with entrypoints", { exact: false }).first()).toBeVisible();
    await expect.element(page.getByText("Choose another…").first()).toBeVisible();
    await page.getByText("Make a project here").first().click();
    await expect.poll(hash).toBe("#/project/empty");
    expect(host.calls.find(({ name }) => name === "project_make")?.request).toEqual({ path: "/home/ada/empty" });
  });

  test("a field in front takes what is dropped", async () => {
    const taken: string[][] = [];
    function Field() {
      useFileDrops((paths) => {
        taken.push(paths);
        return true;
      });
      return null;
    }
    const { DropOverlay } = await import("./DropOverlay");
    const { host } = await renderIn(
      <>
        <Field />
        <DropOverlay />
      </>,
    );
    await expect.poll(() => (host.drop(["/a"]), taken.length)).toBeGreaterThan(0);
    expect(host.calls.some(({ name }) => name === "project_add")).toBe(false);
  });
});

test("a broken view leaves the window standing", async () => {
  const silent = console.error;
  console.error = () => {};
  function Broken(): never {
    throw new Error("the view broke");
  }
  await renderIn(
    <ErrorBoundary resetKey="a">
      <Broken />
    </ErrorBoundary>,
  );
  await expect.element(page.getByRole("alert")).toHaveTextContent("the view broke");
  await expect.element(page.getByRole("button", { name: "Copy details" })).toBeVisible();
  console.error = silent;
});

test("a setting that isn't kept is taken back and said", async () => {
  const { host } = await renderIn(<Larger />);
  host.fail("set_settings", { code: "disk_full", message: "no space left" });
  await page.getByRole("button", { name: "100" }).click();
  await expect.element(page.getByText("The setting isn't kept: The disk is full").first()).toBeVisible();
  await expect.element(page.getByRole("button", { name: "100" })).toBeVisible();
});

function Larger() {
  const [settings, update] = useSettings();
  return (
    <button type="button" onClick={() => update({ textSize: 120 })}>
      {settings.textSize}
    </button>
  );
}

test.each([
  ["light", 1280],
  ["dark", 900],
] as const)("the keys are accessible in %s at %i px", async (theme, width) => {
  await open({ settings: { theme }, width });
  await userEvent.keyboard("?");
  await expect.element(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await expectAccessible();
});
