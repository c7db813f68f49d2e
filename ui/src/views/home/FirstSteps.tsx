// What is still open of the first ten minutes, as one line that can be put away.
import { X } from "lucide-react";
import { useData } from "../../api/queries";
import { openRunForm } from "../../app/overlays";
import { navigate, projectAddress } from "../../app/router";
import { useSettings } from "../../app/settings";
import { useI18n } from "../../i18n";
import { Button, IconButton } from "../../kit/Button";

/** Its name among the hints that were put away. */
const HINT = "first-steps";

export function FirstSteps({ runs }: { /** all runs in the store */ runs: number }) {
  const [settings] = useSettings();
  return settings.dismissed.includes(HINT) ? null : <Open runs={runs} />;
}

function Open({ runs }: { runs: number }) {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  const project = useData("projects", {}).data?.find(({ servers }) => servers.some(({ served }) => served));
  const overview = useData("project_overview", { project: project?.key ?? "" }, { enabled: project !== undefined }).data;
  const called = useData("runs", { query: { origin: "mcp" }, limit: 1 }).data;
  if (!project || !overview || !called) return null;
  const isConnected = called.rows.length > 0 || overview.clients.some(({ state }) => state === "in_step");
  // What an AI client starts is not run from here.
  const canRun = project.servers.some(({ kind }) => kind === "workflow");
  const hasRun = runs > 0 || !canRun;
  if (isConnected && hasRun) return null;
  return (
    <section className="home-steps" aria-label={t("home.stepsLabel")}>
      <span className="k-break k-grow">{t(hasRun ? "home.stepConnect" : isConnected ? "home.stepRun" : "home.stepsBoth")}</span>
      {!hasRun && (
        <Button size="small" onClick={() => openRunForm({ project: project.key })}>
          {t("common.run")}
        </Button>
      )}
      {!isConnected && (
        <Button size="small" onClick={() => navigate(projectAddress(project.key, "dock"))}>
          {t("home.openDock")}
        </Button>
      )}
      <IconButton
        icon={X}
        label={t("home.putAway")}
        size="small"
        iconSize={14}
        onClick={() => update({ dismissed: [...settings.dismissed, HINT] })}
      />
    </section>
  );
}
