import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout, settle, SIZES } from "../../../tests/layout";
import { renderApp } from "../../../tests/render";
import { navigate } from "../../app/router";
import { createMockHost } from "../../host/mock";

const BOARD = "/project/harbor-board";
const drawn = () => [...document.querySelectorAll<HTMLElement>("button[data-card]")];
const cardElement = (id: string) => document.querySelector<HTMLElement>(`button[data-card="${id}"]`);
const nameOf = (id: string) => cardElement(id)?.querySelector(".k-visually-hidden")?.textContent;
const columnOf = (id: string) => cardElement(id)?.closest<HTMLElement>("[data-column]")?.dataset.column;
const column = (id: string) => document.querySelector<HTMLElement>(`[data-column="${id}"]`) as HTMLElement;
const params = () => new URLSearchParams(location.hash.split("?")[1] ?? "");
const calls = (host: Awaited<ReturnType<typeof renderApp>>["host"], tool: string) =>
  host.calls
    .filter(({ name, request }) => name === "board_call" && (request as { tool: string }).tool === tool)
    .map(({ request }) => (request as { arguments: Record<string, unknown> }).arguments);

async function open(options: Parameters<typeof renderApp>[0] = {}) {
  const rendered = await renderApp({ at: BOARD, ...options });
  await expect.poll(() => drawn().length).toBeGreaterThan(0);
  return rendered;
}

/** Presses on a card, moves to the middle of a column, and says how to let go. */
async function lift(id: string, status: string): Promise<() => void> {
  const card = cardElement(id) as HTMLElement;
  const from = card.getBoundingClientRect();
  const to = column(status).getBoundingClientRect();
  const at = (x: number, y: number) => ({
    bubbles: true,
    cancelable: true,
    clientX: x,
    clientY: y,
    button: 0,
    pointerType: "mouse",
    isPrimary: true,
  });
  card.dispatchEvent(new PointerEvent("pointerdown", at(from.left + 20, from.top + 20)));
  window.dispatchEvent(new PointerEvent("pointermove", at(from.left + 40, from.top + 40)));
  window.dispatchEvent(new PointerEvent("pointermove", at(to.left + to.width / 2, to.top + 200)));
  await expect.poll(() => document.querySelector(".bd-ghost")).not.toBeNull();
  return () => window.dispatchEvent(new PointerEvent("pointerup", at(to.left + to.width / 2, to.top + 200)));
}

describe("columns", () => {
  test("cards stand in columns by status; hidden ones come when asked for", async () => {
    await open();
    expect([...document.querySelectorAll<HTMLElement>("[data-column]")].map(({ dataset }) => dataset.column)).toEqual([
      "backlog",
      "next",
      "doing",
      "review",
      "blocked",
      "done",
    ]);
    expect(columnOf("HB-0207")).toBe("doing");
    await page.getByRole("button", { name: "2 columns hidden" }).click();
    await expect.poll(() => columnOf("HB-0174")).toBe("deferred");
  });

  test("a card says in words what it draws", async () => {
    await open();
    await expect
      .element(
        page.getByRole("button", {
          name: "HB-0207 Retry queue loses its order, Bug, Critical, 3 of 5 criteria met, Live: Claude Code#3f9a, overlaps HB-0209",
        }),
      )
      .toBeVisible();
  });

  test("1,000 cards draw fewer than 200, at the top and at the end of a column", async () => {
    await open({ board: { cards: 1000 } });
    expect(drawn().length).toBeLessThan(200);
    const scroller = column("done").querySelector(".bd-column-scroll") as HTMLElement;
    scroller.scrollTop = scroller.scrollHeight;
    await expect.poll(() => scroller.scrollTop).toBeGreaterThan(1000);
    await new Promise((resolve) => requestAnimationFrame(resolve));
    expect(drawn().length).toBeLessThan(200);
    const positions = [...column("done").querySelectorAll("li")].map((item) => Number(item.getAttribute("aria-posinset")));
    expect(Math.max(...positions)).toBe(Number(column("done").querySelector("li")?.getAttribute("aria-setsize")));
  });
});

