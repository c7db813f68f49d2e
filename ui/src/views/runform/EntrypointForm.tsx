// The form of one entrypoint: fields or JSON, an older run's input to start from, the same from outside, and Run.
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { ChevronDown, CircleAlert, Play } from "lucide-react";
import type { EntrypointRow, JsonValue, RunStatus } from "../../api/contract";
import { navigate, runAddress } from "../../app/router";
import { useNow } from "../../app/clock";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import {
  errorWords,
  Button,
  CopyIconButton,
  Glyph,
  Icon,
  Menu,
  ParamFields,
  revealText,
  Said,
  Segmented,
  Sheet,
  Tag,
  TextArea,
  toastError,
  useParamForm,
  type ParamForm,
} from "../../kit";
import { draftToJson, jsonToDraft } from "./json";
import { callText, commandPieces, commandText } from "./outside";

export interface EntrypointFormProps {
  open: boolean;
  onClose: () => void;
  project: string;
  projectTitle: string;
  /** The id that the command line and clients know. */
  server: string;
  entrypoint: EntrypointRow;
  from?: { run: string; at: number; status: RunStatus; input: JsonValue };
}

/** How long typing may rest before the backend looks at files, in milliseconds. */
const CHECK_AFTER = 350;

export function EntrypointForm({ open, onClose, project, projectTitle, server, entrypoint, from }: EntrypointFormProps) {
  const { t } = useI18n();
  const host = useHost();
  const fields = entrypoint.params;
  const form = useParamForm({ fields, draftKey: from ? undefined : `run ${project} ${entrypoint.id}`, initial: from?.input });
  const [side, setSide] = useState<"form" | "json">("form");
  const [json, setJson] = useState("");
  const [jsonFault, setJsonFault] = useState<string>();
  const [source, setSource] = useState(from);
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<string[]>([]);
  const first = useRef<HTMLButtonElement>(null);

  useFileCheck(project, entrypoint.id, form);

  const readJson = (text: string): boolean => {
    const read = jsonToDraft(fields, text, form.draft);
    if ("draft" in read) {
      setJsonFault(undefined);
      form.replace(read.draft);
      return true;
    }
    setJsonFault(
      read.fault === "syntax"
        ? t("kit.faultJson", { why: read.why })
        : read.fault === "object"
          ? t("runform.jsonObject")
          : t("runform.jsonUnknown", { count: read.names.length, names: read.names.map((name) => `“${revealText(name)}”`).join(", ") }),
    );
    return false;
  };

  const run = async () => {
    if (sending) return;
    if (side === "json") {
      if (!readJson(json)) return;
      setSide("form");
      // The fields show on the next frame; only then can the first fault take the focus.
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    const input = form.submit();
    if (!input) return;
    setSending(true);
    setRefused([]);
    try {
      const { faults } = await host.call("check_input", { project, entrypoint: entrypoint.id, input });
      if (faults.length > 0) {
        setRefused(form.refuse(faults));
        return;
      }
      const { run: id } = await host.call("start_run", { project, entrypoint: entrypoint.id, input });
      form.sent();
      onClose();
      navigate(runAddress(id));
    } catch (thrown) {
      const error = toApiError(thrown);
      setRefused(Object.values(errorWords(error, t)));
    } finally {
      setSending(false);
    }
  };

  const title = t("runform.title", { name: revealText(entrypoint.title) });
  const wrong = form.wrong;
  return (
    <Sheet
      open={open}
      onClose={onClose}
      initialFocus={() => form.focusFirst() ?? first.current}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        void run();
      }}
      title={
        <span className="rf-title">
          <span className="k-break">{title}</span>
          <span className="k-mono k-dim">{entrypoint.id}</span>
          {entrypoint.draft && <Tag title={t("runform.draftHint")}>{t("runform.draft")}</Tag>}
        </span>
      }
      head={
        fields.length > 0 && (
          <Segmented
            label={t("runform.side")}
            value={side}
            items={[
              { value: "form", label: t("runform.form") },
              { value: "json", label: t("runform.json") },
            ]}
            onChange={(next) => {
              if (next === side) return;
              if (next === "json") {
                setJson(draftToJson(fields, form.draft));
                setJsonFault(undefined);
                setSide("json");
              } else if (readJson(json)) setSide("form");
            }}
          />
        )
      }
      band={
        fields.length > 0 && (
          <StartFrom
            entrypoint={entrypoint}
            form={form}
            source={source}
            locked={sending}
            onPick={async (recent) => {
              try {
                const detail = await host.call("run", { run: recent.runId });
                form.reset(detail.input);
                setSource({ run: recent.runId, at: recent.at, status: recent.status, input: detail.input });
                if (side === "json") setSide("form");
              } catch (thrown) {
                toastError(thrown, t);
              }
            }}
            onClear={() => {
              form.reset();
              form.sent();
              setSource(undefined);
              if (side === "json") setSide("form");
            }}
          />
        )
      }
      foot={
        <>
          <span className="rf-faults k-grow" role="status">
            {(wrong > 0 || jsonFault) && (
              <span className="k-field-fault">
                <Icon of={CircleAlert} size={14} />
                {jsonFault ?? t("kit.fieldsNeedChange", { count: wrong })}
              </span>
            )}
            {refused.map((message) => (
              <span key={message} className="k-field-fault">
                <Icon of={CircleAlert} size={14} />
                <Said text={message} className="k-break" />
              </span>
            ))}
          </span>
          <Button look="quiet" size="large" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button ref={first} look="primary" size="large" icon={Play} keys="Ctrl Enter" onClick={() => void run()} aria-busy={sending}>
            {sending ? t("runform.starting") : t("runform.run")}
          </Button>
        </>
      }
    >
      <div className="rf-body">
        {entrypoint.description && <p className="k-mid k-break">{revealText(entrypoint.description)}</p>}
        {fields.length === 0 ? (
          <p className="k-note">{t("runform.noParams", { project: projectTitle })}</p>
        ) : side === "form" ? (
          <ParamFields form={form} locked={sending} />
        ) : (
          <div className="k-field">
            <TextArea
              code
              label={t("runform.jsonLabel")}
              value={json}
              invalid={jsonFault !== undefined}
              locked={sending}
              onChange={(text) => {
                setJson(text);
                if (jsonFault) readJson(text);
              }}
              onBlur={() => readJson(json)}
            />
            <span className="k-field-hint">{t("runform.jsonHint")}</span>
          </div>
        )}
        <Outside server={server} entrypoint={entrypoint} form={form} />
      </div>
    </Sheet>
  );
}

