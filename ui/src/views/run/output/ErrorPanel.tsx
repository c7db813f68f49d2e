// Why a run failed: code, message, what it printed last.
import { useEffect, useState } from "react";
import { ScrollText } from "lucide-react";
import type { LogLine, RunDetail } from "../../../api/contract";
import { useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { Button } from "../../../kit/Button";
import { CopyButton } from "../../../kit/Copy";
import { Glyph } from "../../../kit/Glyph";
import { JsonTree } from "../../../kit/JsonTree";
import { Reveal } from "../../../kit/Reveal";
import { countNodes } from "../../../kit/tree";
import { entryLines } from "../logs/lines";
import { plain } from "../logs/ansi";
import type { TabProps } from "../types";

/** Lines of standard error that are shown, and how far back they are looked for. */
const LINES = 12;
const BACK = 400;

/** The last lines of standard error, with their positions. */
function useLastErrors(run: string, lines: number): LogLine[] {
  const host = useHost();
  const [found, setFound] = useState<LogLine[]>([]);
  useEffect(() => {
    let ended = false;
    void host.call("run_logs", { run, from: Math.max(0, lines - BACK), limit: BACK }).then(
      (page) => {
        if (!ended) setFound(page.lines.filter((line) => line.stream === "stderr").slice(-LINES));
      },
      () => {},
    );
    return () => {
      ended = true;
    };
  }, [host, run, lines]);
  return found;
}

export function ErrorPanel({ detail, go }: { detail: RunDetail; go: TabProps["go"] }) {
  const { t, format } = useI18n();
  const { error, run } = detail;
  const lines = useLastErrors(run.runId, detail.logLines);
  const message = error?.message ?? run.error ?? t(run.status === "timeout" ? "run.timedOut" : "run.failedNoMessage");
  return (
    <section className="ou-error" aria-label={t("run.whatWentWrong")}>
      <div className="ou-error-head">
        <Glyph name={run.status === "timeout" ? "timeout" : "failed"} size={18} label="" />
        <div className="k-col k-grow">
          <h2 className="k-semi k-fail k-break ou-error-title">
            <Reveal text={message} limit={1_000} />
          </h2>
          <span className="k-r k-wrap k-sub">
            <code>{error?.code ?? run.status}</code>
            {error?.errCode !== undefined && error.errCode !== null && (
              <span className="k-num">{t("run.errCode", { n: String(error.errCode) })}</span>
            )}
          </span>
          {error?.cause && (
            <p className="k-mid k-break ou-cause">
              <span className="k-dim">{t("run.cause")}</span> <Reveal text={error.cause} limit={1_000} />
            </p>
          )}
        </div>
        <CopyButton text={() => JSON.stringify(error ?? { message }, null, 2)} label={t("common.copyDetails")} />
      </div>
      {error?.data !== undefined && error.data !== null && (
        <div className="ou-error-data" style={{ height: `${Math.min(9, 0.75 + 1.5 * Math.min(6, countNodes(error.data, 6)))}rem` }}>
          <JsonTree value={error.data} root="data" plain label={t("run.errorData")} />
        </div>
      )}
      {lines.length > 0 && (
        <div className="ou-stderr">
          <div className="k-r ou-stderr-head">
            <span className="k-xs k-dim k-grow">{t("run.lastErrors", { count: lines.length })}</span>
            <Button look="quiet" size="small" icon={ScrollText} onClick={() => go("logs", { line: (lines.at(-1)?.position ?? 0) + 1 })}>
              {t("run.openInLogs")}
            </Button>
          </div>
          <ol className="ou-lines">
            {lines.map((line) => (
              <li key={line.position}>
                <button
                  type="button"
                  className="k-num"
                  onClick={() => go("logs", { line: line.position + 1 })}
                  aria-label={t("run.toLine", { n: line.position + 1 })}
                >
                  {format.number(line.position + 1)}
                </button>
                <span className="k-break">
                  <Reveal text={entryLines(plain(line.text)).join("\n")} limit={600} />
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}
