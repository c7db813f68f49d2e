// A project: one folder, whatever it is at once. Its head, and the tabs that its kinds give.
import { useState } from "react";
import { ClipboardCopy, Ellipsis, FolderOpen, Play, RotateCw, Trash2 } from "lucide-react";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { ahead } from "../../app/ahead";
import { Bar } from "../../app/Bar";
import { ErrorBoundary } from "../../app/ErrorBoundary";
import { openRunForm } from "../../app/overlays";
import { navigate, projectAddress, useAddress } from "../../app/router";
import { projectIcon } from "../../app/Sidebar";
import { useTitle } from "../../app/title";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import {
  Bone,
  BoneRows,
  Button,
  Empty,
  ErrorState,
  Icon,
  IconButton,
  Late,
  Menu,
  Reveal,
  revealText,
  Tabs,
  Tag,
  toastError,
  useCopy,
} from "../../kit";
import { DockTab } from "../dock/DockTab";
import { KIND_WORDS } from "./facts";
import { Overview } from "./Overview";
import { RemoveProject } from "./RemoveProject";
import { RunsTab } from "./RunsTab";
import { SettingsTab } from "./SettingsTab";
import "./project.css";

const Board = ahead(() => import("../board"));

const TABS = ["overview", "board", "runs", "dock", "settings"] as const;
type TabName = (typeof TABS)[number];

function Bones() {
  return (
    <Late>
      <div aria-hidden="true">
        <div className="app-bar">
          <Bone width="1rem" height="1rem" />
          <Bone width="9rem" />
          <Bone width="14rem" />
        </div>
        <div className="pj-scroll">
          <BoneRows rows={4} tall />
        </div>
      </div>
    </Late>
  );
}

