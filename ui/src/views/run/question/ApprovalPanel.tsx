// Leave for a program: the whole command, where and with what it runs. Nothing scrolls away, and no key pressed before
// the panel was there, nor Enter alone, can approve.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { CornerDownLeft, Hand } from "lucide-react";
import type { Question } from "../../../api/contract";
import { useActions } from "../../../app/actions";
import { questionTitle } from "../../../app/questions";
import { useI18n } from "../../../i18n";
import { Button } from "../../../kit/Button";
import { Checkbox } from "../../../kit/Choice";
import { Glyph } from "../../../kit/Glyph";
import { Icon } from "../../../kit/Icon";
import { Reveal } from "../../../kit/Reveal";
import { commandLines } from "./command";

/** The panel must have been on screen this long before it can be approved, in milliseconds. */
export const GUARD_MS = 500;

interface ApprovalPanelProps {
  question: Question;
  locked: boolean;
  sending: "approve" | "deny" | null;
  onAnswer: (approve: boolean, always: boolean) => void;
}

export function ApprovalPanel({ question, locked, sending, onAnswer }: ApprovalPanelProps) {
  const { t } = useI18n();
  const approval = question.approval;
  const [always, setAlways] = useState(false);
  const [ready, setReady] = useState(false);
  const shownAt = useRef(0);
  useEffect(() => {
    setReady(false);
    // A hidden window shows nothing: time only counts while it can be seen.
    let timer: number | undefined;
    const begin = () => {
      window.clearTimeout(timer);
      if (document.visibilityState !== "visible") {
        setReady(false);
        return;
      }
      shownAt.current = performance.now();
      timer = window.setTimeout(() => setReady(true), GUARD_MS);
    };
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", begin);
    };
  }, [question.number]);

  const twice = approval?.mayHaveHappened ?? false;
  // What it sees and reads decides what it does, and no pattern speaks of that: such a call is asked about each time.
  const eachTime = approval !== undefined && (approval.env.length > 0 || approval.stdinBytes !== undefined);
  const answer = (approve: boolean) => {
    if (locked || sending) return;
    if (approve && (!ready || performance.now() - shownAt.current < GUARD_MS)) return;
    onAnswer(approve, approve && always);
  };
  // Enter alone never approves, also when the button has the focus by Tab.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
  };
  useActions(
    locked
      ? []
      : [
          {
            id: "question.send",
            title: t(twice ? "run.doAgain" : "run.approve"),
            group: "do",
            keys: "Ctrl Enter",
            everywhere: true,
            run: () => answer(true),
          },
          {
            id: "question.deny",
            title: t(twice ? "run.treatAsDenied" : "run.deny"),
            group: "do",
            keys: "Ctrl Backspace",
            everywhere: true,
            run: () => answer(false),
          },
        ],
  );

  return (
    <section className="run-ask" aria-label={questionTitle(question, t)}>
      <div className="run-ask-head">
        <div className="k-r">
          {twice ? <Glyph name="notice" label="" size={18} /> : <Icon of={Hand} size={18} />}
          <h2 className="k-h2 k-break">
            {twice ? t("run.againTitle") : approval ? t("run.allowTitle") : <Reveal text={question.form.title} limit={400} />}
          </h2>
        </div>
        {approval
          ? !twice && <p className="k-mid run-ask-text">{t("run.asksLeave")}</p>
          : question.form.message && (
              <p className="k-mid k-break run-ask-text">
                <Reveal text={question.form.message} limit={1_000} />
              </p>
            )}
        {twice && <p className="k-mid run-ask-text">{t("run.againText")}</p>}
      </div>
      {approval && (
        <div className="run-ask-body">
          <pre className="k-code run-command" aria-label={t("run.command")}>
            {commandLines(approval.program, approval.args).map((line, index, all) => (
              <span key={index} className="run-command-line">
                {line.words.map((word, at) => (
                  <span key={at}>
                    {at > 0 && " "}
                    <span className={word.isProgram ? "k-semi" : word.isQuoted || word.isValue ? "k-json-str" : undefined}>
                      {word.isQuoted && <span className="k-dim">&quot;</span>}
                      <Reveal text={word.isQuoted ? word.text.replaceAll(/["\\]/g, "\\$&") : word.text} limit={100_000} />
                      {word.isQuoted && <span className="k-dim">&quot;</span>}
                    </span>
                  </span>
                ))}
                {index < all.length - 1 && (
                  <span className="k-dim run-command-on" aria-hidden="true">
                    {" "}
                    \
                  </span>
                )}
              </span>
            ))}
          </pre>
          <dl className="run-ask-facts">
            <dt>{t("run.runsIn")}</dt>
            <dd className="k-mono k-break">
              <Reveal text={approval.folder} />
            </dd>
            <dt>{t("run.withoutShell")}</dt>
            <dd>{t("run.argumentsAsTheyStand", { count: approval.args.length })}</dd>
            <dt>{t("run.sees")}</dt>
            <dd className="k-break">
              {approval.env.length === 0 ? (
                <span className="k-dim">{t("run.seesNothing")}</span>
              ) : (
                approval.env.map((name, index) => (
                  <span key={name}>
                    {index > 0 && ", "}
                    <span className="k-mono">
                      <Reveal text={name} limit={200} />
                    </span>
                    {/(?:token|key|secret|password|auth)/i.test(name) && <span className="k-dim"> •••</span>}
                  </span>
                ))
              )}
            </dd>
          </dl>
          {eachTime && question.form.message && (
            <details className="run-ask-whole" open>
              <summary>{t("run.wordForWord")}</summary>
              <pre className="k-code">
                <Reveal text={question.form.message} limit={10_000} />
              </pre>
            </details>
          )}
          {!twice && !eachTime && (
            <div className="k-note run-always">
              <Checkbox checked={always} onChange={setAlways} disabled={locked || sending !== null} hint={t("run.alwaysHint")}>
                {t("run.always")}
              </Checkbox>
            </div>
          )}
        </div>
      )}
      <div className="run-ask-foot">
        <span className="k-sub k-grow">{t("run.choiceKept")}</span>
        <Button size="large" keys="Ctrl Backspace" disabled={locked || sending !== null} onClick={() => answer(false)}>
          {sending === "deny" ? t("run.sending") : t(twice ? "run.treatAsDenied" : "run.deny")}
        </Button>
        <Button
          look="primary"
          size="large"
          keys="Ctrl Enter"
          disabled={locked || sending !== null || !ready}
          aria-describedby="run-approve-how"
          onKeyDown={onKeyDown}
          onClick={() => answer(true)}
        >
          {sending === "approve" ? t("run.sending") : t(twice ? "run.doAgain" : "run.approve")}
        </Button>
        <span id="run-approve-how" className="k-visually-hidden">
          {t("run.approveHow")}
        </span>
      </div>
    </section>
  );
}

/** What denying means, below the panel. */
export function IfDenied() {
  const { t } = useI18n();
  return (
    <section className="run-after">
      <h3 className="k-h3">{t("run.ifYouDeny")}</h3>
      <p className="k-r k-mid">
        <Icon of={CornerDownLeft} size={15} />
        <span>{t("run.ifYouDenyText")}</span>
      </p>
    </section>
  );
}
