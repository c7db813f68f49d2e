// What the board's doctor found: where the records disagree with the rules or with each other.
import { useMemo } from "react";
import { RotateCw } from "lucide-react";
import type { BoardView } from "../../api/contract";
import { setParams } from "../../app/router";
import { useI18n } from "../../i18n";
import { BoneRows, Button, Empty, ErrorState, Glyph, type GlyphName, revealText, Some } from "../../kit";
import { useBoardRead } from "./useBoard";
import { severityWord } from "./words";

interface Issue {
  severity: string;
  module?: string;
  code: string;
  id?: string;
  file?: string;
  message: string;
}

interface Report {
  generatedAt?: string;
  counts?: { error?: number; warning?: number; info?: number };
  issues: Issue[];
}

const GLYPHS: Record<string, GlyphName> = { error: "failed", warning: "notice", info: "skipped" };

export function Findings({ project, view }: { project: string; view: BoardView }) {
  const { t, format } = useI18n();
  const { data, error, refetch, isFetching } = useBoardRead<Report>(project, "project_doctor", {}, view.mark);
  const cards = useMemo(() => new Set(view.cards.map(({ id }) => id)), [view.cards]);
  const again = (
    <Button size="small" icon={RotateCw} aria-disabled={isFetching || undefined} onClick={() => !isFetching && void refetch()}>
      {isFetching ? t("board.checkingNow") : t("board.checkAgain")}
    </Button>
  );
  if (data && data.issues.length === 0) {
    return (
      <Empty glyph="success" title={t("board.findingsNone")} text={t("board.findingsNoneText")}>
        {again}
      </Empty>
    );
  }
  const at = data?.generatedAt ? Date.parse(data.generatedAt) : Number.NaN;
  return (
    <div className="bd-part">
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <>
          <div className="bd-part-head">
            <h2 className="k-h3">
              {t("board.findingsCount", { errors: data.counts?.error ?? 0, warnings: data.counts?.warning ?? 0, notes: data.counts?.info ?? 0 })}
            </h2>
            <span className="k-grow" />
            {!Number.isNaN(at) && <span className="k-sub k-num">{t("board.checkedAt", { time: format.time(at) })}</span>}
            {again}
          </div>
          <Some items={data.issues}>
            {(shown) => (
              <ul className="k-panel k-rows">
                {shown.map((issue, index) => (
                  <li key={index} className="bd-issue">
                    <Glyph name={GLYPHS[issue.severity] ?? "notice"} size={15} label={severityWord(issue.severity, t)} />
                    <span className="k-col k-grow">
                      <span className="k-break" dir="auto">
                        {revealText(issue.message)}
                      </span>
                      <span className="k-sub k-mono k-break">{revealText([issue.code, issue.file].filter(Boolean).join(" · "))}</span>
                    </span>
                    {issue.id !== undefined && cards.has(issue.id) && (
                      <Button size="small" onClick={() => setParams({ part: null, card: issue.id }, { replace: false })}>
                        {t("board.openCard", { id: issue.id })}
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            )}
          </Some>
        </>
      ) : (
        <BoneRows rows={5} />
      )}
    </div>
  );
}
