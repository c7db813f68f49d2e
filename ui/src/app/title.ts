// The title of the window: the number waiting comes first.
import { useEffect } from "react";
import { useData } from "../api/queries";
import { useHost } from "../host";
import { useI18n } from "../i18n";
import { revealText } from "../kit/text";

export function windowTitle(title: string, waiting: number, app: string): string {
  return `${waiting > 0 ? `(${waiting}) ` : ""}${revealText(title).slice(0, 200)} – ${app}`;
}

/** Sets the title while mounted: `useTitle(t("home.title"))`. */
export function useTitle(title: string): void {
  const host = useHost();
  const { t } = useI18n();
  const waiting = useData("home", {}).data?.today.waiting ?? 0;
  const whole = windowTitle(title, waiting, t("common.appName"));
  useEffect(() => {
    host.setTitle(whole).catch(() => undefined);
  }, [host, whole]);
}
