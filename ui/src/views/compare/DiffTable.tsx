// Rows of two sides: beside each other, or one below the other; what is alike folds away.
import { memo, useMemo, useState } from "react";
import { FoldVertical } from "lucide-react";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { cutText, revealText } from "../../kit/text";
import { type Cell, foldAlike, type RowKind } from "./json";
import { diffWords, type Piece } from "./words";

export interface DiffCell {
  line: number;
  text: string;
  depth?: number;
  key?: string;
  type?: Cell["type"];
}
export interface DiffRow {
  kind: RowKind;
  left?: DiffCell;
  right?: DiffCell;
}

interface DiffTableProps {
  rows: readonly DiffRow[];
  heads: [string, string];
  /** Everything, or only what differs with its neighbours. */
  onlyDifferences: boolean;
  oneColumn: boolean;
  label: string;
  /** Rows of context around a difference. */
  around?: number;
  /** Compares cells in this form; what is shown stays. */
  mask?: (text: string) => string;
}

/** Rows drawn at first, and added by "show more". */
const STEP = 400;

export function DiffTable({ rows, heads, onlyDifferences, oneColumn, label, around = 1, mask }: DiffTableProps) {
  const { t } = useI18n();
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [most, setMost] = useState(STEP);
  const { parts, left } = useMemo(() => divide(rows, onlyDifferences, around, opened, most), [rows, onlyDifferences, around, opened, most]);
  return (
    <div className="k-panel cp-diff" role="table" aria-label={label} data-one={oneColumn || undefined}>
      <div className="cp-diff-head" role="row">
        <span role="columnheader">{heads[0]}</span>
        <span role="columnheader">{heads[1]}</span>
      </div>
      {parts.map((part) =>
        "alike" in part ? (
          <div key={part.key} role="row">
            <div role="cell" className="cp-fold-cell">
              <button type="button" className="cp-fold" onClick={() => setOpened((old) => new Set(old).add(part.key))}>
                <Icon of={FoldVertical} size={12} />
                {t("compare.alike", { count: part.alike })}
              </button>
            </div>
          </div>
        ) : (
          part.rows.map((row, at) => <RowView key={`${part.key}.${at}`} row={row} oneColumn={oneColumn} mask={mask} />)
        ),
      )}
      {left > 0 && (
        <div className="cp-more">
          <Button look="quiet" size="small" onClick={() => setMost(most + STEP * 4)}>
            {t("kit.showMore", { n: Math.min(left, STEP * 4), all: rows.length })}
          </Button>
        </div>
      )}
    </div>
  );
}

type Part = { key: number; alike: number } | { key: number; rows: readonly DiffRow[] };

/** Rows in parts: folded ones that nobody opened are a number, and no more than `most` rows are drawn. */
function divide(
  rows: readonly DiffRow[],
  onlyDifferences: boolean,
  around: number,
  opened: ReadonlySet<number>,
  most: number,
): { parts: Part[]; left: number } {
  const parts: Part[] = [];
  let [drawn, left] = [0, 0];
  (onlyDifferences ? foldAlike(rows, around) : [{ rows: [...rows] }]).forEach((part, key) => {
    if ("fold" in part && !opened.has(key)) {
      if (drawn < most) parts.push({ key, alike: part.fold.length });
      return;
    }
    const own = "fold" in part ? part.fold : part.rows;
    const shown = own.slice(0, Math.max(0, most - drawn));
    drawn += shown.length;
    left += own.length - shown.length;
    if (shown.length > 0) parts.push({ key, rows: shown });
  });
  return { parts, left };
}

const RowView = memo(function RowView({ row, oneColumn, mask }: { row: DiffRow; oneColumn: boolean; mask?: (text: string) => string }) {
  const words = row.kind === "changed" && row.left && row.right ? diffWords(row.left.text, row.right.text) : undefined;
  const same = mask && words && row.left && row.right && mask(row.left.text) === mask(row.right.text);
  const cells = {
    left: <CellView cell={row.left} kind={row.kind} side="left" pieces={same ? undefined : words?.left} />,
    right: <CellView cell={row.right} kind={row.kind} side="right" pieces={same ? undefined : words?.right} />,
  };
  if (!oneColumn)
    return (
      <div className="cp-row" role="row">
        {cells.left}
        {cells.right}
      </div>
    );
  if (row.kind === "same")
    return (
      <div className="cp-row" role="row">
        {row.left ? cells.left : cells.right}
      </div>
    );
  return (
    <>
      {row.left && (
        <div className="cp-row" role="row">
          {cells.left}
        </div>
      )}
      {row.right && (
        <div className="cp-row" role="row">
          {cells.right}
        </div>
      )}
    </>
  );
});

const TYPES: Partial<Record<NonNullable<Cell["type"]>, string>> = {
  string: "k-json-str",
  number: "k-json-num",
  literal: "k-json-lit",
  open: "k-json-punct",
  close: "k-json-punct",
};

function CellView({ cell, kind, side, pieces }: { cell: DiffCell | undefined; kind: RowKind; side: "left" | "right"; pieces: Piece[] | undefined }) {
  const { t } = useI18n();
  if (!cell)
    return (
      <div role="cell" className="cp-cell cp-nil">
        <span className="cp-line" />
      </div>
    );
  const mark = kind === "same" ? undefined : side === "left" ? "del" : "add";
  const shown = (text: string) => revealText(cutText(text).text);
  return (
    <div role="cell" className="cp-cell" data-mark={mark}>
      <span className="cp-line" aria-hidden="true">
        {cell.line > 0 ? cell.line : ""}
      </span>
      <span className="cp-sign" aria-hidden="true">
        {mark === "del" ? "−" : mark === "add" ? "+" : ""}
      </span>
      {mark && <span className="k-visually-hidden">{t(mark === "del" ? "compare.onlyA" : "compare.onlyB")}</span>}
      <span className="cp-code" dir="ltr" style={cell.depth ? { paddingLeft: `${Math.min(cell.depth, 24)}ch` } : undefined}>
        {cell.key !== undefined && (
          <>
            <span className="k-json-key">{shown(cell.key)}</span>
            <span className="k-json-punct">: </span>
          </>
        )}
        <span className={TYPES[cell.type ?? "text"]}>
          {pieces
            ? pieces.map((piece, index) =>
                piece.changed ? (
                  <mark key={index} className={side === "left" ? "cp-del" : "cp-add"}>
                    {shown(piece.text)}
                  </mark>
                ) : (
                  shown(piece.text)
                ),
              )
            : shown(cell.text)}
        </span>
      </span>
    </div>
  );
}