describe("search and filters", () => {
  test("what is on a card is found at once, what is in its text by the search tool", async () => {
    const { host } = await open();
    await userEvent.keyboard("/");
    await expect.element(page.getByRole("searchbox", { name: "Search cards" })).toHaveFocus();
    await userEvent.keyboard("secrets");
    await expect.poll(() => drawn().map(({ dataset }) => dataset.card)).toEqual(["HB-0211"]);
    await userEvent.clear(page.getByRole("searchbox", { name: "Search cards" }));
    await userEvent.fill(page.getByRole("searchbox", { name: "Search cards" }), "worker-2");
    await expect.poll(() => drawn().map(({ dataset }) => dataset.card)).toEqual(["HB-0207"]);
    expect(calls(host, "project_search").at(-1)).toMatchObject({ query: "worker-2", kinds: ["card"] });
    expect(params().get("q")).toBe("worker-2");
  });

  test("nothing matches: each condition that would help is offered", async () => {
    await renderApp({ at: `${BOARD}?type=bug&q=keyring` });
    await page.getByRole("button", { name: "Without Bug (1)" }).click();
    await expect.poll(() => drawn().map(({ dataset }) => dataset.card)).toEqual(["HB-0211"]);
  });

  test("a search does not begin anew because the history grew by it", async () => {
    const { host } = await open({ at: `${BOARD}?q=worker-2` });
    await expect.poll(() => calls(host, "project_search").length).toBe(1);
    host.emit({ projects: ["harbor-board"], runs: ["20261130-zz1c"] });
    await expect.poll(() => host.calls.filter(({ name }) => name === "board_view").length).toBeGreaterThan(1);
    await settle();
    expect(calls(host, "project_search").length).toBe(1);
  });
});

