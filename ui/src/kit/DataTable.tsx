// Rows of a run's output as a table: sortable, copied as CSV. Cells are text nodes.
import { useMemo, useRef, useState, type ReactNode } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useI18n } from "../i18n";
import { Button } from "./Button";
import { CopyButton } from "./Copy";
import { Icon } from "./Icon";
import { Reveal } from "./Reveal";
import { cutText, revealText } from "./text";
import { cellText, COLUMN_LIMIT, columnsOf, sortRows, toCsv, type Column, type Sorting } from "./table";
import "./states.css";

/** Up to this many rows stand in the page; more are drawn as they come into sight, one line each. */
const ALL_AT_ONCE = 100;
/** Height of such a line, in pixels at text size 100 %. */
const LINE = 34;
/** Columns that come with each press: every row in sight has a cell for each. */
const MORE_COLUMNS = 60;
/** Widths are taken from this many rows, so that columns keep still while the table scrolls. */
const SAMPLE = 200;

/** How wide a column is, in characters. */
function widthOf(column: Column, rows: readonly Record<string, unknown>[]): number {
  let most = column.label.length + 2;
  for (const row of rows.slice(0, SAMPLE)) most = Math.max(most, cellText(row[column.key]).length);
  return Math.min(Math.max(most, 6), 40);
}

export interface DataTableProps {
  rows: readonly Record<string, unknown>[];
  /** Named and ordered; without it the union of the rows' keys. */
  columns?: readonly Column[];
  label: string;
  /** Draws a cell otherwise than as text. */
  cell?: (column: Column, row: Record<string, unknown>) => ReactNode | undefined;
  /** Puts the copy button into the view's own toolbar instead of above the table. */
  bare?: boolean;
  /** How many rows there are is said beside it. */
  counted?: boolean;
}

export function DataTable({ rows, columns: given, label, cell, bare, counted }: DataTableProps) {
  const { t, format, language } = useI18n();
  const all = useMemo(() => given ?? columnsOf(rows), [given, rows]);
  const [sorting, setSorting] = useState<Sorting>();
  const [most, setMost] = useState(COLUMN_LIMIT);
  const columns = given ? all : all.slice(0, most);
  const hidden = Math.min(all.length - columns.length, MORE_COLUMNS);
  const sorted = useMemo(() => sortRows(rows, sorting, language), [rows, sorting, language]);
  const scroller = useRef<HTMLDivElement>(null);

  const many = sorted.length > ALL_AT_ONCE;
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const line = (LINE / 16) * rem;
  const virtual = useVirtualizer({
    count: many ? sorted.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => line,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = many ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const shown = many ? items.map((item) => item.index) : sorted.map((_, index) => index);
  const widths = useMemo(() => (many ? columns.map((column) => widthOf(column, rows)) : []), [many, columns, rows]);

  const turn = (key: string) => setSorting((old) => (old?.key !== key ? { key, down: false } : old.down ? undefined : { key, down: true }));

  return (
    <div className="k-col">
      {!bare && (
        <div className="k-section-head">
          {!counted && <span className="k-sub k-num">{t("kit.rows", { count: rows.length })}</span>}
          {hidden > 0 && (
            <Button look="quiet" size="small" onClick={() => setMost(most + MORE_COLUMNS)}>
              {t("kit.moreColumns", { count: hidden })}
            </Button>
          )}
          <span className="k-grow" />
          <CopyButton label={t("kit.copyCsv")} text={() => toCsv(all, sorted)} />
        </div>
      )}
      <div className="k-panel k-clip">
        {/* A region that scrolls has to be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div ref={scroller} className={many ? "k-table-wrap k-table-many" : "k-table-wrap"} tabIndex={0} role="region" aria-label={label}>
          <table className="k-table" aria-rowcount={rows.length + 1}>
            {many && (
              <colgroup>
                {widths.map((width, index) => (
                  <col key={columns[index]!.key} style={{ width: `calc(${width}ch + 1.5rem)` }} />
                ))}
              </colgroup>
            )}
            <thead>
              <tr aria-rowindex={1}>
                {columns.map((column) => {
                  const on = sorting?.key === column.key ? sorting : undefined;
                  return (
                    <th key={column.key} data-number={column.number || undefined} aria-sort={on ? (on.down ? "descending" : "ascending") : "none"}>
                      <button type="button" onClick={() => turn(column.key)}>
                        <Reveal text={column.label} limit={80} />
                        {on && <Icon of={on.down ? ArrowDown : ArrowUp} size={12} />}
                      </button>
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody>
              {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
              {shown.map((index) => (
                <tr key={index} aria-rowindex={index + 2} style={many ? { height: line } : undefined}>
                  {columns.map((column) => {
                    const row = sorted[index]!;
                    const value = row[column.key];
                    const text = cellText(value);
                    return (
                      <td
                        key={column.key}
                        data-number={column.number || undefined}
                        title={many && text.length > 38 ? revealText(cutText(text, 1000).text) : undefined}
                      >
                        {cell?.(column, row) ??
                          (typeof value === "number" ? (
                            format.number(value)
                          ) : many ? (
                            revealText(cutText(text, 200).text)
                          ) : (
                            <span className="k-table-cell">
                              <Reveal text={text} limit={400} />
                            </span>
                          ))}
                      </td>
                    );
                  })}
                </tr>
              ))}
              {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}
