// The entrypoints of a project: what each does and takes, how its last runs went, and Run.
import { Bot, Play, Plug, Terminal } from "lucide-react";
import { useRef, type MouseEvent } from "react";
import type { EntrypointRow } from "../../api/contract";
import { useNow } from "../../app/clock";
import { openRunForm } from "../../app/overlays";
import { Link, navigate, projectAddress, runAddress } from "../../app/router";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, Empty, fieldTitle, Glyph, Icon, Reveal, revealText, Said, Some, Tag, toastError } from "../../kit";
import { barsOf, inOrder, medianOf, paramType, type BarLook } from "./facts";
import { runsOf } from "./links";

/** Parameters shown before "+3". */
const SHOWN_PARAMS = 4;

const FILL: Record<BarLook, string> = {
  plain: "var(--life-run)",
  failed: "var(--fail-solid)",
  interrupted: "none",
  open: "var(--run-solid)",
  waiting: "var(--wait-solid)",
  cancelled: "var(--ghost)",
};

/** The last runs as bars, each a link. One tab stop would be a lot for twenty links, so arrows move inside. */
function Bars({ entrypoint }: { entrypoint: EntrypointRow }) {
  const { t, format } = useI18n();
  const root = useRef<HTMLDivElement>(null);
  const now = useNow(60_000);
  const bars = barsOf(entrypoint.recent);
  if (bars.length === 0) return null;
  return (
    <div
      ref={root}
      className="pj-bars"
      role="group"
      aria-label={t("project.barsOf", { name: revealText(entrypoint.title) })}
      onKeyDown={(event) => {
        const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
        if (by === 0) return;
        const links = [...(root.current?.querySelectorAll("a") ?? [])];
        const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + by];
        if (!next) return;
        event.preventDefault();
        event.stopPropagation();
        next.focus();
      }}
    >
      {bars.map((bar, index) => {
        const run = entrypoint.recent[index]!;
        const took = run.durationMs === undefined ? "" : `, ${format.duration(run.durationMs)}`;
        const said = `${t(`common.${run.status}`)}${took}, ${format.relative(run.at, now)}`;
        const height = 4 + bar.height * 16;
        return (
          <Link
            key={run.runId}
            to={runAddress(run.runId)}
            className="pj-bar"
            tabIndex={index === bars.length - 1 ? 0 : -1}
            aria-label={said}
            title={said}
            data-look={bar.look}
          >
            <svg viewBox="0 0 4 24" aria-hidden="true">
              {bar.look === "interrupted" ? (
                <rect x=".5" y={22 - height + 0.5} width="3" height={height - 1} rx="1" fill="none" stroke="var(--intr-solid)" />
              ) : (
                <rect x="0" y={22 - height} width="4" height={height} rx="1" fill={FILL[bar.look]} />
              )}
              {bar.look === "failed" && <path d={`M0 ${19.5 - height}h4`} stroke="var(--fail-solid)" strokeWidth="1.5" />}
            </svg>
          </Link>
        );
      })}
    </div>
  );
}

function Params({ entrypoint }: { entrypoint: EntrypointRow }) {
  const { t } = useI18n();
  const words = {
    many: t("project.manyAfter"),
    files: t("project.typeFiles"),
    file: t("project.typeFile"),
    text: t("project.typeText"),
    choice: (count: number) => t("project.typeChoice", { count }),
  };
  // What a client starts is told what to do by the client.
  if (!entrypoint.runnable && entrypoint.params.length === 0) return null;
  const shown = entrypoint.params.slice(0, SHOWN_PARAMS);
  const more = entrypoint.params.slice(SHOWN_PARAMS);
  if (shown.length === 0) return <span className="k-sub">{t("project.noParams")}</span>;
  return (
    <>
      {shown.map((param) => (
        <span key={param.name} className="pj-param" title={param.description && revealText(param.description)}>
          <b>{revealText(param.name)}</b>
          {param.required && (
            <i aria-label={t("kit.required")} role="img">
              *
            </i>
          )}
          <em>{revealText(paramType(param, words))}</em>
        </span>
      ))}
      {more.length > 0 && (
        <span className="pj-param" title={more.map(fieldTitle).join(", ")}>
          <em>+{more.length}</em>
        </span>
      )}
    </>
  );
}

interface RowProps {
  project: string;
  entrypoint: EntrypointRow;
  /** The first that runs has the pane's one primary button. */
  primary: boolean;
}

