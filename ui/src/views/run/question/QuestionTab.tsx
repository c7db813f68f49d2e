// What a run waits for: its form or the command it wants leave for, and how it got here.
import { useEffect, useMemo, useState } from "react";
import { ExternalLink } from "lucide-react";
import type { Fault, Question } from "../../../api/contract";
import { useAct } from "../../../api/queries";
import { Link, runAddress } from "../../../app/router";
import { useI18n } from "../../../i18n";
import { errorWords } from "../../../kit/errors";
import { Glyph } from "../../../kit/Glyph";
import { Icon } from "../../../kit/Icon";
import { announce } from "../../../kit/Live";
import { Reveal } from "../../../kit/Reveal";
import { toast, toastError } from "../../../kit/toast";
import { caption, lanes as makeLanes, laneStatus } from "../diagram/model";
import { captionText, laneTitle, memberGlyph } from "../diagram/words";
import type { TabProps } from "../types";
import { openQuestions } from "../types";
import { answerValues, isPerson } from "./answers";
import { ApprovalPanel, IfDenied } from "./ApprovalPanel";
import { FormPanel } from "./FormPanel";
import "./question.css";

export function QuestionTab({ detail, nodes, onSent }: TabProps & { onSent: () => void }) {
  const { t } = useI18n();
  const open = openQuestions(detail);
  // The question one was at stays on screen, locked, when its answer comes from elsewhere.
  const [shown, setShown] = useState<number | null>(open[0]?.number ?? detail.questions.at(-1)?.number ?? null);
  const held = detail.questions.find((question) => question.number === shown);
  const wanted = !held || (held.answer && open.length > 0) ? (open[0]?.number ?? held?.number ?? null) : shown;
  if (wanted !== shown) setShown(wanted);
  const question = detail.questions.find((one) => one.number === wanted) ?? open[0] ?? detail.questions.at(-1);
  if (!question) return null;
  return (
    <div className="run-scroll">
      <div className="run-question">
        {question.child && (
          <p className="run-child k-r">
            <span className="k-mid">{t("run.askedByChild")}</span>
            <Link to={runAddress(question.child)} className="k-link k-mono">
              {question.child}
            </Link>
            <Icon of={ExternalLink} size={13} />
          </p>
        )}
        <Ask key={question.number} run={detail.run.runId} question={question} onSent={onSent} />
        {open.length > 1 && <p className="k-sub run-more">{t("run.moreQuestions", { count: open.length - 1 })}</p>}
        {question.kind === "approval" && !question.answer && <IfDenied />}
        <SoFar detail={detail} nodes={nodes} />
      </div>
    </div>
  );
}

function Ask({ run, question, onSent }: { run: string; question: Question; onSent: () => void }) {
  const { t, format } = useI18n();
  const answer = useAct("answer");
  const [sending, setSending] = useState<"approve" | "deny" | "form" | null>(null);
  const [mine, setMine] = useState(false);
  const [faults, setFaults] = useState<string[]>([]);
  const given = question.answer;
  useEffect(() => {
    if (!given) return;
    setSending(null);
    if (!mine) announce(t("run.answeredElsewhereSaid"));
  }, [given, mine, t]);

  const send = (
    how: "approve" | "deny" | "form",
    request: { action: "accept" | "decline"; content?: unknown; always?: boolean },
    done: () => void,
    refused?: (faults: Fault[]) => string[],
  ) => {
    setSending(how);
    setFaults([]);
    answer.mutate(
      { run, question: question.number, ...request },
      {
        onSuccess: () => {
          setMine(true);
          done();
          onSent();
        },
        onError: (error) => {
          setSending(null);
          // Somebody was faster: the feed brings the answer, and the panel locks.
          if (error.code === "already_answered") {
            toast(t("run.alreadyAnswered"), { kind: "note" });
            return;
          }
          const list = Array.isArray(error.detail) ? (error.detail as Fault[]) : (error.detail as { faults?: Fault[] } | undefined)?.faults;
          const rest = error.code === "invalid_input" && Array.isArray(list) && refused ? refused(list) : Object.values(errorWords(error, t));
          setFaults(rest);
          if (question.kind === "approval") toastError(error, t);
        },
      },
    );
  };
  const values = given ? answerValues(question) : [];
  const said = given
    ? given.action === "accept"
      ? question.kind === "approval"
        ? t("run.approved")
        : values.map((one) => one.value).join(t("run.listJoin"))
      : t(given.action === "decline" ? "run.declined" : "run.dismissed")
    : "";
  return (
    <>
      {given && (
        <div className="run-answered" role="status">
          <Glyph name={given.action === "accept" ? "success" : "cancelled"} label="" />
          <span className="k-break">
            {t(mine || isPerson(given.by) ? "run.youAnsweredAt" : "run.answeredAt", { by: given.by, at: format.time(given.at) })}
            {said && (
              <>
                {" "}
                <Reveal text={said} limit={300} />
              </>
            )}
          </span>
        </div>
      )}
      {question.kind === "approval" ? (
        <ApprovalPanel
          question={question}
          locked={given !== undefined && given !== null}
          sending={sending === "form" ? null : sending}
          onAnswer={(approve, always) =>
            send(approve ? "approve" : "deny", { action: approve ? "accept" : "decline", ...(always ? { always } : {}) }, () => {})
          }
        />
      ) : (
        <FormPanel
          run={run}
          question={question}
          locked={given !== undefined && given !== null}
          sending={sending !== null}
          faults={faults}
          onSend={(content, form) => send("form", { action: "accept", content }, () => form.sent(), form.refuse)}
          onDecline={(form) => send("form", { action: "decline" }, () => form.sent())}
        />
      )}
    </>
  );
}

/** The phases that are behind, in a few lines. */
function SoFar({ detail, nodes }: Pick<TabProps, "detail" | "nodes">) {
  const { t, format } = useI18n();
  const lanes = useMemo(
    () =>
      makeLanes(nodes, detail.run.status).filter((lane) => lane.startedAt !== undefined && lane.members.some((member) => member.status !== "queued")),
    [nodes, detail.run.status],
  );
  if (lanes.length === 0) return null;
  return (
    <section className="run-after">
      <h3 className="k-h3">{t("run.soFar")}</h3>
      <ul className="run-sofar">
        {lanes.slice(0, 8).map((lane) => {
          const status = laneStatus(lane);
          const first = lane.members[0];
          return (
            <li key={lane.key}>
              <Glyph name={first ? memberGlyph(status, first.node) : "todo"} />
              <span className="k-trunc">{laneTitle(t, lane)}</span>
              <span className="k-dim k-trunc k-grow">
                {lane.members.length === 1 ? (first?.node.title ?? "") : captionText(t, caption(lane.members))}
              </span>
              <span className="k-sub k-num">
                {lane.finishedAt && lane.startedAt && status === "success" ? format.duration(lane.finishedAt - lane.startedAt) : ""}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
