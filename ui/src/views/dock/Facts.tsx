import type { DockClient, DockView } from "../../api/contract";
import { useI18n } from "../../i18n";
import { CopyIconButton, revealText, Said, shortenMiddle } from "../../kit";
import { CommandWords } from "./CommandWords";
import { asksWords, limitsOf } from "./words";

/** What a person asks about this client: name of the server, the command, limits, who asks. */
export function Facts({ view, client }: { view: DockView; client: DockClient }) {
  const i18n = useI18n();
  const { t } = i18n;
  const limits = limitsOf(client);
  const command = [view.command, ...view.args].join(" ");
  return (
    <dl className="k-panel k-rows dk-facts">
      <div className="dk-fact">
        <dt>{t("dock.serverName")}</dt>
        <dd className="k-mono k-r" title={revealText(view.key)}>
          {revealText(shortenMiddle(view.key, 22))}
          <CopyIconButton label={t("dock.copyServerName")} text={view.key} />
        </dd>
      </div>
      <div className="dk-fact dk-fact-tall">
        <dt>{t("dock.command")}</dt>
        <dd className="k-mono k-break" dir="ltr">
          <CommandWords text={command} />
        </dd>
      </div>
      {client.file && (
        <div className="dk-fact dk-fact-tall">
          <dt>{t("dock.file")}</dt>
          <dd className="k-mono k-break" dir="ltr">
            {revealText(client.file)}
          </dd>
        </div>
      )}
      {/* One row, one term, and each sentence on a line of its own. */}
      <div className={limits.length > 0 ? "dk-fact dk-fact-tall" : "dk-fact"}>
        <dt>{t("dock.limits")}</dt>
        {limits.map((limit) => (
          <dd key={limit} className="k-break">
            <Said text={limit} />
          </dd>
        ))}
        {limits.length === 0 && <dd className="k-break">{t("dock.noLimit")}</dd>}
      </div>
      <div className="dk-fact">
        <dt>{t("dock.asks")}</dt>
        <dd className="k-break">{asksWords(i18n, client, "short")}</dd>
      </div>
      <div className="dk-fact">
        <dt>{t("dock.keysInFile")}</dt>
        <dd>{t("dock.noKeys")}</dd>
      </div>
    </dl>
  );
}
