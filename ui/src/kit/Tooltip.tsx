// A tooltip names an icon or completes a cut text. It never holds the only copy of a fact that matters.
import type { ReactElement } from "react";
import { Tooltip as Base } from "@base-ui/react/tooltip";
import { Kbd } from "./Kbd";
import "./overlay.css";

export interface TooltipProps {
  text: string;
  keys?: string;
  side?: "top" | "bottom" | "left" | "right";
  /** The element it belongs to; must take a ref and props. */
  children: ReactElement<Record<string, unknown>>;
}

export function Tooltip({ text, keys, side = "bottom", children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={500} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} className="k-layer-top">
          <Base.Popup className="k-tooltip">
            <span>{text}</span>
            {keys && <Kbd keys={keys} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
