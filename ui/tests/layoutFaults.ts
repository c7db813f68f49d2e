// What breaks the layout's rules on a page. One function that needs nothing from outside of itself, so that it can be sent to any page.

/** What breaks the rules below `root`, as readable lines. */
export function layoutFaults(root: Element = document.body): string[] {
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
