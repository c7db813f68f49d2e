// What the board's doctor found: where the records disagree with the rules or with each other.
import { useMemo } from "react";
import { RotateCw, Wrench } from "lucide-react";
import type { BoardView } from "../../api/contract";
import { useAct } from "../../api/queries";
import { setParams } from "../../app/router";
import { type I18n, type MessageKey, useI18n } from "../../i18n";
import { BoneRows, Button, Empty, ErrorState, Glyph, type GlyphName, revealText, Some, toast, toastError } from "../../kit";
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

/** Codes that have words of their own; the others are called by their code. */
const CODE_WORDS: Record<string, MessageKey> = {
  "agent-instructions-missing": "board.codeAgentsMissing",
  "agent-instructions-stale": "board.codeAgentsStale",
  "ci-template-missing": "board.codeCiMissing",
  "ci-template-stale": "board.codeCiStale",
  "duplicate-id": "board.codeDuplicate",
  "duplicate-record-id": "board.codeDuplicate",
  "filename-stale": "board.codeFilename",
  "misplaced-trail": "board.codeTrail",
};

function groupTitle(code: string, t: I18n["t"]): string {
  const key = Object.hasOwn(CODE_WORDS, code) ? CODE_WORDS[code] : undefined;
  return key ? t(key) : revealText(code);
}

/** In the order in which the codes first appear. */
function byCode(issues: readonly Issue[]): { code: string; issues: Issue[] }[] {
  const groups = new Map<string, Issue[]>();
  for (const issue of issues) {
    const group = groups.get(issue.code);
    if (group) group.push(issue);
    else groups.set(issue.code, [issue]);
  }
  return [...groups].map(([code, own]) => ({ code, issues: own }));
}

/** Mends all of a code at once. */
function Mend({ project, code, onDone }: { project: string; code: string; onDone: () => void }) {
  const { t } = useI18n();
  const mend = useAct("board_mend");
  const run = () =>
    mend.mutate(
      { project, code },
      {
        onSuccess: ({ left }) => {
          toast(left > 0 ? t("board.mendLeft", { count: left }) : t("board.mendDone"), { kind: left > 0 ? "note" : "done" });
          onDone();
        },
        onError: (error) => toastError(error, t),
      },
    );
  return (
    <Button size="small" icon={Wrench} disabled={mend.isPending} onClick={run}>
      {t(/^(?:agent|ci)-/.test(code) ? "board.writeThem" : "board.mendThem")}
    </Button>
  );
}

export function Findings({ project, view }: { project: string; view: BoardView }) {
  const { t, format } = useI18n();
  const { data, error, refetch, isFetching } = useBoardRead<Report>(project, "project_doctor", {}, view.mark);
  const cards = useMemo(() => new Set(view.cards.map(({ id }) => id)), [view.cards]);
  const groups = useMemo(() => byCode(data?.issues ?? []), [data]);
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
          {groups.map(({ code, issues }) => (
            <section key={code} className="bd-issues" aria-label={groupTitle(code, t)}>
              <div className="bd-part-head">
                <h3 className="k-med k-break">{groupTitle(code, t)}</h3>
                <span className="k-sub k-num">{format.number(issues.length)}</span>
                <span className="k-grow" />
                {!view.readOnly && view.mendable.includes(code) && <Mend project={project} code={code} onDone={() => void refetch()} />}
              </div>
              <Some items={issues}>
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
            </section>
          ))}
        </>
      ) : (
        <BoneRows rows={5} />
      )}
    </div>
  );
}
