// What a run was given, and what people answered on the way.
import { useMemo } from "react";
import { RotateCcw } from "lucide-react";
import { openRunForm } from "../../../app/overlays";
import { questionTitle } from "../../../app/questions";
import { useI18n } from "../../../i18n";
import { Button } from "../../../kit/Button";
import { CopyButton, CopyIconButton } from "../../../kit/Copy";
import { Glyph } from "../../../kit/Glyph";
import { JsonTree } from "../../../kit/JsonTree";
import { Reveal } from "../../../kit/Reveal";
import { Some } from "../../../kit/Some";
import { Empty } from "../../../kit/States";
import { answerValues, isPerson } from "../question/answers";
import type { TabProps } from "../types";
import "./input.css";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isShort = (value: unknown): value is string | number | boolean | null => value === null || typeof value !== "object";

export function InputTab({ detail }: TabProps) {
  const { t, format } = useI18n();
  const { run } = detail;
  const entries = useMemo(() => (isObject(detail.input) ? Object.entries(detail.input) : undefined), [detail.input]);
  return (
    <div className="run-scroll">
      <div className="run-column">
        <section>
          <div className="k-section-head">
            <h2 className="k-h2">{t("run.inputHead")}</h2>
            {entries && <span className="k-sub">{t("run.parameters", { count: entries.length })}</span>}
            <span className="k-grow" />
            <CopyButton text={() => JSON.stringify(detail.input, null, 2) ?? "null"} label={t("run.copyJson")} />
            <Button
              size="small"
              icon={RotateCcw}
              onClick={() => openRunForm({ project: run.project, entrypoint: run.entrypointId, from: run.runId })}
            >
              {t("run.startFrom")}
            </Button>
          </div>
          {entries === undefined || entries.length === 0 ? (
            <Empty inline title={t("run.noInput")} />
          ) : (
            <Some items={entries}>
              {(shown) => (
                <dl className="k-panel k-rows in-list">
                  {shown.map(([name, value]) => (
                    <div key={name} className="in-row">
                      <dt className="k-mono k-break">
                        <Reveal text={name} limit={200} />
                      </dt>
                      <dd className="in-value">
                        <div className="k-break k-grow">
                          {isShort(value) ? (
                            <span
                              className={
                                typeof value === "string" ? "in-text" : typeof value === "number" ? "k-mono k-json-num" : "k-mono k-json-lit"
                              }
                            >
                              {value === "" ? <span className="k-dim">{t("run.emptyText")}</span> : <Reveal text={String(value)} />}
                            </span>
                          ) : Array.isArray(value) && value.length <= 20 && value.every(isShort) ? (
                            value.map((one, index) => (
                              <span key={index}>
                                {index > 0 && ", "}
                                <Reveal text={String(one)} limit={300} />
                              </span>
                            ))
                          ) : (
                            <div className="in-tree">
                              <JsonTree value={value} root={name} plain label={name} />
                            </div>
                          )}
                        </div>
                        <CopyIconButton
                          text={() => (typeof value === "string" ? value : JSON.stringify(value, null, 2))}
                          label={t("run.copyValue")}
                        />
                      </dd>
                    </div>
                  ))}
                </dl>
              )}
            </Some>
          )}
        </section>
        {detail.cliArgs.length > 0 && (
          <section>
            <div className="k-section-head">
              <h2 className="k-h2">{t("run.argumentsHead")}</h2>
              <span className="k-sub">{t("run.argumentsAsTheyStand", { count: detail.cliArgs.length })}</span>
            </div>
            <Some items={detail.cliArgs}>
              {(shown) => (
                <ol className="k-code in-args">
                  {shown.map((word, index) => (
                    <li key={index}>
                      <Reveal text={word} />
                    </li>
                  ))}
                </ol>
              )}
            </Some>
          </section>
        )}
        <section>
          <div className="k-section-head">
            <h2 className="k-h2">{t("run.answersHead")}</h2>
            {detail.questions.length > 0 && <span className="k-sub">{t("run.questionsCount", { count: detail.questions.length })}</span>}
          </div>
          {detail.questions.length === 0 ? (
            <Empty inline title={t("run.noQuestions")} />
          ) : (
            <Some items={detail.questions}>
              {(shown) => (
                <ul className="k-panel k-rows">
                  {shown.map((question) => {
                    const { answer } = question;
                    const values = answerValues(question);
                    return (
                      <li key={question.number} className="in-answer">
                        <Glyph name={!answer ? "waiting_for_input" : answer.action === "accept" ? "success" : "cancelled"} />
                        <div className="k-col k-grow">
                          <span className="k-med k-break">
                            <Reveal text={questionTitle(question, t)} limit={400} />
                          </span>
                          {!answer ? (
                            <span className="k-sub">{t("run.askedAt", { at: format.timeSeconds(question.askedAt) })}</span>
                          ) : answer.action !== "accept" ? (
                            <span className="k-mid">{t(answer.action === "decline" ? "run.declined" : "run.dismissed")}</span>
                          ) : question.kind === "approval" ? (
                            <span className="k-mid">{t("run.approved")}</span>
                          ) : (
                            <dl className="in-values">
                              {values.map((one) => (
                                <div key={one.title}>
                                  {one.title && <dt className="k-dim">{one.title}</dt>}
                                  <dd className="k-break">
                                    <Reveal text={one.value} />
                                  </dd>
                                </div>
                              ))}
                            </dl>
                          )}
                        </div>
                        {answer && (
                          <span className="k-sub k-num in-by" title={format.absolute(answer.at)}>
                            {t("run.answeredBy", {
                              by: isPerson(answer.by) ? t("common.you") : answer.by,
                              at: format.timeSeconds(answer.at),
                              took: format.duration(answer.at - question.askedAt),
                            })}
                          </span>
                        )}
                      </li>
                    );
                  })}
                </ul>
              )}
            </Some>
          )}
        </section>
      </div>
    </div>
  );
}
