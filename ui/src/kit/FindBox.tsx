// The box that comes when a person wants to find something in a list, takes the focus, and goes with Escape.
import { SearchField } from "./fields";

export interface FindBoxProps {
  value: string;
  onChange: (value: string) => void;
  /** Escape: the box goes, and the focus with it to where it came from. */
  onClose: () => void;
  label: string;
  className?: string;
}

export function FindBox({ value, onChange, onClose, label, className }: FindBoxProps) {
  return (
    <div className={className}>
      <SearchField
        value={value}
        onChange={onChange}
        label={label}
        takesFocus
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          onClose();
        }}
      />
    </div>
  );
}
