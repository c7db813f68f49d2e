// The clients: those found on this computer first, with the state of this project in each.
import { useRef, useState, type ReactNode } from "react";
import type { DockClient } from "../../api/contract";
import { useRoving } from "../../app/useRoving";
import { useI18n } from "../../i18n";
import { CopyButton, Glyph, revealText, SearchField, Tile, type GlyphName } from "../../kit";
import { STATE_WORDS } from "./words";

const GLYPHS: Record<DockClient["state"], GlyphName | undefined> = { in_step: "success", differs: "notice", not_added: "todo", absent: undefined };

interface ClientListProps {
  clients: readonly DockClient[];
  current: string;
  onPick: (id: string) => void;
  servers?: ReactNode;
  /** The plain snippet, for a client that isn't in the list. */
  config: string;
}

export function ClientList({ clients, current, onPick, servers, config }: ClientListProps) {
  const { t } = useI18n();
  const [find, setFind] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = useRoving(list);
  const shown = clients.filter((client) => `${client.name} ${client.id}`.toLowerCase().includes(find.trim().toLowerCase()));
  const here = shown.filter((client) => client.found);
  const elsewhere = shown.filter((client) => !client.found);

  const row = (client: DockClient) => {
    const glyph = GLYPHS[client.state];
    return (
      <button
        key={client.id}
        type="button"
        data-roving
        className="dk-client"
        aria-current={client.id === current ? "true" : undefined}
        onClick={() => onPick(client.id)}
      >
        <Tile letters={client.tile} />
        <span className="k-trunc k-grow">{revealText(client.name)}</span>
        {glyph && (
          <span className={client.state === "differs" ? "dk-state k-wait" : "dk-state"}>
            <Glyph name={glyph} size={14} label="" />
            {t(STATE_WORDS[client.state])}
          </span>
        )}
      </button>
    );
  };

  return (
    <aside className="dk-list" aria-label={t("dock.clients")}>
      {servers}
      <div className="dk-find">
        <SearchField value={find} onChange={setFind} label={t("dock.find")} />
      </div>
      <div ref={list} className="dk-clients" onKeyDown={onKeyDown}>
        {here.length > 0 && <div className="dk-head">{t("dock.onThisComputer")}</div>}
        {here.map(row)}
        {elsewhere.length > 0 && <div className="dk-head">{t("dock.notFound")}</div>}
        {elsewhere.map(row)}
        {shown.length === 0 && <p className="k-sub dk-none">{t("dock.noClient", { text: find })}</p>}
      </div>
      <div className="dk-another">
        <span className="k-sub k-grow">{t("dock.another", { count: clients.length })}</span>
        <CopyButton text={config} label={t("dock.copyPlain")} />
      </div>
    </aside>
  );
}
