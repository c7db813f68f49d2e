// Accessibility of what is on screen.
import axe from "axe-core";
import { expect } from "vitest";

/** Waits until what moves once has come to rest: colours on their way have no fair contrast. What turns for ever is left alone. */
async function stillness(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const moving = document.getAnimations().filter((animation) => animation.effect?.getComputedTiming().iterations !== Infinity);
  await Promise.allSettled(moving.map((animation) => animation.finished));
}

/** Fails with a readable list when axe finds anything. `exclude`: selectors of parts that are looked at elsewhere. */
export async function expectAccessible(root: Element | Document = document, exclude: string[] = []): Promise<void> {
  await stillness();
  const { violations } = await axe.run(
    exclude.length > 0 ? { include: [root as Element], exclude: exclude.map((selector) => [selector]) } : (root as Element),
    {
      // The tests render views without the document around them.
      rules: { region: { enabled: false }, "page-has-heading-one": { enabled: false } },
    },
  );
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html.slice(0, 200)}\n  ${failureSummary}`).join("\n")}`,
  );
  expect(found.join("\n\n")).toBe("");
}
