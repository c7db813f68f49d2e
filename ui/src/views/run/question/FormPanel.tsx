// A question with fields. What is typed is kept in this window until it is sent; secrets never are.
import type { Question } from "../../../api/contract";
import { useActions } from "../../../app/actions";
import { useI18n } from "../../../i18n";
import { Button } from "../../../kit/Button";
import { ParamFields, type ParamForm, useParamForm } from "../../../kit/form";
import { Kbd } from "../../../kit/Kbd";
import { Confirm } from "../../../kit/Popover";
import { Reveal } from "../../../kit/Reveal";
import { Said } from "../../../kit/Said";

interface FormPanelProps {
  run: string;
  question: Question;
  locked: boolean;
  sending: boolean;
  faults: readonly string[];
  onSend: (content: Record<string, unknown>, form: ParamForm) => void;
  onDecline: (form: ParamForm) => void;
}

export function FormPanel({ run, question, locked, sending, faults, onSend, onDecline }: FormPanelProps) {
  const { t } = useI18n();
  const form = useParamForm({ fields: question.form.fields, draftKey: `${run}:${question.number}` });
  const send = () => {
    if (locked || sending) return;
    const content = form.submit();
    if (content) onSend(content, form);
  };
  useActions(
    locked ? [] : [{ id: "question.send", title: t("run.answerAndContinue"), group: "do", keys: "Ctrl Enter", everywhere: true, run: send }],
  );
  const hasSecret = question.form.fields.some((field) => field.type === "secret");
  return (
    <section className="run-ask" aria-label={question.form.title} data-locked={locked || undefined}>
      <div className="run-ask-head">
        <h2 className="k-h2 k-break">
          <Reveal text={question.form.title} limit={400} />
        </h2>
        {question.form.message && (
          <p className="k-mid k-break run-ask-text">
            <Reveal text={question.form.message} limit={2_000} />
          </p>
        )}
      </div>
      <div className="run-ask-body">
        <ParamFields form={form} locked={locked || sending} />
        {faults.map((fault) => (
          <p key={fault} className="k-fail k-break" role="alert">
            <Said text={fault} />
          </p>
        ))}
      </div>
      {!locked && (
        <div className="run-ask-foot">
          <span className="k-sub k-grow">
            {form.wrong > 0 ? t("run.fieldsWrong", { count: form.wrong }) : t(hasSecret ? "run.draftKeptNoSecrets" : "run.draftKept")}
          </span>
          {question.canDecline && (
            <Confirm
              side="top"
              trigger={
                <Button look="quiet" size="large" disabled={sending}>
                  {t("run.declineForm")}
                </Button>
              }
              title={t("run.declineTitle")}
              text={t("run.declineText")}
              confirm={t("run.declineForm")}
              keep={t("run.keepQuestion")}
              onConfirm={() => onDecline(form)}
            />
          )}
          <Kbd keys="Ctrl Enter" />
          <Button look="primary" size="large" disabled={sending} onClick={send}>
            {sending ? t("run.sending") : t("run.answerAndContinue")}
          </Button>
        </div>
      )}
    </section>
  );
}
