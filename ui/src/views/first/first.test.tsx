import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: "/", empty: true, ...options });
  await expect.element(page.getByRole("heading", { level: 1 })).toBeVisible();
  return rendered;
}

test("is Home while there is no project; step 3 sleeps until step 1 is done", async () => {
  await open();
  await expect.element(page.getByText("after step 1")).toBeVisible();
  await expect.element(page.getByRole("listitem").filter({ hasText: "Add a project" })).toHaveAttribute("aria-current", "step");
});

test("a chosen folder becomes a project and opens", async () => {
  const { host } = await open();
  await userEvent.click(page.getByRole("button", { name: "Choose a folder…" }));
  await expect.poll(() => host.calls.find(({ name }) => name === "project_add")?.request).toEqual({ path: "/home/ada/work/new-project" });
  await expect.poll(() => location.hash).toBe("#/project/new-project");
});

test("the sample says where it goes, is made, starts at once and its run opens; afterwards it is opened", async () => {
  const { host } = await open();
  await expect.element(page.getByText("/home/ada/workflow-code-sample", { exact: false })).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: "Make the sample and run it" }));
  await expect.poll(() => host.calls.find(({ name }) => name === "start_run")?.request).toEqual({ project: "sample", entrypoint: "tour", input: {} });
  await expect.poll(() => location.hash).toMatch(/^#\/run\//);
  location.hash = "#/first";
  await expect.element(page.getByText("What happens here now")).toBeVisible();
  await expect.element(page.getByRole("button", { name: "Make the sample and run it" })).not.toBeInTheDocument();
  await expect.element(page.getByRole("link", { name: /Cursor/ })).toHaveAttribute("href", expect.stringContaining("/dock?client=cursor"));
  await expect.element(page.getByText("Go to Home")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: "Open the sample" }));
  await expect.poll(() => location.hash).toBe("#/project/sample");
});

test("a sample of before, which has to be told something, asks in the run form", async () => {
  const { host } = await open();
  const call = host.call.bind(host);
  host.call = (async (name: string, request: never) => {
    const answer = await call(name as never, request);
    if (name !== "project_overview") return answer;
    const overview = answer as unknown as { entrypoints: { id: string }[] };
    return { ...overview, entrypoints: overview.entrypoints.filter(({ id }) => id === "greet") };
  }) as typeof host.call;
  await userEvent.click(page.getByRole("button", { name: "Make the sample and run it" }));
  await expect.element(page.getByRole("dialog", { name: /Run Greet/ })).toBeVisible();
});

test("a sample that can't be made says why and can be tried again", async () => {
  const { host } = await open();
  host.fail("project_add_sample", { code: "permission", message: "~/workflow-sample can't be written." });
  await userEvent.click(page.getByRole("button", { name: "Make the sample and run it" }));
  await expect.element(page.getByText("can't be written", { exact: false })).toBeVisible();
  host.fail("project_add_sample", null);
  await userEvent.click(page.getByRole("button", { name: "Try again" }));
  await expect.poll(() => location.hash).toMatch(/^#\/run\//);
});

test("languages switch at once", async () => {
  await open();
  await userEvent.click(page.getByRole("radio", { name: "简体中文" }));
  await expect.element(page.getByRole("heading", { level: 1 })).toHaveTextContent("把你的工作流变成任何 AI 客户端的工具");
});

describe("looks", () => {
  test.each(["light", "dark"] as const)("accessible, %s", async (theme) => {
    await open({ settings: { theme, language: "en" } });
    await expectAccessible();
  });
  test.each(["en", "zh-CN"] as const)("keeps to the window at every size, %s", async (language) => {
    await open({ settings: { language } });
    await expectGoodLayout();
  });
});
