// One chip per condition. A set one is filled and has a cross; each opens its choices.
import { Check, ChevronDown, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { RunRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { clientName } from "../../app/clients";
import { firstProjects } from "../../app/mostProjects";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Checkbox } from "../../kit/Choice";
import { DateField } from "../../kit/fields/DateField";
import { parseDate } from "../../kit/form/value";
import { Glyph, STATUS_WORDS } from "../../kit/Glyph";
import { Icon } from "../../kit/Icon";
import { Menu, type MenuItem } from "../../kit/Menu";
import { Popover } from "../../kit/Popover";
import { revealText } from "../../kit/text";
import { type Condition, conditionsOf, type Filters, isEmpty, NO_FILTERS, ORIGINS, parseTook, STATUSES, without } from "./query";
import { CONDITION_WORDS, ORIGIN_WORDS, statusWords, timeWords, tookWords } from "./words";

export interface FilterChipsProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
  /** Rows on the list; their clients are the choices. */
  rows: readonly RunRow[];
}

interface ChipProps {
  condition: Condition;
  value: string | null;
  onClear: () => void;
  /** Puts the trigger into its menu or popover. */
  children: (trigger: ReactNode & object) => ReactNode;
}

function ConditionChip({ condition, value, onClear, children }: ChipProps) {
  const { t } = useI18n();
  const name = t(CONDITION_WORDS[condition]);
  const set = value !== null;
  const trigger = (
    <button type="button" className="runs-chip-in">
      {name}
      {set && value && <b className="k-trunc">{value}</b>}
      {!set && <Icon of={ChevronDown} size={12} className="k-chip-icon" />}
    </button>
  );
  return (
    <span className={set ? "k-chip k-chip-on runs-chip" : "k-chip runs-chip"}>
      {children(trigger)}
      {set && (
        <button type="button" className="k-chip-x" aria-label={t("runs.removeCondition", { name })} onClick={onClear}>
          <Icon of={X} size={12} />
        </button>
      )}
    </span>
  );
}

/** A day as it is typed; it counts as soon as it can be read, or is empty. */
function DayInput({ label, day, onChange }: { label: string; day: string | undefined; onChange: (day: string | undefined) => void }) {
  const [typed, setTyped] = useState({ of: day, text: day ?? "" });
  const text = typed.of === day ? typed.text : (day ?? "");
  return (
    <div className="runs-date">
      <span aria-hidden="true">{label}</span>
      <DateField
        kind="date"
        label={label}
        value={text}
        invalid={text.trim() !== "" && parseDate(text) === undefined}
        onChange={(next) => {
          const read = next.trim() === "" ? undefined : parseDate(next);
          const isReadable = next.trim() === "" || read !== undefined;
          setTyped({ of: isReadable ? read : day, text: next });
          if (isReadable && read !== day) onChange(read);
        }}
      />
    </div>
  );
}