function Row({ project, entrypoint, primary }: RowProps) {
  const { t, format } = useI18n();
  const now = useNow(60_000);
  const last = entrypoint.recent.at(-1);
  const median = medianOf(entrypoint.recent);
  const to = runsOf({ project, entrypoint: entrypoint.id });
  const open = (event: MouseEvent) => {
    // The row is a large target for the link in it; buttons and links inside keep their own meaning.
    if ((event.target as Element).closest("a, button") || window.getSelection()?.toString()) return;
    navigate(to);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the name is the link for the keyboard
    <li className="pj-entry" onClick={open}>
      <div className="pj-entry-head">
        <span className="k-r k-wrap pj-entry-name">
          <Link to={to} className="k-semi k-break">
            {revealText(entrypoint.title)}
          </Link>
          <span className="k-mono k-dim k-break">{entrypoint.id}</span>
          {entrypoint.source === "command" && (
            <span className="k-xs k-dim k-r pj-source">
              <Icon of={Terminal} size={12} />
              {t("project.sourceCommand")}
            </span>
          )}
          {!entrypoint.runnable && (
            <span className="k-xs k-dim k-r pj-source">
              <Icon of={Bot} size={12} />
              {t("project.startedByClient")}
            </span>
          )}
          {entrypoint.draft && <Tag title={t("project.draftHint")}>{t("project.draft")}</Tag>}
          {entrypoint.readOnly && <Tag title={t("project.readOnlyHint")}>{t("project.readOnly")}</Tag>}
          {entrypoint.destructive && <Tag title={t("project.destructiveHint")}>{t("project.destructive")}</Tag>}
        </span>
        {entrypoint.description && <Reveal className="k-mid pj-entry-text" text={entrypoint.description} limit={300} />}
      </div>
      <div className="pj-entry-act">
        <Bars entrypoint={entrypoint} />
        {entrypoint.runnable ? (
          <Button
            size="small"
            look={primary ? "primary" : "default"}
            icon={Play}
            aria-label={t("project.runName", { name: revealText(entrypoint.title) })}
            onClick={() => openRunForm({ project, entrypoint: entrypoint.id })}
          >
            {t("project.run")}
          </Button>
        ) : (
          <Button size="small" icon={Plug} onClick={() => navigate(projectAddress(project, "dock"))}>
            {t("project.connectClient")}
          </Button>
        )}
      </div>
      <div className="k-r k-wrap pj-params">
        <Params entrypoint={entrypoint} />
      </div>
      <div className="k-sub k-num pj-entry-last">
        {last && (
          <>
            <Glyph name={last.status} size={14} />
            <span title={format.absolute(last.at)}>{format.relative(last.at, now)}</span>
            {median !== undefined && (
              <>
                <span aria-hidden="true">·</span>
                <span>{t("project.median", { took: format.duration(median) })}</span>
              </>
            )}
          </>
        )}
        {!last && <span>{t("project.neverRan")}</span>}
      </div>
    </li>
  );
}

function BrokenRow({ entrypoint, folder }: { entrypoint: EntrypointRow; folder: string }) {
  const { t } = useI18n();
  const host = useHost();
  const error = entrypoint.error!;
  const name = error.file ?? entrypoint.file ?? entrypoint.id;
  return (
    <li className="pj-broken">
      <Glyph name="failed" label={t("project.broken")} />
      <span className="k-mono k-semi k-break">{revealText(name)}</span>
      <span className="k-fail k-sm k-break pj-broken-why">
        <Said text={error.line === undefined ? error.message : t("project.atLine", { line: String(error.line), why: error.message })} />
      </span>
      {(error.file ?? entrypoint.file) && (
        <Button
          size="small"
          onClick={() => {
            const path = /^([/\\]|[A-Za-z]:)/.test(name) ? name : `${folder}/${name}`;
            host.reveal(path).catch((thrown: unknown) => toastError(thrown, t));
          }}
        >
          {t("project.showFile")}
        </Button>
      )}
    </li>
  );
}

export function Entrypoints({ project, folder, entrypoints }: { project: string; folder: string; entrypoints: readonly EntrypointRow[] }) {
  const { t } = useI18n();
  const rows = inOrder(entrypoints);
  const good = rows.filter((row) => !row.error);
  const first = good.find((row) => row.runnable);
  const drafts = good.filter((row) => row.draft).length;
  const said = [t("project.offered", { count: good.length - drafts }), drafts > 0 && t("project.drafts", { count: drafts })]
    .filter(Boolean)
    .join(t("kit.lifeJoin"));
  return (
    <section aria-labelledby="pj-entrypoints">
      <div className="k-section-head">
        <h2 className="k-h2" id="pj-entrypoints">
          {t("project.entrypoints")}
        </h2>
        {rows.length > 0 && <span className="k-sub">{said}</span>}
        <span className="k-grow" />
        {good.some((row) => row.recent.length > 0) && <span className="k-sub pj-bars-note">{t("project.barsNote")}</span>}
      </div>
      {rows.length === 0 ? (
        <div className="k-panel">
          <Empty icon={Play} title={t("project.noEntrypoints")} text={t("project.noEntrypointsText")} />
        </div>
      ) : (
        <Some items={rows}>
          {(shown) => (
            <ul className="k-panel k-rows k-clip">
              {shown.map((row) =>
                row.error ? (
                  <BrokenRow key={row.id} entrypoint={row} folder={folder} />
                ) : (
                  <Row key={row.id} project={project} entrypoint={row} primary={row === first} />
                ),
              )}
            </ul>
          )}
        </Some>
      )}
    </section>
  );
}
