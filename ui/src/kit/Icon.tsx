// Lucide icons at the weights of the design: stroke 1.75 at 16 px, 2 at 14 px and below.
import type { LucideIcon } from "lucide-react";

export interface IconProps {
  of: LucideIcon;
  /** Pixels at text size 100 %; drawn in rem. */
  size?: number;
  className?: string;
}

/** Decoration only: the word beside it, or the label of its button, carries the meaning. */
export function Icon({ of: Drawing, size = 16, className }: IconProps) {
  return (
    <Drawing
      aria-hidden="true"
      className={className}
      strokeWidth={size <= 14 ? 2 : 1.75}
      style={{ width: `${size / 16}rem`, height: `${size / 16}rem` }}
    />
  );
}
