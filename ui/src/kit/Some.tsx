// The beginning of a list that may be any length, and a button for what comes after it. For lists whose rows are of unequal heights and seldom
// many; where many are usual, rows are drawn as they come into sight.
import { useState, type ReactNode } from "react";
import { useI18n } from "../i18n";
import { Button } from "./Button";

/** Rows that are drawn at first, and with each press. */
const FIRST = 60;
const STEP = 240;

export interface SomeProps<T> {
  items: readonly T[];
  /** So many are drawn in any case, as those up to the chosen one. */
  atLeast?: number;
  /** Draws the list of these. */
  children: (shown: readonly T[]) => ReactNode;
}

export function Some<T>({ items, atLeast = 0, children }: SomeProps<T>) {
  const { t } = useI18n();
  const [most, setMost] = useState(FIRST);
  const shown = items.slice(0, Math.max(most, atLeast));
  const left = items.length - shown.length;
  return (
    <>
      {children(shown)}
      {left > 0 && (
        <div className="k-some">
          <Button look="quiet" size="small" onClick={() => setMost(shown.length + STEP)}>
            {t("kit.showMore", { n: Math.min(left, STEP), all: items.length })}
          </Button>
        </div>
      )}
    </>
  );
}
