// Above the columns: search, filters, the hidden columns, who holds what.
import type { ReactNode } from "react";
import { Check, ChevronDown, Eye, EyeOff } from "lucide-react";
import type { BoardView } from "../../api/contract";
import { setParams } from "../../app/router";
import { useI18n } from "../../i18n";
import { Glyph, Icon, Menu, revealText, SearchField, SelectField, Tag } from "../../kit";
import type { BoardColumn, BoardFilter } from "./model";
import { priorityWord, statusWord, typeWord } from "./words";

interface FilterChipProps {
  name: "area" | "type" | "priority";
  label: string;
  value: string | undefined;
  options: readonly string[];
  word: (id: string) => string;
}

function FilterChip({ name, label, value, options, word }: FilterChipProps) {
  const { t } = useI18n();
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={value ? "k-chip k-chip-on bd-filter" : "k-chip bd-filter"}>
          <span className="k-trunc">{value ? word(value) : label}</span>
          <Icon of={ChevronDown} size={12} className="k-chip-icon" />
        </button>
      }
      items={[
        { heading: label },
        { label: t("board.any"), ...(value ? {} : { icon: Check }), onSelect: () => setParams({ [name]: null }) },
        "line",
        ...options.map((option) => ({
          label: word(option),
          ...(option === value ? { icon: Check } : {}),
          onSelect: () => setParams({ [name]: option }),
        })),
      ]}
    />
  );
}

const STATES = ["live", "held", "stale", "orphaned"] as const;

/** How many claims of each state there are, and how many pairs of claims touch the same paths. */
export function Legend({ view, overlaps }: { view: BoardView; overlaps: number }) {
  const { t, format } = useI18n();
  const counts = STATES.map((state) => [state, view.cards.filter((card) => card.claim?.state === state).length] as const).filter(
    ([, count]) => count > 0,
  );
  if (counts.length === 0 && overlaps === 0) return null;
  return (
    <span className="bd-legend">
      {counts.map(([state, n]) => (
        <span key={state} className="bd-legend-item k-num">
          <Glyph name={`claim_${state}`} size={16} label="" />
          <span className="bd-legend-long">{t(`board.${state}`, { n })}</span>
          <span className="bd-legend-short" title={t(`board.${state}`, { n })}>
            {format.number(n)}
          </span>
        </span>
      ))}
      {overlaps > 0 && (
        <span className="bd-legend-item k-wait k-med k-num">
          <Glyph name="notice" size={14} label="" />
          <span className="bd-legend-long">{t("board.overlapCount", { count: overlaps })}</span>
          <span className="bd-legend-short" title={t("board.overlapCount", { count: overlaps })}>
            {format.number(overlaps)}
          </span>
        </span>
      )}
    </span>
  );
}

export interface ToolbarProps {
  view: BoardView;
  filter: BoardFilter;
  onText: (text: string) => void;
  withHidden: boolean;
  onHidden: (shown: boolean) => void;
  /** At the right end: who holds what. */
  legend?: ReactNode;
  /** Narrow windows show one column, chosen here. */
  picker?: { columns: BoardColumn[]; only: string; onPick: (status: string) => void };
  /** What went wrong with the search through the texts. */
  fault?: string;
}

export function Toolbar({ view, filter, onText, withHidden, onHidden, legend, picker, fault }: ToolbarProps) {
  const { t, format } = useI18n();
  const hidden = view.statuses.filter((status) => status.hidden).length;
  return (
    <div className="bd-toolbar">
      <span className="bd-search">
        <SearchField value={filter.text} onChange={onText} label={t("board.search")} />
      </span>
      {view.areas.length > 1 && (
        <FilterChip name="area" label={t("board.area")} value={filter.area} options={view.areas} word={(id) => revealText(id).slice(0, 80)} />
      )}
      <FilterChip name="type" label={t("board.type")} value={filter.type} options={view.types} word={(id) => typeWord(id, t)} />
      <FilterChip name="priority" label={t("board.priority")} value={filter.priority} options={view.priorities} word={(id) => priorityWord(id, t)} />
      {hidden > 0 && (
        <button type="button" className="k-chip k-chip-dash bd-filter" aria-pressed={withHidden} onClick={() => onHidden(!withHidden)}>
          <Icon of={withHidden ? EyeOff : Eye} size={13} className="k-chip-icon" />
          {withHidden ? t("board.hideColumns", { count: hidden }) : t("board.columnsHidden", { count: hidden })}
        </button>
      )}
      {view.readOnly && <Tag title={t("board.readOnlyWhy")}>{t("board.readOnly")}</Tag>}
      {fault && <span className="k-fail k-sm k-break">{revealText(fault)}</span>}
      <span className="k-grow" />
      <span className="bd-toolbar-legend">{legend}</span>
      {picker && (
        <span className="bd-picker">
          <SelectField
            small
            label={t("board.column")}
            value={picker.only}
            options={picker.columns.map(({ status, cards }) => ({
              value: status.id,
              label: t("board.columnOf", { column: statusWord(status.id, t), n: format.number(cards.length) }),
            }))}
            onChange={(status) => status && picker.onPick(status)}
          />
        </span>
      )}
    </div>
  );
}
