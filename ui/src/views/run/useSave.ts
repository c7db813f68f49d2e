// Saving a part of a run where a person chooses; the host asks about a file that is there already.
import { useCallback } from "react";
import type { Commands } from "../../api/contract";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { revealText } from "../../kit/text";
import { toast, toastError } from "../../kit/toast";

type Part = Omit<Commands["save_as"][0], "to" | "replace">;

export function useSave(): (part: Part, name: string) => void {
  const { t } = useI18n();
  const host = useHost();
  return useCallback(
    (part, name) => {
      const failed = (thrown: unknown) => toastError(thrown, t);
      void host
        .pickSave(name)
        .then(async (to) => {
          if (to === null) return;
          const { path } = await host.call("save_as", { ...part, to });
          toast(t("run.savedTo", { path: revealText(path) }), {
            action: { label: t("run.showInFolder"), run: () => void host.reveal(path).catch(failed) },
          });
        })
        .catch(failed);
    },
    [host, t],
  );
}
