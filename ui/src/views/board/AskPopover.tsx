// What a column wants to know before it takes a card: a reason, or how it was verified. The safe side is to leave the card where it is.
import { type KeyboardEvent, useId, useState } from "react";
import { useI18n } from "../../i18n";
import { Button, Popover, Segmented, TextArea, TextField } from "../../kit";
import { asksFor } from "./model";
import type { Answers, Ask } from "./useMoves";
import { statusWord } from "./words";

interface QuestionProps {
  title: string;
  hint: string;
  fault?: string;
  children: (ids: { id: string; describedBy: string }) => React.ReactNode;
}

function Question({ title, hint, fault, children }: QuestionProps) {
  const id = useId();
  return (
    <div className="k-field">
      <label className="k-field-title" htmlFor={id}>
        {title}
      </label>
      {children({ id, describedBy: `${id}-hint` })}
      <span id={`${id}-hint`} className={fault ? "k-field-fault" : "k-field-hint"}>
        {fault ?? hint}
      </span>
    </div>
  );
}

function AskForm({ ask, onAnswer, onLeave }: { ask: Ask; onAnswer: (answers: Answers) => void; onLeave: () => void }) {
  const { t } = useI18n();
  const needs = asksFor(ask.needs);
  const eitherWay = needs.includes("run") && needs.includes("evidence");
  const [way, setWay] = useState<"run" | "evidence">("run");
  const [texts, setTexts] = useState<Answers>({});
  const [tried, setTried] = useState(false);
  const wanted = needs.filter((need) => !eitherWay || need === "reason" || need === way) as (keyof Answers)[];
  const isMissing = (need: keyof Answers) => !texts[need]?.trim();
  const column = statusWord(ask.status, t);
  const send = () => {
    setTried(true);
    if (wanted.some(isMissing)) return;
    onAnswer(Object.fromEntries(wanted.map((need) => [need, texts[need]?.trim()])));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    }
  };
  const set = (need: keyof Answers) => (text: string) => setTexts((before) => ({ ...before, [need]: text }));
  const fault = (need: keyof Answers) => (tried && isMissing(need) ? t("board.needsText") : undefined);
  return (
    <div className="bd-ask" onKeyDown={onKeyDown}>
      {wanted.includes("reason") && (
        <Question title={t("board.reason")} hint={t("board.reasonHint")} fault={fault("reason")}>
          {(ids) => <TextArea {...ids} value={texts.reason ?? ""} onChange={set("reason")} invalid={fault("reason") !== undefined} required />}
        </Question>
      )}
      {eitherWay && (
        <Segmented
          label={t("board.verifiedBy")}
          value={way}
          items={[
            { value: "run", label: t("board.byCi") },
            { value: "evidence", label: t("board.byHand") },
          ]}
          onChange={setWay}
        />
      )}
      {wanted.includes("run") && (
        <Question title={t("board.ciRun")} hint={t("board.ciRunHint")} fault={fault("run")}>
          {(ids) => <TextField {...ids} small value={texts.run ?? ""} onChange={set("run")} invalid={fault("run") !== undefined} required mono />}
        </Question>
      )}
      {wanted.includes("evidence") && (
        <Question title={t("board.evidence")} hint={t("board.evidenceHint")} fault={fault("evidence")}>
          {(ids) => <TextArea {...ids} value={texts.evidence ?? ""} onChange={set("evidence")} invalid={fault("evidence") !== undefined} required />}
        </Question>
      )}
      <div className="k-popover-buttons">
        <Button onClick={onLeave}>{t("board.keepInPlace")}</Button>
        <Button look="primary" keys="Ctrl Enter" onClick={send}>
          {t("board.move", { column })}
        </Button>
      </div>
    </div>
  );
}

export function AskPopover({ ask, onAnswer, onLeave }: { ask: Ask | null; onAnswer: (answers: Answers) => void; onLeave: () => void }) {
  const { t } = useI18n();
  return (
    <Popover
      open={ask !== null}
      onOpenChange={(open) => !open && onLeave()}
      anchor={ask?.anchor}
      align="start"
      title={ask ? t("board.askTitle", { id: ask.card.id, column: statusWord(ask.status, t) }) : ""}
      className="k-popover bd-ask-popover"
    >
      {ask && <AskForm key={`${ask.card.id}/${ask.status}`} ask={ask} onAnswer={onAnswer} onLeave={onLeave} />}
    </Popover>
  );
}
