// The smaller sections: notifications, agents, keyboard, profiles, health, about.
import { FolderOpen } from "lucide-react";
import type { AppSettings } from "../../api/contract";
import { useData } from "../../api/queries";
import { firstProjects } from "../../app/mostProjects";
import { openKeys } from "../../app/overlays";
import { Link, projectAddress } from "../../app/router";
import { useAppInfo, useSettings } from "../../app/settings";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, CopyIconButton, Glyph, IconButton, revealText, SelectField, Switch, Tag, toastError } from "../../kit";
import { Section, Setting } from "./parts";

const KINDS: readonly (keyof AppSettings["notify"])[] = ["waits", "failed", "interrupted", "finished"];

export function NotificationsSection() {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  return (
    <Section id="notifications" title={t("settings.notifications")} hint={t("settings.notificationsHint")}>
      {KINDS.map((kind) => (
        <Setting key={kind} id={`st-note-${kind}`} title={t(`settings.note_${kind}`)} hint={t(`settings.note_${kind}Hint`)}>
          <Switch
            labelledBy={`st-note-${kind}`}
            describedBy={`st-note-${kind}-hint`}
            checked={settings.notify[kind]}
            onChange={(on) => update({ notify: { ...settings.notify, [kind]: on } })}
          />
        </Setting>
      ))}
    </Section>
  );
}

export function AgentsSection() {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  const providers = useData("providers", {}).data ?? [];
  return (
    <Section id="agents" title={t("settings.agents")}>
      <Setting id="st-provider" title={t("settings.provider")} hint={t("settings.providerHint")}>
        <span className="st-select">
          <SelectField
            small
            id="st-provider-field"
            labelledBy="st-provider st-provider-field"
            value={settings.provider ?? ""}
            options={[
              { value: "", label: t("settings.providerAuto") },
              ...providers.map((one) => ({ value: one.name, label: one.name, description: one.installed ? one.detail : t("settings.notInstalled") })),
            ]}
            // Null takes the setting back; undefined would not cross the border.
            onChange={(provider) => update({ provider: provider ? provider : (null as unknown as undefined) })}
          />
        </span>
      </Setting>
      {providers.map((one) => (
        <div key={one.name} className="k-row" data-setting>
          <Glyph name={one.installed ? "success" : "todo"} label={one.installed ? t("settings.installed") : t("settings.notInstalled")} />
          <span className="k-med">{revealText(one.name)}</span>
          {one.isDefault && <Tag>{t("settings.inUse")}</Tag>}
          <span className="k-sub k-mono k-grow k-break">{one.detail ? revealText(one.detail) : t("settings.notInstalled")}</span>
        </div>
      ))}
    </Section>
  );
}

export function KeyboardSection() {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  return (
    <Section id="keyboard" title={t("settings.keyboard")}>
      <Setting id="st-single" title={t("settings.singleKeys")} hint={t("settings.singleKeysHint")}>
        <Switch labelledBy="st-single" describedBy="st-single-hint" checked={settings.singleKeys} onChange={(singleKeys) => update({ singleKeys })} />
      </Setting>
      <Setting id="st-keys" title={t("settings.allKeys")} hint={t("settings.allKeysHint")}>
        <Button keys="?" onClick={openKeys}>
          {t("settings.showKeys")}
        </Button>
      </Setting>
    </Section>
  );
}

export function ProfilesSection() {
  const { t } = useI18n();
  const info = useAppInfo();
  if (!info) return null;
  return (
    <Section id="profiles" title={t("settings.profiles")} hint={t("settings.profilesHint")}>
      {info.profiles.map((profile) => (
        <div key={profile} className="k-row" data-setting>
          <span className="k-mono k-grow k-break">{revealText(profile)}</span>
          {profile === info.profile ? <Tag>{t("settings.inUse")}</Tag> : <code className="k-dim">--profile {revealText(profile)}</code>}
        </div>
      ))}
    </Section>
  );
}

export function HealthSection() {
  const { t } = useI18n();
  const projects = useData("projects", {}).data ?? [];
  const wrong = projects.filter((project) => project.missing || project.notice);
  const shown = firstProjects(wrong);
  return (
    <Section id="health" title={t("settings.health")}>
      {wrong.length === 0 ? (
        <div className="k-row" data-setting>
          <Glyph name="success" label="" />
          <span className="k-mid">{t("settings.healthy", { count: projects.length })}</span>
        </div>
      ) : (
        shown.map((project) => (
          <Link key={project.key} to={projectAddress(project.key)} className="k-row" data-setting>
            <Glyph name={project.missing ? "failed" : "notice"} label="" />
            <span className="k-med k-grow k-break">{revealText(project.title)}</span>
            <span className="k-sub">{project.missing ? t("project.missingShort") : t("settings.hasFindings")}</span>
          </Link>
        ))
      )}
      {wrong.length > shown.length && <p className="k-note">{t("settings.moreFindings", { count: wrong.length - shown.length })}</p>}
    </Section>
  );
}

export function AboutSection() {
  const { t } = useI18n();
  const info = useAppInfo();
  const host = useHost();
  const [settings, update] = useSettings();
  if (!info) return null;
  const facts = [
    { id: "data", title: t("settings.dataFolder"), value: info.dataDir, folder: true },
    { id: "database", title: t("settings.database"), value: info.database, folder: false },
    { id: "executable", title: t("settings.executable"), value: info.executable, folder: false },
  ];
  return (
    <Section id="about" title={t("settings.about")}>
      <Setting id="st-version" title={t("settings.version", { version: info.version })} hint={t("settings.licence")} />
      {facts.map((fact) => (
        <Setting
          key={fact.id}
          id={`st-${fact.id}`}
          title={fact.title}
          hint={
            <span className="k-mono" dir="ltr">
              {revealText(fact.value)}
            </span>
          }
        >
          <CopyIconButton label={t("settings.copyPath")} text={fact.value} />
          {fact.folder && (
            <IconButton
              icon={FolderOpen}
              size="small"
              label={t("project.showFolder")}
              onClick={() => void host.reveal(fact.value).catch((thrown: unknown) => toastError(thrown, t))}
            />
          )}
        </Setting>
      ))}
      {settings.dismissed.length > 0 && (
        <Setting id="st-hints" title={t("settings.hints")} hint={t("settings.hintsHint", { count: settings.dismissed.length })}>
          <Button onClick={() => update({ dismissed: [] })}>{t("settings.showHints")}</Button>
        </Setting>
      )}
    </Section>
  );
}
