// The first ten minutes: add a folder or try the sample, then connect a client. Steps wake as those before them are done.
import { useState, type ReactNode } from "react";
import { ArrowRight, FolderOpen, Play } from "lucide-react";
import type { ApiError, Home, RunRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { useNow } from "../../app/clock";
import { useAddProject } from "../../app/DropOverlay";
import { openRunForm } from "../../app/overlays";
import { questionTitle } from "../../app/questions";
import { Link, navigate, projectAddress, runAddress } from "../../app/router";
import { useSettings } from "../../app/settings";
import { useTitle } from "../../app/title";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, CopyIconButton, cx, ErrorState, Glyph, hasEnded, Icon, Lifeline, readDraft, revealText, Segmented, Tile, toDraft } from "../../kit";
import { Mark } from "./Mark";
import "./first.css";

interface StepProps {
  number: number;
  title: string;
  text: string;
  state: "now" | "later" | "done";
  children?: ReactNode;
}

function Step({ number, title, text, state, children }: StepProps) {
  const { t } = useI18n();
  return (
    <li className="fs-step" aria-current={state === "now" ? "step" : undefined}>
      <span className={cx("fs-number", state === "now" && "fs-number-now")}>
        {state === "done" ? <Glyph name="success" size={24} label={t("first.done")} /> : number}
      </span>
      <div className="k-col k-grow fs-step-body">
        <h2 className="k-h2">{title}</h2>
        <p className="k-mid">{text}</p>
        {children}
      </div>
    </li>
  );
}

/** Makes the sample and starts the first entrypoint that needs nothing said; the run opens, and its question arrives there. */
function useSample() {
  const host = useHost();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const make = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { project } = await host.call("project_add_sample", {});
      const overview = await host.call("project_overview", { project });
      const ready = overview.entrypoints
        .filter((row) => row.runnable)
        .map((row) => ({ entrypoint: row.id, ...readDraft(row.params, toDraft(row.params, undefined)) }));
      const first = ready.find(({ faults }) => Object.keys(faults).length === 0);
      if (first) {
        const { run } = await host.call("start_run", { project, entrypoint: first.entrypoint, input: first.input });
        navigate(runAddress(run));
      } else if (ready[0]) {
        // A sample of before, or one that was changed: what it has to be told is asked in the same form as ever after.
        navigate(projectAddress(project));
        openRunForm({ project, entrypoint: ready[0].entrypoint });
      }
    } catch (thrown) {
      setError(toApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, make };
}

function RunLine({ run }: { run: RunRow }) {
  const { format } = useI18n();
  const ended = hasEnded(run.status);
  const now = useNow(ended ? 60_000 : 1000);
  return (
    <Link to={runAddress(run.runId)} className="k-row">
      <Glyph name={run.status} />
      <span className="k-med k-trunc k-grow">{revealText(run.entrypointTitle)}</span>
      <span className="fs-life">
        <Lifeline stages={run.stages} status={run.status} now={now} />
      </span>
      <span className="k-num k-sm k-mid fs-took">
        {ended ? format.duration(run.durationMs ?? 0) : format.clock(now - (run.startedAt ?? run.createdAt))}
      </span>
    </Link>
  );
}

/** What happens in the window, once something does. */
function Happening({ home }: { home: Home }) {
  const { t } = useI18n();
  const waiting = home.waiting.slice(0, 3);
  const runs = [...home.running, ...home.recent].filter((run) => !waiting.some((one) => one.run.runId === run.runId)).slice(0, 4);
  return (
    <div className="fs-preview">
      {waiting.map(({ run, question }) => (
        <div key={run.runId} className="fs-question">
          <Glyph name="waiting_for_input" />
          <span className="k-col k-grow">
            <span className="k-med k-break">{revealText(questionTitle(question, t))}</span>
            <span className="k-sub k-break">{revealText(run.entrypointTitle)}</span>
          </span>
          <Link to={runAddress(run.runId, "question")} className="k-btn k-btn-small">
            <span>{question.kind === "approval" ? t("common.review") : t("common.answer")}</span>
          </Link>
        </div>
      ))}
      {runs.map((run) => (
        <RunLine key={run.runId} run={run} />
      ))}
    </div>
  );
}

const MINUTE = 60_000;

/** A picture of what the window shows later; nothing in it can be pressed. */
function Preview() {
  const { t, format } = useI18n();
  const line = (key: string, title: string, status: RunRow["status"], stages: RunRow["stages"], took: string) => (
    <div key={key} className="k-row">
      <Glyph name={status} />
      <span className="k-med k-trunc k-grow">{title}</span>
      <span className="fs-life">
        <Lifeline stages={stages} status={status} now={14_000} />
      </span>
      <span className="k-num k-sm k-mid fs-took">{took}</span>
    </div>
  );
  return (
    <div className="fs-preview" role="img" aria-label={t("first.previewSaid")}>
      <div aria-hidden="true">
        <div className="fs-question">
          <Glyph name="waiting_for_input" />
          <span className="k-col k-grow">
            <span className="k-med">{t("first.previewQuestion")}</span>
            <span className="k-sub">{t("first.previewFrom")}</span>
          </span>
          <span className="k-btn k-btn-small">{t("common.answer")}</span>
        </div>
        {line("a", t("first.previewWrite"), "running", [{ status: "running", at: 0 }], format.clock(14_000))}
        {line(
          "b",
          t("first.previewWrite"),
          "success",
          [
            { status: "running", at: 0, until: 30_000 },
            { status: "waiting_for_input", at: 30_000, until: 72_000 },
            { status: "running", at: 72_000, until: 92_000 },
          ],
          format.duration(1.5 * MINUTE + 2000),
        )}
        {line("c", t("first.previewConvert"), "success", [{ status: "running", at: 0, until: 2200 }], format.duration(2200))}
      </div>
    </div>
  );
}

