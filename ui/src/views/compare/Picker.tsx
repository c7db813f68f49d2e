// Chooses the other run of a comparison, from the same project, the same entrypoint first.
import { useState } from "react";
import { Search } from "lucide-react";
import type { RunRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { useNow } from "../../app/clock";
import { useI18n } from "../../i18n";
import { Glyph } from "../../kit/Glyph";
import { Icon } from "../../kit/Icon";
import { ErrorState } from "../../kit/States";

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
      <span className="k-input k-input-small">
        <Icon of={Search} size={14} />
        <input
          type="search"
          value={text}
          placeholder={t("compare.findRun")}
          aria-label={t("compare.findRun")}
          onChange={(event) => setText(event.target.value)}
        />
      </span>
      {page.error ? (
        <ErrorState error={page.error} onRetry={() => void page.refetch()} />
      ) : (
        <ul className="cp-picker-list">
          {page.data && sorted.length === 0 && <li className="k-list-none">{t("compare.noOther")}</li>}
          {sorted.slice(0, 60).map((row) => (
            <li key={row.runId}>
              <button type="button" className="cp-picker-row" onClick={() => onPick(row.runId)}>
                <Glyph name={row.status} />
                <span className="k-col k-grow">
                  <span className="k-r">
                    <span className="k-med k-trunc k-grow">{row.entrypointTitle}</span>
                    <span className="k-xs k-dim k-num">{format.relative(row.createdAt, now)}</span>
                  </span>
                  <span className="k-sub k-mono k-trunc">{row.runId}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
