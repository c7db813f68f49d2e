// Layout rules that every view keeps: nothing wider than the window, no text cut without a way to see the rest.
import { expect } from "vitest";
import { page } from "vitest/browser";
import { layoutFaults } from "./layoutFaults";

/** The sizes that every view is looked at in: the usual window, a small one, and text at 200 %. */
export const SIZES = [
  { name: "1280×820", width: 1280, height: 820, text: 100 },
  { name: "1024×700", width: 1024, height: 700, text: 100 },
  { name: "720×520", width: 720, height: 520, text: 100 },
  { name: "1280×820 at 200 %", width: 1280, height: 820, text: 200 },
  { name: "1024×700 at 200 %", width: 1024, height: 700, text: 200 },
] as const;

/** Waits until the page has painted twice: layout and observers have settled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
}

/** How long a view may take to follow a new size, in milliseconds: what measures itself is painted again, on a busy machine late. */
const FOLLOWS = 10_000;

/** What is still wrong once the view has followed the size. */
async function lastingFaults(root: () => Element): Promise<string[]> {
  const end = performance.now() + FOLLOWS;
  for (;;) {
    await settle();
    const faults = layoutFaults(root());
    if (faults.length === 0 || performance.now() > end) return faults;
  }
}

/** Looks at what is on screen in every size. The text size is set as the settings do it. */
export async function expectGoodLayout(root: () => Element = () => document.body, sizes: readonly (typeof SIZES)[number][] = SIZES): Promise<void> {
  const before = document.documentElement.style.fontSize;
  const faults: string[] = [];
  for (const { name, width, height, text } of sizes) {
    await page.viewport(width, height);
    document.documentElement.style.fontSize = `${(16 * text) / 100}px`;
    faults.push(...(await lastingFaults(root)).map((fault) => `${name}: ${fault}`));
  }
  document.documentElement.style.fontSize = before;
  await page.viewport(1280, 820);
  expect(faults.join("\n")).toBe("");
}
