// Toasts: bottom right, 5 s (stay while hovered or focused; errors stay), announced politely, at most three.
import type { ReactNode } from "react";
import { X } from "lucide-react";
import { Toast as Base } from "@base-ui/react/toast";
import { useI18n } from "../i18n";
import { Button, IconButton } from "./Button";
import { Glyph } from "./Glyph";
import { Said } from "./Said";
import "./overlay.css";

interface Undo {
  label: string;
  run: () => void;
}
interface ToastData {
  kind: "done" | "error" | "note";
  action?: Undo;
}

const manager = Base.createToastManager<ToastData>();

export interface ToastOptions {
  kind?: ToastData["kind"];
  /** What takes it back. Shown as a button. */
  undo?: () => void;
  /** Another action than undo. */
  action?: Undo;
}

/** Says what happened, with the verb of the button that did it. */
export function toast(text: ReactNode, { kind = "done", undo, action }: ToastOptions = {}): void {
  manager.add({
    description: typeof text === "string" ? <Said text={text} /> : text,
    timeout: kind === "error" ? 0 : 5000,
    priority: kind === "error" ? "high" : "low",
    data: { kind, action: action ?? (undo ? { label: "", run: undo } : undefined) },
  });
}

function List() {
  const { t } = useI18n();
  const { toasts, close } = Base.useToastManager<ToastData>();
  return toasts.map((item) => {
    const { kind, action } = item.data ?? { kind: "note" as const, action: undefined };
    return (
      <Base.Root key={item.id} toast={item} className="k-toast" swipeDirection={[]}>
        {kind !== "note" && <Glyph name={kind === "error" ? "failed" : "success"} label="" />}
        <Base.Description className="k-toast-text" />
        {action && (
          <Button
            look="quiet"
            size="small"
            onClick={() => {
              close(item.id);
              action.run();
            }}
          >
            {action.label || t("kit.undo")}
          </Button>
        )}
        <IconButton icon={X} label={t("kit.close")} size="small" iconSize={14} bare onClick={() => close(item.id)} />
      </Base.Root>
    );
  });
}

/** Once, around the window's content. */
export function ToastHost({ children }: { children?: ReactNode }) {
  const { t } = useI18n();
  return (
    <Base.Provider toastManager={manager} limit={3} timeout={5000}>
      {children}
      <Base.Portal>
        <Base.Viewport className="k-toasts" aria-label={t("kit.messages")}>
          <List />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}
