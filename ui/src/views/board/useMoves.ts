// Moving a card: dragged, by key or from its own page, every way goes through the same gates.
import { useCallback, useRef, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { ApiError, BoardCard, BoardNeed, BoardRefusal, BoardView, JsonValue } from "../../api/contract";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { announce, revealText } from "../../kit";
import { asksFor, refusalOf, type UnmetPoint, unmetPoint } from "./model";
import { errorText, inWords } from "./reasons";
import type { BoardWriter } from "./useBoard";
import { statusWord } from "./words";

/** A move that was not let through. */
export interface Refusal {
  id: string;
  status: string;
  /** In words, fit to be shown. */
  reasons: string[];
  point: UnmetPoint;
}

/** What a person has to say before a move. */
export interface Ask {
  card: BoardCard;
  status: string;
  needs: BoardNeed[];
  anchor: Element | null;
}

export interface Answers {
  reason?: string;
  evidence?: string;
  run?: string;
}

export type Outcome = "moved" | "asking" | "refused";

export interface Moves {
  /** Where cards stand whose move is on its way. */
  moving: ReadonlyMap<string, string>;
  ask: Ask | null;
  /** Asks the gates, then the person if a gate wants to know something, then moves. */
  attempt(card: BoardCard, status: string, anchor: Element | null): Promise<Outcome>;
  answer(answers: Answers): void;
  leave(): void;
}

export function useMoves(project: string, view: BoardView | undefined, writer: BoardWriter, onRefused: (refusal: Refusal) => void): Moves {
  const { t } = useI18n();
  const host = useHost();
  const client = useQueryClient();
  const [moving, setMoving] = useState<ReadonlyMap<string, string>>(new Map());
  const [ask, setAsk] = useState<Ask | null>(null);
  const busy = useRef(new Set<string>());

  const refuse = useCallback(
    (card: BoardCard, status: string, reasons: string[]) => {
      const target = view?.statuses.find(({ id }) => id === status);
      announce(t("board.notMovedLong", { id: card.id, column: statusWord(status, t), why: reasons.join(" ") }));
      onRefused({ id: card.id, status, reasons, point: unmetPoint(card, target, view?.actor ?? "") });
    },
    [onRefused, t, view],
  );

  const perform = useCallback(
    async (card: BoardCard, status: string, needs: readonly BoardNeed[], answers: Answers): Promise<Outcome> => {
      if (!view) return "refused";
      setMoving((before) => new Map(before).set(card.id, status));
      const { reason, evidence, run } = answers;
      const who: Record<string, JsonValue> = { id: card.id, actor: view.actor };
      const takesClaim = needs.includes("claim") || status === "doing";
      try {
        // A claim that is broken keeps its reason with the claim; every other reason becomes a note.
        if (takesClaim && reason) await writer.call("project_card_claim", { ...who, reason, expectedRevision: card.revision });
        else {
          const proof = run ? { method: "ci", run, ...(evidence ? { evidence } : {}) } : evidence ? { method: "manual", evidence } : {};
          await writer.call("project_card_transition", { ...who, status, ...proof, expectedRevision: card.revision });
          if (reason) await writer.call("project_card_note", { ...who, text: reason });
        }
        announce(
          takesClaim
            ? t("board.movedAndClaimed", { id: card.id, column: statusWord(status, t), name: revealText(view.actor) })
            : t("board.moved", { id: card.id, column: statusWord(status, t) }),
        );
        return "moved";
      } catch (thrown) {
        await writer.refresh();
        refuse(card, status, [errorText(thrown as ApiError, card, status, t)]);
        return "refused";
      } finally {
        busy.current.delete(card.id);
        setMoving((before) => {
          const next = new Map(before);
          next.delete(card.id);
          return next;
        });
      }
    },
    [refuse, t, view, writer],
  );

  const attempt = useCallback(
    async (card: BoardCard, status: string, anchor: Element | null): Promise<Outcome> => {
      if (!view || view.readOnly || busy.current.has(card.id)) return "refused";
      busy.current.add(card.id);
      let refusals: BoardRefusal[];
      try {
        refusals = await client.fetchQuery({
          queryKey: ["board_refusals", { project, id: card.id }],
          queryFn: () => host.call("board_refusals", { project, id: card.id }),
        });
      } catch (thrown) {
        busy.current.delete(card.id);
        refuse(card, status, [errorText(toApiError(thrown), card, status, t)]);
        return "refused";
      }
      const refusal = refusalOf(inWords(refusals, card, t), status);
      if (refusal && refusal.reasons.length > 0) {
        busy.current.delete(card.id);
        refuse(card, status, refusal.reasons);
        return "refused";
      }
      const needs = refusal?.needs ?? view.statuses.find(({ id }) => id === status)?.needs ?? [];
      if (asksFor(needs).length > 0) {
        busy.current.delete(card.id);
        setAsk({ card, status, needs, anchor });
        return "asking";
      }
      return perform(card, status, needs, {});
    },
    [client, host, perform, project, refuse, t, view],
  );

  return {
    moving,
    ask,
    attempt,
    answer: (answers) => {
      if (!ask || busy.current.has(ask.card.id)) return;
      busy.current.add(ask.card.id);
      setAsk(null);
      // The board may have moved on while the person typed: the newest revision counts, the gates look again.
      const card = view?.cards.find(({ id }) => id === ask.card.id) ?? ask.card;
      void perform(card, ask.status, ask.needs, answers);
    },
    leave: () => setAsk(null),
  };
}
