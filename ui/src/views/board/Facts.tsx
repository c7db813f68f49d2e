// The facts of a card: what can be chosen is a menu, what points at another card is a link.
import { type ReactNode, useState } from "react";
import { Check, ChevronDown } from "lucide-react";
import type { BoardCard, BoardRefusal, BoardView, JsonValue } from "../../api/contract";
import { useNow } from "../../app/clock";
import { setParams } from "../../app/router";
import { useI18n } from "../../i18n";
import { Glyph, Icon, Menu, Reveal, revealText, Tag, toastError } from "../../kit";
import { ClaimRow } from "./ClaimRow";
import { PriorityBars } from "./Marks";
import { dueOf, refusalOf } from "./model";
import { inWords } from "./reasons";
import type { BoardWriter } from "./useBoard";
import { priorityWord, statusWord, typeWord } from "./words";

interface FactsProps {
  card: BoardCard;
  view: BoardView;
  refusals: readonly BoardRefusal[] | undefined;
  writer: BoardWriter;
  /** A move was refused because somebody else holds the card. */
  isClaimUnmet: boolean;
  onMove: (status: string, anchor: Element) => void;
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  word: (id: string) => string;
  hint?: (id: string) => string | undefined;
  /** Said above all options. */
  heading?: string;
  before?: ReactNode;
  isLocked: boolean;
  onChoose: (id: string, anchor: Element) => void;
}

function Choice({ label, value, options, word, hint, heading, before, isLocked, onChoose }: ChoiceProps) {
  const [anchor, setAnchor] = useState<HTMLButtonElement | null>(null);
  if (isLocked) return <span className="bd-choice-locked">{word(value)}</span>;
  return (
    <Menu
      align="start"
      trigger={
        <button ref={setAnchor} type="button" className="k-chip bd-choice" aria-label={`${label}: ${word(value)}`}>
          {before}
          <span className="k-trunc">{word(value)}</span>
          <Icon of={ChevronDown} size={12} className="k-chip-icon" />
        </button>
      }
      items={[
        ...(heading ? [{ heading }] : []),
        ...options.map((id) => ({
          label: word(id),
          ...(id === value ? { icon: Check } : {}),
          ...(id !== value && hint?.(id) ? { hint: hint(id) as string } : {}),
          onSelect: () => id !== value && onChoose(id, anchor ?? document.body),
        })),
      ]}
    />
  );
}

/** Another card's id: opens it when it is on this board. */
export function CardLink({ id, view }: { id: string; view: BoardView }) {
  const { t } = useI18n();
  const other = view.cards.find((card) => card.id === id);
  if (!other) return <span className="k-mono k-break">{revealText(id)}</span>;
  const isOver = view.statuses.find((status) => status.id === other.status)?.terminal ?? false;
  return (
    <button
      type="button"
      className="bd-link"
      title={revealText(other.title)}
      aria-label={`${other.id} ${revealText(other.title)}${t("board.join")}${statusWord(other.status, t)}`}
      onClick={() => setParams({ card: id })}
    >
      <Glyph name={isOver ? "success" : "todo"} size={13} label="" />
      <span className="k-mono">{other.id}</span>
    </button>
  );
}

export function Facts({ card, view, refusals: given, writer, isClaimUnmet, onMove }: FactsProps) {
  const { t, format } = useI18n();
  const refusals = inWords(given, card, t);
  const patch = (changes: Record<string, JsonValue>) => {
    writer.call("project_card_patch", { id: card.id, changes, expectedRevision: card.revision }).catch((thrown: unknown) => toastError(thrown, t));
  };
  // What every column says against it is said once.
  const others = refusals?.filter(({ status }) => status !== card.status) ?? [];
  const common = (others[0]?.reasons ?? []).filter((reason) => others.length > 1 && others.every(({ reasons }) => reasons.includes(reason)));
  const why = (status: string) => {
    const refusal = refusalOf(refusals, status);
    if (!refusal) return undefined;
    const own = refusal.reasons.filter((reason) => !common.includes(reason));
    if (refusal.reasons.length > 0) return own.length > 0 ? own.join(" ") : undefined;
    if (refusal.needs.includes("reason")) return t("board.asksReason");
    return refusal.needs.some((need) => need === "evidence" || need === "run") ? t("board.asksEvidence") : undefined;
  };
  const locked = view.readOnly || card.archived;
  const due = dueOf(card, useNow(60_000));
  const updated = Date.parse(card.updated);
  return (
    <dl className="bd-facts">
      <dt>{t("board.status")}</dt>
      <dd>
        <Choice
          label={t("board.status")}
          value={card.status}
          options={view.statuses.map(({ id }) => id)}
          word={(id) => statusWord(id, t)}
          heading={common.join(" ")}
          hint={why}
          isLocked={locked}
          onChoose={onMove}
        />
        {card.archived && <Tag>{t("board.archivedCard")}</Tag>}
      </dd>
      <dt>{t("board.heldBy")}</dt>
      <dd data-unmet={isClaimUnmet || undefined}>
        <ClaimRow card={card} view={view} writer={writer} />
      </dd>
      {card.claim?.scope && card.claim.scope.length > 0 && (
        <>
          <dt>{t("board.scope")}</dt>
          <dd>
            <Reveal className="k-mono k-break" text={card.claim.scope.join(", ")} />
          </dd>
        </>
      )}
      <dt>{t("board.priority")}</dt>
      <dd>
        <Choice
          label={t("board.priority")}
          value={card.priority}
          options={view.priorities}
          word={(id) => priorityWord(id, t)}
          before={<PriorityBars priority={card.priority} />}
          isLocked={locked}
          onChoose={(priority) => patch({ priority })}
        />
      </dd>
      <dt>{t("board.typeArea")}</dt>
      <dd>
        <Choice
          label={t("board.type")}
          value={card.type}
          options={view.types}
          word={(id) => typeWord(id, t)}
          isLocked={locked}
          onChoose={(type) => patch({ type })}
        />
        {card.area !== undefined && (
          <Choice
            label={t("board.area")}
            value={card.area}
            options={view.areas}
            word={(id) => revealText(id).slice(0, 80)}
            isLocked={locked}
            onChoose={(area) => patch({ area })}
          />
        )}
      </dd>
      {card.depends.length > 0 && (
        <>
          <dt>{t("board.dependsOn")}</dt>
          <dd>
            {card.depends.map((id) => (
              <CardLink key={id} id={id} view={view} />
            ))}
          </dd>
        </>
      )}
      {card.parent && (
        <>
          <dt>{t("board.parent")}</dt>
          <dd>
            <CardLink id={card.parent} view={view} />
          </dd>
        </>
      )}
      {due && (
        <>
          <dt>{t("board.dueOn")}</dt>
          <dd>{due.isLate ? t("board.overdue", { date: format.longDate(due.at) }) : format.longDate(due.at)}</dd>
        </>
      )}
      {card.tags.length > 0 && (
        <>
          <dt>{t("board.tags")}</dt>
          <dd>
            {card.tags.map((tag) => (
              <Tag key={tag} title={revealText(tag)}>
                {revealText(tag).slice(0, 40)}
              </Tag>
            ))}
          </dd>
        </>
      )}
      {!Number.isNaN(updated) && (
        <>
          <dt>{t("board.updated")}</dt>
          <dd>{format.longDate(updated)}</dd>
        </>
      )}
    </dl>
  );
}
