import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { render } from "vitest-browser-react";
import { useEffect, useState, type ReactNode } from "react";
import type { Param } from "../../api/contract";
import { expectAccessible } from "../../../tests/axe";
import { expectGoodLayout } from "../../../tests/layout";
import { Providers } from "../../app/App";
import { createMockHost } from "../../host/mock";
import { DataTable, loadDraft, Markdown, ParamFields, Segmented, toast, TokenField, useParamForm, JsonTree, type ParamForm } from "..";
import KitPage, { ALL_FIELDS } from "../KitPage";

async function show(element: ReactNode, settings = {}) {
  const host = createMockHost({ runs: 0, settings: { language: "en", theme: "light", ...settings } });
  const screen = await render(
    <Providers host={host}>
      <main data-shown>{element}</main>
    </Providers>,
  );
  // The providers draw nothing before they know the language.
  await expect.poll(() => screen.container.querySelector("[data-shown]")).not.toBeNull();
  return { host, ...screen };
}

/** What a form under test gives out. */
class Out {
  form: ParamForm | undefined;
  readonly sent: unknown[] = [];
  put(form: ParamForm): void {
    this.form = form;
  }
}

/** A form with its parts in reach of the test. */
function Form({
  fields,
  draftKey,
  locked,
  out,
  initial,
}: {
  fields: readonly Param[];
  draftKey?: string;
  locked?: boolean;
  initial?: unknown;
  out?: Out;
}) {
  const form = useParamForm({ fields, draftKey, initial });
  useEffect(() => out?.put(form));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const input = form.submit();
        if (input) out?.sent.push(input);
      }}
    >
      <ParamFields form={form} locked={locked} />
      <button type="submit">Send</button>
    </form>
  );
}
const send = () => page.getByRole("button", { name: "Send", exact: true });

describe("all controls together", () => {
  test.each(["light", "dark"] as const)("are accessible, %s", async (theme) => {
    await show(<KitPage />, { theme });
    await expect.element(page.getByRole("heading", { name: "Kit" })).toBeVisible();
    await expectAccessible();
  });

  test.each(["en", "zh-CN"] as const)("keep to the window at every size, %s", async (language) => {
    await show(<KitPage />, { language });
    await expect.element(page.getByRole("heading", { name: "Kit" })).toBeVisible();
    await expectGoodLayout();
  });
});

