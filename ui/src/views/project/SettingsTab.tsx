// A project's own settings: environment (names only), what may run unasked, provider, how long runs stay, notifications, removing it.
import { useState, type ReactNode } from "react";
import { FolderOpen } from "lucide-react";
import { useQueryClient } from "@tanstack/react-query";
import type { ProjectRow, ProjectSettings } from "../../api/contract";
import { useAct, useData } from "../../api/queries";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import {
  BoneRows,
  Button,
  Empty,
  ErrorState,
  Glyph,
  NumberField,
  Reveal,
  revealText,
  SelectField,
  Switch,
  Tag,
  toastError,
  TokenField,
} from "../../kit";
import { RemoveProject } from "./RemoveProject";

interface SettingsTabProps {
  project: ProjectRow;
}

/** A row of settings: words left, control right. */
function Setting({ id, title, hint, children, tall }: { id: string; title: string; hint?: string; children: ReactNode; tall?: boolean }) {
  return (
    <div className={tall ? "pj-setting pj-setting-tall" : "pj-setting"}>
      <span className="k-col k-grow">
        <span className="k-med" id={id}>
          {title}
        </span>
        {hint && (
          <span className="k-sub" id={`${id}-hint`}>
            {hint}
          </span>
        )}
      </span>
      <span className={tall ? "pj-setting-wide" : "pj-setting-control"}>{children}</span>
    </div>
  );
}

type RetentionKey = keyof ProjectSettings["retention"];

