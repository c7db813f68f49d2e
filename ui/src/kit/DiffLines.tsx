// A change as lines with numbers; signs and words carry it, not colour alone.
import { useMemo, useState } from "react";
import type { DiffLine } from "../api/contract";
import { useI18n } from "../i18n";
import { foldLines, markLines, type DiffRow, type MarkedLine } from "./diff";
import { revealText } from "./text";
import "./states.css";

function Line({ row }: { row: MarkedLine }) {
  const { t } = useI18n();
  const { line, mark } = row;
  const said = line.sign === "+" ? t("kit.added") : line.sign === "-" ? t("kit.removed") : "";
  return (
    <div className="k-diff-line" data-sign={line.sign}>
      <span className="k-diff-number" aria-hidden="true">
        {line.newLine ?? line.oldLine ?? ""}
      </span>
      <span className="k-diff-sign" aria-hidden="true">
        {line.sign}
      </span>
      {said && <span className="k-visually-hidden">{said} </span>}
      <span>
        {mark ? (
          <>
            {revealText(line.text.slice(0, mark[0]))}
            <mark>{revealText(line.text.slice(...mark))}</mark>
            {revealText(line.text.slice(mark[1]))}
          </>
        ) : (
          revealText(line.text)
        )}
      </span>
    </div>
  );
}

function Fold({ row, label }: { row: Extract<DiffRow, { kind: "fold" }>; label: string }) {
  const [open, setOpen] = useState(false);
  if (open) return row.lines.map((line, index) => <Line key={index} row={{ line }} />);
  return (
    <button type="button" className="k-diff-fold" onClick={() => setOpen(true)}>
      {label}
    </button>
  );
}

export function DiffLines({ lines, label, context = 3 }: { lines: readonly DiffLine[]; label: string; context?: number }) {
  const { t } = useI18n();
  const rows = useMemo(() => foldLines(markLines(lines), context), [lines, context]);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to be reachable by keyboard
    <div className="k-diff" role="region" aria-label={label} tabIndex={0}>
      <div className="k-diff-lines">
        {rows.map((row, index) =>
          row.kind === "line" ? (
            <Line key={index} row={row.row} />
          ) : (
            <Fold key={index} row={row} label={t("kit.unchanged", { count: row.lines.length })} />
          ),
        )}
      </div>
    </div>
  );
}
