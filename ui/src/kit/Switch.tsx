import { Switch as Base } from "@base-ui/react/switch";
import "./field.css";

export interface SwitchProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  onBlur?: () => void;
  id?: string;
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  disabled?: boolean;
}

export function Switch({ checked, onChange, onBlur, id, label, labelledBy, describedBy, disabled }: SwitchProps) {
  return (
    <Base.Root
      id={id}
      checked={checked}
      onCheckedChange={onChange}
      onBlur={onBlur}
      disabled={disabled}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      className="k-switch"
    >
      <Base.Thumb className="k-switch-thumb" />
    </Base.Root>
  );
}
