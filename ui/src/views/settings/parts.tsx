// A section of the settings, and a row in it.
import type { ReactNode } from "react";

export function Section({ id, title, hint, children }: { id: string; title: string; hint?: string; children: ReactNode }) {
  return (
    <section id={`settings-${id}`} aria-labelledby={`settings-${id}-title`} className="st-section" data-section={id}>
      <div className="k-section-head">
        <h2 className="k-h2" id={`settings-${id}-title`}>
          {title}
        </h2>
        {hint && <span className="k-sub">{hint}</span>}
      </div>
      <div className="k-panel k-rows">{children}</div>
    </section>
  );
}

export interface SettingProps {
  /** For the label of its control: `aria-labelledby={`${id}`}`. */
  id: string;
  title: ReactNode;
  hint?: ReactNode;
  children?: ReactNode;
  /** The control below the words, over the whole width. */
  tall?: boolean;
}

export function Setting({ id, title, hint, children, tall }: SettingProps) {
  return (
    <div className={tall ? "st-row st-row-tall" : "st-row"} data-setting>
      <div className="k-col k-grow">
        <span className="k-med k-break" id={id}>
          {title}
        </span>
        {hint && (
          <span className="k-sub k-break" id={`${id}-hint`}>
            {hint}
          </span>
        )}
      </div>
      {children && <div className="st-control">{children}</div>}
    </div>
  );
}
