// `?`: all keys of this moment, from the same list that the keyboard uses.
import { useRef } from "react";
import { useI18n } from "../i18n";
import { Kbd } from "../kit/Kbd";
import { Sheet } from "../kit/Sheet";
import { type Action, type ActionGroup, useAllActions } from "./actions";
import { strokesOf } from "./keyboard";

const GROUPS: ActionGroup[] = ["view", "do", "go"];

export function KeysOverlay({ onClose, singleKeys }: { onClose: () => void; singleKeys: boolean }) {
  const { t } = useI18n();
  const actions = useAllActions();
  const list = useRef<HTMLDivElement>(null);
  const words = { go: t("shell.keysGo"), view: t("shell.keysView"), do: t("shell.keysDo") };
  return (
    <Sheet
      open
      onClose={onClose}
      title={t("shell.keysTitle")}
      initialFocus={() => {
        // Focused here and without scrolling: a list longer than the sheet would be moved to its middle.
        list.current?.focus({ preventScroll: true });
        return list.current;
      }}
    >
      {/* The list scrolls, so it takes the focus: arrows and Page keys work at once. */}
      <div ref={list} className="app-keys-list" tabIndex={-1}>
        {!singleKeys && <p className="app-keys-off">{t("shell.keysOff")}</p>}
        {GROUPS.map((group) => {
          const own = actions.filter((action) => action.group === group && action.keys);
          if (own.length === 0) return null;
          return (
            <section key={group} className="app-keys">
              <h3 className="k-h3">{words[group]}</h3>
              <ul>
                {own.map((action) => (
                  <li key={action.id} className="app-keys-row">
                    <span className="k-grow k-break">
                      {action.title}
                      {action.off && <span className="k-sub"> {action.off}</span>}
                    </span>
                    <Keys action={action} />
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Sheet>
  );
}

function Keys({ action }: { action: Action }) {
  return (
    <span className="app-keys-caps">
      {strokesOf(action.keys ?? "").map((stroke, index) => (
        <Kbd key={index} keys={stroke} />
      ))}
      <span className="k-visually-hidden">{action.keys}</span>
    </span>
  );
}
