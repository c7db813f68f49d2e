// A small panel at its button; and the question that is asked before what cannot be undone. The question's default is the safe side.
import { useRef, useState, type ReactElement, type ReactNode } from "react";
import { Popover as Base } from "@base-ui/react/popover";
import { Button } from "./Button";
import { cx } from "./cx";
import "./overlay.css";

export interface PopoverProps {
  trigger?: ReactElement<Record<string, unknown>>;
  title?: string;
  children: ReactNode | ((close: () => void) => ReactNode);
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  className?: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Where it stands when it has no trigger. */
  anchor?: Element | null;
}

export function Popover({ trigger, title, children, align = "end", side = "bottom", className, open: given, onOpenChange, anchor }: PopoverProps) {
  const [own, setOwn] = useState(false);
  const open = given ?? own;
  const setOpen = (next: boolean) => {
    setOwn(next);
    onOpenChange?.(next);
  };
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      {trigger && <Base.Trigger render={trigger} />}
      <Base.Portal>
        <Base.Positioner align={align} side={side} sideOffset={4} anchor={anchor ?? undefined} className="k-layer" collisionPadding={8}>
          <Base.Popup className={cx("k-popup", className ?? "k-popover")}>
            {title && <Base.Title className="k-popover-title">{title}</Base.Title>}
            {typeof children === "function" ? children(() => setOpen(false)) : children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface ConfirmProps {
  trigger?: ReactElement<Record<string, unknown>>;
  title: string;
  text?: ReactNode;
  /** The effect, as a verb. */
  confirm: string;
  /** The safe side; has the focus at first. */
  keep: string;
  onConfirm: () => void;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  anchor?: Element | null;
  /** Further choices, above the buttons. */
  children?: ReactNode;
}

export function Confirm({
  trigger,
  title,
  text,
  confirm,
  keep,
  onConfirm,
  align = "end",
  side = "bottom",
  open: given,
  onOpenChange,
  anchor,
  children,
}: ConfirmProps) {
  const [own, setOwn] = useState(false);
  const open = given ?? own;
  const setOpen = (next: boolean) => {
    setOwn(next);
    onOpenChange?.(next);
  };
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      {trigger && <Base.Trigger render={trigger} />}
      <Base.Portal>
        <Base.Positioner align={align} side={side} sideOffset={4} anchor={anchor ?? undefined} className="k-layer" collisionPadding={8}>
          <Base.Popup className="k-popup k-popover" initialFocus={safe}>
            <Base.Title className="k-popover-title">{title}</Base.Title>
            {text && <Base.Description className="k-popover-text">{text}</Base.Description>}
            {children}
            <div className="k-popover-buttons">
              <Button ref={safe} onClick={() => setOpen(false)}>
                {keep}
              </Button>
              <Button
                look="danger"
                onClick={() => {
                  setOpen(false);
                  onConfirm();
                }}
              >
                {confirm}
              </Button>
            </div>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
