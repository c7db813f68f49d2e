/** What every control of a form takes. Texts are as typed; reading them is `form/value.ts`'s work. */
export interface ControlProps<V> {
  id?: string;
  value: V;
  onChange: (value: V) => void;
  /** The person left the control. */
  onBlur?: () => void;
  /** Where no label element points at it. */
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  invalid?: boolean;
  required?: boolean;
  /** Shown and selectable, not changeable. */
  locked?: boolean;
}

/** The attributes all of them put on their input. */
export function ariaOf(props: Omit<ControlProps<unknown>, "value" | "onChange">) {
  return {
    id: props.id,
    "aria-label": props.label,
    "aria-labelledby": props.label ? undefined : props.labelledBy,
    "aria-describedby": props.describedBy,
    "aria-invalid": props.invalid || undefined,
    "aria-required": props.required || undefined,
  };
}
