// Layout rules that every view keeps: nothing wider than the window, no text cut without a way to see the rest.
import { expect } from "vitest";
import { page } from "vitest/browser";

/** The sizes that every view is looked at in: the usual window, a small one, and text at 200 %. */
export const SIZES = [
  { name: "1280×820", width: 1280, height: 820, text: 100 },
  { name: "1024×700", width: 1024, height: 700, text: 100 },
  { name: "720×520", width: 720, height: 520, text: 100 },
  { name: "1280×820 at 200 %", width: 1280, height: 820, text: 200 },
] as const;

/** Waits until the page has painted twice: layout and observers have settled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
}

const scrolls = (value: string) => value === "auto" || value === "scroll";

function describe(element: Element): string {
  const text = (element.textContent ?? "").trim().slice(0, 60);
  return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> “${text}”`;
}

/** Whether it is drawn at all. */
function isVisible(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.visibility === "hidden" || style.display === "none" || element.getClientRects().length === 0) return false;
  const box = element.getBoundingClientRect();
  // Visually hidden texts are one pixel wide.
  return box.width > 2 && box.height > 2;
}

/** What breaks the rules below `root`, as readable lines. */
export function layoutFaults(root: Element = document.body): string[] {
  const faults: string[] = [];
  const window = document.documentElement;
  if (window.scrollWidth > window.clientWidth) faults.push(`The window scrolls sideways: ${window.scrollWidth} > ${window.clientWidth}`);
  for (const element of root.querySelectorAll("*")) {
    if (!(element instanceof HTMLElement)) continue;
    const style = getComputedStyle(element);
    if (!isVisible(element, style)) continue;
    const wide = element.scrollWidth - element.clientWidth > 1 && element.clientWidth > 0;
    if (wide && style.display !== "inline") {
      // A document or a list that can't be reached without scrolling sideways; code, tables and canvases may, when they say so.
      if (scrolls(style.overflowX) && !element.closest("[data-scrolls-x], pre, .k-table-wrap, .k-diff, .k-tree"))
        faults.push(`Scrolls sideways: ${describe(element)} ${element.scrollWidth} > ${element.clientWidth}`);
      // Text that is cut hard. An ellipsis says that there is more.
      const isCut = style.overflowX === "hidden" || style.overflowX === "clip";
      if (isCut && style.textOverflow !== "ellipsis" && hasOwnText(element))
        faults.push(`Text is cut: ${describe(element)} ${element.scrollWidth} > ${element.clientWidth}`);
    }
    const box = element.getBoundingClientRect();
    if (hasOwnText(element) && !isInScroller(element)) {
      if (box.right > window.clientWidth + 1)
        faults.push(`Beyond the right edge: ${describe(element)} ${Math.round(box.right)} > ${window.clientWidth}`);
      if (box.left < -1) faults.push(`Beyond the left edge: ${describe(element)} ${Math.round(box.left)}`);
    }
    // One line of a control that is less high than its text.
    if (
      hasOwnText(element) &&
      (style.overflowY === "hidden" || style.overflowY === "clip") &&
      style.webkitLineClamp === "none" &&
      element.scrollHeight - element.clientHeight > 4
    )
      faults.push(`Text is cut below: ${describe(element)} ${element.scrollHeight} > ${element.clientHeight}`);
  }
  return faults;
}

function hasOwnText(element: Element): boolean {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").trim() !== "");
}

function isInScroller(element: Element): boolean {
  for (let at = element.parentElement; at; at = at.parentElement) {
    const { overflowX } = getComputedStyle(at);
    if (scrolls(overflowX) || overflowX === "hidden" || overflowX === "clip") return true;
  }
  return false;
}

/** Looks at what is on screen in every size. The text size is set as the settings do it. */
export async function expectGoodLayout(root: () => Element = () => document.body, sizes: readonly (typeof SIZES)[number][] = SIZES): Promise<void> {
  const before = document.documentElement.style.fontSize;
  const faults: string[] = [];
  for (const { name, width, height, text } of sizes) {
    await page.viewport(width, height);
    document.documentElement.style.fontSize = `${(16 * text) / 100}px`;
    await settle();
    faults.push(...layoutFaults(root()).map((fault) => `${name}: ${fault}`));
  }
  document.documentElement.style.fontSize = before;
  await page.viewport(1280, 820);
  expect(faults.join("\n")).toBe("");
}
