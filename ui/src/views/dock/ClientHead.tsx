import type { DockClient } from "../../api/contract";
import { useI18n } from "../../i18n";
import { Glyph, revealText, Said, Segmented, Tag, Tile, type Tone } from "../../kit";
import { asksWords, STATE_WORDS } from "./words";

const TONES: Record<DockClient["state"], Tone> = { in_step: "ok", differs: "wait", not_added: "idle", absent: "idle" };

interface ClientHeadProps {
  client: DockClient;
  scope: "user" | "project";
  onScope: (scope: "user" | "project") => void;
}

export function ClientHead({ client, scope, onScope }: ClientHeadProps) {
  const i18n = useI18n();
  const { t } = i18n;
  return (
    <div className="dk-title">
      <Tile letters={client.tile} large />
      <div className="k-col k-grow">
        <span className="k-r k-wrap dk-name">
          <h2 className="k-h2 k-break">{revealText(client.name)}</h2>
          <Tag tone={TONES[client.state]}>
            {client.state === "differs" && <Glyph name="notice" size={12} label="" />}
            {t(STATE_WORDS[client.state])}
          </Tag>
        </span>
        <Said className="k-sub k-break" text={client.detail ?? asksWords(i18n, client, "long")} limit={300} />
      </div>
      {client.scopes.length > 1 && (
        <Segmented
          label={t("dock.scope")}
          value={scope}
          items={client.scopes.map((one) => ({ value: one, label: one === "user" ? t("dock.forMe") : t("dock.forProject") }))}
          onChange={onScope}
        />
      )}
    </div>
  );
}
