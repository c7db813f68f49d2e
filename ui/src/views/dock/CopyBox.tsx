// What to give the client: a command, a link, a snippet, in that order, as far as the client takes them.
import { useState } from "react";
import type { DockClient } from "../../api/contract";
import { useI18n } from "../../i18n";
import { CopyButton, revealText, Segmented } from "../../kit";
import { CommandWords } from "./CommandWords";
import { paint } from "./highlight";

type Form = DockClient["forms"][number];
const ORDER: readonly Form[] = ["command", "link", "snippet"];

const CLASSES = { key: "k-json-key", str: "k-json-str", num: "k-json-num", lit: "k-json-lit", com: "k-dim", plain: undefined } as const;

export function CopyBox({ client }: { client: DockClient }) {
  const { t } = useI18n();
  const forms = ORDER.filter((form) => client.forms.includes(form) && (form === "snippet" || client[form] !== undefined));
  const [chosen, setChosen] = useState<Form>();
  const form = chosen && forms.includes(chosen) ? chosen : (forms[0] ?? "snippet");
  const text = form === "command" ? client.command! : form === "link" ? client.link! : client.snippet.text;
  const painted = paint(text, form === "snippet" ? client.snippet.language : "plain");
  return (
    <section className="dk-box" aria-label={t("dock.give", { name: revealText(client.name) })}>
      <div className="dk-box-head">
        {forms.length > 1 ? (
          <Segmented
            label={t("dock.form")}
            value={form}
            items={forms.map((one) => ({ value: one, label: t(`dock.form_${one}`) }))}
            onChange={setChosen}
          />
        ) : (
          <h3 className="k-semi">{t(`dock.form_${form}`)}</h3>
        )}
        <span className="k-grow" />
        <CopyButton text={text} />
      </div>
      {/* A region that scrolls has to be reachable by keyboard. */}
      <pre
        className={form === "snippet" ? "dk-code" : `dk-code dk-code-${form}`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={t(`dock.form_${form}`)}
        dir="ltr"
      >
        {form === "command" ? (
          <CommandWords text={text} />
        ) : (
          painted.map((piece, index) => (
            <span key={index} className={CLASSES[piece.colour]}>
              {revealText(piece.text)}
            </span>
          ))
        )}
      </pre>
    </section>
  );
}
