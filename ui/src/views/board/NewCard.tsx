// A new card. What is typed is kept until the card exists.
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ListChecks } from "lucide-react";
import type { ApiError, BoardView } from "../../api/contract";
import { useI18n } from "../../i18n";
import { Button, Dialog, dropDraft, ErrorState, loadDraft, saveDraft, SelectField, TextArea, TextField } from "../../kit";
import type { BoardWriter } from "./useBoard";
import { priorityWord, statusWord, typeWord } from "./words";

/** The most characters of a title. */
const TITLE_LIMIT = 80;

interface Fields {
  title: string;
  type: string;
  priority: string;
  area: string;
  body: string;
}

export interface NewCardProps {
  project: string;
  view: BoardView;
  writer: BoardWriter;
  /** The column it comes into. */
  status: string;
  onClose: () => void;
  onCreated: (id: string) => void;
}

export function NewCard({ project, view, writer, status: given, onClose, onCreated }: NewCardProps) {
  const { t } = useI18n();
  const ids = useId();
  const root = useRef<HTMLDivElement>(null);
  const key = `board-new:${project}`;
  const [fields, setFields] = useState<Fields>(() => {
    const kept = loadDraft(key) as Partial<Fields> | undefined;
    const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise);
    const known = (value: unknown, all: readonly string[], otherwise: string) =>
      typeof value === "string" && all.includes(value) ? value : otherwise;
    return {
      title: text(kept?.title, ""),
      type: known(kept?.type, view.types, view.types.includes("task") ? "task" : (view.types[0] ?? "")),
      priority: known(kept?.priority, view.priorities, view.priorities.includes("medium") ? "medium" : (view.priorities[0] ?? "")),
      area: known(kept?.area, view.areas, view.areas[0] ?? ""),
      body: text(kept?.body, ""),
    };
  });
  const [status, setStatus] = useState(given);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  const change = (part: Partial<Fields>) => {
    const next = { ...fields, ...part };
    setFields(next);
    saveDraft(key, [], { ...next });
  };
  const length = [...fields.title.trim()].length;
  const titleFault = length > TITLE_LIMIT ? t("board.titleTooLong", { n: length }) : tried && length === 0 ? t("board.titleWanted") : undefined;
  const create = async () => {
    setTried(true);
    if (busy) return;
    if (length === 0 || length > TITLE_LIMIT) {
      root.current?.querySelector("input")?.focus();
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const { record } = await writer.call<{ record: { id: string } }>("project_card_create", {
        title: fields.title.trim(),
        type: fields.type,
        priority: fields.priority,
        ...(fields.area ? { area: fields.area } : {}),
        status,
        ...(fields.body.trim() ? { body: fields.body.trim() } : {}),
      });
      dropDraft(key);
      onCreated(record.id);
    } catch (thrown) {
      setError(thrown as ApiError);
      setBusy(false);
    }
  };
  // The button goes away with its press; typing goes on in the text.
  const addCriteria = () => {
    flushSync(() => change({ body: `${fields.body.trimEnd()}${t("board.textTemplate")}`.trimStart() }));
    const text = root.current?.querySelector("textarea");
    text?.focus();
    text?.setSelectionRange(text.value.length, text.value.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void create();
  };
  const choice = (name: "type" | "priority" | "area", label: string, options: readonly string[], word: (id: string) => string) => (
    <div className="k-field">
      <span className="k-field-title" aria-hidden="true">
        {label}
      </span>
      <SelectField
        small
        label={label}
        value={fields[name]}
        options={options.map((id) => ({ value: id, label: word(id) }))}
        onChange={(value) => value !== undefined && change({ [name]: value })}
      />
    </div>
  );

  return (
    <Dialog
      open
      onClose={onClose}
      title={t("board.newTitle")}
      buttons={
        <>
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button look="primary" keys="Ctrl Enter" aria-disabled={busy || undefined} onClick={() => void create()}>
            {t("board.create")}
          </Button>
        </>
      }
    >
      <div ref={root} className="bd-new" onKeyDown={onKeyDown}>
        <div className="k-field">
          <label className="k-field-title" htmlFor={`${ids}-title`}>
            {t("board.title")}
          </label>
          <TextField
            id={`${ids}-title`}
            value={fields.title}
            onChange={(title) => change({ title })}
            describedBy={`${ids}-title-hint`}
            invalid={titleFault !== undefined}
            required
          />
          <span id={`${ids}-title-hint`} className={titleFault ? "k-field-fault" : "k-field-hint k-num"}>
            {titleFault ?? t("board.titleHint", { n: length })}
          </span>
        </div>
        <div className="bd-new-choices">
          <div className="k-field">
            <span className="k-field-title" aria-hidden="true">
              {t("board.column")}
            </span>
            <SelectField
              small
              label={t("board.column")}
              value={status}
              options={view.statuses
                .filter(({ needs, terminal }) => needs.length === 0 && !terminal)
                .map(({ id }) => ({ value: id, label: statusWord(id, t) }))}
              onChange={(value) => value !== undefined && setStatus(value)}
            />
          </div>
          {choice("type", t("board.type"), view.types, (id) => typeWord(id, t))}
          {choice("priority", t("board.priority"), view.priorities, (id) => priorityWord(id, t))}
          {view.areas.length > 1 && choice("area", t("board.area"), view.areas, (id) => id)}
        </div>
        <div className="k-field">
          <label className="k-field-title" htmlFor={`${ids}-text`}>
            {t("board.text")}
          </label>
          <TextArea id={`${ids}-text`} value={fields.body} onChange={(body) => change({ body })} describedBy={`${ids}-text-hint`} />
          <span id={`${ids}-text-hint`} className="k-field-hint">
            {t("board.textHint")}
          </span>
          {!/^## Acceptance criteria/im.test(fields.body) && (
            <span>
              <Button size="small" icon={ListChecks} onClick={addCriteria}>
                {t("board.addCriteria")}
              </Button>
            </span>
          )}
        </div>
        {error && <ErrorState error={error} />}
      </div>
    </Dialog>
  );
}
