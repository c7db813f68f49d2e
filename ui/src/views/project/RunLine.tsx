// One run as a row of the project's lists.
import { memo } from "react";
import type { RunRow } from "../../api/contract";
import { fromOf } from "../../app/clients";
import { useNow } from "../../app/clock";
import { Link, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Glyph, hasEnded, Lifeline, revealText, Tile } from "../../kit";

export const RunLine = memo(function RunLine({ run, when }: { run: RunRow; when?: boolean }) {
  const { t, format } = useI18n();
  const ended = hasEnded(run.status);
  const now = useNow(ended ? 60_000 : 1000);
  const from = fromOf(run, t);
  const took = ended ? run.durationMs : now - (run.startedAt ?? run.createdAt);
  return (
    <Link to={runAddress(run.runId)} className="k-row pj-run">
      <Glyph name={run.status} />
      <span className="k-med k-trunc pj-run-name" title={revealText(run.entrypointTitle)}>
        {revealText(run.entrypointTitle)}
      </span>
      <span className="k-mono k-dim pj-run-id">{run.runId}</span>
      <span className="k-r k-sm k-mid pj-run-from">
        <Tile letters={from.letters} />
        <span className="k-trunc pj-run-client">{revealText(from.name)}</span>
      </span>
      <span className="pj-run-life">
        <Lifeline stages={run.stages} status={run.status} now={now} />
      </span>
      <span className="k-num k-sm k-mid pj-run-took">{took === undefined ? "–" : ended ? format.duration(took) : format.clock(took)}</span>
      {when && (
        <span className="k-num k-sm k-dim pj-run-when" title={format.absolute(run.createdAt)}>
          {format.relative(run.createdAt, now)}
        </span>
      )}
    </Link>
  );
});
