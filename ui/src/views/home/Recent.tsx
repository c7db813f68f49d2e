// The last runs that ended.
import { ArrowRight, History } from "lucide-react";
import type { RunRow } from "../../api/contract";
import { useNow } from "../../app/clock";
import { FromTile } from "../../app/FromTile";
import { Link, navigate, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Glyph } from "../../kit/Glyph";
import { Lifeline } from "../../kit/Lifeline";
import { Reveal } from "../../kit/Reveal";
import { Empty } from "../../kit/States";

function Row({ run, now }: { run: RunRow; now: number }) {
  const { format } = useI18n();
  const at = run.finishedAt ?? run.createdAt;
  return (
    <Link to={runAddress(run.runId)} className="home-row home-row-recent" data-roving data-hover>
      <Glyph name={run.status} />
      <span className="home-name">
        <Reveal text={run.entrypointTitle} limit={200} />
      </span>
      <span className="home-project">
        <Reveal text={run.projectTitle} limit={200} />
      </span>
      <span className="k-mono k-dim home-id">{run.runId}</span>
      <FromTile run={run} className="home-from" />
      <span className="home-life">
        <Lifeline stages={run.stages} status={run.status} now={at} />
      </span>
      <span className="home-took k-num">{run.durationMs === undefined ? "" : format.duration(run.durationMs)}</span>
      <span className="home-ago k-num" title={format.absolute(at)}>
        {format.relative(at, now)}
      </span>
    </Link>
  );
}

export function Recent({ recent }: { recent: RunRow[] }) {
  const { t } = useI18n();
  const now = useNow();
  return (
    <section aria-labelledby="home-recent">
      <div className="k-section-head">
        <h2 className="k-h2" id="home-recent">
          {t("home.recent")}
        </h2>
        <span className="k-grow" />
        {recent.length > 0 && (
          <Button look="quiet" size="small" iconAfter={ArrowRight} onClick={() => navigate("/runs")}>
            {t("home.allRuns")}
          </Button>
        )}
      </div>
      {recent.length === 0 ? (
        <Empty icon={History} title={t("home.noRecent")} text={t("home.noRecentText")} />
      ) : (
        <div className="k-panel k-rows">
          {recent.map((run) => (
            <Row key={run.runId} run={run} now={now} />
          ))}
        </div>
      )}
    </section>
  );
}
