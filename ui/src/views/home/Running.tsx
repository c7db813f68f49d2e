// What runs now, with its phase and how far it is.
import { ArrowRight } from "lucide-react";
import type { RunRow } from "../../api/contract";
import { useAct } from "../../api/queries";
import { useNow } from "../../app/clock";
import { FromTile } from "../../app/FromTile";
import { address, Link, navigate, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Glyph } from "../../kit/Glyph";
import { Confirm } from "../../kit/Popover";
import { Reveal } from "../../kit/Reveal";
import { revealText } from "../../kit/text";
import { toast, toastError } from "../../kit/toast";

function Progress({ run }: { run: RunRow }) {
  const { t } = useI18n();
  const { progress } = run;
  if (run.status === "queued") return <span className="home-progress" />;
  if (!progress?.total) return <span className="home-progress home-progress-unknown" role="progressbar" aria-label={t("home.unknownProgress")} />;
  const share = Math.min(1, progress.done / progress.total);
  return (
    <span
      className="home-progress"
      role="progressbar"
      aria-valuenow={progress.done}
      aria-valuemin={0}
      aria-valuemax={progress.total}
      aria-label={t("home.ofTotal", { done: progress.done, total: progress.total })}
    >
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}

function Row({ run }: { run: RunRow }) {
  const { t, format } = useI18n();
  const now = useNow(1000);
  const cancel = useAct("cancel_run");
  const name = revealText(run.entrypointTitle).slice(0, 120);
  const { progress } = run;
  return (
    <div className="home-row home-row-running" data-hover>
      <Glyph name={run.status} />
      <Link to={runAddress(run.runId)} className="home-name" data-roving>
        <Reveal text={run.entrypointTitle} limit={200} />
      </Link>
      <span className="home-project">
        <Reveal text={run.projectTitle} limit={200} />
      </span>
      <span className="k-sub home-facts home-phase">
        {run.status === "queued" && <span>{t("common.queued")}</span>}
        {run.phase && (
          <span>
            <span className="home-phase-word">{t("home.phase", { name: "" })}</span>
            <Reveal text={run.phase} limit={120} />
          </span>
        )}
        {run.step && (
          <span>
            <Reveal text={run.step} limit={120} />
          </span>
        )}
        {progress && (
          <span className="k-num">
            {progress.total ? t("home.ofTotal", { done: progress.done, total: progress.total }) : t("home.done", { done: progress.done })}
          </span>
        )}
      </span>
      <FromTile run={run} className="home-from" />
      <Progress run={run} />
      <span className="home-took k-num">{format.clock(now - (run.startedAt ?? run.createdAt))}</span>
      <span className="home-cancel">
        <Confirm
          trigger={
            <Button look="quiet" size="small">
              {t("common.cancel")}
            </Button>
          }
          title={t("home.cancelTitle", { name })}
          text={t("home.cancelText")}
          confirm={t("common.cancelRun")}
          keep={t("common.keepRunning")}
          onConfirm={() =>
            cancel.mutate(
              { run: run.runId },
              {
                onSuccess: () => toast(t("home.cancelled", { name })),
                onError: (error) => toastError(error, t),
              },
            )
          }
        />
      </span>
    </div>
  );
}

export function Running({ running, count }: { running: RunRow[]; count: number }) {
  const { t, format } = useI18n();
  if (running.length === 0) return null;
  return (
    <section aria-labelledby="home-running">
      <div className="k-section-head">
        <h2 className="k-h2" id="home-running">
          {t("home.running")}
        </h2>
        <span className="k-sub k-num">{format.number(Math.max(count, running.length))}</span>
        <span className="k-grow" />
        {count > running.length && (
          <Button look="quiet" size="small" iconAfter={ArrowRight} onClick={() => navigate(address(["runs"], { status: "running" }))}>
            {t("home.allRunning")}
          </Button>
        )}
      </div>
      <div className="k-panel k-rows">
        {running.map((run) => (
          <Row key={run.runId} run={run} />
        ))}
      </div>
    </section>
  );
}