export default function Project() {
  const { t, format } = useI18n();
  const host = useHost();
  const { segments } = useAddress();
  const key = segments[1] ?? "";
  const overview = useData("project_overview", { project: key });
  useTitle(overview.data?.project.title ?? t("project.project"));
  const kinds = overview.data?.project.servers.map(({ kind }) => kind) ?? [];
  // The tabs are those of all kinds together; a board opens at its cards.
  const hasBoard = kinds.includes("board");
  const first: TabName = kinds[0] === "board" ? "board" : "overview";
  const names = first === "board" ? (["board", "overview", ...TABS.slice(2)] as const) : TABS.filter((name) => hasBoard || name !== "board");
  const tab: TabName = names.find((name) => name === segments[2]) ?? first;
  const [barSlot, setBarSlot] = useState<HTMLElement | null>(null);
  const [tabsSlot, setTabsSlot] = useState<HTMLElement | null>(null);
  const total = useData("runs", { query: { project: key }, limit: 1 }, { keepPrevious: true }).data?.total;
  const { copy } = useCopy();
  const [removing, setRemoving] = useState(false);
  const [more, setMore] = useState<HTMLButtonElement | null>(null);

  const go = (next: string) => navigate(next === first ? projectAddress(key) : projectAddress(key, next), { replace: true });
  const reveal = () => void host.reveal(overview.data?.project.path ?? "").catch((thrown: unknown) => toastError(thrown, t));
  const check = () => void overview.refetch();
  const missing = overview.data?.project.missing ? t("project.missingShort") : undefined;
  useActions([
    { id: "project.check", title: t("project.checkAgain"), group: "view", keys: "Shift H", run: check },
    { id: "project.reveal", title: t("project.showFolder"), group: "view", keys: "Shift O", off: missing, run: reveal },
    { id: "project.copyPath", title: t("project.copyPath"), group: "view", keys: "Shift Y", run: () => copy(overview.data?.project.path ?? "") },
    ...names.map((name, index) => ({
      id: `project.tab.${name}`,
      title: name === "board" ? t("board.goTo") : t(`project.go_${name}`),
      group: "view" as const,
      keys: String(index + 1),
      run: () => go(name),
    })),
  ]);

  if (overview.error && !overview.data) {
    return (
      <>
        <Bar title={t("project.project")} />
        <div className="pj-scroll">
          <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
        </div>
      </>
    );
  }
  if (!overview.data) return <Bones />;

  const data = overview.data;
  const { project } = data;
  const runnable = data.entrypoints.filter((row) => row.runnable);
  const connected = data.clients.filter((client) => client.state === "in_step" || client.state === "differs").length;

  return (
    <>
      <Bar
        before={<Icon of={projectIcon(project)} size={17} />}
        title={<Reveal text={project.title} limit={120} />}
        after={
          <span className="pj-after">
            {project.servers.map((server) => (
              <Tag key={server.id}>{t(KIND_WORDS[server.kind])}</Tag>
            ))}
            <span className="k-mono k-dim k-trunc pj-path" title={revealText(project.path)} dir="ltr">
              {revealText(project.path)}
            </span>
            {!project.missing && <IconButton icon={FolderOpen} label={t("project.showFolder")} size="small" onClick={reveal} />}
          </span>
        }
      >
        <span className="k-r pj-actions">
          <span ref={setBarSlot} className="pj-slot" />
          <Button
            icon={Play}
            keys="R"
            offBecause={project.missing ? t("project.missingShort") : runnable.length === 0 ? t("project.nothingToRun") : undefined}
            onClick={() => openRunForm({ project: key, entrypoint: runnable.length === 1 ? runnable[0]!.id : undefined })}
          >
            {t("project.run")}
          </Button>
          <Menu
            trigger={<IconButton ref={setMore} icon={Ellipsis} label={t("kit.more")} bordered />}
            items={[
              { label: t("project.copyPath"), icon: ClipboardCopy, onSelect: () => copy(project.path) },
              { label: t("project.showFolder"), icon: FolderOpen, off: project.missing, onSelect: reveal },
              { label: t("project.checkAgain"), icon: RotateCw, onSelect: check },
              "line",
              { label: t("project.removeMenu"), icon: Trash2, danger: true, onSelect: () => setRemoving(true) },
            ]}
          />
        </span>
        <RemoveProject project={project} open={removing} onOpenChange={setRemoving} anchor={more} />
      </Bar>
      <Tabs<TabName>
        label={t("project.tabs")}
        value={tab}
        tabs={names.map(
          (name) =>
            ({
              overview: { value: name, label: t("project.tabOverview") },
              board: { value: name, label: t("board.tab") },
              runs: { value: name, label: t("project.tabRuns"), ...(total === undefined ? {} : { count: format.number(total) }) },
              dock: { value: name, label: t("project.dock"), ...(connected > 0 ? { count: format.number(connected) } : {}) },
              settings: { value: name, label: t("project.tabSettings") },
            })[name],
        )}
        end={tab === "board" ? <span ref={setTabsSlot} className="pj-slot" /> : undefined}
        onChange={go}
      >
        <ErrorBoundary resetKey={`${key}/${tab}`}>
          {project.missing && tab !== "settings" && tab !== "runs" ? (
            <Empty glyph="notice" title={t("project.missingTitle")} text={t("project.missingText", { path: revealText(project.path) })}>
              <Button icon={RotateCw} onClick={check}>
                {t("project.checkAgain")}
              </Button>
              <RemoveProject project={project} trigger={<Button look="quiet">{t("project.removeButton")}</Button>} />
            </Empty>
          ) : tab === "overview" ? (
            <Overview overview={data} checkedAt={overview.dataUpdatedAt} checking={overview.isFetching} onCheck={check} />
          ) : tab === "board" ? (
            <Board project={project} bar={barSlot} tabsEnd={tabsSlot} />
          ) : tab === "runs" ? (
            <RunsTab project={key} canRun={runnable.length > 0} />
          ) : tab === "dock" ? (
            <DockTab project={project} entrypoints={data.entrypoints} onCheck={check} />
          ) : (
            <SettingsTab project={project} />
          )}
        </ErrorBoundary>
      </Tabs>
    </>
  );
}
