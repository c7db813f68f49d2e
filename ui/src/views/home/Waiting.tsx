// What waits for a person, oldest first. A row is the question, not the run. Approvals are never decided here.
import { ArrowRight, ChevronDown, ChevronUp, Clock } from "lucide-react";
import { useState } from "react";
import type { WaitingRow } from "../../api/contract";
import { useNow } from "../../app/clock";
import { FromTile } from "../../app/FromTile";
import { address, Link, navigate, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Glyph } from "../../kit/Glyph";
import { Icon } from "../../kit/Icon";
import { Kbd } from "../../kit/Kbd";
import { Reveal } from "../../kit/Reveal";
import { revealText } from "../../kit/text";

/** More are behind "2 more". */
const SHOWN = 5;

function Title({ question }: { question: WaitingRow["question"] }) {
  const { t, rich } = useI18n();
  const { approval } = question;
  if (question.kind !== "approval" || !approval) return <Reveal text={question.form.title} limit={300} />;
  if (approval.mayHaveHappened) return t("home.mayHaveHappened");
  const command = [approval.program, ...approval.args].join(" ");
  return (
    <span className="home-allow">
      {rich("home.allow", {
        command: (
          <code className="home-command" title={revealText(command).slice(0, 500)}>
            <Reveal text={command} limit={200} />
          </code>
        ),
      })}
    </span>
  );
}

/** How long the client's call is still open; none says that there is no hurry. */
function Left({ until }: { until: number | undefined }) {
  const { t, format } = useI18n();
  const now = useNow(1000);
  const left = until === undefined ? 0 : until - now;
  if (left <= 0) return <span className="k-dim">{t("common.answerAnyTime")}</span>;
  return (
    <span className="home-left">
      <Icon of={Clock} size={13} />
      {t("common.left", { time: format.clock(left) })}
    </span>
  );
}

function Row({ row }: { row: WaitingRow }) {
  const { t, format } = useI18n();
  const now = useNow();
  const { run, question } = row;
  return (
    <Link to={runAddress(run.runId, "question")} className="home-wait" data-roving>
      <span className="home-wait-words">
        <span className="home-wait-title">
          <Title question={question} />
        </span>
        <span className="k-sub home-facts">
          <Reveal text={run.projectTitle} limit={120} />
          {run.phase && <span>{t("home.phase", { name: run.phase.slice(0, 120) })}</span>}
          <span title={format.absolute(question.askedAt)}>{t("home.asked", { ago: format.relative(question.askedAt, now) })}</span>
          <span className="k-mono home-id">{run.runId}</span>
        </span>
      </span>
      <FromTile run={run} className="home-from" />
      <span className="home-time k-num">
        <Left until={row.callOpenUntil} />
      </span>
      <span className="home-act">
        <span className="k-btn home-answer">
          {question.kind === "approval" ? t("common.review") : t("common.answer")}
          <span className="k-btn-keys" aria-hidden="true">
            ↵
          </span>
        </span>
      </span>
    </Link>
  );
}

/** `count`: how many there are; the store gives the oldest. */
export function Waiting({ waiting, count }: { waiting: WaitingRow[]; count: number }) {
  const { t, format } = useI18n();
  const [all, setAll] = useState(false);
  if (waiting.length === 0) {
    return (
      <section className="home-calm k-dim">
        <Glyph name="success" label="" />
        {t("home.nothingWaits")}
      </section>
    );
  }
  const shown = all ? waiting : waiting.slice(0, SHOWN);
  return (
    <section aria-labelledby="home-waiting">
      <div className="k-section-head home-waiting-head">
        <Glyph name="waiting_for_input" label="" />
        <h2 className="k-h2" id="home-waiting">
          {t("home.waiting")}
        </h2>
        <span className="k-sub">{t("home.oldestFirst")}</span>
        <span className="k-grow" />
        <span className="k-sub home-hints" aria-hidden="true">
          <Kbd keys="J K" /> {t("home.move")}
          <Kbd keys="Enter" className="home-hint-gap" /> {t("common.answer").toLowerCase()}
        </span>
      </div>
      <div className="home-waits">
        {shown.map((row) => (
          <Row key={`${row.run.runId} ${row.question.number}`} row={row} />
        ))}
      </div>
      {waiting.length > SHOWN && (
        <Button look="quiet" size="small" iconAfter={all ? ChevronUp : ChevronDown} onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? t("home.fewer") : t("home.more", { n: format.number(waiting.length - SHOWN) })}
        </Button>
      )}
      {count > waiting.length && (
        <Button look="quiet" size="small" iconAfter={ArrowRight} onClick={() => navigate(address(["runs"], { status: "waiting_for_input" }))}>
          {t("home.allWaiting", { n: format.number(count) })}
        </Button>
      )}
    </section>
  );
}
