import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout, settle } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";

const grid = () => page.getByRole("grid", { name: "Runs" });
const drawn = () => [...document.querySelectorAll<HTMLElement>("[data-run]")];
const scroller = () => document.querySelector(".runs-scroll") as HTMLElement;
const box = () => page.getByRole("searchbox", { name: "Search runs" });
const params = () => new URLSearchParams(location.hash.split("?")[1] ?? "");

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: "/runs", ...options });
  await expect.element(grid()).toBeVisible();
  await expect.poll(() => drawn().length).toBeGreaterThan(0);
  return rendered;
}

describe("many runs", () => {
  test("10,000 runs keep fewer than 60 rows in the page, at the top, in the middle and at the end", { timeout: 60_000 }, async () => {
    const { host } = await open({ runs: 10_000 });
    expect(drawn().length).toBeLessThan(60);
    const seen = new Set(drawn().map(({ dataset }) => dataset.run));
    for (let turn = 0; turn < 8; turn++) {
      const before = scroller().scrollHeight;
      scroller().scrollTop = before;
      // The next page comes, and the list grows.
      await expect.poll(() => scroller().scrollHeight, { timeout: 10_000 }).toBeGreaterThan(before);
      expect(drawn().length).toBeLessThan(60);
      for (const { dataset } of drawn()) seen.add(dataset.run);
    }
    expect(seen.size).toBeGreaterThan(100);
    scroller().scrollTop = scroller().scrollHeight / 2;
    await settle();
    expect(drawn().length).toBeLessThan(60);
    // Pages are asked by key, never by number.
    const pages = host.calls
      .filter(({ name, request }) => name === "runs" && (request as { limit?: number }).limit === 200)
      .map(({ request }) => (request as { after?: string }).after);
    expect(new Set(pages).size).toBe(pages.length);
  });

  test("the grid says how many rows there are", async () => {
    const { host } = await open({ runs: 500 });
    await expect.element(grid()).toHaveAttribute("aria-rowcount", String(host.rows().length + 1));
  });
});

describe("search", () => {
  test("text goes into the address and shows where it was found", async () => {
    await open();
    await userEvent.keyboard("/");
    await expect.element(box()).toHaveFocus();
    await userEvent.keyboard("ledger");
    await expect.poll(() => params().get("q")).toBe("ledger");
    await expect.element(page.getByRole("columnheader", { name: "Where it was found" })).toBeVisible();
    await expect.poll(() => document.querySelector(".k-hit")?.textContent?.toLowerCase()).toBe("ledger");
  });

  test("a typed condition becomes a chip, and its cross takes it away", async () => {
    await open();
    await userEvent.click(box());
    await userEvent.keyboard("status:failed ");
    await expect.poll(() => params().get("status")).toBe("failed");
    await expect.element(box()).toHaveValue("");
    await page.getByRole("button", { name: "Remove the condition Status" }).click();
    await expect.poll(() => params().get("status")).toBeNull();
  });

  test("a run id and Enter go to the run", async () => {
    await open();
    await userEvent.click(box());
    await userEvent.keyboard("20261130-zz1c{Enter}");
    await expect.poll(() => location.hash).toBe("#/run/20261130-zz1c");
  });

  test("filters of the address hold, and come back with the address", async () => {
    await open({ at: "/runs?status=failed&project=invoice-intake" });
    await expect.element(page.getByText("Invoice intake").first()).toBeVisible();
    expect(drawn().every((row) => row.querySelector('[data-glyph="failed"]'))).toBe(true);
  });

  test("nothing matches: each condition that would help is offered with its count", async () => {
    await renderApp({ at: "/runs?status=failed&q=nowhere" });
    await expect.element(page.getByRole("heading", { name: "No run matches" })).toBeVisible();
    const drop = page.getByRole("button", { name: /Without the text \d+/ });
    await expect.element(drop).toBeVisible();
    await drop.click();
    await expect.poll(() => params().get("q")).toBeNull();
    await expect.element(grid()).toBeVisible();
  });

  test("typed text is not lost to a live change", async () => {
    const { host } = await open();
    await userEvent.click(box());
    await userEvent.keyboard("led");
    host.add();
    await userEvent.keyboard("ger");
    await expect.element(box()).toHaveValue("ledger");
  });
});

