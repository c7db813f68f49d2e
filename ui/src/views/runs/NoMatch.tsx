// Nothing matches: each condition that would help is offered, with its count.
import { Search } from "lucide-react";
import { useMemo } from "react";
import { useData } from "../../api/queries";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { type Condition, conditionsOf, type Filters, NO_FILTERS, toQuery, without } from "./query";
import { ANY_WORDS } from "./words";

function Drop({
  filters,
  condition,
  now,
  onChange,
}: {
  filters: Filters;
  condition: Condition | "text";
  now: number;
  onChange: (filters: Filters) => void;
}) {
  const { t, format } = useI18n();
  const query = useMemo(() => toQuery(filters, now, condition), [filters, now, condition]);
  const { data } = useData("runs", { query, limit: 1 });
  if (!data || data.rows.length === 0) return null;
  // A store that would have to look at many rows doesn't count them.
  const count = data.total ?? (data.next === undefined ? data.rows.length : undefined);
  return (
    <Button onClick={() => onChange(without(filters, condition))}>
      {t(ANY_WORDS[condition])} {count !== undefined && <span className="k-num runs-drop-count">{format.number(count)}</span>}
    </Button>
  );
}

export function NoMatch({ filters, now, onChange }: { filters: Filters; now: number; onChange: (filters: Filters) => void }) {
  const { t } = useI18n();
  const conditions: (Condition | "text")[] = [...conditionsOf(filters), ...(filters.text.trim() ? (["text"] as const) : [])];
  return (
    <div className="runs-none">
      <span className="runs-none-drawing" aria-hidden="true">
        <i />
        <s />
        <Icon of={Search} size={24} />
      </span>
      <h2 className="k-h2">{t("runs.noMatch")}</h2>
      <p className="k-mid">{t("runs.noMatchText")}</p>
      <div className="runs-none-buttons">
        {conditions.length > 1 &&
          conditions.map((condition) => <Drop key={condition} filters={filters} condition={condition} now={now} onChange={onChange} />)}
        <Button look="quiet" onClick={() => onChange(NO_FILTERS)}>
          {t("runs.clearAll")}
        </Button>
      </div>
    </div>
  );
}
