// One field of a generated form: label, control by type, hint, fault.
import { type FocusEvent, type ReactNode, useId } from "react";
import { CircleAlert } from "lucide-react";
import type { JsonValue, Param } from "../../api/contract";
import { type I18n, useI18n } from "../../i18n";
import { Checkbox, RadioList } from "../Choice";
import { DateField, FileField, MultiSelectField, NumberField, SecretField, SelectField, TextArea, TextField, TokenField } from "../fields";
import { Icon } from "../Icon";
import { Said } from "../Said";
import { Segmented } from "../Segmented";
import { Switch } from "../Switch";
import { revealText } from "../text";
import { asControl, type Width } from "./layout";
import { hasOptions, isList, isLong, sameValue, typeOf, type DraftValue, type FieldFault } from "./value";

/** What a person reads as the field's name. */
export function fieldTitle(field: Param): string {
  return revealText(field.title ?? field.name);
}

function optionLabel(field: Param, value: JsonValue): string {
  const option = field.options?.find((other) => sameValue(other.value, value));
  return revealText(option?.title ?? (typeof value === "string" ? value : JSON.stringify(value)));
}

function defaultText(field: Param, { t }: I18n): string | undefined {
  if (field.default === undefined || field.default === null || field.type === "secret") return undefined;
  if (field.type === "boolean") return field.default === true ? t("kit.on") : t("kit.off");
  const values = Array.isArray(field.default) ? (field.default as JsonValue[]) : [field.default];
  const text = values.map((value) => optionLabel(field, value)).join(", ");
  return text === "" || text.length > 80 ? undefined : text;
}

export interface ParamFieldProps {
  field: Param;
  value: DraftValue;
  fault?: FieldFault;
  onChange: (value: DraftValue) => void;
  onBlur: () => void;
  width: Width;
  locked?: boolean;
  place: (element: HTMLElement | null) => void;
  over?: boolean;
}

