// One of many, behind a button; with a search box from nine on. And any of many, as tokens.
import { useMemo, useState } from "react";
import { Check, ChevronDown, X } from "lucide-react";
import { Combobox } from "@base-ui/react/combobox";
import { useI18n } from "../../i18n";
import { Icon } from "../Icon";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";
import "../overlay.css";

export interface SelectOption<V> {
  value: V;
  label: string;
  description?: string;
}

export interface SelectFieldProps<V> extends ControlProps<V | undefined> {
  options: readonly SelectOption<V>[];
  placeholder?: string;
  small?: boolean;
  /** Offers to take the choice back. */
  clearable?: boolean;
  same?: (one: V, other: V) => boolean;
}

interface Entry {
  index: number;
  label: string;
  description?: string;
}

/** Above this many options the list has a search box. */
const SEARCH_FROM = 9;
/** Options drawn at once; others are found by typing. */
const MOST_DRAWN = 200;

function Option({ entry }: { entry: Entry }) {
  return (
    <Combobox.Item value={entry} className="k-option">
      <span className="k-option-mark" aria-hidden="true">
        <Icon of={Check} size={14} />
      </span>
      <span className="k-col">
        <span className="k-break">{entry.label}</span>
        {entry.description && <span className="k-sub k-break">{entry.description}</span>}
      </span>
    </Combobox.Item>
  );
}

function useEntries<V>(options: readonly SelectOption<V>[]): Entry[] {
  return useMemo(() => options.map((option, index) => ({ index, label: option.label, description: option.description })), [options]);
}

export function SelectField<V>({
  options,
  value,
  onChange,
  onBlur,
  placeholder,
  small,
  clearable,
  same = Object.is,
  locked,
  ...rest
}: SelectFieldProps<V>) {
  const { t } = useI18n();
  const entries = useEntries(options);
  const index = value === undefined ? -1 : options.findIndex((option) => same(option.value, value));
  const chosen = entries[index] ?? null;
  const search = options.length >= SEARCH_FROM;
  return (
    <Combobox.Root<Entry>
      items={entries}
      limit={MOST_DRAWN}
      value={chosen}
      onValueChange={(entry) => onChange(entry ? options[entry.index]!.value : undefined)}
      onOpenChange={(open) => !open && onBlur?.()}
      itemToStringLabel={(entry) => entry.label}
      readOnly={locked}
    >
      <span className="k-r" style={{ gap: 0, width: "100%" }}>
        <Combobox.Trigger
          {...ariaOf(rest)}
          className={small ? "k-input k-input-small k-select-trigger" : "k-input k-select-trigger"}
          data-invalid={rest.invalid || undefined}
          data-disabled={locked || undefined}
          onBlur={onBlur}
        >
          <span className="k-select-value" data-placeholder={chosen ? undefined : ""}>
            {chosen?.label ?? (value !== undefined ? String(value) : (placeholder ?? t("kit.chooseOne")))}
          </span>
          <Icon of={ChevronDown} size={14} />
        </Combobox.Trigger>
        {clearable && chosen && !locked && (
          <button type="button" className="k-icon-btn" aria-label={t("common.clear")} onClick={() => onChange(undefined)}>
            <Icon of={X} size={14} />
          </button>
        )}
      </span>
      <Combobox.Portal>
        <Combobox.Positioner align="start" sideOffset={4} className="k-layer-top">
          <Combobox.Popup className="k-popup k-popup-list" aria-label={rest.label ?? placeholder ?? t("kit.chooseOne")}>
            {search && (
              <div className="k-list-search">
                <span className="k-input k-input-small">
                  <Combobox.Input placeholder={t("kit.search")} aria-label={t("kit.search")} />
                </span>
              </div>
            )}
            <Combobox.Empty className={search ? "k-list-none" : "k-visually-hidden"}>{search ? t("kit.noMatch") : null}</Combobox.Empty>
            <Combobox.List className="k-list">{(entry: Entry) => <Option key={entry.index} entry={entry} />}</Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

export interface MultiSelectFieldProps<V> extends ControlProps<readonly V[]> {
  options: readonly SelectOption<V>[];
  same?: (one: V, other: V) => boolean;
}

/** Any of the options, as tokens with a list that is searched by typing. */
export function MultiSelectField<V>({ options, value, onChange, onBlur, same = Object.is, locked, ...rest }: MultiSelectFieldProps<V>) {
  const { t } = useI18n();
  const entries = useEntries(options);
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const chosen = value.flatMap((one) => {
    const entry = entries.find((candidate) => same(options[candidate.index]!.value, one));
    return entry ? [entry] : [];
  });
  return (
    <Combobox.Root<Entry, true>
      multiple
      items={entries}
      limit={MOST_DRAWN}
      value={chosen}
      onValueChange={(next) => onChange(next.map((entry) => options[entry.index]!.value))}
      itemToStringLabel={(entry) => entry.label}
      readOnly={locked}
    >
      <Combobox.Chips ref={setAnchor} className="k-input k-tokens" data-invalid={rest.invalid || undefined} data-disabled={locked || undefined}>
        {chosen.map((entry) => (
          <Combobox.Chip key={entry.index} className="k-chip k-chip-on" aria-label={entry.label}>
            <span className="k-trunc">{entry.label}</span>
            {!locked && (
              <Combobox.ChipRemove className="k-chip-x" aria-label={t("kit.remove", { name: entry.label })}>
                <Icon of={X} size={12} />
              </Combobox.ChipRemove>
            )}
          </Combobox.Chip>
        ))}
        <Combobox.Input {...ariaOf(rest)} placeholder={chosen.length === 0 ? t("kit.choose") : undefined} onBlur={onBlur} />
        <Combobox.Trigger className="k-input-button" aria-label={t("kit.choose")} tabIndex={-1}>
          <Icon of={ChevronDown} size={14} />
        </Combobox.Trigger>
      </Combobox.Chips>
      <Combobox.Portal>
        <Combobox.Positioner align="start" sideOffset={4} className="k-layer-top" anchor={anchor}>
          <Combobox.Popup className="k-popup k-popup-list">
            <Combobox.Empty className="k-list-none">{t("kit.noMatch")}</Combobox.Empty>
            <Combobox.List className="k-list">{(entry: Entry) => <Option key={entry.index} entry={entry} />}</Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
