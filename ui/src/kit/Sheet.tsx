// A sheet comes from the right over the view; a dialog stands in the middle. Both take the focus and give it back.
import type { KeyboardEvent, ReactNode, RefObject } from "react";
import { X } from "lucide-react";
import { Dialog as Base } from "@base-ui/react/dialog";
import { useI18n } from "../i18n";
import { IconButton } from "./Button";
import "./overlay.css";

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  /** Beside the title: a switch, a second name. */
  head?: ReactNode;
  /** A band under the head. */
  band?: ReactNode;
  foot?: ReactNode;
  children: ReactNode;
  initialFocus?: RefObject<HTMLElement | null> | (() => HTMLElement | null | undefined);
  onClosed?: () => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

export function Sheet({ open, onClose, title, head, band, foot, children, initialFocus, onClosed, onKeyDown }: SheetProps) {
  const { t } = useI18n();
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()} onOpenChangeComplete={(next) => !next && onClosed?.()}>
      <Base.Portal>
        <Base.Backdrop className="k-scrim" />
        <Base.Popup
          className="k-sheet"
          onKeyDown={onKeyDown}
          initialFocus={typeof initialFocus === "function" ? () => initialFocus() ?? true : initialFocus}
        >
          <div className="k-sheet-head">
            <Base.Title className="k-h2 k-break k-grow">{title}</Base.Title>
            {head}
            <Base.Close render={<IconButton icon={X} label={t("kit.close")} keys="Esc" />} />
          </div>
          {band}
          <div className="k-sheet-body">{children}</div>
          {foot && <div className="k-sheet-foot">{foot}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  text?: ReactNode;
  buttons: ReactNode;
  children?: ReactNode;
  initialFocus?: RefObject<HTMLElement | null>;
}

export function Dialog({ open, onClose, title, text, buttons, children, initialFocus }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="k-scrim" />
        <Base.Popup className="k-dialog" initialFocus={initialFocus}>
          <Base.Title className="k-h2 k-break">{title}</Base.Title>
          {text && <Base.Description className="k-dialog-text">{text}</Base.Description>}
          {children}
          <div className="k-dialog-buttons">{buttons}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