export function FilterChips({ filters, onChange, rows }: FilterChipsProps) {
  const i18n = useI18n();
  const { t, format } = i18n;
  const projects = useData("projects", {}).data ?? [];
  const overview = useData("project_overview", { project: filters.project ?? "" }, { enabled: filters.project !== undefined }).data;
  const set = new Set(conditionsOf(filters));
  const change = (next: Partial<Filters>) => onChange({ ...filters, ...next });
  const clear = (condition: Condition) => onChange(without(filters, condition));
  const choice = (label: string, chosen: boolean, onSelect: () => void): MenuItem => ({
    label: revealText(label).slice(0, 120),
    ...(chosen ? { icon: Check } : {}),
    onSelect,
  });
  const menu = (items: MenuItem[]) => (trigger: ReactNode & object) => <Menu trigger={trigger as never} items={items} align="start" />;

  const projectTitle = projects.find(({ key }) => key === filters.project)?.title ?? filters.project ?? null;
  const shown = firstProjects(projects, filters.project);
  const entrypoints = overview?.entrypoints ?? [];
  const entrypointTitle = entrypoints.find(({ id }) => id === filters.entrypoint)?.title ?? filters.entrypoint ?? null;
  const clients = [...new Set(rows.map(({ client }) => client).filter((client): client is string => Boolean(client)))].sort().slice(0, 40);
  const times: [string, string][] = [
    ["today", t("common.today")],
    ["7d", t("runs.lastDays", { n: 7 })],
    ["30d", t("runs.lastDays", { n: 30 })],
    ["90d", t("runs.lastDays", { n: 90 })],
  ];
  const lengths = [">10s", ">1m", ">5m", ">30m", "<1s"];

  return (
    <div className="runs-chips">
      <ConditionChip condition="status" value={set.has("status") ? statusWords(i18n, filters.status) : null} onClear={() => clear("status")}>
        {(trigger) => (
          <Popover trigger={trigger as never} align="start" className="runs-choices">
            {STATUSES.map((status) => (
              <Checkbox
                key={status}
                checked={filters.status.includes(status)}
                onChange={(on) => change({ status: on ? [...filters.status, status] : filters.status.filter((one) => one !== status) })}
              >
                <span className="k-r">
                  <Glyph name={status} label="" />
                  {t(STATUS_WORDS[status])}
                </span>
              </Checkbox>
            ))}
          </Popover>
        )}
      </ConditionChip>
      <ConditionChip condition="project" value={projectTitle && revealText(projectTitle).slice(0, 60)} onClear={() => clear("project")}>
        {menu([
          ...shown.map(({ key, title }) => choice(title, key === filters.project, () => onChange({ ...without(filters, "project"), project: key }))),
          ...(projects.length > shown.length ? [{ heading: t("runs.moreProjects") }] : []),
        ])}
      </ConditionChip>
      <ConditionChip condition="entrypoint" value={entrypointTitle && revealText(entrypointTitle).slice(0, 60)} onClear={() => clear("entrypoint")}>
        {menu(
          filters.project
            ? entrypoints.map(({ id, title }) => choice(title, id === filters.entrypoint, () => change({ entrypoint: id })))
            : [{ heading: t("runs.chooseProject") }],
        )}
      </ConditionChip>
      <ConditionChip
        condition="client"
        value={filters.client ? revealText(clientName(filters.client)).slice(0, 60) : null}
        onClear={() => clear("client")}
      >
        {menu(
          clients.length > 0
            ? clients.map((client) => choice(clientName(client), client === filters.client, () => change({ client })))
            : [{ heading: t("runs.noClients") }],
        )}
      </ConditionChip>
      <ConditionChip condition="origin" value={filters.origin ? t(ORIGIN_WORDS[filters.origin]) : null} onClear={() => clear("origin")}>
        {menu(ORIGINS.map((origin) => choice(t(ORIGIN_WORDS[origin]), origin === filters.origin, () => change({ origin }))))}
      </ConditionChip>
      <ConditionChip condition="time" value={set.has("time") ? timeWords(i18n, filters) : null} onClear={() => clear("time")}>
        {(trigger) => (
          <Popover trigger={trigger as never} align="start" className="runs-choices">
            {times.map(([after, label]) => (
              <button key={after} type="button" className="k-menu-item runs-choice" onClick={() => onChange({ ...without(filters, "time"), after })}>
                <span className="k-grow">{label}</span>
                {filters.after === after && !filters.before && <Icon of={Check} size={14} />}
              </button>
            ))}
            <div className="runs-dates">
              <DayInput
                label={t("runs.from")}
                day={/^\d{4}-/.test(filters.after ?? "") ? filters.after : undefined}
                onChange={(after) => change({ after })}
              />
              <DayInput label={t("runs.to")} day={filters.before} onChange={(before) => change({ before })} />
            </div>
          </Popover>
        )}
      </ConditionChip>
      <ConditionChip condition="took" value={filters.took ? tookWords(i18n, filters.took) : null} onClear={() => clear("took")}>
        {menu(
          lengths.map((took) =>
            choice(
              t(parseTook(took)?.more ? "runs.moreThan" : "runs.lessThan", { time: format.duration(parseTook(took)?.ms ?? 0) }),
              took === filters.took,
              () => change({ took }),
            ),
          ),
        )}
      </ConditionChip>
      <button
        type="button"
        className={filters.pinned ? "k-chip k-chip-on runs-chip" : "k-chip runs-chip"}
        aria-pressed={filters.pinned ?? false}
        onClick={() => (filters.pinned ? clear("pinned") : change({ pinned: true }))}
      >
        {t("runs.pinned")}
      </button>
      {!isEmpty(filters) && (
        <Button look="quiet" size="small" className="runs-clear" onClick={() => onChange(NO_FILTERS)}>
          {t("runs.clear")}
        </Button>
      )}
    </div>
  );
}
