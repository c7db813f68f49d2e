// Chooses the other run of a comparison, from the same project, the same entrypoint first.
import { useRef, useState } from "react";
import type { RunRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { useNow } from "../../app/clock";
import { fromOf } from "../../app/clients";
import { leaveFinder, useRoving } from "../../app/useRoving";
import { useI18n } from "../../i18n";
import { SearchField } from "../../kit/fields";
import { Glyph } from "../../kit/Glyph";
import { ErrorState } from "../../kit/States";
import { revealText } from "../../kit/text";

interface PickerProps {
  project: string | undefined;
  entrypoint: string | undefined;
  except: string | undefined;
  onPick: (run: string) => void;
}

export function Picker({ project, entrypoint, except, onPick }: PickerProps) {
  const { t, format } = useI18n();
  const now = useNow(60_000);
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const onKeyDown = useRoving(list);
  const page = useData(
    "runs",
    { query: { ...(project ? { project } : {}), ...(text.trim() ? { text: text.trim() } : {}) }, limit: 100 },
    { keepPrevious: true },
  );
  const rows = (page.data?.rows ?? []).filter(
    (row) => row.runId !== except && row.status !== "running" && row.status !== "queued" && row.status !== "waiting_for_input",
  );
  const sorted: RunRow[] = [...rows.filter((row) => row.entrypointId === entrypoint), ...rows.filter((row) => row.entrypointId !== entrypoint)];
  return (
    <div className="cp-picker">
      <SearchField value={text} onChange={setText} label={t("compare.findRun")} takesFocus onKeyDown={(event) => leaveFinder(event, list.current)} />
      {page.error ? (
        <ErrorState error={page.error} onRetry={() => void page.refetch()} />
      ) : (
        <ul className="cp-picker-list" ref={list} onKeyDown={onKeyDown}>
          {page.data && sorted.length === 0 && <li className="k-list-none">{t("compare.noOther")}</li>}
          {sorted.slice(0, 60).map((row) => (
            <li key={row.runId}>
              <button type="button" data-roving className="cp-picker-row" onClick={() => onPick(row.runId)}>
                <Glyph name={row.status} />
                <span className="k-col k-grow">
                  <span className="k-r">
                    <span className="k-med k-trunc k-grow">{revealText(row.entrypointTitle)}</span>
                    <span className="k-xs k-dim k-num">{format.relative(row.createdAt, now)}</span>
                  </span>
                  <span className="k-sub k-num k-trunc">
                    {[
                      `${format.shortDate(row.createdAt)} ${format.timeSeconds(row.createdAt)}`,
                      row.durationMs === undefined ? undefined : format.duration(row.durationMs),
                      revealText(fromOf(row, t).name),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                    <span className="k-mono k-dim cp-picker-id">{row.runId}</span>
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
