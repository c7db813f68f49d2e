// The words of the board's vocabularies. What a project adds to them is shown as it is written.
import type { MessageKey } from "../../i18n";
import { revealText } from "../../kit";
import en from "../../i18n/en/board";

type Translate = (key: MessageKey) => string;

function word(kind: "status" | "type" | "priority" | "relation" | "severity", id: string, t: Translate): string {
  const key = `${kind}_${id}`;
  return Object.hasOwn(en, key) ? t(`board.${key}` as MessageKey) : revealText(id).slice(0, 80);
}

export const statusWord = (id: string, t: Translate): string => word("status", id, t);
export const typeWord = (id: string, t: Translate): string => word("type", id, t);
export const priorityWord = (id: string, t: Translate): string => word("priority", id, t);
export const relationWord = (id: string, t: Translate): string => word("relation", id, t);
export const severityWord = (id: string, t: Translate): string => word("severity", id, t);
