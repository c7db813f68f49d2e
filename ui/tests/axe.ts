// Accessibility of what is on screen.
import axe from "axe-core";
import { expect } from "vitest";

/** Fails with a readable list when axe finds anything. `exclude`: selectors of parts that are looked at elsewhere. */
export async function expectAccessible(root: Element | Document = document, exclude: string[] = []): Promise<void> {
  const { violations } = await axe.run(exclude.length > 0 ? { include: [root as Element], exclude: exclude.map((selector) => [selector]) } : (root as Element), {
    // The tests render views without the document around them.
    rules: { region: { enabled: false }, "page-has-heading-one": { enabled: false } },
  });
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html.slice(0, 200)}\n  ${failureSummary}`).join("\n")}`);
  expect(found.join("\n\n")).toBe("");
}
