// Two runs side by side: what went in, what came out, what was answered, where the time went, what was printed. A is older.
import { type ComponentProps, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { ArrowLeft, ArrowLeftRight, Copy, ScrollText } from "lucide-react";
import type { RunDetail } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { useNow } from "../../app/clock";
import { fromOf } from "../../app/clients";
import { useRemembered } from "../../app/memory";
import { Link, navigate, runAddress, setParams, useAddress } from "../../app/router";
import { useTitle } from "../../app/title";
import { useWidth } from "../../app/useWidth";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, IconButton } from "../../kit/Button";
import { CopyIconButton } from "../../kit/Copy";
import { Glyph } from "../../kit/Glyph";
import { Popover } from "../../kit/Popover";
import { Reveal } from "../../kit/Reveal";
import { Segmented } from "../../kit/Segmented";
import { Empty, ErrorState } from "../../kit/States";
import { StatusPill } from "../../kit/StatusPill";
import { Switch } from "../../kit/Switch";
import { toast } from "../../kit/toast";
import { Bones, Boundary } from "../run/parts";
import { answerValues } from "../run/question/answers";
import { DiffTable, type DiffRow } from "./DiffTable";
import { diffJson, expandTexts, type JsonDiff } from "./json";
import { diffLines } from "./lines";
import { maskLine } from "./mask";
import { Picker } from "./Picker";
import { reportText } from "./report";
import { phaseTimes, timingRows } from "./timing";
import { useBothLogs } from "./useBothLogs";
import "./compare.css";

/** Below this width, in rem, there is one column. */
const ONE_COLUMN_BELOW = 45;

export default function CompareView() {
  const { t } = useI18n();
  useTitle(t("compare.title"));
  const { search, segments } = useAddress();
  const first = search.get("a") ?? segments[1] ?? undefined;
  const second = search.get("b") ?? segments[2] ?? undefined;
  const one = useData("run", { run: first ?? "" }, { enabled: first !== undefined });
  const two = useData("run", { run: second ?? "" }, { enabled: second !== undefined });
  const error = one.error ?? two.error;
  // A is the older one, unless somebody turned them round.
  const isTurned = search.get("turned") === "1";
  const older = one.data && two.data && one.data.run.createdAt > two.data.run.createdAt;
  const isSwapped = Boolean(older) !== isTurned;
  const [a, b] = isSwapped ? [two.data, one.data] : [one.data, two.data];
  const names = isSwapped ? (["b", "a"] as const) : (["a", "b"] as const);

  if (error)
    return (
      <div className="run-padded">
        <PairError of={{ a: one, b: two }} title={t("compare.cantRead")} />
      </div>
    );
  if (second === undefined || first === undefined) {
    const base = one.data ?? two.data;
    return (
      <div className="cp">
        <Head subtitle={base?.run.entrypointTitle} />
        <div className="run-scroll">
          <div className="cp-choose">
            {base && <Card side="A" detail={base} />}
            <h2 className="k-h2">{t("compare.choose")}</h2>
            <div className="k-panel">
              <Picker
                project={base?.run.project}
                entrypoint={base?.run.entrypointId}
                except={first ?? second}
                onPick={(run) => setParams(first === undefined ? { a: run } : { b: run })}
              />
            </div>
          </div>
        </div>
      </div>
    );
  }
  if (!a || !b)
    return (
      <div className="cp">
        <Head />
        <Bones lines={10} />
      </div>
    );
  return (
    <Comparison
      key={`${a.run.runId}|${b.run.runId}`}
      a={a}
      b={b}
      onChange={(side, run) => setParams({ [names[side === "A" ? 0 : 1]]: run, turned: null })}
      onTurn={() => setParams({ turned: isTurned ? null : "1" })}
    />
  );
}

type Asked = { error: ComponentProps<typeof ErrorState>["error"] | null; refetch: () => unknown };

/** What went wrong with either of two questions; both are asked again. */
function PairError({ of: { a, b }, title }: { of: Record<"a" | "b", Asked>; title?: string }) {
  const error = a.error ?? b.error;
  if (!error) return null;
  return (
    <ErrorState
      error={error}
      {...(title === undefined ? {} : { title })}
      onRetry={() => {
        void a.refetch();
        void b.refetch();
      }}
    />
  );
}

