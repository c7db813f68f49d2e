import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clearMocks, mockIPC } from "@tauri-apps/api/mocks";
import { emit } from "@tauri-apps/api/event";
import type { StoreChanged } from "../api/contract";
import { createHttpHost } from "./http";
import { createTauriHost } from "./tauri";
import { toApiError } from ".";

const change: StoreChanged = { seq: 7, runs: ["20261130-zz1c"], projects: [], all: false };

describe("in the window", () => {
  let asked: { name: string; request: unknown }[] = [];
  let answer: (name: string) => unknown = () => null;

  beforeEach(() => {
    asked = [];
    answer = () => null;
    mockIPC(
      (command, args) => {
        if (command !== "rpc") throw new Error(`unknown command ${command}`);
        const { name, request } = args as { name: string; request: unknown };
        asked.push({ name, request });
        return answer(name);
      },
      { shouldMockEvents: true },
    );
  });
  afterEach(clearMocks);

  test("every command is one rpc with its name and request", async () => {
    answer = () => ({ rows: [], complete: true });
    expect(await createTauriHost().call("runs", { query: { text: "ledger" }, limit: 5 })).toEqual({ rows: [], complete: true });
    expect(asked).toEqual([{ name: "runs", request: { query: { text: "ledger" }, limit: 5 } }]);
  });

  test("an error keeps its code", async () => {
    answer = () => {
      throw { code: "not_found", message: "Run x is not in the store." };
    };
    await expect(createTauriHost().call("run", { run: "x" })).rejects.toEqual({ code: "not_found", message: "Run x is not in the store." });
  });

  test("changes arrive until nobody listens", async () => {
    const heard: StoreChanged[] = [];
    const end = createTauriHost().onChange((one) => heard.push(one));
    await expect.poll(async () => (await emit("store-changed", change), heard.length)).toBeGreaterThan(0);
    expect(heard[0]).toEqual(change);
    end();
    const before = heard.length;
    await emit("store-changed", change);
    expect(heard.length).toBe(before);
  });

  test("ready is said only when the page listens, and brings the view that was asked for", async () => {
    answer = (name) => (name === "host_ready" ? "/runs" : null);
    const host = createTauriHost();
    host.onNavigate(() => {});
    expect(await host.ready()).toBe("/runs");
    expect(asked).toEqual([{ name: "host_ready", request: {} }]);
  });

  test("the last title wins, however long the shell takes for one before it", async () => {
    const set: string[] = [];
    answer = () => new Promise((done) => setTimeout(done, set.length === 0 ? 50 : 0));
    const host = createTauriHost();
    const titles = ["Home", "20261130-k7mq", "Weekly page"];
    await Promise.all(titles.map((title) => host.setTitle(title)));
    set.push(...asked.map(({ request }) => (request as { title: string }).title));
    expect(set.at(-1)).toBe("Weekly page");
    expect(set).not.toContain("20261130-k7mq");
    expect(document.title).toBe("Weekly page");
  });

  test("the desktop's own commands", async () => {
    const host = createTauriHost();
    await host.copyText("text");
    await host.pickSave("run.log");
    await host.openLink("https://example.org");
    await host.notify("title", "body", "run");
    await host.setTitle("(1) Home");
    expect(asked.map(({ name }) => name)).toEqual(["host_copy_text", "host_pick_save", "host_open_link", "host_notify", "host_set_title"]);
  });
});

describe("over HTTP", () => {
  const real = window.fetch;
  afterEach(() => {
    window.fetch = real;
  });
  const answer = (status: number, body: string) => {
    const bodies: unknown[] = [];
    window.fetch = async (_, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return new Response(body, { status });
    };
    return bodies;
  };

  test("ok and error", async () => {
    const bodies = answer(200, '{"ok":{"runs":1,"bytes":2}}');
    expect(await createHttpHost().call("prune", {})).toEqual({ runs: 1, bytes: 2 });
    expect(bodies).toEqual([{ name: "prune", request: {} }]);
    answer(200, '{"error":{"code":"running","message":"It runs."}}');
    await expect(createHttpHost().call("delete_run", { run: "x" })).rejects.toEqual({ code: "running", message: "It runs." });
  });

  test("a server that is not there, or answers something else", async () => {
    answer(502, "<html>");
    await expect(createHttpHost().call("home", {})).rejects.toMatchObject({ code: "store_unavailable" });
    window.fetch = async () => {
      throw new TypeError("Failed to fetch");
    };
    await expect(createHttpHost().call("home", {})).rejects.toEqual({ code: "store_unavailable", message: "Failed to fetch" });
  });

  test("only https links are opened", async () => {
    await expect(createHttpHost().openLink("javascript:alert(1)")).rejects.toMatchObject({ code: "unsupported" });
  });
});

test("whatever is thrown becomes an error with a code", () => {
  expect(toApiError(new Error("boom"))).toEqual({ code: "internal", message: "boom" });
  expect(toApiError("boom")).toEqual({ code: "internal", message: "boom" });
  expect(toApiError({ code: "conflict", message: "x" })).toEqual({ code: "conflict", message: "x" });
  expect(toApiError(null)).toEqual({ code: "internal", message: "null" });
});
