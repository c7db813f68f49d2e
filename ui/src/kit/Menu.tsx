import type { ReactElement } from "react";
import type { LucideIcon } from "lucide-react";
import { Menu as Base } from "@base-ui/react/menu";
import { cx } from "./cx";
import { Icon } from "./Icon";
import { Kbd } from "./Kbd";
import "./overlay.css";

export type MenuItem =
  | {
      label: string;
      icon?: LucideIcon;
      /** A second line: why it is off, or what exactly it does. */
      hint?: string;
      keys?: string;
      danger?: boolean;
      off?: boolean;
      onSelect: () => void;
    }
  | "line"
  | { heading: string };

export interface MenuProps {
  /** The button that opens it. */
  trigger: ReactElement<Record<string, unknown>>;
  items: readonly MenuItem[];
  align?: "start" | "end";
  side?: "top" | "bottom" | "right";
}

export function Menu({ trigger, items, align = "end", side = "bottom" }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} side={side} sideOffset={4} className="k-layer">
          <Base.Popup className="k-popup k-menu">
            {items.map((item, index) => {
              if (item === "line") return <Base.Separator key={index} className="k-menu-line" />;
              if ("heading" in item)
                return (
                  <div key={index} className="k-menu-label" role="presentation">
                    {item.heading}
                  </div>
                );
              return (
                <Base.Item key={index} className={cx("k-menu-item", item.danger && "k-menu-item-danger")} disabled={item.off} onClick={item.onSelect}>
                  {item.icon && <Icon of={item.icon} size={15} />}
                  <span className="k-menu-words">
                    <span className="k-break">{item.label}</span>
                    {item.hint && <span className="k-menu-hint">{item.hint}</span>}
                  </span>
                  {item.keys && <Kbd keys={item.keys} />}
                </Base.Item>
              );
            })}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
