import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import { openRunForm } from "../../app/overlays";

const sheet = () => page.getByRole("dialog", { name: /Run|运行/ });
const run = () => sheet().getByRole("button", { name: /^Run/ });

async function open(
  options: Parameters<typeof renderApp>[0] = {},
  request = { project: "weekly-report", entrypoint: "weekly-page" } as Parameters<typeof openRunForm>[0],
) {
  const rendered = await renderApp({ at: "/project/weekly-report", ...options });
  await expect.element(page.getByRole("tab", { name: /Overview|概览/ })).toBeVisible();
  openRunForm(request);
  await expect.element(sheet()).toBeVisible();
  return rendered;
}

describe("running", () => {
  test("opens with the focus in its first field; Ctrl Enter sends what was typed; the run opens", async () => {
    const { host } = await open();
    await expect.element(page.getByLabelText("Week", { exact: true })).toHaveFocus();
    await userEvent.keyboard("2026-11-25{Control>}{Enter}{/Control}");
    await expect
      .poll(() => host.calls.find(({ name }) => name === "start_run")?.request)
      .toMatchObject({
        project: "weekly-report",
        entrypoint: "weekly-page",
        input: { week: "2026-11-25", tone: "plain", sources: ["mail", "tracker"], length: 400, pictures: true, extra: {} },
      });
    await expect.poll(() => location.hash).toMatch(/^#\/run\//);
    await expect.element(sheet()).not.toBeInTheDocument();
  });

  test("with faults it stays, says how many and goes to the first", async () => {
    const { host } = await open();
    await page.getByLabelText("Words", { exact: true }).fill("20");
    await userEvent.click(run());
    await expect.element(page.getByText("2 fields need a change")).toBeVisible();
    await expect.element(page.getByLabelText("Week", { exact: true })).toHaveFocus();
    expect(host.calls.some(({ name }) => name === "start_run")).toBe(false);
  });

  test("what only the backend knows stands at its field", async () => {
    const { host } = await open();
    await page.getByLabelText("Week", { exact: true }).fill("2026-11-25");
    const call = host.call.bind(host);
    host.call = ((name: string, request: never) =>
      name === "check_input"
        ? Promise.resolve({ faults: [{ path: "attachments[1]", message: "212 MB, at most 50 MB" }] })
        : call(name as never, request)) as typeof host.call;
    await userEvent.click(sheet().getByRole("button", { name: /Attachments/ }));
    await expect.element(page.getByText("212 MB, at most 50 MB")).toBeVisible();
    await userEvent.click(run());
    await expect.element(sheet()).toBeVisible();
    expect(host.calls.some(({ name }) => name === "start_run")).toBe(false);
  });

  test("a refusal keeps everything typed and says why", async () => {
    const { host } = await open();
    host.fail("start_run", { code: "project_broken", message: "weekly-page does not parse." });
    await page.getByLabelText("Week", { exact: true }).fill("2026-11-25");
    await userEvent.click(run());
    await expect.element(page.getByText("weekly-page does not parse.")).toBeVisible();
    await expect.element(page.getByLabelText("Week", { exact: true })).toHaveValue("25 Nov 2026");
  });

  test("Cancel keeps the text for the next time; Clear throws it away", async () => {
    await open();
    await page.getByLabelText("Notes", { exact: true }).fill("must not be forgotten");
    await userEvent.click(sheet().getByRole("button", { name: "Cancel" }));
    await expect.element(sheet()).not.toBeInTheDocument();
    openRunForm({ project: "weekly-report", entrypoint: "weekly-page" });
    await expect.element(page.getByLabelText("Notes", { exact: true })).toHaveValue("must not be forgotten");
    await expect.element(page.getByText("what you typed last time")).toBeVisible();
    await userEvent.click(sheet().getByRole("button", { name: "Clear", exact: true }));
    await expect.element(page.getByLabelText("Notes", { exact: true })).toHaveValue("");
  });
});

describe("other ways to fill it in", () => {
  test("an older run's input", async () => {
    const { host } = await open();
    const row = host.rows().find((one) => one.project === "weekly-report" && one.entrypointId === "weekly-page" && one.status === "success")!;
    const detail = await host.call("run", { run: row.runId });
    await userEvent.click(page.getByRole("button", { name: /the defaults/ }));
    await userEvent.click(page.getByRole("menuitem", { name: new RegExp(row.runId) }));
    await expect.element(page.getByText(row.runId, { exact: true }).last()).toBeVisible();
    const week = (detail.input as { week?: string }).week;
    if (week) await expect.element(page.getByLabelText("Week", { exact: true })).not.toHaveValue("");
  });

  test("JSON is the same value, both ways; a wrong text stays with its reason", async () => {
    const { host } = await open();
    await page.getByLabelText("Week", { exact: true }).fill("2026-11-25");
    await userEvent.click(page.getByRole("radio", { name: "JSON" }));
    const box = page.getByLabelText("Input as JSON");
    expect(JSON.parse((box.element() as HTMLTextAreaElement).value)).toMatchObject({ week: "2026-11-25", length: 400 });
    await box.fill('{"week": "2026-11-26", "lenght": 300}');
    await userEvent.click(page.getByRole("radio", { name: "Form" }));
    await expect.element(page.getByText("“lenght” is not a parameter here")).toBeVisible();
    await box.fill('{"week": "2026-11-26", "length": 300}');
    await userEvent.click(page.getByRole("radio", { name: "Form" }));
    await expect.element(page.getByLabelText("Words", { exact: true })).toHaveValue("300");
    await userEvent.click(page.getByRole("radio", { name: "JSON" }));
    await page.getByLabelText("Input as JSON").fill('{"week": "2026-11-27"}');
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await expect.poll(() => host.calls.find(({ name }) => name === "start_run")?.request).toMatchObject({ input: { week: "2026-11-27" } });
  });

  test("what is shown from outside is what is copied", async () => {
    const { host } = await open();
    await page.getByLabelText("Week", { exact: true }).fill("2026-11-25");
    await userEvent.click(sheet().getByRole("button", { name: "Copy", exact: true }));
    const shown = document.querySelector(".rf-outside pre")!.textContent;
    expect(shown).toContain("workflow-code run weekly-report weekly-page");
    expect(shown).toContain("--week 2026-11-25");
    await expect.poll(() => host.copied).toEqual([shown]);
    await userEvent.click(page.getByRole("radio", { name: "MCP call" }));
    await expect.poll(() => document.querySelector(".rf-outside pre")!.textContent).toContain("tools/call");
  });

  test("without a project it shows what was used last, by project, and finds the rest by typing", async () => {
    await open({ at: "/project/weekly-report" }, {});
    const find = page.getByRole("searchbox", { name: "Find an entrypoint or project" });
    await expect.element(find).toHaveFocus();
    await expect.element(page.getByRole("region", { name: "Weekly report" }).getByRole("button", { name: /Weekly page/ })).toBeVisible();
    await expect.element(page.getByRole("region", { name: "Invoice intake" }).getByRole("button", { name: /Post to ledger/ })).toBeVisible();
    // A project that fits brings all it has; Down goes to the first.
    await userEvent.keyboard("invoice in");
    await expect.poll(() => document.querySelectorAll(".rf-groups section").length).toBe(1);
    await userEvent.keyboard("{ArrowDown}");
    await expect.poll(() => document.activeElement?.classList.contains("rf-entry")).toBe(true);
    await find.fill("wording");
    await userEvent.keyboard("{Enter}");
    await expect.element(page.getByRole("dialog", { name: /Check wording/ })).toBeVisible();
  });

  test("the list to choose from is accessible and fits at any size", async () => {
    await open({ at: "/project/weekly-report" }, {});
    await expect.element(page.getByRole("region", { name: "Weekly report" })).toBeVisible();
    await expectAccessible();
    await expectGoodLayout(() => document.querySelector(".k-sheet")!);
    await page.getByRole("searchbox").fill("nothing is called so");
    await expect.element(page.getByText("No entrypoint or project has “nothing is called so” in its name")).toBeVisible();
  });
});

test.each(["light", "dark"] as const)("accessible, %s", async (theme) => {
  await open({ settings: { theme, language: "en" } });
  await userEvent.click(run());
  await expect.element(page.getByText("1 field needs a change")).toBeVisible();
  await expectAccessible();
});

test.each(["en", "zh-CN"] as const)("nothing is cut at any size, %s", async (language) => {
  await open({ settings: { language } });
  await expectGoodLayout(() => document.querySelector(".k-sheet")!);
});
