// The 48 px bar at the top of a view: what it is, and at its right end what can be done.
import type { ReactNode } from "react";

export interface BarProps {
  title: ReactNode;
  /** Left of the title: a way up. */
  before?: ReactNode;
  /** Right after the title: state, id. */
  after?: ReactNode;
  /** At the right end. */
  children?: ReactNode;
  line?: boolean;
}

export function Bar({ title, before, after, children, line }: BarProps) {
  return (
    <header className={line ? "app-bar app-bar-line" : "app-bar"} data-tauri-drag-region>
      {before}
      <h1 className="k-h2 app-bar-title" data-tauri-drag-region>
        {title}
      </h1>
      {after}
      <span className="k-grow" data-tauri-drag-region />
      {children}
    </header>
  );
}
