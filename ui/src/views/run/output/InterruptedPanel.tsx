// A run whose process is gone, or whose client left: what is kept, what would ask, what would run again on Continue.
import { useMemo } from "react";
import type { RunNode } from "../../../api/contract";
import { useData } from "../../../api/queries";
import { useI18n } from "../../../i18n";
import { Glyph, type GlyphName } from "../../../kit/Glyph";
import { Reveal } from "../../../kit/Reveal";
import { ErrorState } from "../../../kit/States";
import { kindText, memberGlyph } from "../diagram/words";
import { lanes as makeLanes, type Member } from "../diagram/model";
import { Bones } from "../parts";
import type { TabProps } from "../types";

type Fate = "kept" | "asks" | "again" | "todo";
export interface FateRow {
  key: string;
  title: string;
  member?: Member;
  fate: Fate;
  ms?: number;
}

/** Rows of the table: members in their order with what would become of them; what the preview names and no member is, after them. */
export function fates(members: readonly Member[], preview: { keptTitles: string[]; asks: string[]; again: string[] }): FateRow[] {
  const left = { kept: [...preview.keptTitles], asks: [...preview.asks], again: [...preview.again] };
  const take = (list: string[], title: string) => {
    const at = list.indexOf(title);
    if (at >= 0) list.splice(at, 1);
    return at >= 0;
  };
  const rows = members.map((member): FateRow => {
    const { node } = member;
    const ms = node.startedAt && node.finishedAt ? node.finishedAt - node.startedAt : undefined;
    const fate: Fate = take(left.asks, node.title)
      ? "asks"
      : take(left.again, node.title)
        ? "again"
        : take(left.kept, node.title)
          ? "kept"
          : node.status === "success"
            ? "kept"
            : member.status === "interrupted"
              ? "again"
              : "todo";
    return { key: `n${node.id}`, title: node.title, member, fate, ...(ms === undefined ? {} : { ms }) };
  });
  const rest = (["kept", "asks", "again"] as const).flatMap((fate) =>
    left[fate].map((title, index): FateRow => ({ key: `${fate}${index}`, title, fate })),
  );
  const todo = rows.findIndex((row) => row.fate === "todo");
  return todo < 0 ? [...rows, ...rest] : [...rows.slice(0, todo), ...rest, ...rows.slice(todo)];
}

const GLYPHS: Record<Fate, GlyphName> = { kept: "success", asks: "notice", again: "interrupted", todo: "todo" };
/** Rows of kept steps that are listed before the rest is counted. */
const MOST = 60;

export function InterruptedPanel({ detail, nodes }: Pick<TabProps, "detail" | "nodes">) {
  const { t, format } = useI18n();
  const { run } = detail;
  const preview = useData("continue_preview", { run: run.runId }, { enabled: detail.canContinue });
  const members = useMemo(() => makeLanes(nodes, run.status).flatMap((lane) => lane.members), [nodes, run.status]);
  const rows = useMemo(() => (preview.data ? fates(members, preview.data) : []), [members, preview.data]);
  const count = (fate: Fate) => rows.filter((row) => row.fate === fate).length;
  const kept = preview.data ? Math.max(preview.data.kept, count("kept")) : 0;
  const heard =
    run.finishedAt ??
    nodes.reduce((last: number, node: RunNode) => Math.max(last, node.finishedAt ?? node.startedAt ?? 0), run.startedAt ?? run.createdAt);
  const isLeft = run.status === "cancelled";
  const shown =
    rows.length > MOST ? [...rows.filter((row) => row.fate !== "kept"), ...rows.filter((row) => row.fate === "kept")].slice(0, MOST) : rows;
  return (
    <>
      <div className={isLeft ? "ou-gone ou-left" : "ou-gone"} role="note">
        <Glyph name={isLeft ? "cancelled" : "interrupted"} size={18} label="" />
        <div className="k-col">
          <span className={isLeft ? "k-semi" : "k-semi k-intr"}>{t(isLeft ? "run.clientLeft" : "run.processGone")}</span>
          <span>{t(isLeft ? "run.clientLeftText" : "run.processGoneText", { at: format.timeSeconds(heard) })}</span>
          <span className="k-mid">{t(detail.canContinue ? "run.continueMeans" : "run.cantContinue")}</span>
        </div>
      </div>
      {!detail.canContinue ? null : preview.error ? (
        <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />
      ) : !preview.data ? (
        <Bones lines={5} />
      ) : (
        <section>
          <div className="k-section-head">
            <h2 className="k-h2">{t("run.onContinue")}</h2>
            <span className="k-sub k-num">
              {[
                t("run.countKept", { count: kept }),
                count("asks") > 0 ? t("run.countAsks", { count: count("asks") }) : undefined,
                count("again") > 0 ? t("run.countAgain", { count: count("again") }) : undefined,
              ]
                .filter(Boolean)
                .join(t("run.listJoin"))}
            </span>
          </div>
          {rows.length > 0 && (
            <ul className="k-panel k-rows">
              {shown.map((row) => (
                <li key={row.key} className="ou-fate">
                  <Glyph name={row.member && row.fate === "kept" ? memberGlyph("success", row.member.node) : GLYPHS[row.fate]} label="" />
                  <span className={row.fate === "asks" && !row.member ? "k-mono k-break" : "k-med k-break"}>
                    <Reveal text={row.title} limit={200} />
                  </span>
                  <span className="k-sub k-trunc ou-fate-kind">
                    {row.member
                      ? row.fate === "again" && row.member.status === "interrupted"
                        ? t("run.wasRunning", { kind: kindText(t, row.member) })
                        : kindText(t, row.member, row.fate !== "todo")
                      : row.fate === "asks"
                        ? t("run.notKnownToHaveEnded")
                        : ""}
                  </span>
                  <span className={row.fate === "asks" ? "k-sm k-wait k-med" : "k-sm k-mid"}>{t(`run.fate_${row.fate}`)}</span>
                  <span className="k-sm k-num k-mid ou-fate-ms">
                    {row.ms === undefined ? (row.fate === "asks" ? "–" : "") : format.duration(row.ms)}
                  </span>
                </li>
              ))}
              {rows.length > shown.length && (
                <li className="ou-fate ou-fate-more k-sub">{t("run.moreKept", { count: rows.length - shown.length })}</li>
              )}
            </ul>
          )}
          {preview.data.note && (
            <p className="k-sub ou-fate-note k-break">
              {t(preview.data.note === "with_answers" ? "run.goesOnWithAnswers" : "run.goesOnFromTheBeginning")}
            </p>
          )}
        </section>
      )}
    </>
  );
}
