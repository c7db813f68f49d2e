// Tabs of a view: one tab stop, arrows move. Panels are the view's business, since tabs live in the address.
import type { ReactNode } from "react";
import { Tabs as Base } from "@base-ui/react/tabs";
import "./tabs.css";

export interface TabItem<V extends string = string> {
  value: V;
  label: string;
  /** A count after the label. */
  count?: string;
  /** A mark after the label, such as a glyph. */
  mark?: ReactNode;
}

export interface TabsProps<V extends string> {
  label: string;
  value: V;
  tabs: readonly TabItem<V>[];
  onChange: (value: V) => void;
  /** At the right end of the bar. */
  end?: ReactNode;
  /** The panel of the open tab. */
  children?: ReactNode;
}

export function Tabs<V extends string>({ label, value, tabs, onChange, end, children }: TabsProps<V>) {
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(next as V)} className="k-tabs-root">
      <div className="k-tabs">
        <Base.List className="k-tabs-list" aria-label={label} activateOnFocus={false}>
          {tabs.map((tab) => (
            <Base.Tab key={tab.value} value={tab.value} className="k-tab">
              {tab.label}
              {tab.count !== undefined && <span className="k-tab-count k-num">{tab.count}</span>}
              {tab.mark}
            </Base.Tab>
          ))}
        </Base.List>
        {end && <span className="k-tabs-end">{end}</span>}
      </div>
      <Base.Panel value={value} className="k-tab-panel" tabIndex={-1}>
        {children}
      </Base.Panel>
    </Base.Root>
  );
}
