// Rows of a run's output as a table: sortable, copied as CSV. Cells are text nodes.
import { useMemo, useState, type ReactNode } from "react";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useI18n } from "../i18n";
import { Button } from "./Button";
import { CopyButton } from "./Copy";
import { Icon } from "./Icon";
import { Reveal } from "./Reveal";
import { cellText, COLUMN_LIMIT, columnsOf, sortRows, toCsv, type Column, type Sorting } from "./table";
import "./states.css";

/** Rows drawn at first and added by "show more". */
const STEP = 200;

export interface DataTableProps {
  rows: readonly Record<string, unknown>[];
  /** Named and ordered; without it the union of the rows' keys. */
  columns?: readonly Column[];
  label: string;
  /** Draws a cell otherwise than as text. */
  cell?: (column: Column, row: Record<string, unknown>) => ReactNode | undefined;
  /** Puts the copy button into the view's own toolbar instead of above the table. */
  bare?: boolean;
}

export function DataTable({ rows, columns: given, label, cell, bare }: DataTableProps) {
  const { t, format, language } = useI18n();
  const all = useMemo(() => given ?? columnsOf(rows), [given, rows]);
  const [sorting, setSorting] = useState<Sorting>();
  const [wide, setWide] = useState(false);
  const [shown, setShown] = useState(STEP);
  const columns = wide || given ? all : all.slice(0, COLUMN_LIMIT);
  const sorted = useMemo(() => sortRows(rows, sorting, language), [rows, sorting, language]);

  const turn = (key: string) =>
    setSorting((before) => (before?.key !== key ? { key, down: false } : before.down ? undefined : { key, down: true }));

  return (
    <div className="k-col">
      {!bare && (
        <div className="k-section-head">
          <span className="k-sub k-num">{t("kit.rows", { count: rows.length })}</span>
          {columns.length < all.length && (
            <Button look="quiet" size="small" onClick={() => setWide(true)}>
              {t("kit.moreColumns", { count: all.length - columns.length })}
            </Button>
          )}
          <span className="k-grow" />
          <CopyButton label={t("kit.copyCsv")} text={() => toCsv(all, sorted)} />
        </div>
      )}
      <div className="k-panel k-clip">
        {/* A region that scrolls has to be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div className="k-table-wrap" tabIndex={0} role="region" aria-label={label}>
          <table className="k-table" aria-rowcount={rows.length + 1}>
            <thead>
              <tr>
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
              {sorted.slice(0, shown).map((row, index) => (
                <tr key={index}>
                  {columns.map((column) => {
                    const value = row[column.key];
                    return (
                      <td key={column.key} data-number={column.number || undefined}>
                        {cell?.(column, row) ??
                          (typeof value === "number" ? (
                            format.number(value)
                          ) : (
                            <span className="k-table-cell">
                              <Reveal text={cellText(value)} limit={400} />
                            </span>
                          ))}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {shown < sorted.length && (
          <div className="k-table-more">
            <Button look="quiet" size="small" onClick={() => setShown((count) => count + STEP)}>
              {t("kit.showMore", { n: Math.min(STEP, sorted.length - shown), all: sorted.length })}
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}
