// Who holds the card, and taking, giving back or breaking the claim.
import { useState } from "react";
import type { BoardCard, BoardView, JsonValue } from "../../api/contract";
import { useNow } from "../../app/clock";
import { useI18n } from "../../i18n";
import { Button, Glyph, Popover, revealText, SelectField, TextArea, toast, toastError } from "../../kit";
import { longClaim } from "./Marks";
import type { BoardWriter } from "./useBoard";
import { statusWord } from "./words";

const STATE_WORDS = { live: "board.claimLive", held: "board.claimHeld", stale: "board.claimStale", orphaned: "board.claimOrphaned" } as const;

interface ClaimRowProps {
  card: BoardCard;
  view: BoardView;
  writer: BoardWriter;
}

/** How long ago, coarsely: minutes, then hours, then days. */
function useAge(): (ms: number) => string {
  const { t } = useI18n();
  return (ms) => {
    const minutes = Math.floor(ms / 60_000);
    if (minutes < 60) return t("board.minutes", { count: Math.max(1, minutes) });
    return minutes < 48 * 60 ? t("board.hours", { count: Math.floor(minutes / 60) }) : t("board.days", { count: Math.floor(minutes / 1440) });
  };
}

interface BreakProps {
  title: string;
  text: string;
  confirm: string;
  keep: string;
  /** Ask for a reason. */
  reason: boolean;
  /** Statuses to choose from; none: not asked. */
  statuses: string[];
  trigger: React.ReactElement<Record<string, unknown>>;
  onConfirm: (reason: string, status: string) => void;
}

function ClaimPopover({ title, text, confirm, keep, reason, statuses, trigger, onConfirm }: BreakProps) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  const [why, setWhy] = useState("");
  const [status, setStatus] = useState(statuses.includes("next") ? "next" : (statuses[0] ?? ""));
  return (
    <Popover trigger={trigger} title={title} open={open} onOpenChange={setOpen} className="k-popover bd-ask-popover">
      <p className="k-popover-text">{text}</p>
      <div className="bd-ask">
        {statuses.length > 0 && (
          <div className="k-field">
            <span className="k-field-title" aria-hidden="true">
              {t("board.releaseTo")}
            </span>
            <SelectField
              small
              label={t("board.releaseTo")}
              value={status}
              options={statuses.map((id) => ({ value: id, label: statusWord(id, t) }))}
              onChange={(next) => next && setStatus(next)}
            />
          </div>
        )}
        {reason && (
          <div className="k-field">
            <span className="k-field-title" aria-hidden="true">
              {t("board.reason")}
            </span>
            <TextArea label={t("board.reason")} value={why} onChange={setWhy} required />
          </div>
        )}
        <div className="k-popover-buttons">
          <Button onClick={() => setOpen(false)}>{keep}</Button>
          <Button
            look={reason ? "danger" : "default"}
            offBecause={reason && why.trim() === "" ? t("board.needsText") : undefined}
            onClick={() => {
              setOpen(false);
              onConfirm(why.trim(), status);
            }}
          >
            {confirm}
          </Button>
        </div>
      </div>
    </Popover>
  );
}

/** `warnings` of a claim: the cards whose scope overlaps. */
function overlapsIn(answer: JsonValue): string[] {
  const warnings = (answer as { warnings?: unknown } | null)?.warnings;
  if (!Array.isArray(warnings)) return [];
  return warnings.flatMap((warning: unknown) => {
    const id = (warning as { cardId?: unknown } | null)?.cardId;
    return typeof id === "string" ? [id] : [];
  });
}

/** A live claim is released, not taken over: whoever holds it is at work this minute. */
export function ClaimRow({ card, view, writer }: ClaimRowProps) {
  const { t } = useI18n();
  const age = useAge();
  const now = useNow(60_000);
  const [busy, setBusy] = useState(false);
  const { claim } = card;
  const isMine = claim?.by === view.actor;

  const act = async (tool: string, args: Record<string, JsonValue>, done: string) => {
    setBusy(true);
    try {
      const answer = await writer.call<JsonValue>(tool, { id: card.id, actor: view.actor, ...args, expectedRevision: card.revision });
      toast(done);
      const others = overlapsIn(answer);
      if (others.length > 0) toast(t("board.overlapWarning", { count: others.length, ids: others.map(revealText).join(", ") }), { kind: "note" });
    } catch (thrown) {
      toastError(thrown, t);
    } finally {
      setBusy(false);
    }
  };
  const release = (args: Record<string, JsonValue>, status: string) =>
    void act("project_card_release", { ...args, status }, t("board.released", { id: card.id, column: statusWord(status, t) }));
  const open = view.statuses.filter((status) => status.id !== "doing" && !status.terminal && status.needs.length === 0).map(({ id }) => id);

  return (
    <div className="bd-claim-row">
      {claim ? (
        <>
          <Glyph name={`claim_${claim.state}`} size={16} label="" />
          <span className="k-break">{isMine ? t("board.you") : longClaim(claim.by)}</span>
          <span className="k-dim k-num">
            {claim.since === undefined
              ? t(STATE_WORDS[claim.state])
              : t("board.claimSince", { state: t(STATE_WORDS[claim.state]), time: age(now - claim.since) })}
          </span>
        </>
      ) : (
        <span className="k-dim">{t("board.nobody")}</span>
      )}
      {!view.readOnly && (
        <span className="bd-claim-buttons">
          {!claim && !card.archived && (
            <Button
              size="small"
              aria-disabled={busy || undefined}
              onClick={() => !busy && void act("project_card_claim", {}, t("board.claimed", { id: card.id }))}
            >
              {t("board.claim")}
            </Button>
          )}
          {claim && !isMine && claim.state !== "live" && (
            <ClaimPopover
              title={t("board.takeOverTitle", { id: card.id })}
              text={t("board.takeOverText", { name: longClaim(claim.by) })}
              confirm={t("board.takeOverButton")}
              keep={t("board.leaveClaim")}
              reason
              statuses={[]}
              trigger={<Button size="small">{t("board.takeOver")}</Button>}
              onConfirm={(reason) => void act("project_card_claim", { force: true, reason }, t("board.claimed", { id: card.id }))}
            />
          )}
          {claim && (
            <ClaimPopover
              title={t("board.releaseTitle", { id: card.id })}
              text={isMine ? t("board.releaseOwn") : t("board.releaseOther", { name: longClaim(claim.by) })}
              confirm={isMine ? t("board.releaseButton") : t("board.releaseAnyway")}
              keep={isMine ? t("board.keepClaim") : t("board.leaveClaim")}
              reason={!isMine}
              statuses={open}
              trigger={<Button size="small">{t("board.release")}</Button>}
              onConfirm={(reason, status) => release(isMine ? {} : { force: true, reason }, status)}
            />
          )}
        </span>
      )}
    </div>
  );
}
