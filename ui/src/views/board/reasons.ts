// Why a move is refused, in the window's language where the code of the reason is known, else as the board says it.
import type { ApiError, BoardCard, BoardRefusal } from "../../api/contract";
import type { I18n } from "../../i18n";
import { revealText } from "../../kit";
import { longClaim } from "./Marks";
import { statusWord } from "./words";

type Translate = I18n["t"];

/** One reason. `code` is the board's own. */
export function reasonText(code: string | undefined, said: string, card: BoardCard, status: string, t: Translate): string {
  const left = (card.acceptance?.total ?? 0) - (card.acceptance?.done ?? 0);
  switch (code) {
    case "CARD_ACCEPTANCE_UNMET":
      return left > 0 ? t("board.reasonAcceptance", { id: card.id, count: left, column: statusWord(status, t) }) : revealText(said);
    case "CARD_CLAIM_OWNER_MISMATCH":
    case "CARD_ALREADY_CLAIMED":
      return card.claim ? t("board.reasonHeld", { id: card.id, name: longClaim(card.claim.by) }) : revealText(said);
    case "CARD_ACCEPTANCE_UNREADABLE":
      return t("board.reasonUnreadable", { id: card.id });
    case "CARD_WRITE_CONFLICT":
      return t("board.reasonConflict", { id: card.id });
    default:
      return revealText(said);
  }
}

/** The same refusals with their reasons in words. */
export function inWords(refusals: readonly BoardRefusal[] | undefined, card: BoardCard | undefined, t: Translate): BoardRefusal[] | undefined {
  if (!card) return undefined;
  return refusals?.map((refusal) => ({
    ...refusal,
    reasons: refusal.reasons.map((said, index) => reasonText(refusal.codes?.[index], said, card, refusal.status, t)),
  }));
}

/** What a refused write says. */
export function errorText(error: ApiError, card: BoardCard, status: string, t: Translate): string {
  const code = (error.detail as { code?: unknown } | null | undefined)?.code;
  return reasonText(typeof code === "string" ? code : undefined, error.message, card, status, t);
}