describe("live", () => {
  test("a changed run changes in place", async () => {
    const { host } = await open();
    const run = host.rows().find(({ status }) => status === "running");
    host.update(run?.runId ?? "", { status: "failed", error: "boiler burst" });
    await expect.poll(() => document.querySelector(`[data-run="${run?.runId}"] [data-glyph="failed"]`)).not.toBeNull();
    await expect.element(page.getByText("boiler burst")).toBeVisible();
  });

  test("a new run comes in at the top", async () => {
    const { host } = await open();
    const fresh = host.add();
    await expect.poll(() => drawn()[0]?.dataset.run).toBe(fresh.runId);
  });

  test("scrolled down, new runs wait behind a pill and nothing moves", async () => {
    const { host } = await open({ runs: 1000 });
    scroller().scrollTop = 2000;
    await expect.poll(() => document.querySelector(".runs-day-stuck")).not.toBeNull();
    await settle();
    const seen = drawn().find((row) => row.getBoundingClientRect().top > 450);
    const before = seen?.getBoundingClientRect().top;
    host.add();
    host.add();
    const pill = page.getByRole("button", { name: "2 new" });
    await expect.element(pill).toBeVisible();
    expect(seen?.isConnected).toBe(true);
    expect(seen?.getBoundingClientRect().top).toBe(before);
    await pill.click();
    await expect.poll(() => scroller().scrollTop).toBe(0);
    await expect.poll(() => drawn()[0]?.dataset.run).toBe(host.rows()[0]?.runId);
  });

  test("a row under the pointer stays there", async () => {
    const { host } = await open();
    await userEvent.hover(drawn()[2] as HTMLElement);
    const under = drawn()[2];
    const before = under?.getBoundingClientRect().top;
    host.add();
    await expect.element(page.getByRole("button", { name: "1 new" })).toBeVisible();
    expect(under?.getBoundingClientRect().top).toBe(before);
    await userEvent.unhover(under as HTMLElement);
    await userEvent.hover(page.getByRole("link", { name: /Settings/ }));
    await expect.poll(() => drawn()[0]?.dataset.run).toBe(host.rows()[0]?.runId);
  });

  test("a deleted run goes, and the next row has the focus", async () => {
    const { host } = await open();
    await userEvent.keyboard("jj");
    const gone = (document.activeElement as HTMLElement).dataset.run as string;
    const next = drawn()[drawn().findIndex(({ dataset }) => dataset.run === gone) + 1]?.dataset.run;
    await host.call("delete_run", { run: gone });
    await expect.poll(() => document.querySelector(`[data-run="${gone}"]`)).toBeNull();
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.run).toBe(next);
  });
});

describe("selection", () => {
  test("X selects, C compares the two, the older one is A", async () => {
    await open();
    await userEvent.keyboard("jx");
    const first = (document.activeElement as HTMLElement).dataset.run;
    const compare = page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Compare" });
    await expect.element(compare).toHaveAttribute("aria-disabled", "true");
    await userEvent.keyboard("jx");
    const second = (document.activeElement as HTMLElement).dataset.run;
    await userEvent.keyboard("c");
    await expect.poll(() => location.hash).toBe(`#/compare?a=${second}&b=${first}`);
  });

  test("Shift X selects the range, Esc clears it", async () => {
    await open();
    await userEvent.keyboard("jxjjj{Shift>}X{/Shift}");
    await expect.element(page.getByText("4 selected")).toBeVisible();
    await userEvent.keyboard("{Escape}");
    await expect.poll(() => document.querySelector(".runs-selection")).toBeNull();
  });

  test("Cancel is greyed when not all run", async () => {
    await open({ at: "/runs?status=success" });
    await userEvent.keyboard("jx");
    await expect.element(page.getByRole("button", { name: "Cancel run" })).toHaveAttribute("aria-disabled", "true");
  });

  test("selection survives a live change", async () => {
    const { host } = await open();
    await userEvent.keyboard("jx");
    const run = (document.activeElement as HTMLElement).dataset.run as string;
    host.update(run, { phase: "Elsewhere" });
    host.add();
    await expect.element(page.getByText("1 selected")).toBeVisible();
    await expect.poll(() => document.querySelector(`[data-run="${run}"]`)?.getAttribute("aria-selected")).toBe("true");
  });
});