export function ParamField({ field, value, fault, onChange, onBlur, width, locked, place, over }: ParamFieldProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const id = useId();
  const type = typeOf(field);
  const list = isList(field);
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  const members = (Array.isArray(value) ? value : value === undefined || value === null || value === "" ? [] : [value]) as JsonValue[];
  const said = fault ? (fault.said ?? t(fault.key, fault.values)) : undefined;
  const standard = defaultText(field, i18n);
  const hints = [field.description && revealText(field.description), standard !== undefined && t("kit.defaultIs", { value: standard })].filter(
    Boolean,
  ) as string[];
  if (type === "secret") hints.push(t("kit.secretKept"));
  if (list && !hasOptions(field) && type !== "file") hints.push(t("kit.enterAddsOne"));
  const hint = hints.join(type === "boolean" ? " · " : "\n") || undefined;

  const title = fieldTitle(field);
  const labelId = `${id}-label`;
  const hintId = `${id}-hint`;
  const faultId = `${id}-fault`;
  const shared = {
    id,
    labelledBy: labelId,
    describedBy: [hint && hintId, said && faultId].filter(Boolean).join(" ") || undefined,
    invalid: said !== undefined,
    required: field.required,
    locked,
  };
  // A field is left when the focus goes elsewhere, not into its own buttons, calendar or list; those are in a popup but bubble to here.
  const leave = (event: FocusEvent<HTMLElement>) => {
    const to = event.relatedTarget;
    if (event.currentTarget.contains(to) || to?.closest(".k-popup")) return;
    onBlur();
  };
  const options = (field.options ?? []).map((option) => ({
    value: option.value,
    label: revealText(option.title ?? (typeof option.value === "string" ? option.value : JSON.stringify(option.value))),
    description: option.description && revealText(option.description),
  }));
  const chosen = options.find((option) => sameValue(option.value, value))?.value;

  let control: ReactNode;
  let native = true;
  if (type === "file") {
    const files = new Map<number, string>();
    if (said !== undefined && fault?.index !== undefined) files.set(fault.index, said);
    control = (
      <FileField
        {...shared}
        onBlur={onBlur}
        value={members as string[]}
        onChange={(next) => onChange(list ? next : next[0])}
        multiple={list}
        faults={files}
        over={over}
      />
    );
    native = false;
  } else if (hasOptions(field) && list) {
    if (options.length <= 4) {
      native = false;
      control = (
        <div className="k-col" style={{ gap: "0.375rem" }} role="group" id={id} aria-labelledby={labelId} aria-describedby={shared.describedBy}>
          {options.map((option, index) => {
            const on = members.some((member) => sameValue(member, option.value));
            return (
              <Checkbox
                key={index}
                checked={on}
                hint={option.description}
                disabled={locked}
                onChange={(next) => onChange(next ? [...members, option.value] : members.filter((member) => !sameValue(member, option.value)))}
              >
                {option.label}
              </Checkbox>
            );
          })}
        </div>
      );
    } else {
      control = <MultiSelectField {...shared} value={members} options={options} same={sameValue} onChange={(next) => onChange([...next])} />;
    }
  } else if (hasOptions(field)) {
    const how = asControl(field);
    if (how === "segments") {
      native = false;
      control = (
        <div>
          <Segmented {...shared} disabled={locked} size="large" value={chosen} items={options} onChange={onChange} />
        </div>
      );
    } else if (how === "radios") {
      native = false;
      control = <RadioList {...shared} disabled={locked} value={chosen} options={options} onChange={onChange} />;
    } else {
      native = false;
      control = (
        <SelectField
          {...shared}
          labelledBy={`${labelId} ${id}`}
          value={chosen ?? undefined}
          options={options}
          same={sameValue}
          onChange={onChange}
          clearable={!field.required}
        />
      );
    }
  } else if (type === "boolean" && !list) {
    return (
      <div className="k-field" ref={place} onBlur={leave}>
        <div className="k-switch-field">
          <Switch {...shared} checked={value === true} disabled={locked} onChange={onChange} />
          <div className="k-col">
            <label className="k-field-title" id={labelId} htmlFor={id}>
              {title}
            </label>
            {hint && (
              <span className="k-field-hint" id={hintId}>
                {hint}
              </span>
            )}
            {said && <FaultLine id={faultId} text={said} />}
          </div>
        </div>
      </div>
    );
  } else if (list) {
    control = <TokenField {...shared} value={members.map(String)} wrong={fault?.index} onChange={(next) => onChange([...next])} />;
  } else {
    switch (type) {
      case "number":
      case "integer":
        control = (
          <NumberField {...shared} value={text} onChange={onChange} minimum={field.minimum} maximum={field.maximum} integer={type === "integer"} />
        );
        break;
      case "date":
      case "datetime":
      case "time":
        control = <DateField {...shared} kind={type} value={text} onChange={onChange} />;
        break;
      case "secret":
        control = <SecretField {...shared} value={text} onChange={onChange} />;
        break;
      case "json":
        control = <TextArea {...shared} code value={text} onChange={onChange} placeholder={t("kit.jsonHint")} />;
        break;
      default:
        control = isLong(field, text) ? (
          <TextArea {...shared} value={text} onChange={onChange} />
        ) : (
          <TextField
            {...shared}
            value={text}
            onChange={onChange}
            inputMode={field.format === "email" ? "email" : field.format === "uri" ? "url" : undefined}
          />
        );
    }
  }

  const notes = [
    field.required && t("kit.required"),
    type === "file" && list && members.length > 0 && t("kit.filesCount", { count: members.length }),
    list && type !== "file" && !(hasOptions(field) && options.length <= 4) && t("kit.several"),
  ].filter(Boolean);

  const head = (
    <>
      <span className="k-field-title" id={labelId}>
        {title}
      </span>
      {notes.map((note) => (
        <span key={String(note)} className="k-field-note">
          {note}
        </span>
      ))}
    </>
  );
  return (
    <div className={width === "full" ? "k-field" : `k-field k-field-${width}`} ref={place} onBlur={leave}>
      {native ? (
        <label className="k-field-head" htmlFor={id}>
          {head}
        </label>
      ) : (
        <span className="k-field-head">{head}</span>
      )}
      {control}
      {said && (fault?.index === undefined || type !== "file") && <FaultLine id={faultId} text={said} />}
      {hint && (
        <span className="k-field-hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

function FaultLine({ id, text }: { id: string; text: string }) {
  return (
    <span className="k-field-fault" id={id} role="alert">
      <Icon of={CircleAlert} size={14} />
      <Said text={text} className="k-break" />
    </span>
  );
}
