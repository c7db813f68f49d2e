// The Dock: which AI clients can start this project, what exactly to give them, and whether it works. What is shown, copied, written and
// tested is one string, and it comes from the backend.
import { useState } from "react";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, DockClient, DockView, EntrypointRow, ProjectRow } from "../../api/contract";
import { useActions } from "../../app/actions";
import { useParam } from "../../app/router";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Bone, BoneRows, ErrorState, Late, revealText, Segmented } from "../../kit";
import { KIND_WORDS } from "../project/facts";
import { Change } from "./Change";
import { ClientHead } from "./ClientHead";
import { ClientList } from "./ClientList";
import { CopyBox } from "./CopyBox";
import { Facts } from "./Facts";
import { NameLosses } from "./NameLosses";
import { NothingToOffer } from "./NothingToOffer";
import { TestPanel, useTest } from "./TestPanel";
import "./dock.css";

export interface DockTabProps {
  project: ProjectRow;
  entrypoints: readonly EntrypointRow[];
  /** Reads the project again. */
  onCheck: () => void;
}

/** The client a person most likely came for: one that differs, else one that could be added, else the first. */
export function firstClient(clients: readonly DockClient[]): DockClient | undefined {
  return (
    clients.find((client) => client.state === "differs") ??
    clients.find((client) => client.found && client.state === "not_added") ??
    clients.find((client) => client.found) ??
    clients[0]
  );
}

export function DockTab({ project, entrypoints, onCheck }: DockTabProps) {
  const { t } = useI18n();
  const host = useHost();
  const [serverParam, setServer] = useParam("server");
  const [clientParam, setClient] = useParam("client");
  const [key, setKey] = useState<string>();
  const server = project.servers.find((one) => one.id === serverParam) ?? project.servers.find((one) => one.served) ?? project.servers[0];
  const serverId = server?.id ?? project.key;

  const dock = useQuery<DockView, ApiError>({
    queryKey: ["dock", { server: serverId, key }],
    queryFn: () => host.call("dock", { server: serverId, key }).catch((thrown: unknown) => Promise.reject(toApiError(thrown))),
    // Another key is the same list with other names; another server is another list.
    placeholderData: (old) => (old?.server === serverId ? keepPreviousData(old) : undefined),
  });

  const servers = project.servers.length > 1 && (
    <div className="dk-servers">
      <Segmented
        label={t("dock.server")}
        value={serverId}
        items={project.servers.map((one) => ({ value: one.id, label: t(KIND_WORDS[one.kind]) }))}
        onChange={(next) => {
          setKey(undefined);
          setServer(next);
        }}
      />
    </div>
  );

  if (dock.error && !dock.data)
    return (
      <div className="pj-scroll">
        {servers}
        <ErrorState error={dock.error} onRetry={() => void dock.refetch()} />
      </div>
    );
  if (!dock.data) return <DockBones />;
  const view = dock.data;
  const offered = entrypoints.filter((row) => row.runnable && !row.draft);
  const blocked =
    view.whyNot !== undefined || view.clients.length === 0 || (server?.kind === "workflow" && entrypoints.length > 0 && offered.length === 0);
  if (blocked)
    return (
      <>
        {servers}
        <NothingToOffer view={view} entrypoints={entrypoints} folder={project.path} onCheck={() => (onCheck(), void dock.refetch())} />
      </>
    );

  const client = view.clients.find((one) => one.id === clientParam) ?? firstClient(view.clients)!;
  return (
    <div className="dk">
      <ClientList clients={view.clients} current={client.id} onPick={(id) => setClient(id)} servers={servers || undefined} config={view.config} />
      <ClientPane
        key={`${serverId} ${client.id}`}
        view={view}
        entrypoints={entrypoints}
        client={client}
        shortKey={key === view.shortKey}
        onKey={setKey}
      />
    </div>
  );
}

interface ClientPaneProps {
  view: DockView;
  entrypoints: readonly EntrypointRow[];
  client: DockClient;
  shortKey: boolean;
  onKey: (key: string | undefined) => void;
}

function ClientPane({ view, entrypoints, client, shortKey, onKey }: ClientPaneProps) {
  const { t } = useI18n();
  const queries = useQueryClient();
  const [scope, setScope] = useState<"user" | "project">(client.scopes[0] ?? "user");
  const test = useTest(view.server);
  useActions([
    {
      id: "dock.search",
      title: t("dock.find"),
      group: "view",
      keys: "/",
      run: () => document.querySelector<HTMLInputElement>(".dk-list [data-search]")?.focus(),
    },
    { id: "dock.test", title: t("dock.testAction"), group: "do", keys: "T", run: test.run },
  ]);
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: ["dock"] });
    void queries.invalidateQueries({ queryKey: ["dock_plan"] });
    void queries.invalidateQueries({ queryKey: ["project_overview"] });
  };
  return (
    <div className="app-scroll dk-pane">
      <ClientHead client={client} scope={scope} onScope={setScope} />
      <div className="dk-columns">
        <div className="dk-main">
          <CopyBox client={client} />
          {client.scopes.length === 0 ? (
            <p className="k-note">{t("dock.byHand", { name: revealText(client.name) })}</p>
          ) : (
            <Change
              server={view.server}
              client={client}
              scope={scope}
              ownKey={shortKey ? view.shortKey : undefined}
              onWritten={() => {
                refresh();
                test.run();
              }}
              onUndone={refresh}
            />
          )}
          <NameLosses client={client} shortKey={view.shortKey} short={shortKey} onKey={onKey} />
        </div>
        <div className="dk-side">
          <TestPanel test={test} entrypoints={entrypoints} />
          <Facts view={view} client={client} />
        </div>
      </div>
    </div>
  );
}

function DockBones() {
  return (
    <Late>
      <div className="dk" aria-hidden="true">
        <div className="dk-list">
          {Array.from({ length: 8 }, (_, index) => (
            <div key={index} className="dk-client">
              <Bone width="1.25rem" height="1.25rem" />
              <Bone width={`${5 + (index % 3)}rem`} />
            </div>
          ))}
        </div>
        <div className="dk-pane">
          <BoneRows rows={5} />
        </div>
      </div>
    </Late>
  );
}
