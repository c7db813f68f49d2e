import type { DockClient } from "../../api/contract";
import type { I18n, MessageKey } from "../../i18n";
import { revealText } from "../../kit";

/** How a client's file stands to this project. */
export const STATE_WORDS: Record<DockClient["state"], MessageKey> = {
  in_step: "dock.inStep",
  differs: "dock.differs",
  not_added: "dock.notAdded",
  absent: "dock.absent",
};

const ASKS: Record<string, { long: MessageKey; short: MessageKey }> = {
  yes: { long: "dock.asksYes", short: "dock.asksYesShort" },
  perhaps: { long: "dock.asksPerhaps", short: "dock.asksPerhapsShort" },
  no: { long: "dock.asksNo", short: "dock.asksNoShort" },
};

/** Who puts a question before the person; a client of a newer backend may say it in its own words. */
export function asksWords({ t }: I18n, client: DockClient, how: "long" | "short"): string {
  const known = Object.hasOwn(ASKS, client.asks) ? ASKS[client.asks] : undefined;
  return known ? t(known[how], { name: revealText(client.name) }) : revealText(client.asks);
}

const EFFECTS: Record<string, MessageKey> = { dropped: "dock.effectDropped", cut: "dock.effectCut", hashed: "dock.effectHashed" };

/** What happens to a tool whose name is too long. */
export function effectWords({ t }: I18n, effect: string): string {
  const known = Object.hasOwn(EFFECTS, effect) ? EFFECTS[effect] : undefined;
  return known ? t(known) : revealText(effect);
}
