// One run in the list.
import { memo, type MouseEvent } from "react";
import type { RunRow } from "../../api/contract";
import { useNow } from "../../app/clock";
import { Elapsed } from "../../app/Elapsed";
import { FromTile } from "../../app/FromTile";
import { Link, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Checkbox } from "../../kit/Choice";
import { Glyph } from "../../kit/Glyph";
import { Lifeline } from "../../kit/Lifeline";
import { hasEnded } from "../../kit/lifeline";
import { Reveal } from "../../kit/Reveal";
import { revealText } from "../../kit/text";
import { PART_WORDS } from "./words";

export interface RowProps {
  run: RunRow;
  /** Among all runs of the list, from 0. */
  index: number;
  /** In pixels; numbers, so that a row that stays where it is isn't drawn again. */
  top: number;
  height: number;
  searching: boolean;
  selected: boolean;
  /** It is the list's tab stop. */
  stop: boolean;
  fresh: boolean;
  onFocus: (run: string) => void;
  onSelect: (run: string, how: "toggle" | "range") => void;
  onOpen: (run: RunRow) => void;
}

/** The hit stands within the first characters, so that it is seen in a narrow column. */
const LEAD = 24;
const LONGEST = 300;

function Found({ found }: { found: NonNullable<RunRow["found"]> }) {
  const { t } = useI18n();
  const start = Math.max(0, Math.min(found.start, found.text.length));
  const end = Math.min(found.text.length, start + Math.max(0, found.length));
  const cut = start > LEAD ? start - LEAD + 4 : 0;
  return (
    <>
      <span className="k-dim runs-part">{t(PART_WORDS[found.part] ?? "runs.partLog")}</span>
      <span className="k-mono">
        {cut > 0 && "…"}
        <Reveal text={found.text.slice(cut, start)} />
        <mark className="k-hit">
          <Reveal text={found.text.slice(start, end)} limit={LONGEST} />
        </mark>
        <Reveal text={found.text.slice(end, end + LONGEST)} />
      </span>
    </>
  );
}

function Note({ run, searching }: { run: RunRow; searching: boolean }) {
  const { t } = useI18n();
  if (searching && run.found) return <Found found={run.found} />;
  if (run.error) return <Reveal text={run.error.slice(0, LONGEST)} />;
  if (run.status === "waiting_for_input") return <span className="k-wait">{t("runs.waits")}</span>;
  if (run.status === "running" && run.phase) return <>{t("runs.phase", { name: revealText(run.phase).slice(0, 120) })}</>;
  return null;
}

export const Row = memo(function Row({ run, index, top, height, searching, selected, stop, fresh, onFocus, onSelect, onOpen }: RowProps) {
  const { t, format } = useI18n();
  const over = hasEnded(run.status);
  const now = useNow(over ? 60_000 : 10_000);
  const name = revealText(run.entrypointTitle).slice(0, 200);
  const click = (event: MouseEvent) => {
    if (event.defaultPrevented) return;
    if (event.shiftKey) onSelect(run.runId, "range");
    else if (event.ctrlKey || event.metaKey) onSelect(run.runId, "toggle");
    else onOpen(run);
  };
  return (
    <div
      className="runs-grid runs-row"
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      tabIndex={stop ? 0 : -1}
      data-run={run.runId}
      data-fresh={fresh || undefined}
      style={{ transform: `translateY(${top}px)`, height }}
      onFocus={() => onFocus(run.runId)}
      onClick={click}
    >
      <span role="gridcell" className="runs-check" onClick={(event) => event.stopPropagation()}>
        <Checkbox checked={selected} onChange={() => onSelect(run.runId, "toggle")} label={t("runs.select", { name: `${name} ${run.runId}` })} />
      </span>
      <span role="gridcell">
        <Glyph name={run.status} />
      </span>
      <span role="gridcell" className="k-col runs-name">
        <Link
          to={runAddress(run.runId)}
          tabIndex={-1}
          className="k-med k-trunc"
          onClick={(event) => (event.shiftKey || event.ctrlKey || event.metaKey) && event.preventDefault()}
        >
          <Reveal text={run.entrypointTitle} limit={200} />
        </Link>
        <span className="k-sub k-trunc">
          <Reveal text={run.projectTitle} limit={200} />
        </span>
      </span>
      <span role="gridcell" className="runs-c-note runs-note k-trunc">
        <Note run={run} searching={searching} />
      </span>
      <span role="gridcell" className="runs-c-id k-mono k-dim k-trunc">
        {run.runId}
      </span>
      <span role="gridcell" className="runs-c-from">
        <FromTile run={run} />
      </span>
      <span role="gridcell" className="runs-c-life">
        <Lifeline stages={run.stages} status={run.status} now={over ? (run.finishedAt ?? run.createdAt) : now} />
      </span>
      <span role="gridcell" className="runs-right k-num k-sm k-mid">
        {run.durationMs !== undefined ? (
          format.duration(run.durationMs)
        ) : run.status === "running" || run.status === "waiting_for_input" ? (
          <Elapsed from={run.startedAt ?? run.createdAt} />
        ) : (
          ""
        )}
      </span>
      <span role="gridcell" className="runs-right k-num k-sm k-dim" title={format.absolute(run.createdAt)}>
        {format.time(run.createdAt)}
      </span>
    </div>
  );
});
