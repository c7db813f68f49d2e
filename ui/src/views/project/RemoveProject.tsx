// Removing a project: asked first, keeps files and history unless told to throw the history away.
import { useState, type ReactElement } from "react";
import type { ProjectRow } from "../../api/contract";
import { useAct } from "../../api/queries";
import { navigate } from "../../app/router";
import { useI18n } from "../../i18n";
import { Checkbox, Confirm, revealText, toast, toastError } from "../../kit";

interface RemoveProjectProps {
  project: ProjectRow;
  trigger?: ReactElement<Record<string, unknown>>;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  anchor?: Element | null;
}

export function RemoveProject({ project, trigger, open, onOpenChange, anchor }: RemoveProjectProps) {
  const { t } = useI18n();
  const remove = useAct("project_remove");
  const [purge, setPurge] = useState(false);
  const name = revealText(project.title);
  return (
    <Confirm
      trigger={trigger}
      open={open}
      onOpenChange={onOpenChange}
      anchor={anchor}
      title={t("project.removeTitle", { name })}
      text={t("project.removeText")}
      confirm={purge ? t("project.removePurge") : t("project.removeDo")}
      keep={t("project.keep")}
      onConfirm={() =>
        remove.mutate(
          { project: project.key, purge },
          {
            onSuccess: () => {
              toast(t("project.removed", { name }));
              navigate("/", { replace: true });
            },
            onError: (error) => toastError(error, t),
          },
        )
      }
    >
      <div className="pj-purge">
        <Checkbox checked={purge} onChange={setPurge} hint={t("project.purgeHint")}>
          {t("project.purge")}
        </Checkbox>
      </div>
    </Confirm>
  );
}
