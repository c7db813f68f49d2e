// The overview of a project: what it offers, whether it is in order, who can call it, what ran last.
import { ArrowRight } from "lucide-react";
import type { DockClientState, ProjectOverview, RunRow } from "../../api/contract";
import { Link, projectAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Glyph, Icon, Reveal, revealText, Tile } from "../../kit";
import { Entrypoints } from "./Entrypoints";
import { Health } from "./Health";
import { Relations } from "./Relations";
import { RunLine } from "./RunLine";

function DockSummary({ project, clients }: { project: string; clients: readonly DockClientState[] }) {
  const { t } = useI18n();
  const connected = clients.filter((client) => client.state === "in_step" || client.state === "differs");
  const rest = clients.filter((client) => client.found && client.state === "not_added").length;
  return (
    <section aria-labelledby="pj-dock">
      <div className="k-section-head">
        <h2 className="k-h2" id="pj-dock">
          {t("project.dock")}
        </h2>
        <span className="k-grow" />
        <Link to={projectAddress(project, "dock")} className="k-btn k-btn-quiet k-btn-small">
          <span>{t("common.open")}</span>
          <Icon of={ArrowRight} size={14} />
        </Link>
      </div>
      <ul className="k-panel k-rows k-clip">
        {connected.map((client) => (
          <li key={client.id}>
            <Link to={`${projectAddress(project, "dock")}?client=${encodeURIComponent(client.id)}`} className="k-row">
              <Tile letters={client.tile} />
              <span className="k-grow k-trunc">{revealText(client.name)}</span>
              <span className={client.state === "differs" ? "k-r k-sm k-wait k-med pj-state" : "k-r k-sm k-mid pj-state"}>
                <Glyph name={client.state === "differs" ? "notice" : "success"} size={14} label="" />
                {client.state === "differs" ? t("project.differs") : t("project.inStep")}
              </span>
            </Link>
          </li>
        ))}
        {connected.length === 0 && (
          <li className="pj-finding">
            <Glyph name="todo" label="" />
            <span className="k-mid">{t("project.noClients", { count: rest })}</span>
          </li>
        )}
      </ul>
    </section>
  );
}

function LatestRuns({ project, runs }: { project: string; runs: readonly RunRow[] }) {
  const { t } = useI18n();
  return (
    <section aria-labelledby="pj-latest">
      <div className="k-section-head">
        <h2 className="k-h2" id="pj-latest">
          {t("project.latestRuns")}
        </h2>
        <span className="k-grow" />
        {runs.length > 0 && (
          <Link to={projectAddress(project, "runs")} className="k-btn k-btn-quiet k-btn-small">
            <span>{t("project.allRuns")}</span>
            <Icon of={ArrowRight} size={14} />
          </Link>
        )}
      </div>
      {runs.length === 0 ? (
        <p className="k-sub">{t("project.noRuns")}</p>
      ) : (
        <ul className="k-panel k-rows k-clip">
          {runs.map((run) => (
            <li key={run.runId}>
              <RunLine run={run} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export interface OverviewProps {
  overview: ProjectOverview;
  checkedAt: number;
  checking: boolean;
  onCheck: () => void;
}

export function Overview({ overview, checkedAt, checking, onCheck }: OverviewProps) {
  const { key, path } = overview.project;
  return (
    <div className="app-scroll pj-scroll">
      {overview.description && (
        <p className="k-mid pj-description">
          <Reveal text={overview.description} limit={600} />
        </p>
      )}
      <div className="pj-columns">
        <div className="pj-main">
          <Entrypoints project={key} folder={path} entrypoints={overview.entrypoints} />
          <LatestRuns project={key} runs={overview.recent} />
        </div>
        <div className="pj-aside">
          <Health
            project={key}
            findings={overview.findings}
            warnings={overview.warnings}
            boardFindings={overview.boardFindings}
            checkedAt={checkedAt}
            checking={checking}
            onCheck={onCheck}
          />
          <DockSummary project={key} clients={overview.clients} />
          <Relations project={key} title={overview.project.title} relations={overview.relations} />
        </div>
      </div>
    </div>
  );
}
