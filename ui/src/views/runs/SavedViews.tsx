// Views are pills: a few that everybody has, and what the person saved in this window.
import { Bookmark, Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useRemembered } from "../../app/memory";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { Popover } from "../../kit/Popover";
import { revealText } from "../../kit/text";
import { toast } from "../../kit/toast";
import { type Filters, fromParams, isEmpty, NO_FILTERS, sameFilters, toParams } from "./query";

interface Saved {
  name: string;
  /** The conditions as an address would have them. */
  search: string;
}

/** At most this many, with names of at most this length. */
const MOST = 20;
const LONGEST_NAME = 60;

const write = (filters: Filters): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(toParams(filters))) if (value) search.set(name, value);
  return search.toString();
};
const read = (search: string): Filters => fromParams(new URLSearchParams(search));

export function SavedViews({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const { t } = useI18n();
  const [saved, setSaved] = useRemembered<Saved[]>("runs-views", []);
  const [name, setName] = useState("");
  const fixed: { name: string; filters: Filters }[] = [
    { name: t("runs.viewAll"), filters: NO_FILTERS },
    { name: t("runs.viewFailed"), filters: { text: "", status: ["failed", "timeout"], after: "7d" } },
    { name: t("runs.viewLong"), filters: { text: "", status: [], took: ">5m" } },
    { name: t("runs.viewWaiting"), filters: { text: "", status: ["waiting_for_input"] } },
  ];
  const own = saved.map((view) => ({ ...view, filters: read(view.search) }));
  const isKnown = [...fixed, ...own].some((view) => sameFilters(view.filters, filters));

  const save = (close: () => void) => (event: FormEvent) => {
    event.preventDefault();
    const title = name.trim().slice(0, LONGEST_NAME);
    if (!title) return;
    setSaved([...saved.filter((view) => view.name !== title), { name: title, search: write(filters) }].slice(-MOST));
    setName("");
    close();
    toast(t("runs.viewSaved", { name: title }));
  };
  const remove = (view: Saved) => {
    const before = saved;
    setSaved(saved.filter((one) => one.name !== view.name));
    toast(t("runs.viewRemoved", { name: revealText(view.name) }), { undo: () => setSaved(before) });
  };

  return (
    <div className="runs-views" role="group" aria-label={t("runs.views")}>
      {fixed.map((view, index) => (
        <button
          key={view.name}
          type="button"
          className="runs-view"
          aria-pressed={sameFilters(view.filters, filters)}
          onClick={() => onChange(view.filters)}
        >
          {index > 0 && <Icon of={Bookmark} size={14} />}
          {view.name}
        </button>
      ))}
      {own.map((view) => (
        <span key={view.name} className="runs-view-own">
          <button type="button" className="runs-view" aria-pressed={sameFilters(view.filters, filters)} onClick={() => onChange(view.filters)}>
            <Icon of={Bookmark} size={14} />
            <span className="k-trunc">{revealText(view.name)}</span>
          </button>
          <button
            type="button"
            className="runs-view-x"
            aria-label={t("runs.removeView", { name: revealText(view.name) })}
            onClick={() => remove(view)}
          >
            <Icon of={X} size={12} />
          </button>
        </span>
      ))}
      {!isKnown && !isEmpty(filters) && (
        <Popover
          align="end"
          trigger={
            <Button look="quiet" size="small" icon={Plus} className="runs-save">
              {t("runs.saveView")}
            </Button>
          }
        >
          {(close) => (
            <form className="runs-save-form" onSubmit={save(close)}>
              <label className="k-field-title" htmlFor="runs-view-name">
                {t("runs.viewName")}
              </label>
              <span className="k-input k-input-small">
                <input id="runs-view-name" value={name} maxLength={LONGEST_NAME} onChange={(event) => setName(event.target.value)} />
              </span>
              <Button submit look="primary">
                {t("runs.save")}
              </Button>
            </form>
          )}
        </Popover>
      )}
    </div>
  );
}
