// Starts exactly the shown command in the bare environment a client gives, and says stage by stage how far it came.
import { useMutation, useQueryClient, useQuery } from "@tanstack/react-query";
import { Zap } from "lucide-react";
import type { ApiError, DockTest, EntrypointRow, TestStage } from "../../api/contract";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { announce, Button, CopyButton, errorKey, Glyph, Reveal, revealText, Said } from "../../kit";
import { paramWords } from "./words";

const STAGES: readonly TestStage["name"][] = ["start", "initialize", "tools"];

export interface TestState {
  result?: DockTest;
  error?: ApiError;
  running: boolean;
  run: () => void;
}

interface Kept {
  result?: DockTest;
  error?: ApiError;
}

/** The last test of a server; it stays while other tabs are looked at. */
export function useTest(server: string): TestState {
  const { t } = useI18n();
  const queries = useQueryClient();
  const key = ["dock-test-result", server];
  const kept = useQuery<Kept>({ queryKey: key, queryFn: () => ({}), enabled: false, initialData: {} }).data;
  const host = useHost();
  const act = useMutation<DockTest, ApiError>({
    mutationFn: async () => {
      try {
        const { test } = await host.call("dock_test", { server });
        for (let seen = 0; ;) {
          const { over, soFar } = await host.call("dock_tested", { test, seen });
          if (over) return soFar;
          // A stage is shown when it was reached.
          seen = soFar.stages.length;
          queries.setQueryData<Kept>(key, { result: soFar });
        }
      } catch (thrown) {
        throw toApiError(thrown);
      }
    },
  });
  const run = () => {
    if (act.isPending) return;
    queries.setQueryData<Kept>(key, {});
    act.mutate(undefined, {
      onSuccess: (result) => {
        queries.setQueryData<Kept>(key, { result });
        announce(result.ok ? t("dock.works") : t("dock.doesNotWork"));
      },
      onError: (error) => queries.setQueryData<Kept>(key, { error }),
    });
  };
  return { ...kept, running: act.isPending, run };
}

interface TestPanelProps {
  test: TestState;
  /** The tools are made of these; they know what has to be given. */
  entrypoints: readonly EntrypointRow[];
}

export function TestPanel({ test, entrypoints }: TestPanelProps) {
  const { t, format } = useI18n();
  const { result, error, running, run } = test;
  const tried = (result !== undefined || error !== undefined) && !running;
  const failedAt = result?.stages.find((stage) => !stage.ok);
  const bad = tried && (error !== undefined || result?.ok === false);
  return (
    <section className="k-panel dk-test" data-bad={bad || undefined} aria-labelledby="dk-test" aria-busy={running}>
      <div className="dk-test-head">
        <h3 className="k-h3" id="dk-test">
          {t("dock.test")}
        </h3>
        {tried && !bad && (
          <span className="k-r k-ok k-med k-sm dk-verdict">
            <Glyph name="success" size={14} label="" />
            {t("dock.works")}
          </span>
        )}
        {bad && (
          <span className="k-r k-fail k-med k-sm dk-verdict">
            <Glyph name="failed" size={14} label="" />
            {failedAt?.name === "start" || error ? t("dock.doesNotStart") : t("dock.doesNotAnswer")}
          </span>
        )}
        <span className="k-grow" />
        <Button size="small" icon={Zap} onClick={run} disabled={running}>
          {running ? t("dock.testing") : tried ? t("dock.testAgain") : t("dock.testNow")}
        </Button>
      </div>
      {!tried && !running && <p className="dk-test-note k-sub">{t("dock.testHint")}</p>}
      {(tried || running) && !error && (
        <ul className="dk-stages">
          {STAGES.map((name, index) => {
            const stage = result?.stages.find((one) => one.name === name);
            const isNow = running && index === (result?.stages.length ?? 0);
            const glyph = stage ? (stage.ok ? "success" : "failed") : isNow ? "running" : "todo";
            return (
              <li key={name} className="dk-stage">
                <Glyph name={glyph} label={stage ? undefined : ""} />
                <span className="k-col">
                  <span className={stage || isNow ? undefined : "k-mid"}>{t(`dock.stage_${name}`)}</span>
                  {stage?.detail && !stage.ok && <Said className="k-sub k-break" text={stage.detail} limit={400} />}
                </span>
                <span className="k-num k-sm k-mid" title={stage?.ok ? stage.detail && revealText(stage.detail) : undefined}>
                  {stage?.ms === undefined ? "–" : format.duration(stage.ms)}
                </span>
              </li>
            );
          })}
        </ul>
      )}
      {tried && result?.ok && (
        <ul className="dk-tools">
          {result.tools.map((tool) => (
            <li key={tool.name} className="dk-tool">
              <span className="k-r k-wrap dk-tool-name">
                <span className="k-mono k-semi k-break">{revealText(tool.name)}</span>
                {tool.title && <span className="k-mid k-break">{revealText(tool.title)}</span>}
              </span>
              {tool.params.length > 0 && <span className="k-mono k-dim k-break dk-params">{paramWords(tool, entrypoints)}</span>}
            </li>
          ))}
          {result.tools.length === 0 && <li className="dk-tool k-sub">{t("dock.noTools")}</li>}
        </ul>
      )}
      {bad && (
        <div className="dk-why" role="alert">
          {error && <span className="k-fail k-med">{t(errorKey(error.code))}</span>}
          {error && <Said className="k-break" text={error.message} limit={600} />}
          {result?.stderr && <Reveal className="k-mono k-break dk-stderr" text={result.stderr.trim()} limit={1500} />}
          {(result?.hint ?? error?.hint) && <Said className="k-mid k-break" text={(result?.hint ?? error?.hint)!} limit={600} />}
        </div>
      )}
      {tried && (
        <div className="dk-test-foot">
          <span className="k-sub k-grow">
            {error ? <code>{error.code}</code> : bad ? t("dock.stoppedAfter", { took: format.duration(result?.totalMs ?? 0) }) : t("dock.bare")}
          </span>
          {bad && <CopyButton label={t("common.copyDetails")} text={() => JSON.stringify(result ?? error, null, 2)} />}
        </div>
      )}
    </section>
  );
}