describe("a generated form", () => {
  test("every type becomes an input", async () => {
    const out = new Out();
    const { host } = await show(<Form fields={ALL_FIELDS} out={out} />);
    await page.getByLabelText("Week").fill("2026-11-30");
    await userEvent.click(page.getByRole("radio", { name: "Board" }));
    await userEvent.click(page.getByRole("button", { name: /Notes/ }));
    await expect.element(page.getByText("ada/a.pdf")).toBeVisible();
    await page.getByLabelText("Most words").fill("400");
    await page.getByLabelText("Copy to").fill("ops@example.org");
    await userEvent.keyboard("{Enter}");
    await userEvent.click(page.getByRole("switch", { name: "Keep the draft" }));
    await userEvent.click(page.getByRole("radio", { name: /Warm/ }));
    await userEvent.click(page.getByRole("combobox", { name: /City/ }));
    await userEvent.keyboard("city 7");
    await userEvent.click(page.getByRole("option", { name: "City 7" }));
    await userEvent.click(page.getByRole("combobox", { name: /Leave out/ }));
    await userEvent.click(page.getByRole("option", { name: "Press" }));
    await userEvent.keyboard("{Escape}");
    await userEvent.click(page.getByRole("checkbox", { name: "charts" }));
    await page.getByLabelText("Publish at").fill("2026-11-30 14:30 Z");
    await page.getByLabelText("Not before").fill("8:15");
    await page.getByLabelText("Rate").fill("0.75");
    await page.getByLabelText("Anything to add").fill("two\nlines");
    await page.getByLabelText("Bare value").fill("-x");
    await page.getByLabelText("Token").fill("s3cret");
    await page.getByLabelText("Extra").fill('{"a":[1]}');
    await userEvent.click(send());
    expect(out.sent).toEqual([
      {
        week: "2026-11-30",
        audience: "board",
        notes: ["/home/ada/a.pdf", "/home/ada/b.pdf"],
        words: 400,
        copyTo: ["ops@example.org"],
        keep: true,
        tone: "warm",
        city: "c6",
        leaveOut: ["Press"],
        parts: ["charts"],
        at: "2026-11-30T14:30:00Z",
        from: "08:15",
        rate: 0.75,
        text: "two\nlines",
        bare: "-x",
        token: "s3cret",
        extra: { a: [1] },
      },
    ]);
    expect(host.calls.some(({ name }) => name === "start_run")).toBe(false);
  });

  test("what is required says so, alone or among others; the hint stays beside a fault", async () => {
    await show(<Form fields={[{ name: "who", type: "string", title: "Who", required: true, description: "A first name" }]} />);
    await expect.element(page.getByText("required", { exact: true })).toBeVisible();
    await userEvent.click(send());
    await expect.element(page.getByRole("alert")).toBeVisible();
    await expect.element(page.getByText("A first name")).toBeVisible();
  });

  const words: Param[] = [
    { name: "first", type: "string", title: "First", required: true },
    { name: "words", type: "integer", title: "Words", minimum: 80, maximum: 2000 },
  ];

  test("a field is checked when it is left, then at every key", async () => {
    await show(<Form fields={words} />);
    const field = page.getByLabelText("Words");
    await userEvent.click(field);
    await userEvent.keyboard("2");
    await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
    await userEvent.keyboard("{Tab}");
    await expect.element(page.getByRole("alert")).toHaveTextContent("Between 80 and 2,000");
    await expect.element(field).toHaveAttribute("aria-invalid", "true");
    await userEvent.click(field);
    await userEvent.keyboard("{End}5");
    await expect.element(page.getByRole("alert")).toHaveTextContent("Between 80 and 2,000");
    await userEvent.keyboard("0");
    await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
    await expect.element(field).not.toHaveAttribute("aria-invalid");
  });

  test("the button stays pressable and goes to the first fault", async () => {
    const out = new Out();
    await show(<Form fields={words} out={out} />);
    await page.getByLabelText("Words").fill("20");
    await userEvent.click(send());
    await expect.element(page.getByLabelText("First")).toHaveFocus();
    expect(out.sent).toEqual([]);
    expect(document.querySelectorAll("[role=alert]")).toHaveLength(2);
    await userEvent.keyboard("x");
    await page.getByLabelText("Words").fill("100");
    await userEvent.click(send());
    expect(out.sent).toEqual([{ first: "x", words: 100 }]);
  });

  test("what the backend refuses stands under its field until that changes", async () => {
    const out = new Out();
    await show(<Form fields={words} out={out} />);
    expect(
      out.form!.refuse([
        { path: "words", message: "Not 90 on Mondays" },
        { path: "", message: "Closed today" },
      ]),
    ).toEqual(["Closed today"]);
    await expect.element(page.getByText("Not 90 on Mondays")).toBeVisible();
    await expect.element(page.getByLabelText("Words")).toHaveFocus();
    await userEvent.keyboard("120");
    await expect.element(page.getByText("Not 90 on Mondays")).not.toBeInTheDocument();
  });

  test("typed text is kept, a secret is not, and sending forgets it", async () => {
    const fields: Param[] = [...words, { name: "token", type: "secret", title: "Token" }];
    const out = new Out();
    const first = await show(<Form fields={fields} draftKey="question 1" out={out} />);
    await page.getByLabelText("First").fill("half a sentence");
    await page.getByLabelText("Token").fill("hunter2");
    await first.unmount();
    expect(loadDraft("question 1")).toEqual({ first: "half a sentence" });
    expect(JSON.stringify(localStorage)).not.toContain("hunter2");
    await show(<Form fields={fields} draftKey="question 1" out={out} />);
    await expect.element(page.getByLabelText("First")).toHaveValue("half a sentence");
    await expect.element(page.getByLabelText("Token")).toHaveValue("");
    out.form!.sent();
    expect(loadDraft("question 1")).toBeUndefined();
  });

  test("locked: nothing changes, text stays selectable", async () => {
    await show(<Form fields={ALL_FIELDS} locked initial={{ week: "2026-11-30", text: "kept", copyTo: ["a@b.c"] }} />);
    await expect.element(page.getByLabelText("Anything to add")).toHaveAttribute("readonly");
    await userEvent.click(page.getByRole("switch", { name: "Keep the draft" }), { force: true });
    await expect.element(page.getByRole("switch", { name: "Keep the draft" })).not.toBeChecked();
    await userEvent.click(page.getByRole("radio", { name: "Board" }), { force: true });
    await expect.element(page.getByRole("radio", { name: "Team" })).toBeChecked();
    expect(document.querySelectorAll(".k-chip-x")).toHaveLength(0);
    expect(document.querySelectorAll(".k-drop")).toHaveLength(0);
  });

  test("a dropped file goes into the file field, twice the same only once", async () => {
    const { DropOverlay } = await import("../../app/DropOverlay");
    const { host } = await show(
      <>
        <Form fields={ALL_FIELDS} />
        <DropOverlay />
      </>,
    );
    host.drop(["/home/ada/notes/one.md", "/home/ada/notes/two.md"]);
    host.drop(["/home/ada/notes/one.md"]);
    await expect.element(page.getByText("notes/one.md")).toBeVisible();
    await expect.element(page.getByText("2 files")).toBeVisible();
    expect(host.calls.some(({ name }) => name === "project_add")).toBe(false);
  });

  test("numbers step within their limits by arrow keys", async () => {
    await show(<Form fields={words} />);
    const field = page.getByLabelText("Words");
    await userEvent.click(field);
    await userEvent.keyboard("{ArrowUp}");
    await expect.element(field).toHaveValue("80");
    await userEvent.keyboard("{ArrowUp}{Shift>}{ArrowUp}{/Shift}");
    await expect.element(field).toHaveValue("91");
    await userEvent.keyboard("{Shift>}{ArrowDown}{ArrowDown}{/Shift}");
    await expect.element(field).toHaveValue("80");
  });

  test("a day is picked from the calendar by keyboard and shown in the language's form", async () => {
    const out = new Out();
    await show(<Form fields={[{ name: "day", type: "date", title: "Day" }]} out={out} />);
    const field = page.getByLabelText("Day", { exact: true });
    await field.fill("2026-11-30");
    await userEvent.keyboard("{Alt>}{ArrowDown}{/Alt}");
    await expect
      .element(page.getByRole("button", { name: "Monday, 30 November 2026" }).or(page.getByRole("button", { name: "Monday 30 November 2026" })))
      .toHaveFocus();
    await userEvent.keyboard("{ArrowLeft}{ArrowUp}{Enter}");
    await userEvent.click(send());
    await expect.element(field).toHaveValue("22 Nov 2026");
    expect(out.sent).toEqual([{ day: "2026-11-22" }]);
  });

  test("a field isn't left by opening its own calendar, list or reveal button", async () => {
    const own: Param[] = [
      { name: "day", type: "date", title: "Day", required: true },
      { name: "city", type: "select", title: "City", required: true, options: Array.from({ length: 12 }, (_, index) => ({ value: `c${index}` })) },
      { name: "token", type: "secret", title: "Token", required: true },
    ];
    await show(<Form fields={own} />);
    await userEvent.click(page.getByLabelText("Day", { exact: true }));
    await userEvent.click(page.getByRole("button", { name: "Open calendar" }));
    await expect.element(page.getByRole("button", { name: "Today" })).toBeVisible();
    await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
    await userEvent.click(page.getByRole("button", { name: "Today" }));
    await userEvent.click(page.getByRole("combobox", { name: /City/ }));
    await expect.element(page.getByRole("option", { name: "c3" })).toBeVisible();
    await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
    await userEvent.click(page.getByRole("option", { name: "c3" }));
    await userEvent.click(page.getByLabelText("Token"));
    await userEvent.click(page.getByRole("button", { name: "Show" }));
    await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
    await userEvent.click(page.getByLabelText("Day", { exact: true }));
    await expect.element(page.getByRole("alert")).toHaveTextContent("Needed to go on");
  });

  test("a secret is masked until it is revealed", async () => {
    await show(<Form fields={[{ name: "token", type: "secret", title: "Token" }]} />);
    await page.getByLabelText("Token").fill("hunter2");
    await expect.element(page.getByLabelText("Token")).toHaveAttribute("type", "password");
    await userEvent.click(page.getByRole("button", { name: "Show" }));
    await expect.element(page.getByLabelText("Token")).toHaveAttribute("type", "text");
  });
});