function Command({ text }: { text: string }) {
  const { t } = useI18n();
  return (
    <div className="fs-command" dir="ltr">
      <span className="k-dim" aria-hidden="true">
        $
      </span>
      <span className="k-grow k-break">{text}</span>
      <CopyIconButton label={t("common.copy")} text={text} />
    </div>
  );
}

export default function First() {
  const { t, language } = useI18n();
  const [, update] = useSettings();
  useTitle(t("first.addTitle"));
  const addProject = useAddProject();
  const sample = useSample();
  const place = useData("project_sample", {}).data;
  const projects = useData("projects", {}).data ?? [];
  const home = useData("home", {}).data;
  const newest = [...projects].sort((a, b) => b.addedAt - a.addedAt)[0];
  const overview = useData("project_overview", { project: newest?.key ?? "" }, { enabled: newest !== undefined }).data;
  const has = newest !== undefined;
  const here = (overview?.clients ?? []).filter((client) => client.found);
  const connected = here.some((client) => client.state === "in_step");
  const happens = home !== undefined && home.waiting.length + home.running.length + home.recent.length > 0;

  return (
    <div className="fs app-scroll">
      <div className="fs-main">
        <div className="fs-head">
          <span className="k-r fs-name">
            <Mark />
            <b className="k-semi">{t("common.appName")}</b>
          </span>
          <Segmented
            label={t("settings.language")}
            value={language}
            items={[
              { value: "en" as const, label: <span lang="en">{t("settings.english")}</span> },
              { value: "zh-CN" as const, label: <span lang="zh-CN">{t("settings.chinese")}</span> },
            ]}
            onChange={(next) => update({ language: next })}
          />
        </div>
        <div>
          <h1 className="fs-title">{t("first.title")}</h1>
          <p className="fs-lead k-mid">{t("first.lead")}</p>
        </div>
        <ol className="fs-steps">
          <Step
            number={1}
            state={has ? "done" : "now"}
            title={t("first.addTitle")}
            text={has ? t("first.added", { name: revealText(newest.title) }) : t("first.addText")}
          >
            <div className="fs-drop">
              <Icon of={FolderOpen} size={28} />
              <div className="k-col k-grow">
                <span className="k-med">{t("first.drop")}</span>
                <span className="k-sub">{t("first.dropHint")}</span>
              </div>
              <Button look={has ? "default" : "primary"} size="large" onClick={() => void addProject()}>
                {has ? t("first.chooseAnother") : t("first.choose")}
              </Button>
            </div>
          </Step>
          <Step number={2} state={has ? "done" : "later"} title={t("first.sampleTitle")} text={t("first.sampleText")}>
            <div className="k-r k-wrap fs-gap">
              {place?.project !== undefined && !sample.busy && !sample.error ? (
                <Button size="large" icon={ArrowRight} onClick={() => navigate(projectAddress(place.project ?? ""))}>
                  {t("first.openSample")}
                </Button>
              ) : (
                <Button size="large" icon={Play} aria-busy={sample.busy} disabled={sample.busy} onClick={() => void sample.make()}>
                  {sample.busy ? t("first.making") : t("first.make")}
                </Button>
              )}
              {place && <span className="k-sub k-break">{t("first.sampleWhere", { folder: revealText(place.path) })}</span>}
            </div>
            {sample.error && (
              <div className="fs-gap">
                <ErrorState error={sample.error} title={t("first.sampleFailed")} onRetry={() => void sample.make()} />
              </div>
            )}
          </Step>
          <Step
            number={3}
            state={connected ? "done" : has ? "now" : "later"}
            title={t("first.connectTitle")}
            text={
              here.length > 0
                ? t("first.connectFound", { names: here.map((client) => revealText(client.name)).join(t("first.join")) })
                : t("first.connectText")
            }
          >
            <div className="k-r k-wrap fs-gap">
              {has ? (
                <>
                  {here.slice(0, 6).map((client) => (
                    <Link
                      key={client.id}
                      to={`${projectAddress(newest.key, "dock")}?client=${encodeURIComponent(client.id)}`}
                      className="k-chip fs-client"
                    >
                      <Tile letters={client.tile} />
                      {revealText(client.name)}
                    </Link>
                  ))}
                  <Link to={projectAddress(newest.key, "dock")} className="k-btn k-btn-quiet k-btn-small">
                    <span>{t("first.allClients")}</span>
                    <Icon of={ArrowRight} size={14} />
                  </Link>
                </>
              ) : (
                <span className="k-sub">{t("first.afterStep1")}</span>
              )}
            </div>
          </Step>
        </ol>
        {has && (
          <div>
            <Link to="/" className="k-btn k-btn-primary k-btn-large">
              <span>{t("first.goHome")}</span>
              <Icon of={ArrowRight} size={14} />
            </Link>
          </div>
        )}
      </div>
      <aside className="fs-side">
        <h3 className="k-h3 k-mid">{happens ? t("first.now") : t("first.later")}</h3>
        {happens ? <Happening home={home} /> : <Preview />}
        <h3 className="k-h3 k-mid fs-terminal">{t("first.terminal")}</h3>
        <Command text="workflow-code init my-flows" />
        <Command text="workflow-code projects add my-flows" />
        <span className="k-sub">{t("first.terminalHint")}</span>
      </aside>
    </div>
  );
}
