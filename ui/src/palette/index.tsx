// Written soon.
export interface PaletteProps {
  open: boolean;
  /** What the field holds at first. */
  text?: string;
  onClose: () => void;
}

export default function Palette({ open: _ }: PaletteProps) {
  return null;
}