test("tokens: Enter adds, Backspace takes the last one back, pasted lines become one each, what stands there when left counts", async () => {
  const seen: string[][] = [];
  function Tokens() {
    const [value, setValue] = useState<readonly string[]>([]);
    seen.push([...value]);
    return (
      <>
        <TokenField label="Tokens" value={value} onChange={setValue} />
        <button type="button">next</button>
      </>
    );
  }
  await show(<Tokens />);
  const field = page.getByLabelText("Tokens");
  await userEvent.click(field);
  await userEvent.keyboard("one{Enter}two{Enter}{Backspace}");
  await expect.element(field).toHaveValue("two");
  await userEvent.click(page.getByRole("button", { name: "next" }));
  expect(seen.at(-1)).toEqual(["one", "two"]);
});

test("a segmented control is one stop, arrows choose", async () => {
  function Seg() {
    const [value, setValue] = useState("a");
    return <Segmented label="Which" value={value} items={["a", "b", "c"].map((one) => ({ value: one, label: one }))} onChange={setValue} />;
  }
  await show(<Seg />);
  await userEvent.keyboard("{Tab}");
  await expect.element(page.getByRole("radio", { name: "a" })).toHaveFocus();
  await userEvent.keyboard("{ArrowRight}{ArrowRight}");
  await expect.element(page.getByRole("radio", { name: "c" })).toBeChecked();
  await expect.element(page.getByRole("radio", { name: "c" })).toHaveFocus();
});

