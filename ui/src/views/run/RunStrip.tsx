// The wide lifeline under a run's title.
import { useRef } from "react";
import { questionTitle } from "../../app/questions";
import { useI18n } from "../../i18n";
import { useNow } from "../../app/clock";
import { useWidth } from "../../app/useWidth";
import { LifelineStrip, type StripPart } from "../../kit/Lifeline";
import { revealText } from "../../kit/text";
import { hasEnded, stripPieces } from "./facts";
import { isGuided } from "./steps/model";
import type { TabProps } from "./types";

/** The width that a text takes, in rem. Han characters are twice as wide. */
const roomOf = (text: string): number => ([...text].length + (text.match(/\p{Script=Han}/gu)?.length ?? 0)) * 0.37;

export function RunStrip({ detail, nodes, go }: TabProps) {
  const { t, format } = useI18n();
  const { run } = detail;
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root) ?? 60;
  const live = !hasEnded(detail.run.status);
  const tick = useNow(live ? 1000 : 60_000);
  const now = live ? Math.max(tick, detail.run.startedAt ?? 0) : (detail.run.finishedAt ?? tick);
  const { pieces, toGo } = stripPieces(detail.run, nodes, now);
  const total = pieces.reduce((sum, piece) => sum + piece.to - piece.from, 0) || 1;
  const question = (from: number) => {
    const asked = detail.questions.find((one) => Math.abs(one.askedAt - from) < 2_000);
    return asked && questionTitle(asked, t);
  };
  const parts: StripPart[] = pieces.map((piece, index) => {
    const took = format.duration(piece.to - piece.from);
    const share = ((piece.to - piece.from) / total) * (toGo.length > 0 || run.status === "interrupted" ? 0.8 : 1);
    const times = t("run.fromTo", { from: format.timeSeconds(piece.from), to: format.timeSeconds(piece.to) });
    const name = piece.phase === undefined ? undefined : revealText(piece.phase) || t("run.emptyPhase");
    const words =
      piece.kind === "queue"
        ? t("run.stripQueued", { took })
        : piece.kind === "wait"
          ? question(piece.from)
            ? t("run.stripWaitedFor", { took, what: question(piece.from) ?? "" })
            : t("run.stripWaited", { took })
          : name === undefined
            ? t(piece.kind === "now" ? "run.stripRunsSoFar" : "run.stripRan", { took })
            : t(piece.kind === "now" ? "run.stripPhaseSoFar" : "run.stripPhase", { phase: name, took });
    return {
      // A word that can't be read is left out; the title has it.
      key: `${index}`,
      kind: piece.kind,
      label: share * width > roomOf(words) * 0.8 ? words : share * width > roomOf(name ?? words) ? (name ?? words) : "",
      title: `${words} (${times})`,
      weight: Math.max(piece.to - piece.from, total * 0.012),
      onOpen: () => go("timeline", { from: Math.round(piece.from), to: Math.round(piece.to) }),
    };
  });
  if (live && toGo.length > 0)
    parts.push({
      key: "next",
      kind: "next",
      label: isGuided(nodes) ? t("run.stepsToGo", { count: toGo.length }) : toGo.join(t("run.listJoin")),
      title: t("run.stripToGo", { what: toGo.join(t("run.listJoin")) }),
      weight: total * 0.2,
    });
  if (detail.run.status === "interrupted")
    parts.push({ key: "next", kind: "next", label: t("run.stripNotFinished"), title: t("run.stripNotFinished"), weight: total * 0.3 });
  return (
    <div className="run-strip" ref={root}>
      <LifelineStrip parts={parts} label={t("run.strip")} />
    </div>
  );
}