test("dragging over the bars sets the time, in either direction", async () => {
  await open();
  const bars = await vi.waitUntil(() =>
    document.querySelectorAll(".runs-bars i").length > 10 ? (document.querySelector(".runs-bars") as HTMLElement) : null,
  );
  const { left, width, top } = bars.getBoundingClientRect();
  const at = (share: number): PointerEventInit => ({ bubbles: true, pointerId: 1, button: 0, clientX: left + width * share, clientY: top + 5 });
  bars.dispatchEvent(new PointerEvent("pointerdown", at(0.5)));
  await settle();
  bars.dispatchEvent(new PointerEvent("pointermove", at(0.25)));
  await settle();
  bars.dispatchEvent(new PointerEvent("pointerup", at(0.25)));
  await expect.poll(() => params().get("before")).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect((params().get("after") ?? "") < (params().get("before") ?? "")).toBe(true);
  await expect.element(page.getByRole("button", { name: "Remove the condition Time" })).toBeVisible();
});

test("a day is typed into the time condition", async () => {
  await open();
  await page.getByRole("button", { name: "Time", exact: true }).click();
  await page.getByRole("textbox", { name: "From" }).fill("2026-11-2");
  await page.getByRole("textbox", { name: "From" }).fill("2026-11-20");
  await expect.poll(() => params().get("after")).toBe("2026-11-20");
  await expect.element(page.getByRole("textbox", { name: "From" })).toHaveFocus();
});

test("back returns to the row that was left", async () => {
  await open({ runs: 800 });
  await userEvent.keyboard("jjjj");
  const left = (document.activeElement as HTMLElement).dataset.run as string;
  await userEvent.keyboard("{Enter}");
  await expect.poll(() => location.hash).toContain(`#/run/${left}`);
  history.back();
  await expect.element(grid()).toBeVisible();
  await expect.poll(() => document.querySelector<HTMLElement>(`[data-run="${left}"]`)?.tabIndex).toBe(0);
});

test("a saved view is kept and can be taken back", async () => {
  await open({ at: "/runs?status=failed&project=invoice-intake" });
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabelText("Name of the view").fill("Invoices that failed");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect.element(page.getByRole("button", { name: "Invoices that failed", exact: true })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Remove the view Invoices that failed" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.element(page.getByRole("button", { name: "Invoices that failed", exact: true })).toBeVisible();
});

test("no run at all: the next step", async () => {
  await renderApp({ at: "/runs", empty: true });
  await expect.element(page.getByText("No run yet")).toBeVisible();
});

test("an error is shown inline, with its code", async () => {
  await renderApp({ at: "/runs", broken: true });
  await expect.element(page.getByRole("alert")).toHaveTextContent("store_unavailable");
});

test("hostile texts are text", async () => {
  await open({ hostile: true });
  await expect.element(page.getByText('<img src=x onerror="alert(1)">')).toBeVisible();
  expect(document.querySelector("main img")).toBeNull();
  expect(document.querySelector("main")?.textContent).not.toMatch(/[\u202E\u200B]/);
});

test.each([
  ["light", "en"],
  ["dark", "en"],
  ["light", "zh-CN"],
] as const)("accessible in %s, %s", async (theme, language) => {
  await renderApp({ at: "/runs?q=ledger", settings: { theme, language } });
  await expect.poll(() => drawn().length).toBeGreaterThan(0);
  await expectAccessible();
});

test.each(["en", "zh-CN"] as const)("fits in every size, %s", async (language) => {
  await renderApp({ at: "/runs", hostile: true, settings: { language } });
  await expect.poll(() => drawn().length).toBeGreaterThan(0);
  await expectGoodLayout();
});
