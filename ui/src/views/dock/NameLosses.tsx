// A client that drops tools with long names: which ones, and the short key that keeps them.
import type { DockClient } from "../../api/contract";
import { useI18n } from "../../i18n";
import { Button, Glyph, revealText } from "../../kit";
import { effectWords } from "./words";

interface NameLossesProps {
  client: DockClient;
  shortKey: string;
  /** The short key is in use. */
  short: boolean;
  onKey: (key: string | undefined) => void;
}

export function NameLosses({ client, shortKey, short, onKey }: NameLossesProps) {
  const i18n = useI18n();
  const { t, rich } = i18n;
  if (client.nameLosses.length === 0 && !short) return null;
  return (
    <section className="k-note dk-losses" aria-label={t("dock.lossesTitle", { name: revealText(client.name) })}>
      <Glyph name={client.nameLosses.length > 0 ? "notice" : "success"} label="" />
      <div className="k-col k-grow">
        <span className="k-med k-break">
          {client.nameLosses.length > 0
            ? t("dock.lossesTitle", { name: revealText(client.name) })
            : rich("dock.shortInUse", { key: <code key="key">{revealText(shortKey)}</code> })}
        </span>
        {client.nameLosses.length > 0 && (
          <ul className="k-sub">
            {client.nameLosses.map((loss) => (
              <li key={loss.tool} className="k-break">
                <code>{revealText(loss.tool)}</code>: {effectWords(i18n, loss.effect)}
              </li>
            ))}
          </ul>
        )}
      </div>
      {short ? (
        <Button size="small" look="quiet" onClick={() => onKey(undefined)}>
          {t("dock.longKey")}
        </Button>
      ) : (
        <Button size="small" onClick={() => onKey(shortKey)}>
          {rich("dock.useShort", { key: <code key="key">{revealText(shortKey)}</code> })}
        </Button>
      )}
    </section>
  );
}
