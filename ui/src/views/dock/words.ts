import type { DockClient, DockTest, EntrypointRow } from "../../api/contract";
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

/** What a client says of its limits, sentence by sentence. */
export function limitsOf(client: DockClient): string[] {
  const sentences = (client.limits ?? "").split("; ").map((sentence) => sentence.trim());
  return [...new Set(sentences.filter(Boolean).map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1)))];
}

/** A command cut into its words and the gaps between them; what is quoted is one word. Put together again it is the command. */
export function commandWords(text: string): string[] {
  return text.match(/\s+|(?:\\.|[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|['"\\])+/g) ?? [];
}

/** What a tool takes. A star stands at what has to be given, as far as the tool is one of these entrypoints. */
export function paramWords(tool: DockTest["tools"][number], entrypoints: readonly EntrypointRow[]): string {
  const params = entrypoints.find((one) => one.id === tool.name)?.params ?? [];
  return tool.params.map((name) => revealText(name) + (params.some((param) => param.name === name && param.required) ? "*" : "")).join(", ");
}
