// Captions and kinds of members in the window's language.
import type { RunNode } from "../../../api/contract";
import type { I18n } from "../../../i18n";
import { revealText } from "../../../kit/text";
import type { GlyphName } from "../../../kit/Glyph";
import type { Caption, Lane, Member, MemberStatus } from "./model";
import { nodeFacts } from "./model";

type T = I18n["t"];

/** "Completed 3", "2 running · 1 failed", "No members started" */
export function captionText(t: T, caption: Caption): string {
  if (caption.kind === "none") return t("run.captionNone");
  if (caption.kind === "completed") return t("run.captionCompleted", { n: caption.count });
  return caption.parts.map((part) => t(`run.caption_${part.status}`, { n: part.count })).join(" · ");
}

export const laneTitle = (t: T, lane: Lane): string =>
  lane.title === undefined ? t("run.noPhase") : lane.title === "" ? t("run.emptyPhase") : revealText(lane.title);
export const memberTitle = (t: T, node: RunNode): string => revealText(node.title) || t("run.emptyLabel");

/** A step that hasn't begun is a pale ring; one that waits in the queue a dashed one. */
export function memberGlyph(status: MemberStatus, node: RunNode): GlyphName {
  if (status !== "queued") return status;
  return nodeFacts(node).queuedAt !== undefined ? "queued" : "todo";
}

/** "agent, try 2", "asks you", "run in House style" */
export function kindText(t: T, member: Member, isOver = member.status !== "queued"): string {
  const facts = nodeFacts(member.node);
  const base = facts.what ?? (member.node.kind === "form" ? t(isOver ? "run.kindAsked" : "run.kindAsks") : t(`run.kind_${member.node.kind}`));
  return facts.try !== undefined && facts.try > 1 ? t("run.kindTry", { kind: base, n: facts.try }) : base;
}

export function memberMs(member: Member, now: number, end: number | undefined): number | undefined {
  const { startedAt, finishedAt } = member.node;
  if (!startedAt) return undefined;
  const first = nodeFacts(member.node).earlier[0]?.startedAt ?? startedAt;
  return Math.max(0, (finishedAt ?? end ?? now) - Math.min(first, startedAt));
}