function Head({ subtitle, children }: { subtitle?: string; children?: ReactNode }) {
  const { t } = useI18n();
  return (
    <header className="cp-bar">
      <IconButton icon={ArrowLeft} label={t("run.back")} keys="Alt ←" size="small" onClick={() => history.back()} />
      <h1 className="k-h2 k-trunc">{t("compare.title")}</h1>
      {subtitle && <span className="k-sub k-trunc">{subtitle}</span>}
      <span className="k-grow" />
      {children}
    </header>
  );
}

function Card({ side, detail, onChange, except }: { side: "A" | "B"; detail: RunDetail; onChange?: (run: string) => void; except?: string }) {
  const { t, format } = useI18n();
  const { run } = detail;
  return (
    <div className="cp-card" data-side={side}>
      <span className="cp-side" aria-hidden="true">
        {side}
      </span>
      <div className="k-col k-grow">
        <div className="k-r k-wrap cp-card-top">
          <StatusPill status={run.status} />
          <Link to={runAddress(run.runId)} className="k-mono run-fact-link">
            {run.runId}
          </Link>
          <CopyIconButton text={run.runId} label={t("common.copyRunId")} />
        </div>
        <span className="k-sub k-num k-trunc" title={format.absolute(run.createdAt)}>
          {[
            `${format.shortDate(run.createdAt)} ${format.time(run.createdAt)}`,
            run.durationMs === undefined || run.durationMs === null ? undefined : format.duration(run.durationMs),
            fromOf(run, t).name,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </div>
      {onChange && (
        <Popover
          className="cp-popover"
          trigger={
            <Button look="quiet" size="small" aria-label={t("compare.changeSide", { side })}>
              {t("compare.change")}
            </Button>
          }
        >
          {(close) => (
            <Picker
              project={run.project}
              entrypoint={run.entrypointId}
              except={except}
              onPick={(next) => {
                close();
                onChange(next);
              }}
            />
          )}
        </Popover>
      )}
    </div>
  );
}

interface ComparisonProps {
  a: RunDetail;
  b: RunDetail;
  onChange: (side: "A" | "B", run: string) => void;
  onTurn: () => void;
}
type SectionName = "input" | "output" | "answers" | "timing" | "logs" | "files";

/** Answers as a value that can be compared: by question, then by field. */
const answersOf = (detail: RunDetail): Record<string, unknown> =>
  Object.fromEntries(
    detail.questions.map((question) => [
      question.form.title,
      !question.answer
        ? null
        : question.answer.action !== "accept"
          ? question.answer.action
          : question.kind === "approval"
            ? "accept"
            : Object.fromEntries(answerValues(question).map((one) => [one.title, one.value])),
    ]),
  );
const filesOf = (detail: RunDetail): Record<string, unknown> => Object.fromEntries(detail.files.map((file) => [file.name, file.bytes]));

function Comparison({ a, b, onChange, onTurn }: ComparisonProps) {
  const { t, format } = useI18n();
  const host = useHost();
  const now = useNow(60_000);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const [only, setOnly] = useRemembered("compare.only", true);
  const [shape, setShape] = useRemembered<"side" | "one">("compare.shape", "side");
  const oneColumn = shape === "one" || (width !== undefined && width < ONE_COLUMN_BELOW);
  const [active, setActive] = useState<SectionName>("input");
  const scroller = useRef<HTMLDivElement>(null);

  const outputs = { a: useData("run_output", { run: a.run.runId }), b: useData("run_output", { run: b.run.runId }) };
  const nodes = { a: useData("run_nodes", { run: a.run.runId }), b: useData("run_nodes", { run: b.run.runId }) };
  const logs = useBothLogs(a.run.runId, b.run.runId);

  const input = useMemo(() => diffJson(a.input, b.input), [a.input, b.input]);
  const output = useMemo(
    () => (outputs.a.data && outputs.b.data ? diffJson(outputs.a.data.output, outputs.b.data.output, "output") : undefined),
    [outputs.a.data, outputs.b.data],
  );
  const answers = useMemo(() => diffJson(answersOf(a), answersOf(b)), [a, b]);
  const files = useMemo(() => diffJson(filesOf(a), filesOf(b)), [a, b]);
  const times = useMemo(
    () =>
      nodes.a.data && nodes.b.data
        ? timingRows(phaseTimes(a.run, nodes.a.data, a.run.finishedAt ?? now), phaseTimes(b.run, nodes.b.data, b.run.finishedAt ?? now))
        : undefined,
    [a.run, b.run, nodes.a.data, nodes.b.data, now],
  );
  const logDiff = useMemo(() => (logs.data ? diffLines(logs.data.left, logs.data.right, maskLine) : undefined), [logs.data]);

  const counts: Record<SectionName, number | undefined> = {
    input: input.changes,
    output: output?.changes,
    answers: answers.changes,
    timing: times?.filter((row) => row.notable).length,
    logs: logDiff?.changes,
    files: files.changes,
  };
  const names: SectionName[] = ["input", "output", "answers", "timing", "logs", "files"];
  const go = (name: SectionName) => {
    setActive(name);
    const [place, box] = [document.getElementById(`cp-${name}`), scroller.current];
    // Only this pane scrolls: `scrollIntoView` would move the window's frame as well.
    if (place && box) box.scrollTop += place.getBoundingClientRect().top - box.getBoundingClientRect().top - 12;
  };
  useActions([
    ...names.map((name, index) => ({
      id: `compare.${name}`,
      title: t(`compare.${name}`),
      group: "view" as const,
      keys: String(index + 1),
      run: () => go(name),
    })),
    { id: "compare.turn", title: t("compare.turn"), group: "do", keys: "S", run: onTurn },
    { id: "compare.only", title: t("compare.onlyDifferences"), group: "view", keys: "D", run: () => setOnly(!only) },
  ]);
  // The section in sight is the one marked.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const onScroll = () => {
      const top = element.getBoundingClientRect().top + 40;
      const isEnd = element.scrollTop > 0 && element.scrollTop >= element.scrollHeight - element.clientHeight - 2;
      const found = isEnd
        ? names.at(-1)
        : names.findLast((name) => (document.getElementById(`cp-${name}`)?.getBoundingClientRect().top ?? Infinity) <= top);
      if (found) setActive(found);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  });

  const isSame = a.run.entrypointId === b.run.entrypointId && a.run.project === b.run.project;
  const json = (diff: JsonDiff, heads: [string, string], label: string, around: number) => (
    <DiffTable rows={expandTexts(diff.rows) as DiffRow[]} heads={heads} onlyDifferences={only} oneColumn={oneColumn} label={label} around={around} />
  );
  const copyReport = () =>
    void host
      .copyText(
        reportText(a.run.runId, b.run.runId, [
          [t("compare.input"), input.rows],
          [t("compare.output"), output?.rows ?? []],
          [t("compare.answers"), answers.rows],
          [t("compare.logs"), logDiff?.rows ?? []],
          [t("compare.files"), files.rows],
        ]),
      )
      .then(() => toast(t("compare.copied")));
  return (
    <div className="cp" ref={root}>
      <Head subtitle={isSame ? a.run.entrypointTitle : t("compare.different", { a: a.run.entrypointTitle, b: b.run.entrypointTitle })}>
        <label className="cp-only k-sub">
          {t("compare.onlyDifferences")}
          <Switch checked={only} label={t("compare.onlyDifferences")} onChange={setOnly} />
        </label>
        <span className="k-sep" />
        <Button icon={Copy} onClick={copyReport}>
          {t("compare.copyReport")}
        </Button>
      </Head>
      <div className="cp-cards">
        <Card side="A" detail={a} except={b.run.runId} onChange={(run) => onChange("A", run)} />
        <IconButton icon={ArrowLeftRight} label={t("compare.turn")} onClick={onTurn} />
        <Card side="B" detail={b} except={a.run.runId} onChange={(run) => onChange("B", run)} />
      </div>
      <div className="cp-main">
        <nav className="cp-nav" aria-label={t("compare.sections")}>
          {names.map((name) => (
            <button key={name} type="button" className="cp-nav-item" aria-current={active === name ? "true" : undefined} onClick={() => go(name)}>
              <span className="k-trunc k-grow">{t(`compare.${name}`)}</span>
              <span className="k-xs k-num k-dim">{counts[name] === undefined ? "…" : format.number(counts[name])}</span>
            </button>
          ))}
        </nav>
        <div className="cp-body" ref={scroller} tabIndex={-1}>
          <Section
            name="input"
            about={input.changes === 0 ? t("compare.alikeAll") : t("compare.parametersDiffer", { count: input.topKeys, n: input.keys })}
          >
            {(input.changes > 0 || !only) && json(input, ["A", "B"], t("compare.input"), 0)}
          </Section>
          <Section
            name="output"
            about={
              output === undefined
                ? ""
                : output.changes === 0
                  ? t("compare.alikeAll")
                  : t("compare.changesIn", { count: output.changes, keys: output.keys })
            }
            tools={
              <Segmented<"side" | "one">
                label={t("compare.shape")}
                value={oneColumn ? "one" : "side"}
                onChange={setShape}
                items={[
                  { value: "side", label: t("compare.sideBySide") },
                  { value: "one", label: t("compare.oneColumn") },
                ]}
              />
            }
          >
            {(outputs.a.error ?? outputs.b.error) ? (
              <PairError of={outputs} />
            ) : output === undefined ? (
              <Bones lines={4} />
            ) : (
              (output.changes > 0 || !only) &&
              json(output, [t("compare.of", { side: "A", what: "output" }), t("compare.of", { side: "B", what: "output" })], t("compare.output"), 1)
            )}
            {(outputs.a.data?.truncated || outputs.b.data?.truncated) && <p className="k-sub cp-note">{t("compare.firstLevelOnly")}</p>}
          </Section>
          <Section
            name="answers"
            about={
              a.questions.length + b.questions.length === 0
                ? t("compare.noQuestions")
                : answers.changes === 0
                  ? t("compare.alikeAll")
                  : t("compare.changes", { count: answers.changes })
            }
          >
            {(answers.changes > 0 || (!only && a.questions.length + b.questions.length > 0)) && json(answers, ["A", "B"], t("compare.answers"), 1)}
          </Section>
          <Section
            name="timing"
            about={
              <>
                <span className="cp-key" data-side="A" />A<span className="cp-key" data-side="B" />
                B&ensp;{t("compare.waitingLeftOut")}
              </>
            }
          >
            {(nodes.a.error ?? nodes.b.error) ? (
              <PairError of={nodes} />
            ) : times === undefined ? (
              <Bones lines={3} />
            ) : times.length === 0 ? (
              <Empty inline title={t("compare.noPhases")} />
            ) : (
              <Timing rows={only ? times.filter((row) => row.notable || times.length <= 12) : times} />
            )}
          </Section>
          <Section
            name="logs"
            about={logDiff === undefined ? "" : logDiff.changes === 0 ? t("compare.logsAlike") : t("compare.linesDiffer", { count: logDiff.changes })}
            tools={
              <>
                <Button look="quiet" size="small" icon={ScrollText} onClick={() => navigate(runAddress(a.run.runId, "logs"))}>
                  {t("compare.openLog", { side: "A" })}
                </Button>
                <Button look="quiet" size="small" icon={ScrollText} onClick={() => navigate(runAddress(b.run.runId, "logs"))}>
                  {t("compare.openLog", { side: "B" })}
                </Button>
              </>
            }
          >
            {logs.error ? (
              <ErrorState error={logs.error} />
            ) : logDiff === undefined ? (
              <Bones lines={4} />
            ) : (
              (logDiff.changes > 0 || !only) && (
                <Boundary>
                  <DiffTable
                    rows={logDiff.rows}
                    heads={["A", "B"]}
                    onlyDifferences={only}
                    oneColumn={oneColumn}
                    label={t("compare.logs")}
                    mask={maskLine}
                  />
                </Boundary>
              )
            )}
            {logs.data?.isCut && <p className="k-sub cp-note">{t("compare.logsCut")}</p>}
            {logDiff?.gaveUp && <p className="k-sub cp-note">{t("compare.logsTooDifferent")}</p>}
          </Section>
          <Section
            name="files"
            about={
              a.files.length + b.files.length === 0
                ? t("compare.noFiles")
                : files.changes === 0
                  ? t("compare.filesAlike")
                  : t("compare.changes", { count: files.changes })
            }
          >
            <FileRows a={a} b={b} only={only} />
          </Section>
        </div>
      </div>
    </div>
  );
}

