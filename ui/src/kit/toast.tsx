// Toasts: bottom right, 5 s (stay while hovered or focused; errors stay), announced politely, at most three.
import type { ReactNode } from "react";
import { X } from "lucide-react";
import { Toast as Base } from "@base-ui/react/toast";
import { type I18n, useI18n } from "../i18n";
import { Button, IconButton } from "./Button";
import { errorWords } from "./errors";
import { Glyph } from "./Glyph";
import { Reveal } from "./Reveal";
import { Said } from "./Said";
import "./overlay.css";

interface Undo {
  label: string;
  run: () => void;
}
interface ToastData {
  kind: "done" | "error" | "note";
  actions?: Undo[];
  details?: string;
}

const manager = Base.createToastManager<ToastData>();

export interface ToastOptions {
  kind?: ToastData["kind"];
  /** What takes it back. Shown as a button. */
  undo?: () => void;
  /** Another action than undo. */
  action?: Undo;
  /** What can be done now, where it is more than one thing. */
  actions?: Undo[];
  /** Said by somebody else, word for word; shown when asked for. */
  details?: string;
}

/** Says what happened, with the verb of the button that did it. */
export function toast(text: ReactNode, { kind = "done", undo, action, actions, details }: ToastOptions = {}): void {
  manager.add({
    description: typeof text === "string" ? <Said text={text} /> : text,
    timeout: kind === "error" ? 0 : 5000,
    priority: kind === "error" ? "high" : "low",
    data: { kind, actions: actions ?? (action ? [action] : undo ? [{ label: "", run: undo }] : []), ...(details ? { details } : {}) },
  });
}

/** Says that something failed, in the person's language; `say` puts it into a sentence. */
export function toastError(thrown: unknown, t: I18n["t"], say: (why: string) => string = (why) => why): void {
  const { text, details } = errorWords(thrown, t);
  toast(say(text), { kind: "error", details });
}

function List() {
  const { t } = useI18n();
  const { toasts, close } = Base.useToastManager<ToastData>();
  return toasts.map((item) => {
    const { kind, actions = [], details }: ToastData = item.data ?? { kind: "note" };
    return (
      <Base.Root key={item.id} toast={item} className="k-toast" swipeDirection={[]}>
        {kind !== "note" && <Glyph name={kind === "error" ? "failed" : "success"} label="" />}
        <div className="k-toast-text">
          <Base.Description />
          {details && (
            <details className="k-toast-details">
              <summary>{t("kit.details")}</summary>
              <Reveal text={details} limit={2_000} className="k-mono k-break" />
            </details>
          )}
        </div>
        {actions.map((action) => (
          <Button
            key={action.label}
            look="quiet"
            size="small"
            onClick={() => {
              close(item.id);
              action.run();
            }}
          >
            {action.label || t("kit.undo")}
          </Button>
        ))}
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