describe("hostile text", () => {
  const EVIL = '<img src=x onerror="window.__evil=1"><script>window.__evil=1</script>';

  test("in names, options, hints and faults of a form stays text", async () => {
    const fields: Param[] = [
      {
        name: "a",
        type: "select",
        title: EVIL,
        description: `hint ${EVIL}`,
        options: [{ value: "x", title: `opt ${EVIL}`, description: EVIL }, { value: "y" }],
      },
      { name: "b\u202Ec", type: "string", default: EVIL },
    ];
    const out = new Out();
    const { container } = await show(<Form fields={fields} out={out} />);
    out.form!.refuse([{ path: "a", message: EVIL }]);
    await expect.element(page.getByRole("alert")).toBeVisible();
    expect(container.querySelectorAll("img, script")).toHaveLength(0);
    expect(container.textContent).toContain("\\u202e");
    expect("__evil" in window).toBe(false);
  });

  test("in Markdown: no HTML, no script links, no pictures from elsewhere, links ask first", async () => {
    const { host, container } = await show(
      <Markdown
        text={`# ${EVIL}\n\n${EVIL}\n\n[click](javascript:alert(1)) [data](data:text/html,x) ![pic](https://tracker.example/p.png) [plain](http://example.org) [good](https://example.org/a?b=1)\n\n- <b>x</b>\n\n| a |\n|---|\n| ${"<i>"} |`}
      />,
    );
    const opened = vi.spyOn(host, "openLink");
    expect(container.querySelectorAll(".k-md :is(img, script, a, b, i, iframe)")).toHaveLength(0);
    expect(container.querySelectorAll(".k-md button")).toHaveLength(1);
    expect(container.textContent).toContain("javascript:alert(1)");
    await userEvent.click(page.getByRole("button", { name: "good" }));
    await expect.element(page.getByText("Open a page of example.org?")).toBeVisible();
    expect(opened).not.toHaveBeenCalled();
    await userEvent.click(page.getByRole("button", { name: "Open in browser" }));
    expect(opened).toHaveBeenCalledWith("https://example.org/a?b=1");
    expect("__evil" in window).toBe(false);
  });

  test("Markdown nested without end and huge texts come out as text", async () => {
    const { container } = await show(<Markdown text={`${">".repeat(5000)} deep\n\n${"[".repeat(3000)}`} />);
    expect(container.textContent).toContain("deep");
  });

  test.each([
    ["a table", `|a|b|\n|-|-|\n${"|a|b|\n".repeat(30_000)}`],
    ["a list", "- a\n".repeat(45_000)],
    ["links", "[a](https://example.org) ".repeat(7_500)],
  ])("Markdown draws the beginning of %s without end, and more when asked", async (_, text) => {
    const { container } = await show(<Markdown text={text} />);
    const before = container.querySelectorAll("*").length;
    expect(before).toBeLessThan(10_000);
    await page.getByRole("button", { name: "Show more of this text" }).click();
    await expect.poll(() => container.querySelectorAll("*").length).toBeGreaterThan(before * 2);
  });

  test("in a tree: keys and values are text, bidi is shown", async () => {
    const { container } = await show(
      <div style={{ height: 300, display: "flex" }}>
        <JsonTree value={{ [EVIL]: "a\u202Eb", [`k\u200B`]: EVIL }} root="output" label="Output" />
      </div>,
    );
    await expect.element(page.getByRole("tree")).toBeVisible();
    expect(container.querySelectorAll(".k-tree :is(img, script)")).toHaveLength(0);
    expect(container.textContent).toContain("\\u202e");
    expect(container.textContent).toContain("\\u200b");
  });
});

test("a table of three hundred columns draws them as far as they are asked for", async () => {
  const row = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`c${at}`, at]));
  await show(<DataTable rows={Array.from({ length: 20 }, () => row)} label="Wide" />);
  const columns = () => document.querySelectorAll("th").length;
  const before = columns();
  await page.getByRole("button", { name: "60 more columns" }).click();
  await expect.poll(columns).toBe(before + 60);
});