describe("by keyboard", () => {
  test("the board is one tab stop; arrows go through columns and cards", async () => {
    await open();
    expect(drawn().filter(({ tabIndex }) => tabIndex === 0).length).toBe(1);
    cardElement("HB-0214")?.focus();
    await userEvent.keyboard("{ArrowDown}");
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0217");
    await userEvent.keyboard("{ArrowRight}");
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0209");
    await userEvent.keyboard("{End}");
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0198");
    await userEvent.keyboard("j{Home}");
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0207");
    expect(
      drawn()
        .filter(({ tabIndex }) => tabIndex === 0)
        .map(({ dataset }) => dataset.card),
    ).toEqual(["HB-0207"]);
  });

  test("a search that leaves few of many cards says nothing on the console", async () => {
    const warned = vi.spyOn(console, "warn");
    await open({ board: { cards: 1000 } });
    const search = page.getByRole("searchbox").first();
    const stays = column("done").querySelector<HTMLElement>("[data-card]")?.dataset.card ?? "";
    await search.fill(stays);
    await expect.poll(() => column("done").querySelectorAll("[data-card]").length).toBeLessThan(3);
    expect(columnOf(stays)).toBe("done");
    // What is still looked at by the list that was there tells when its size changes.
    document.documentElement.style.fontSize = "18px";
    await settle();
    document.documentElement.style.fontSize = "";
    await search.fill("");
    await expect.poll(() => drawn().length).toBeGreaterThan(20);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test("End reaches the last of many cards", async () => {
    await open({ board: { cards: 1000 } });
    (column("done").querySelector("button[data-card]") as HTMLElement).focus();
    await userEvent.keyboard("{End}");
    const all = Number(column("done").querySelector("li")?.getAttribute("aria-setsize"));
    await expect.poll(() => document.activeElement?.closest("li")?.getAttribute("aria-posinset")).toBe(String(all));
  });

  test("Shift with an arrow moves the card, claims it where the column wants that, and keeps the focus", async () => {
    const { host } = await open();
    cardElement("HB-0214")?.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
    await expect.poll(() => columnOf("HB-0214")).toBe("doing");
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0214");
    expect(calls(host, "project_card_transition")).toEqual([
      { id: "HB-0214", actor: "ada@studio", status: "doing", expectedRevision: "sha256:214-1" },
    ]);
    await expect.poll(() => nameOf("HB-0214")).toContain("Held: ada@studio");
  });

  test("a gate refuses by key as it does by pointer, and the card's page opens at what is unmet", async () => {
    const { host } = await open();
    cardElement("HB-0207")?.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
    await expect.poll(() => params().get("card")).toBe("HB-0207");
    await expect.element(page.getByRole("group", { name: "Not moved to Review" })).toHaveTextContent("HB-0207 is held by Claude Code #3f9a.");
    await expect.poll(() => document.activeElement?.closest("[data-unmet]")).not.toBeNull();
    expect(columnOf("HB-0207")).toBe("doing");
    expect(calls(host, "project_card_transition")).toEqual([]);
  });

  test("Enter opens, Alt with an arrow walks the filtered list, Escape closes and gives the focus back", async () => {
    await open({ at: `${BOARD}?type=bug` });
    cardElement("HB-0217")?.focus();
    await userEvent.keyboard("{Enter}");
    const drawer = page.getByRole("complementary", { name: "Card HB-0217" });
    await expect.element(drawer).toBeVisible();
    await expect.element(page.getByRole("heading", { name: "Health page lies during a deploy" })).toHaveFocus();
    await userEvent.keyboard("{Alt>}{ArrowDown}{/Alt}");
    await expect.element(page.getByRole("complementary", { name: "Card HB-0207" })).toBeVisible();
    await userEvent.keyboard("{Escape}");
    await expect.poll(() => params().get("card")).toBeNull();
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0207");
  });
});

describe("by pointer", () => {
  test("refusing columns say why before the drop; the refused card flies back and its page opens at the open criterion", async () => {
    const { host } = await open();
    const drop = await lift("HB-0205", "done");
    await expect.poll(() => column("done").querySelector(".bd-gate")?.textContent).toBe("HB-0205 has 1 criterion left. Done needs all of them.");
    expect(column("next").querySelector(".bd-gate")).toBeNull();
    expect(column("blocked").textContent).toContain("Asks for a reason");
    expect(cardElement("HB-0205")?.hasAttribute("data-lifted")).toBe(true);
    drop();
    await expect.poll(() => params().get("card")).toBe("HB-0205");
    await expect.poll(() => document.querySelector(".bd-ghost")).toBeNull();
    await expect.poll(() => document.activeElement?.closest(".bd-criterion")?.textContent).toBe("The failing case has a test");
    expect(columnOf("HB-0205")).toBe("review");
    expect(calls(host, "project_card_transition")).toEqual([]);
  });

  test("an allowed drop moves the card, and is no click on it", async () => {
    const { host } = await open();
    (await lift("HB-0231", "next"))();
    await expect.poll(() => columnOf("HB-0231")).toBe("next");
    await expect.poll(() => host.board.cards.find(({ id }) => id === "HB-0231")?.status).toBe("next");
    expect(params().get("card")).toBeNull();
  });

  test("a column that wants a reason asks for it; without one nothing is written", async () => {
    const { host } = await open();
    (await lift("HB-0231", "blocked"))();
    const dialog = page.getByRole("dialog", { name: "Move HB-0231 to Blocked" });
    await expect.element(dialog).toBeVisible();
    await page.getByRole("button", { name: /^Move to Blocked/ }).click();
    await expect.element(page.getByText("Needed to move the card")).toBeVisible();
    await userEvent.fill(page.getByRole("textbox", { name: "Reason" }), "The sandbox is down");
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await expect.poll(() => columnOf("HB-0231")).toBe("blocked");
    await expect.poll(() => calls(host, "project_card_note")).toMatchObject([{ id: "HB-0231", text: "The sandbox is down" }]);
  });

  test("a column that wants proof takes a CI run or evidence", async () => {
    const { host } = await open();
    (await lift("HB-0203", "done"))();
    await userEvent.click(page.getByRole("radio", { name: "By hand" }));
    await userEvent.fill(page.getByRole("textbox", { name: "Evidence" }), "Saw the error page");
    await page.getByRole("button", { name: /^Move to Done/ }).click();
    await expect
      .poll(() => calls(host, "project_card_transition"))
      .toMatchObject([{ id: "HB-0203", status: "done", method: "manual", evidence: "Saw the error page" }]);
  });

  test("a live change keeps the lifted card lifted", async () => {
    const { host } = await open();
    const drop = await lift("HB-0231", "next");
    host.board.change("HB-0228", { status: "review" });
    await expect.poll(() => columnOf("HB-0228")).toBe("review");
    expect(document.querySelector(".bd-ghost")?.textContent).toContain("HB-0231");
    drop();
    await expect.poll(() => columnOf("HB-0231")).toBe("next");
  });

  test("a move that lost a race is taken back and says why", async () => {
    const { host } = await open();
    host.fail("board_call", { code: "conflict", message: "HB-0231 was changed in the meantime.", detail: { code: "CARD_WRITE_CONFLICT" } });
    (await lift("HB-0231", "next"))();
    await expect.element(page.getByRole("group", { name: "Not moved to Next" })).toHaveTextContent("HB-0231 was changed elsewhere in the meantime.");
    expect(columnOf("HB-0231")).toBe("backlog");
  });
});

describe("a card's page", () => {
  const at = `${BOARD}?card=HB-0207`;

  test("ticking criteria quickly writes each on the newest revision", async () => {
    const { host } = await open({ at });
    await userEvent.click(page.getByRole("checkbox", { name: "Load test: 10,000 items, none out of place" }));
    await userEvent.click(page.getByRole("checkbox", { name: "Note in the changelog" }));
    await expect.element(page.getByText("5 of 5", { exact: true })).toBeVisible();
    await expect.poll(() => host.board.cards.find(({ id }) => id === "HB-0207")?.acceptance).toEqual({ done: 5, total: 5 });
    await expect.poll(() => nameOf("HB-0207")).toContain("5 of 5 criteria met");
  });

  test("a half typed note survives a live change, another card and a closed page", async () => {
    const { host } = await open({ at });
    const note = page.getByRole("textbox", { name: "Add a note" });
    await userEvent.fill(note, "half a though");
    host.board.change("HB-0207", { title: "Retry queue forgets its order" });
    await expect.element(page.getByRole("heading", { name: "Retry queue forgets its order" })).toBeVisible();
    await expect.element(note).toHaveValue("half a though");
    await page.getByRole("button", { name: "Next card" }).click();
    await expect.element(note).toHaveValue("");
    await page.getByRole("button", { name: "Previous card" }).click();
    await expect.element(note).toHaveValue("half a though");
    await userEvent.click(note);
    await userEvent.keyboard("{End}t{Enter}");
    await expect.poll(() => calls(host, "project_card_note")).toMatchObject([{ id: "HB-0207", text: "half a thought" }]);
    await expect.element(note).toHaveValue("");
  });

  test("another's claim is released only with a reason", async () => {
    const { host } = await open({ at });
    await page.getByRole("button", { name: "Release…" }).click();
    const confirm = page.getByRole("button", { name: "Release anyway" });
    await expect.element(confirm).toHaveAttribute("aria-disabled", "true");
    await userEvent.fill(page.getByRole("textbox", { name: "Reason" }), "Its session is gone");
    await confirm.click();
    await expect.poll(() => columnOf("HB-0207")).toBe("next");
    expect(calls(host, "project_card_release")).toMatchObject([{ id: "HB-0207", force: true, reason: "Its session is gone", status: "next" }]);
  });

  test("another's claim leaves the fields editable", async () => {
    const { host } = await open({ at });
    await page.getByRole("button", { name: "Priority: Critical" }).click();
    await page.getByRole("menuitem", { name: "Low" }).click();
    await expect
      .poll(() => calls(host, "project_card_patch"))
      .toMatchObject([{ id: "HB-0207", changes: { priority: "low" }, expectedRevision: "sha256:207-1" }]);
    await expect.element(page.getByRole("button", { name: "Priority: Low" })).toBeVisible();
  });

  test("the status menu goes through the gates and says why", async () => {
    await open({ at: `${BOARD}?card=HB-0205` });
    await page.getByRole("button", { name: "Status: Review" }).click();
    const done = page.getByRole("menuitem", { name: /^Done/ });
    await expect.element(done).toHaveTextContent("HB-0205 has 1 criterion left.");
    await done.click();
    await expect.element(page.getByRole("group", { name: "Not moved to Done" })).toBeVisible();
  });

  test("a card that went away says so", async () => {
    await renderApp({ at: `${BOARD}?card=HB-9999` });
    await expect.element(page.getByText("This card is not on the board any more")).toBeVisible();
  });
});

describe("new card", () => {
  test("N opens it, the draft is kept, the card comes onto the board and opens", async () => {
    const { host } = await open();
    await userEvent.keyboard("n");
    await userEvent.fill(page.getByRole("textbox", { name: "Title" }), "Warn before the disk is full");
    await page.getByRole("button", { name: "Cancel" }).click();
    await userEvent.keyboard("n");
    await expect.element(page.getByRole("textbox", { name: "Title" })).toHaveValue("Warn before the disk is full");
    await page.getByRole("button", { name: "Add acceptance criteria" }).click();
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await expect
      .poll(() => calls(host, "project_card_create"))
      .toMatchObject([{ title: "Warn before the disk is full", status: "backlog", type: "task", priority: "medium" }]);
    await expect.element(page.getByRole("heading", { name: "Warn before the disk is full" })).toBeVisible();
  });

  test("no title, or one that is too long, is not sent", async () => {
    const { host } = await open();
    await userEvent.keyboard("n");
    await page.getByRole("button", { name: /^Create card/ }).click();
    await expect.element(page.getByText("A card needs a title")).toBeVisible();
    await userEvent.fill(page.getByRole("textbox", { name: "Title" }), "x".repeat(81));
    await expect.element(page.getByText("At most 80 characters; 81 now")).toBeVisible();
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    expect(calls(host, "project_card_create")).toEqual([]);
  });
});

describe("live", () => {
  test("a card moved on disk moves here; scroll and focus stay", async () => {
    const { host } = await open({ board: { cards: 400 } });
    const scroller = column("done").querySelector(".bd-column-scroll") as HTMLElement;
    scroller.scrollTop = 1500;
    await expect.poll(() => scroller.scrollTop).toBeGreaterThan(1400);
    await settle();
    const edge = scroller.getBoundingClientRect().top;
    const seen = [...scroller.querySelectorAll<HTMLElement>("[data-card]")].find(
      (card) => card.getBoundingClientRect().top > edge + 50,
    ) as HTMLElement;
    const before = seen.getBoundingClientRect().top;
    const id = seen.dataset.card ?? "";
    cardElement("HB-0214")?.focus();
    host.board.change("HB-0207", { status: "done" });
    await expect.poll(() => host.calls.filter(({ name }) => name === "board_view").length).toBeGreaterThan(1);
    await expect.poll(() => columnOf("HB-0207")).not.toBe("doing");
    await expect.poll(() => Math.abs((cardElement(id) as HTMLElement).getBoundingClientRect().top - before)).toBeLessThan(3);
    expect((document.activeElement as HTMLElement).dataset.card).toBe("HB-0214");
  });

  test("when the card with the focus goes away, the next one gets it", async () => {
    const { host } = await open();
    cardElement("HB-0217")?.focus();
    host.board.change("HB-0217", { archived: true });
    await expect.poll(() => cardElement("HB-0217")).toBeNull();
    await expect.poll(() => (document.activeElement as HTMLElement).dataset.card).toBe("HB-0222");
  });
});

describe("a read-only board", () => {
  test("looks the same and changes nothing", async () => {
    const { host } = await open({ board: { readOnly: true } });
    await expect.element(page.getByText("Read-only")).toBeVisible();
    cardElement("HB-0214")?.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}n");
    await expect.poll(() => columnOf("HB-0214")).toBe("next");
    expect(document.querySelector("[role=dialog]")).toBeNull();
    expect(host.calls.filter(({ name }) => name === "board_call")).toEqual([]);
  });
});

describe("hostile text", () => {
  test("is shown as text, its direction marks as escapes", async () => {
    await open({ at: `${BOARD}?card=HB-0666`, hostile: true });
    await expect.element(page.getByRole("complementary", { name: "Card HB-0666" })).toBeVisible();
    await expect.poll(() => document.querySelectorAll(".bd-criterion").length).toBe(1);
    expect((window as { hacked?: number }).hacked).toBeUndefined();
    expect(document.querySelector(".bd img, .bd script, .bd a[href^='javascript']")).toBeNull();
    expect(document.querySelector(".bd")?.textContent).not.toContain("\u202e");
    expect(document.querySelector(".bd-drawer-title")?.textContent).toContain("\\u202e");
    await expectGoodLayout(() => document.querySelector(".bd") as Element);
  });
});

describe("documents, changelog, memory, findings", () => {
  test("what is remembered is listed by its kind and opens as text", async () => {
    await renderApp({ at: `${BOARD}?part=memory` });
    await expect.element(page.getByText("Decision", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: /Error codes are never reused/ }).click();
    await expect.element(page.getByRole("heading", { name: "Error codes are never reused" })).toBeVisible();
    await page.getByRole("button", { name: "All of memory" }).click();
    await page.getByRole("searchbox", { name: "Find in memory" }).fill("incident");
    await expect.poll(() => document.querySelectorAll(".bd-doc").length).toBe(1);
  });

  test("documents are listed and open as text", async () => {
    await renderApp({ at: `${BOARD}?part=documents` });
    await page.getByRole("button", { name: /^Counter handbook/ }).click();
    await expect.element(page.getByRole("heading", { name: "Counter handbook" })).toBeVisible();
    await expect.element(page.getByText("opens at nine")).toBeVisible();
    await page.getByRole("button", { name: "All documents" }).click();
    await expect.element(page.getByRole("button", { name: /^How orders flow/ })).toBeVisible();
  });

  test("thousands of findings and criteria are drawn as far as they are asked for", async () => {
    const host = createMockHost({ settings: { language: "en" } });
    const call = host.call;
    host.call = async (name, request) => {
      const answer = await call(name, request);
      if (name === "board_call" && (request as { tool: string }).tool === "project_doctor") {
        const report = answer as { issues?: unknown[]; result?: { issues?: unknown[] } };
        const holder = report.issues ? report : report.result;
        if (holder?.issues)
          holder.issues = Array.from({ length: 5_000 }, (_, at) => ({ ...(holder.issues?.[0] as object), message: `finding ${at}` }));
      }
      if (name === "board_card")
        Object.assign(answer as object, {
          acceptance: Array.from({ length: 2_000 }, (_, line) => ({ line, text: `criterion ${line}`, done: false })),
        });
      return answer;
    };
    await renderApp({ at: `${BOARD}?part=findings`, host });
    await expect.element(page.getByText("finding 0", { exact: true })).toBeVisible();
    expect(document.querySelectorAll(".bd-issue").length).toBe(60);
    await page.getByRole("button", { name: "Show 240 more of 5,000" }).click();
    await expect.poll(() => document.querySelectorAll(".bd-issue").length).toBe(300);
    navigate(`${BOARD}?card=HB-0207`);
    await expect.element(page.getByText("criterion 0", { exact: true })).toBeVisible();
    await expect.element(page.getByText("0 of 2,000")).toBeVisible();
    expect(document.querySelectorAll(".bd-criterion").length).toBe(60);
  });

  test("findings stand by their code; what can be mended is mended at once", async () => {
    const host = createMockHost({ settings: { language: "en" } });
    const call = host.call;
    let written = false;
    host.call = async (name, request) => {
      const answer = await call(name, request);
      if (name === "board_mend") written = true;
      if (name === "board_call" && (request as { tool: string }).tool === "project_doctor" && !written) {
        const report = answer as { issues?: unknown[]; result?: { issues?: unknown[] } };
        const holder = report.issues ? report : report.result;
        const missing = { severity: "warning", module: "agents", code: "agent-instructions-missing", message: "This generated file is missing." };
        holder?.issues?.push({ ...missing, file: "AGENTS.md" }, { ...missing, file: ".project/agents/protocol.md" });
      }
      return answer;
    };
    await renderApp({ at: `${BOARD}?part=findings`, host });
    await expect.element(page.getByRole("region", { name: "Instructions for agents are missing" })).toBeVisible();
    expect(page.getByRole("button", { name: "Mend them" }).elements()).toEqual([]);
    await page.getByRole("button", { name: "Write them" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Write them" }).elements()).toEqual([]);
    expect(host.calls.find(({ name }) => name === "board_mend")?.request).toEqual({
      project: "harbor-board",
      code: "agent-instructions-missing",
    });
  });

  test("the changelog reads as the next release would; a finding leads to its card", async () => {
    await renderApp({ at: `${BOARD}?part=changelog` });
    await expect.element(page.getByText("Orders take an idempotency key. (HB-0214)")).toBeVisible();
    await page.getByRole("radio", { name: /^Findings/ }).click();
    await page.getByRole("button", { name: "Open HB-0207" }).click();
    await expect.element(page.getByRole("complementary", { name: "Card HB-0207" })).toBeVisible();
    expect(params().get("part")).toBeNull();
  });

  test("an empty board names the next step; one that can't be read says why", async () => {
    const { unmount } = await renderApp({ at: BOARD, board: { empty: true } });
    await expect.element(page.getByText("No cards yet")).toBeVisible();
    await unmount();
    const { host } = await renderApp({ at: "/project/harbor-board/overview" });
    host.fail("board_view", { code: "project_broken", message: "CONFIG_CARDS_AREA_INVALID" });
    await page.getByRole("tab", { name: "Board" }).click();
    await expect.element(page.getByRole("alert")).toHaveTextContent("CONFIG_CARDS_AREA_INVALID");
  });
});

describe("narrow windows", () => {
  test("one column with a picker", async () => {
    await open({ width: 720, height: 520 });
    expect([...document.querySelectorAll("[data-column]")].length).toBe(1);
    await page.getByRole("combobox", { name: "Column" }).click();
    await page.getByRole("option", { name: "Doing, 4" }).click();
    await expect.poll(() => columnOf("HB-0207")).toBe("doing");
  });
});

describe("looks", () => {
  for (const [name, at] of [
    ["cards", BOARD],
    ["a card's page", `${BOARD}?card=HB-0207`],
    ["documents", `${BOARD}?part=documents`],
    ["changelog", `${BOARD}?part=changelog`],
    ["memory", `${BOARD}?part=memory`],
    ["findings", `${BOARD}?part=findings`],
  ] as const) {
    test(`${name}: accessible, and in shape in every size`, async () => {
      await renderApp({ at });
      await expect.poll(() => document.querySelector(".bd-card, .bd-doc, .bd-paper, .bd-issue")).not.toBeNull();
      if (at.includes("card=")) await expect.poll(() => document.querySelectorAll(".bd-criterion").length).toBe(5);
      await expectAccessible(document.querySelector(".bd") as Element);
      await expectGoodLayout(() => document.querySelector(".app-main") as Element);
    });
  }

  test("six columns fit a window of 1024 by 700 without scrolling sideways", async () => {
    await open({ width: SIZES[1].width, height: SIZES[1].height });
    const canvas = document.querySelector(".bd-canvas") as HTMLElement;
    expect(canvas.scrollWidth).toBeLessThanOrEqual(canvas.clientWidth);
    expect(document.querySelectorAll("[data-column]").length).toBe(6);
  });

  test("a reason is said in the window's language; one of an unknown code as the board says it", async () => {
    const { host } = await open({ settings: { language: "zh-CN" } });
    const drop = await lift("HB-0205", "done");
    await expect.poll(() => column("done").querySelector(".bd-gate")?.textContent).toBe("HB-0205 还有 1 条标准未满足，「已完成」要求全部满足。");
    drop();
    await expect.element(page.getByRole("group", { name: "没有移到「已完成」" })).toBeVisible();
    host.fail("board_refusals", { code: "internal", message: "odd \u202e thing" });
    cardElement("HB-0231")?.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
    await expect.element(page.getByRole("group", { name: "没有移到「下一步」" })).toHaveTextContent("odd \\u202e thing");
  });

  test("in Chinese, too", async () => {
    await renderApp({ at: BOARD, settings: { language: "zh-CN", theme: "dark" } });
    await expect.element(page.getByRole("heading", { name: "进行中" })).toBeVisible();
    await expectAccessible(document.querySelector(".bd") as Element);
    await expectGoodLayout(() => document.querySelector(".app-main") as Element);
  });
});
