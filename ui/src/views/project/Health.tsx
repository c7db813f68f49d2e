// What `doctor` says about this project. A finding goes only when a new check says so; each has at most one button that mends it.
import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { Info, RotateCw } from "lucide-react";
import type { Finding, ProjectOverview } from "../../api/contract";
import { useAct } from "../../api/queries";
import { useNow } from "../../app/clock";
import { navigate, projectAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { announce, Button, Glyph, IconButton, Icon, revealText, Said, toastError, type GlyphName } from "../../kit";

const GLYPHS: Record<"error" | "warning", GlyphName> = { error: "failed", warning: "notice" };

export interface HealthProps {
  project: string;
  findings: readonly Finding[];
  warnings: readonly string[];
  boardFindings?: number;
  checkedAt: number;
  checking: boolean;
  onCheck: () => void;
}

function Row({ project, finding }: { project: string; finding: Finding }) {
  const { t } = useI18n();
  const client = useQueryClient();
  const mend = useAct("mend_finding");
  const [still, setStill] = useState(false);
  const run = () =>
    mend.mutate(
      { project, finding: finding.id },
      {
        onSuccess: ({ findings }) => {
          client.setQueryData<ProjectOverview>(["project_overview", { project }], (old) => old && { ...old, findings });
          const gone = !findings.some((other) => other.id === finding.id);
          setStill(!gone);
          announce(gone ? t("project.mended", { title: finding.title }) : t("project.stillThere"));
        },
        onError: (error) => toastError(error, t),
      },
    );
  return (
    <li className="pj-finding">
      {finding.severity === "note" ? (
        <Icon of={Info} size={16} className="k-dim" />
      ) : (
        <Glyph name={GLYPHS[finding.severity]} label={finding.severity === "error" ? t("project.error") : t("project.warning")} />
      )}
      <span className="k-col k-grow">
        <span className="k-med k-break">{revealText(finding.title)}</span>
        {finding.detail && <span className="k-sub k-break">{revealText(finding.detail)}</span>}
        {finding.hint && !finding.mend && <Said className="k-sub k-break" text={finding.hint} />}
        {still && (
          <span className="k-sub k-wait" role="status">
            {t("project.stillThere")}
          </span>
        )}
      </span>
      {finding.mend && (
        <Button size="small" onClick={run} disabled={mend.isPending}>
          {revealText(finding.mend.label)}
        </Button>
      )}
    </li>
  );
}

export function Health({ project, findings, warnings, boardFindings = 0, checkedAt, checking, onCheck }: HealthProps) {
  const { t, format } = useI18n();
  const now = useNow(10_000);
  const order = { error: 0, warning: 1, note: 2 };
  const sorted = [...findings].sort((a, b) => order[a.severity] - order[b.severity]);
  const fine = sorted.every((finding) => finding.severity === "note") && warnings.length === 0 && boardFindings === 0;
  return (
    <section aria-labelledby="pj-health">
      <div className="k-section-head">
        <h2 className="k-h2" id="pj-health">
          {t("project.health")}
        </h2>
        <span className="k-sub k-num">{checking ? t("project.checking") : t("project.checked", { when: format.relative(checkedAt, now) })}</span>
        <span className="k-grow" />
        <IconButton icon={RotateCw} label={t("project.checkAgain")} size="small" onClick={onCheck} />
      </div>
      <ul className="k-panel k-rows k-clip">
        {fine && (
          <li className="pj-finding">
            <Glyph name="success" label="" />
            <span className="k-mid">{t("project.healthy")}</span>
          </li>
        )}
        {sorted.map((finding) => (
          <Row key={finding.id} project={project} finding={finding} />
        ))}
        {boardFindings > 0 && (
          <li className="pj-finding">
            <Glyph name="notice" label={t("project.warning")} />
            <span className="k-med k-break k-grow">{t("project.boardFindings", { count: boardFindings })}</span>
            <Button size="small" onClick={() => navigate(`${projectAddress(project, "board")}?part=findings`)}>
              {t("project.showFindings")}
            </Button>
          </li>
        )}
        {warnings.map((warning) => (
          <li key={warning} className="pj-finding">
            <Glyph name="notice" label={t("project.warning")} />
            <span className="k-break">{revealText(warning)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