function Section({ name, about, tools, children }: { name: SectionName; about: ReactNode; tools?: ReactNode; children?: ReactNode }) {
  const { t } = useI18n();
  return (
    <section id={`cp-${name}`} className="cp-section" aria-label={t(`compare.${name}`)}>
      <div className="k-section-head k-wrap">
        <h2 className="k-h2">{t(`compare.${name}`)}</h2>
        <span className="k-sub cp-about">{about}</span>
        <span className="k-grow" />
        {tools}
      </div>
      {children}
    </section>
  );
}

function Timing({ rows }: { rows: ReturnType<typeof timingRows> }) {
  const { t, format } = useI18n();
  const most = Math.max(1, ...rows.flatMap((row) => [row.left ?? 0, row.right ?? 0]));
  const signed = (ms: number) => `${ms < 0 ? "−" : "+"} ${format.duration(Math.abs(ms))}`;
  return (
    <ul className="k-panel k-rows">
      {rows.map((row) => (
        <li key={row.key} className="cp-time">
          <span className="k-med k-trunc">{row.title === undefined ? t("run.noPhase") : row.title || t("run.emptyPhase")}</span>
          <span className="cp-bars" aria-hidden="true">
            <i data-side="A" style={{ width: `${((row.left ?? 0) / most) * 100}%` }} />
            <i data-side="B" style={{ width: `${((row.right ?? 0) / most) * 100}%` }} />
          </span>
          <span className="k-sm k-num k-mid">
            <span className="k-visually-hidden">A </span>
            {row.left === undefined ? "–" : format.duration(row.left)}
          </span>
          <span className="k-sm k-num k-mid">
            <span className="k-visually-hidden">B </span>
            {row.right === undefined ? "–" : format.duration(row.right)}
          </span>
          <span
            className={
              row.change !== undefined && row.notable ? (row.change > 0 ? "k-sm k-num k-wait k-med" : "k-sm k-num k-ok k-med") : "k-sm k-num k-mid"
            }
          >
            {row.change === undefined
              ? t(row.left === undefined ? "compare.onlyInB" : "compare.onlyInA")
              : Math.abs(row.change) < 50
                ? "0"
                : signed(row.change)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function FileRows({ a, b, only }: { a: RunDetail; b: RunDetail; only: boolean }) {
  const { t, format } = useI18n();
  const names = [...new Set([...a.files, ...b.files].map((file) => file.name))];
  const rows = names
    .map((name) => ({ name, left: a.files.find((file) => file.name === name)?.bytes, right: b.files.find((file) => file.name === name)?.bytes }))
    .filter((row) => !only || row.left !== row.right);
  if (rows.length === 0) return null;
  return (
    <ul className="k-panel k-rows">
      {rows.map((row) => (
        <li key={row.name} className="cp-file">
          <Glyph name={row.left === row.right ? "success" : "notice"} label="" />
          <span className="k-med k-break">
            <Reveal text={row.name} limit={200} />
          </span>
          <span className="k-sm k-num k-mid">{row.left === undefined ? "–" : format.bytes(row.left)}</span>
          <span className="k-sm k-num k-mid">{row.right === undefined ? "–" : format.bytes(row.right)}</span>
          <span className="k-sub">
            {row.left === undefined
              ? t("compare.onlyInB")
              : row.right === undefined
                ? t("compare.onlyInA")
                : row.left === row.right
                  ? t("compare.sameSize")
                  : t("compare.otherSize")}
          </span>
        </li>
      ))}
    </ul>
  );
}