describe("the tree", () => {
  test("a key is never in the way of its value: none at all, or a thousand letters", async () => {
    await show(
      <div style={{ height: 300, width: 900, display: "flex" }}>
        <JsonTree value={{ "": 1, ["long key ".repeat(100)]: "seen" }} root="output" label="Output" />
      </div>,
    );
    await expect.element(page.getByText('""', { exact: true })).toBeVisible();
    const value = page.getByText('"seen"').element().getBoundingClientRect();
    expect(value.right).toBeLessThan(900);
  });
  const big = { list: Array.from({ length: 100_000 }, (_, index) => ({ id: index, name: `row ${index}` })) };

  test("100,000 nodes keep fewer than 80 rows in the page; keys move and open", async () => {
    await show(
      <div style={{ height: 400, display: "flex" }}>
        <JsonTree value={big} root="output" label="Output" />
      </div>,
    );
    const tree = page.getByRole("tree");
    await expect.element(tree).toBeVisible();
    (document.querySelector(".k-tree") as HTMLElement).focus();
    await userEvent.keyboard("{ArrowDown}{ArrowRight}{End}");
    await expect.element(page.getByText("99999", { exact: true })).toBeVisible();
    expect(document.querySelectorAll("[role=treeitem]").length).toBeLessThan(80);
    await userEvent.keyboard("{ArrowLeft}{ArrowLeft}");
    await expect.element(page.getByRole("treeitem", { expanded: false })).toBeVisible();
  });

  test("a search leaves the hits, Escape clears it, the path is copied", async () => {
    const { host } = await show(
      <div style={{ height: 400, display: "flex" }}>
        <JsonTree value={{ a: { deep: ["needle"] }, b: "hay" }} root="output" label="Output" />
      </div>,
    );
    await page.getByRole("searchbox").fill("needle");
    await expect.element(page.getByText("1 hit")).toBeVisible();
    await expect.element(page.getByText("hay")).not.toBeInTheDocument();
    await userEvent.click(page.getByText("needle"));
    await userEvent.click(page.getByRole("button", { name: "Copy path" }));
    expect(host.copied).toEqual(["output.a.deep[0]"]);
    await userEvent.click(page.getByRole("searchbox"));
    await userEvent.keyboard("{Escape}");
    await expect.element(page.getByText("hay")).toBeVisible();
  });
});

test("a toast offers undo once; at most three show; errors stay", async () => {
  await show(<p>view</p>);
  const undo = vi.fn();
  toast("Written to mcp.json", { undo });
  await userEvent.click(page.getByRole("button", { name: "Undo" }));
  expect(undo).toHaveBeenCalledTimes(1);
  for (const text of ["one", "two", "three", "four"]) toast(text, { kind: "error" });
  await expect.element(page.getByRole("region", { name: "Messages" }).getByText("four")).toBeVisible();
  await expect
    .poll(
      () =>
        [...document.querySelectorAll<HTMLElement>(".k-toast")].filter((one) => one.offsetParent !== null || getComputedStyle(one).display !== "none")
          .length,
    )
    .toBeLessThanOrEqual(3);
});

test("a table of 20,000 rows keeps fewer than 60 in the page, sorts all of them and copies all of them", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => ({
    n: (index * 7919) % 20_000,
    name: index === 3 ? '<img src=x onerror="window.__evil=1">\u202E' : `row ${index}`,
  }));
  const { host, container } = await show(<DataTable rows={rows} label="Many" />);
  await expect.element(page.getByRole("table")).toHaveAttribute("aria-rowcount", "20001");
  await expect.poll(() => container.querySelectorAll("tbody tr[aria-rowindex]").length).toBeGreaterThan(5);
  expect(container.querySelectorAll("tbody tr").length).toBeLessThan(60);
  expect(container.querySelectorAll("td img")).toHaveLength(0);
  await userEvent.click(page.getByRole("button", { name: "n", exact: true }));
  await expect.poll(() => container.querySelector('tr[aria-rowindex="2"] td')?.textContent).toBe("0");
  await userEvent.click(page.getByRole("button", { name: "n", exact: true }));
  await expect.poll(() => container.querySelector('tr[aria-rowindex="2"] td')?.textContent).toBe("19,999");
  const region = container.querySelector(".k-table-wrap")!;
  region.scrollTop = region.scrollHeight;
  await expect.poll(() => container.querySelector('tr[aria-rowindex="20001"] td')?.textContent).toBe("0");
  expect(container.querySelectorAll("tbody tr").length).toBeLessThan(60);
  await userEvent.click(page.getByRole("button", { name: "Copy as CSV" }));
  await expect.poll(() => host.copied[0]?.split("\r\n").length).toBe(20_001);
});
