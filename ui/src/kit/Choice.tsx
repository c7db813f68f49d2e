// Check boxes and radio lists. A radio list is a panel of rows with descriptions, for two to four answers that need a sentence each.
import { useId, type ReactNode } from "react";
import { Check, Minus } from "lucide-react";
import { Checkbox as BaseCheckbox } from "@base-ui/react/checkbox";
import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { Icon } from "./Icon";
import "./field.css";

export interface CheckboxProps {
  checked: boolean;
  /** Some of what it stands for is chosen. */
  mixed?: boolean;
  onChange: (checked: boolean) => void;
  children?: ReactNode;
  hint?: ReactNode;
  /** Where no words stand beside it. */
  label?: string;
  disabled?: boolean;
}

export function Checkbox({ checked, mixed, onChange, children, hint, label, disabled }: CheckboxProps) {
  const hintId = useId();
  const box = (
    <BaseCheckbox.Root
      checked={checked}
      indeterminate={mixed}
      onCheckedChange={(next) => onChange(next)}
      disabled={disabled}
      aria-label={label}
      aria-describedby={hint ? hintId : undefined}
      className="k-check"
    >
      <BaseCheckbox.Indicator className="k-check-mark">
        <Icon of={mixed ? Minus : Check} size={12} />
      </BaseCheckbox.Indicator>
    </BaseCheckbox.Root>
  );
  if (!children) return box;
  return (
    <label className="k-choice">
      {box}
      <span className="k-col">
        <span className="k-break">{children}</span>
        {hint && (
          <span className="k-sub k-break" id={hintId}>
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}

export interface RadioOption<V> {
  value: V;
  label: ReactNode;
  description?: ReactNode;
}

export interface RadioListProps<V> {
  value: V | undefined;
  options: readonly RadioOption<V>[];
  onChange: (value: V) => void;
  onBlur?: () => void;
  id?: string;
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  disabled?: boolean;
  invalid?: boolean;
}

export function RadioList<V>({ value, options, onChange, onBlur, id, label, labelledBy, describedBy, disabled, invalid }: RadioListProps<V>) {
  const index = options.findIndex((option) => option.value === value);
  return (
    <RadioGroup
      id={id}
      value={index < 0 ? null : String(index)}
      onValueChange={(next) => onChange(options[Number(next)]!.value)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) onBlur?.();
      }}
      disabled={disabled}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      aria-invalid={invalid || undefined}
      className="k-panel k-rows k-radios"
    >
      {options.map((option, at) => (
        <label key={at} className="k-radio-row" data-on={at === index || undefined}>
          <Radio.Root value={String(at)} className="k-radio" />
          <span className="k-col">
            <span className="k-break">{option.label}</span>
            {option.description && <span className="k-sub k-break">{option.description}</span>}
          </span>
        </label>
      ))}
    </RadioGroup>
  );
}
