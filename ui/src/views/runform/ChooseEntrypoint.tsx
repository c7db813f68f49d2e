// Which entrypoint to run, when nothing on screen says it: those of the projects used last, and any other by typing.
import { useMemo, useRef, useState, type RefObject } from "react";
import { ChevronRight } from "lucide-react";
import type { EntrypointRow, ProjectOverview, ProjectRow } from "../../api/contract";
import { useLately, useOverviews } from "../../app/useOverviews";
import { leaveFinder, useRoving } from "../../app/useRoving";
import { useI18n } from "../../i18n";
import { Icon, revealText, SearchField, Tag } from "../../kit";

/** Projects whose entrypoints are shown at once. */
const PROJECTS = 8;

const lastRun = (row: EntrypointRow): number => row.recent.at(-1)?.at ?? 0;

/** Those that can be started and fit the text, the last run first. A project that fits brings all of its own. */
export function fitting(overview: ProjectOverview, find: string): EntrypointRow[] {
  const text = find.trim().toLowerCase();
  const fits = (words: string) => words.toLowerCase().includes(text);
  const all = overview.entrypoints.filter((row) => row.runnable).toSorted((a, b) => lastRun(b) - lastRun(a));
  return fits(`${overview.project.title} ${overview.project.key}`) ? all : all.filter((row) => fits(`${row.title} ${row.id}`));
}

interface ChooseEntrypointProps {
  projects: readonly ProjectRow[];
  onChoose: (project: string, entrypoint: string) => void;
}

export function ChooseEntrypoint({ projects, onChoose }: ChooseEntrypointProps) {
  const { t } = useI18n();
  const [find, setFind] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = useRoving(list);
  const text = find.trim().toLowerCase();
  const lately = useLately(projects, projects.length);
  // Those whose name fits come in addition, however long ago they were used.
  const shown = useMemo(() => {
    const named = text === "" ? [] : lately.filter((project) => `${project.title} ${project.key}`.toLowerCase().includes(text));
    return [...new Set([...named.slice(0, PROJECTS), ...lately.slice(0, PROJECTS)])].sort((a, b) => b.usedAt - a.usedAt);
  }, [lately, text]);
  const { overviews, settled } = useOverviews(shown);
  const groups = overviews.map((overview) => ({ overview, rows: fitting(overview, find) })).filter(({ rows }) => rows.length > 0);
  return (
    <>
      <SearchField value={find} onChange={setFind} label={t("runform.find")} onKeyDown={(event) => leaveFinder(event, list.current)} />
      {/* All at once: no row moves because another project was read a moment later. */}
      <div ref={list} className="rf-groups" onKeyDown={onKeyDown} aria-busy={!settled}>
        {settled &&
          groups.map(({ overview, rows }) => (
            <section key={overview.project.key} aria-label={revealText(overview.project.title)}>
              <h3 className="rf-group">
                <span className="k-trunc">{revealText(overview.project.title)}</span>
              </h3>
              <EntrypointList rows={rows} onChoose={(id) => onChoose(overview.project.key, id)} />
            </section>
          ))}
        {settled && groups.length === 0 && (
          <p className="k-note">{text ? t("runform.noEntrypoint", { text: find }) : t("runform.nothingAnywhere")}</p>
        )}
      </div>
    </>
  );
}

interface EntrypointListProps {
  rows: readonly EntrypointRow[];
  onChoose: (id: string) => void;
  /** The button that the focus goes to. */
  first?: RefObject<HTMLButtonElement | null>;
}

export function EntrypointList({ rows, onChoose, first }: EntrypointListProps) {
  const { t } = useI18n();
  return (
    <ul className="k-panel k-rows k-clip">
      {rows.map((one, index) => (
        <li key={one.id}>
          <button type="button" data-roving ref={index === 0 ? first : undefined} className="k-row rf-entry" onClick={() => onChoose(one.id)}>
            <span className="k-col k-grow">
              <span className="k-r k-wrap rf-entry-name">
                <span className="k-med k-break">{revealText(one.title)}</span>
                <span className="k-mono k-dim k-break">{one.id}</span>
                {one.draft && <Tag title={t("runform.draftHint")}>{t("runform.draft")}</Tag>}
              </span>
              {one.description && <span className="k-sub k-break">{revealText(one.description)}</span>}
            </span>
            <Icon of={ChevronRight} size={14} className="k-dim" />
          </button>
        </li>
      ))}
    </ul>
  );
}