export function SettingsTab({ project }: SettingsTabProps) {
  const { t } = useI18n();
  const client = useQueryClient();
  const host = useHost();
  const key = project.key;
  const settings = useData("project_settings", { project: key });
  const providers = useData("providers", {}).data ?? [];
  const act = useAct("set_project_settings");
  const [limits, setLimits] = useState<Partial<Record<RetentionKey, string>>>({});

  if (settings.error && !settings.data)
    return (
      <div className="pj-scroll">
        <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
      </div>
    );
  if (!settings.data)
    return (
      <div className="pj-scroll">
        <BoneRows rows={6} />
      </div>
    );
  const data = settings.data;

  const change = (next: Omit<Parameters<typeof act.mutate>[0], "project">) =>
    act.mutate(
      { project: key, ...next },
      {
        onSuccess: (answer) => client.setQueryData(["project_settings", { project: key }], answer),
        onError: (error) => toastError(error, t, (why) => t("project.notKept", { why })),
      },
    );

  const limit = (name: RetentionKey, label: string, unit: string) => {
    const typed = limits[name] ?? (data.retention[name] === undefined ? "" : String(data.retention[name]));
    const wrong = typed.trim() !== "" && !/^[1-9]\d{0,8}$/.test(typed.trim());
    return (
      <label className="pj-limit">
        <NumberField
          small
          integer
          minimum={1}
          label={label}
          value={typed}
          invalid={wrong}
          placeholder={t("project.noLimit")}
          onChange={(value) => setLimits((before) => ({ ...before, [name]: value }))}
          onBlur={() => {
            if (wrong || limits[name] === undefined) return;
            const value = typed.trim() === "" ? undefined : Number(typed);
            if (value !== data.retention[name]) change({ retention: { ...data.retention, [name]: value } });
            setLimits(({ [name]: _sent, ...rest }) => rest);
          }}
        />
        <span className="k-sub">{unit}</span>
      </label>
    );
  };

  return (
    <div className="app-scroll pj-scroll">
      <div className="pj-settings">
        <section aria-labelledby="pj-env">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-env">
              {t("project.environment")}
            </h2>
            <span className="k-sub">{t("project.environmentHint")}</span>
            <span className="k-grow" />
            <Button
              size="small"
              look="quiet"
              icon={FolderOpen}
              onClick={() => void host.reveal(project.path).catch((thrown: unknown) => toastError(thrown, t))}
            >
              {t("project.showFolder")}
            </Button>
          </div>
          <ul className="k-panel k-rows">
            {data.environment.map((value) => (
              <li key={value.name} className="k-row">
                <Glyph name={value.set ? "success" : "notice"} label="" />
                <span className="k-mono k-grow k-break">{revealText(value.name)}</span>
                <span className={value.set ? "k-sm k-mid" : "k-sm k-wait k-med"}>
                  {value.set ? t("project.setIn", { where: value.source === ".env" ? ".env" : t("project.process") }) : t("project.notSet")}
                </span>
              </li>
            ))}
            {data.environment.length === 0 && (
              <li>
                <Empty inline title={t("project.noEnvironment")} />
              </li>
            )}
          </ul>
        </section>

        <section aria-labelledby="pj-approvals">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-approvals">
              {t("project.approvals")}
            </h2>
          </div>
          <div className="k-panel k-rows">
            <Setting id="pj-allow" title={t("project.allowExec")} hint={t("project.allowExecHint")} tall>
              <TokenField
                mono
                labelledBy="pj-allow"
                describedBy="pj-allow-hint"
                value={data.allowExec}
                placeholder="git status*"
                onChange={(next) => change({ allowExec: [...next] })}
              />
            </Setting>
          </div>
        </section>

        <section aria-labelledby="pj-agents">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-agents">
              {t("project.agents")}
            </h2>
          </div>
          <div className="k-panel k-rows">
            <Setting id="pj-provider" title={t("project.provider")} hint={t("project.providerHint")}>
              <SelectField
                small
                id="pj-provider-field"
                labelledBy="pj-provider pj-provider-field"
                value={data.provider ?? ""}
                options={[
                  { value: "", label: t("project.providerDefault", { name: providers.find((one) => one.isDefault)?.name ?? t("project.none") }) },
                  ...providers.map((one) => ({
                    value: one.name,
                    label: one.name,
                    description: one.installed ? one.detail : t("project.notInstalled"),
                  })),
                  ...(data.provider && !providers.some((one) => one.name === data.provider) ? [{ value: data.provider, label: data.provider }] : []),
                ]}
                onChange={(value) => change({ provider: value ? value : null })}
              />
            </Setting>
          </div>
        </section>

        <section aria-labelledby="pj-history">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-history">
              {t("project.retention")}
            </h2>
            <span className="k-sub">{t("project.retentionHint")}</span>
          </div>
          <div className="k-panel k-rows">
            <Setting id="pj-days" title={t("project.keepDays")}>
              {limit("days", t("project.keepDays"), t("project.days"))}
            </Setting>
            <Setting id="pj-count" title={t("project.keepRuns")}>
              {limit("runs", t("project.keepRuns"), t("project.runs"))}
            </Setting>
            <Setting id="pj-mega" title={t("project.keepMegabytes")}>
              {limit("megabytes", t("project.keepMegabytes"), "MB")}
            </Setting>
          </div>
        </section>

        <section aria-labelledby="pj-notify">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-notify">
              {t("project.notifications")}
            </h2>
          </div>
          <div className="k-panel k-rows">
            <Setting id="pj-notes" title={t("project.notificationsOn")} hint={t("project.notificationsHint")}>
              <Switch
                labelledBy="pj-notes"
                describedBy="pj-notes-hint"
                checked={data.notifications}
                onChange={(notifications) => change({ notifications })}
              />
            </Setting>
          </div>
        </section>

        <section aria-labelledby="pj-servers">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-servers">
              {t("project.identity")}
            </h2>
          </div>
          <ul className="k-panel k-rows">
            {project.servers.map((server) => (
              <li key={server.id} className="k-row pj-server">
                <span className="k-mono k-break">{server.id}</span>
                {server.uuid && <span className="k-mono k-dim k-break">{server.uuid}</span>}
                <span className="k-grow" />
                {server.served ? <Tag tone="ok">{t("project.served")}</Tag> : <Tag title={server.whyNot}>{t("project.notServed")}</Tag>}
                {!server.served && server.whyNot && <Reveal className="k-sub" text={server.whyNot} limit={200} />}
              </li>
            ))}
          </ul>
        </section>

        <section aria-labelledby="pj-remove">
          <div className="k-section-head">
            <h2 className="k-h2" id="pj-remove">
              {t("project.remove")}
            </h2>
          </div>
          <div className="k-panel k-rows">
            <div className="pj-setting">
              <span className="k-col k-grow">
                <span className="k-med">{t("project.removeFrom")}</span>
                <span className="k-sub">{t("project.removeHint")}</span>
              </span>
              <RemoveProject project={project} trigger={<Button look="danger">{t("project.removeButton")}</Button>} />
            </div>
          </div>
        </section>
      </div>
    </div>
  );
}
