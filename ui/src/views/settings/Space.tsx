// History and space: how long runs stay, what uses the space, and what pruning would free before it does.
import { useState } from "react";
import type { AppSettings, StorageRow } from "../../api/contract";
import { useAct, useData } from "../../api/queries";
import { useSettings } from "../../app/settings";
import { Link, projectAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { BoneRows, Button, Confirm, ErrorState, NumberField, revealText, SelectField, toast, toastError } from "../../kit";
import { Section, Setting } from "./parts";

const DAYS = [7, 30, 90, 180, 365, 730] as const;
/** Days that a question may wait. */
const WAITS = [1, 7, 14, 30, 90, 365] as const;
const SHADES = ["var(--ink-2)", "var(--idle-solid)", "var(--life-run)"] as const;

function Limit({ id, name, unit }: { id: string; name: "runs" | "megabytes"; unit: string }) {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  const [typed, setTyped] = useState<string>();
  const text = typed ?? (settings.retention[name] === undefined ? "" : String(settings.retention[name]));
  const wrong = text.trim() !== "" && !/^[1-9]\d{0,8}$/.test(text.trim());
  return (
    <span className="st-limit">
      <NumberField
        small
        integer
        minimum={1}
        labelledBy={id}
        value={text}
        invalid={wrong}
        placeholder={t("settings.noLimit")}
        onChange={setTyped}
        onBlur={() => {
          if (wrong || typed === undefined) return;
          const retention: AppSettings["retention"] = { ...settings.retention, [name]: typed.trim() === "" ? undefined : Number(typed) };
          update({ retention });
          setTyped(undefined);
        }}
      />
      <span className="k-sub">{unit}</span>
    </span>
  );
}

function Prune({ row }: { row: StorageRow }) {
  const { t, format } = useI18n();
  const prune = useAct("prune");
  if (row.prunable.runs === 0) return null;
  const amount = { count: row.prunable.runs, bytes: format.bytes(row.prunable.bytes) };
  return (
    <Confirm
      trigger={
        <Button size="small" disabled={prune.isPending}>
          {t("settings.prune", { bytes: amount.bytes })}
        </Button>
      }
      title={t("settings.pruneTitle", amount)}
      text={t("settings.pruneText")}
      confirm={t("settings.pruneDo")}
      keep={t("settings.keepThem")}
      onConfirm={() =>
        prune.mutate(
          { project: row.project },
          {
            onSuccess: (freed) => toast(t("settings.pruned", { count: freed.runs, bytes: format.bytes(freed.bytes) })),
            onError: (error) => toastError(error, t),
          },
        )
      }
    />
  );
}

export function SpaceSection() {
  const { t, format } = useI18n();
  const [settings, update] = useSettings();
  const storage = useData("storage", {});
  const data = storage.data;
  const rows = [...(data?.rows ?? [])].sort((a, b) => b.bytes - a.bytes);
  const limit = settings.retention.megabytes === undefined ? undefined : settings.retention.megabytes * 1_000_000;
  const whole = Math.max(limit ?? 0, data?.bytes ?? 0, 1);
  const top = rows.slice(0, 3);
  const days = settings.retention.days;
  const choices = [...new Set([...DAYS, ...(days === undefined ? [] : [days])])].sort((a, b) => a - b);
  return (
    <Section id="space" title={t("settings.space")}>
      {storage.error && !data && (
        <div className="st-row">
          <ErrorState error={storage.error} onRetry={() => void storage.refetch()} />
        </div>
      )}
      {storage.isPending && <BoneRows rows={2} />}
      {data && (
        <div className="st-row st-row-tall" data-setting>
          <div className="k-r k-wrap">
            <span className="k-med k-num">
              {limit === undefined ? format.bytes(data.bytes) : t("settings.usedOf", { used: format.bytes(data.bytes), all: format.bytes(limit) })}
            </span>
            <span className="k-grow" />
            <span className="k-sub k-num st-legend">
              {top.map((row, index) => (
                <span key={row.project} className="k-r">
                  <i style={{ background: SHADES[index] }} />
                  {revealText(row.title)} {format.bytes(row.bytes)}
                </span>
              ))}
            </span>
          </div>
          <div className="st-meter" aria-hidden="true">
            {top.map((row, index) => (
              <i key={row.project} style={{ width: `${(row.bytes / whole) * 100}%`, background: SHADES[index] }} />
            ))}
          </div>
        </div>
      )}
      <Setting id="st-days" title={t("settings.keepRuns")} hint={t("settings.keepRunsHint")}>
        <span className="st-select">
          <SelectField
            small
            id="st-days-field"
            labelledBy="st-days st-days-field"
            value={days ?? 0}
            options={[
              ...choices.map((n) => ({
                value: n,
                label: n % 365 === 0 ? t("settings.years", { count: n / 365 }) : t("settings.days", { count: n }),
              })),
              { value: 0, label: t("settings.forEver") },
            ]}
            onChange={(next) => update({ retention: { ...settings.retention, days: next === 0 ? undefined : next } })}
          />
        </span>
      </Setting>
      <Setting id="st-runs" title={t("settings.keepAtMost")} hint={t("settings.perProject")}>
        <Limit id="st-runs" name="runs" unit={t("settings.runs")} />
      </Setting>
      <Setting id="st-mega" title={t("settings.useAtMost")} hint={t("settings.useAtMostHint")}>
        <Limit id="st-mega" name="megabytes" unit="MB" />
      </Setting>
      <Setting id="st-wait" title={t("settings.waitDays")} hint={t("settings.waitDaysHint")}>
        <span className="st-select">
          <SelectField
            small
            id="st-wait-field"
            labelledBy="st-wait st-wait-field"
            value={settings.waitDays}
            options={[...new Set([...WAITS, settings.waitDays])]
              .sort((a, b) => a - b)
              .map((n) => ({ value: n, label: n % 365 === 0 ? t("settings.years", { count: n / 365 }) : t("settings.days", { count: n }) }))}
            onChange={(waitDays) => update({ waitDays })}
          />
        </span>
      </Setting>
      {rows.length > 0 && (
        <ul className="k-rows" aria-label={t("settings.byProject")}>
          {rows.map((row) => (
            <li key={row.project} className="k-row st-space-row" data-setting>
              <Link to={projectAddress(row.project)} className="k-grow k-break k-med">
                {revealText(row.title)}
              </Link>
              <span className="k-sub k-num">{t("common.runsCount", { count: row.runs })}</span>
              <span className="k-sm k-num st-bytes">{format.bytes(row.bytes)}</span>
              <Prune row={row} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
