// A project that no client could use: why, entrypoint by entrypoint, and what to do about it.
import { FileText, RotateCw } from "lucide-react";
import type { DockView, EntrypointRow } from "../../api/contract";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, CopyButton, Glyph, Icon, revealText, Said, toastError } from "../../kit";

interface NothingToOfferProps {
  view: DockView;
  entrypoints: readonly EntrypointRow[];
  folder: string;
  onCheck: () => void;
}

export function NothingToOffer({ view, entrypoints, folder, onCheck }: NothingToOfferProps) {
  const { t } = useI18n();
  const host = useHost();
  const blockers = entrypoints.filter((row) => row.error || row.draft);
  const show = (file: string) => {
    const path = /^([/\\]|[A-Za-z]:)/.test(file) ? file : `${folder}/${file}`;
    host.reveal(path).catch((thrown: unknown) => toastError(thrown, t));
  };
  return (
    <div className="app-scroll dk-nothing-page">
      <Glyph name="notice" size={28} label="" />
      <h2 className="k-h2">{t("dock.nothingTitle")}</h2>
      <p className="k-mid k-break dk-nothing-text">{view.whyNot ? revealText(view.whyNot) : t("dock.nothingText", { count: blockers.length })}</p>
      {blockers.length > 0 && (
        <ul className="k-panel k-rows dk-blockers">
          {blockers.map((row) => {
            const file = row.error?.file ?? row.file;
            return (
              <li key={row.id} className="dk-blocker">
                {row.error ? <Glyph name="failed" label="" /> : <Icon of={FileText} size={16} className="k-dim" />}
                <span className="k-col k-grow">
                  <span className="k-mono k-semi k-break">{revealText(row.error?.file ?? row.id)}</span>
                  <span className="k-sub k-break">
                    {row.error ? (
                      <Said
                        text={
                          row.error.line === undefined
                            ? row.error.message
                            : t("project.atLine", { line: String(row.error.line), why: row.error.message })
                        }
                      />
                    ) : (
                      t("dock.isDraft")
                    )}
                  </span>
                </span>
                {file && (
                  <Button size="small" onClick={() => show(file)}>
                    {t("project.showFile")}
                  </Button>
                )}
              </li>
            );
          })}
        </ul>
      )}
      <div className="k-r k-wrap">
        <Button icon={RotateCw} onClick={onCheck}>
          {t("dock.checkAgain")}
        </Button>
        {view.config !== "" && <CopyButton size="medium" text={view.config} label={t("dock.copyAnyway")} />}
      </div>
    </div>
  );
}