/** Files can only be looked at by the backend; it does so shortly after they are chosen. */
function useFileCheck(project: string, entrypoint: string, form: ParamForm): void {
  const host = useHost();
  const files = form.fields.filter((field) => field.type === "file");
  const chosen = JSON.stringify(files.map((field) => form.input[field.name] ?? null));
  const latest = useRef(form);
  useEffect(() => {
    latest.current = form;
  });
  const names = files.map((field) => field.name).join("\n");
  useEffect(() => {
    if (names === "" || !/"/.test(chosen)) return;
    let over = false;
    const timer = setTimeout(() => {
      host.call("check_input", { project, entrypoint, input: latest.current.input }).then(
        ({ faults }) => {
          if (over) return;
          const mine = faults.filter(
            ({ path, message }) =>
              message && names.split("\n").some((name) => path === name || path.startsWith(`${name}[`) || path.startsWith(`/${name}`)),
          );
          if (mine.length > 0) latest.current.refuse(mine, { focus: false });
        },
        // Run says it then.
        () => {},
      );
    }, CHECK_AFTER);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [host, project, entrypoint, chosen, names]);
}

type Recent = EntrypointRow["recent"][number];

interface StartFromProps {
  entrypoint: EntrypointRow;
  form: ParamForm;
  source: EntrypointFormProps["from"];
  locked: boolean;
  onPick: (recent: Recent) => void;
  onClear: () => void;
}

/** The band under the head: which older input fills the form. */
function StartFrom({ entrypoint, form, source, locked, onPick, onClear }: StartFromProps) {
  const { t, format } = useI18n();
  const now = useNow(60_000);
  const recent = entrypoint.recent.toReversed().slice(0, 12);
  const when = (at: number) => t("runform.whenTime", { day: format.relative(at, now), time: format.time(at) });
  if (recent.length === 0 && !source && !form.restored && !form.changed) return null;
  return (
    <div className="rf-band">
      <span className="k-sub">{t("runform.startFrom")}</span>
      <Menu
        align="start"
        trigger={
          <button type="button" className="k-chip rf-from" disabled={locked || recent.length === 0}>
            {source ? (
              <>
                <Glyph name={source.status} size={14} />
                <span className="k-mono rf-id">{source.run}</span>
                <span className="k-num">{when(source.at)}</span>
              </>
            ) : (
              <span>{form.restored ? t("runform.keptDraft") : t("runform.theDefaults")}</span>
            )}
            {recent.length > 0 && <Icon of={ChevronDown} size={12} />}
          </button>
        }
        items={[
          { heading: t("runform.olderInputs") },
          ...recent.map((one) => ({ label: one.runId, hint: `${t(`common.${one.status}`)}, ${when(one.at)}`, onSelect: () => onPick(one) })),
        ]}
      />
      <span className="k-grow" />
      <Button look="quiet" size="small" onClick={onClear} disabled={locked}>
        {t("common.clear")}
      </Button>
    </div>
  );
}

/** The very command and the very call that would do the same. */
function Outside({ server, entrypoint, form }: { server: string; entrypoint: EntrypointRow; form: ParamForm }) {
  const { t } = useI18n();
  const id = useId();
  const [shown, setShown] = useState(true);
  const [kind, setKind] = useState<"command" | "mcp">("command");
  const pieces = useMemo(() => commandPieces(server, entrypoint.id, form.fields, form.input), [server, entrypoint.id, form.fields, form.input]);
  const call = useMemo(() => callText(entrypoint.id, form.fields, form.input), [entrypoint.id, form.fields, form.input]);
  const clients = !entrypoint.draft;
  const at = clients ? kind : "command";
  return (
    <section className="rf-outside">
      <div className="k-r k-wrap">
        <button type="button" className="rf-fold" aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
          <Icon of={ChevronDown} size={14} className={shown ? undefined : "rf-folded"} />
          {t("runform.outside")}
        </button>
        <span className="k-grow" />
        {shown && clients && (
          <Segmented
            size="small"
            label={t("runform.outside")}
            value={kind}
            items={[
              { value: "command", label: t("runform.command") },
              { value: "mcp", label: t("runform.mcpCall") },
            ]}
            onChange={setKind}
          />
        )}
        {shown && <CopyIconButton label={t("common.copy")} text={() => (at === "command" ? commandText(pieces) : call)} />}
      </div>
      {shown && (
        <pre className="k-code" id={id} dir="ltr">
          {at === "command"
            ? pieces.map((piece, index) => (
                <span key={index} className={piece.value ? "k-json-str" : undefined}>
                  {revealText(piece.text)}
                </span>
              ))
            : revealText(call)}
        </pre>
      )}
    </section>
  );
}
