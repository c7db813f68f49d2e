// The whole log, or one stream of it, as plain text on the clipboard.
import type { LogLine, LogStreamName } from "../../../api/contract";
import { useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { toast, toastError } from "../../../kit/toast";
import { plain } from "./ansi";
import { entryLines } from "./lines";

/** Characters that are taken at most. */
const MOST_COPIED = 20_000_000;

export function useLogCopy(run: string, stream: LogStreamName | undefined, flow: readonly LogLine[] | undefined): () => Promise<void> {
  const { t } = useI18n();
  const host = useHost();
  const gather = async (): Promise<string[]> => {
    if (flow) return flow.map((one) => plain(one.text));
    const parts: string[] = [];
    for (let from = 0, size = 0; size <= MOST_COPIED;) {
      const page = await host.call("run_logs", { run, from, limit: 2_000, ...(stream ? { stream } : {}) });
      for (const one of page.lines) {
        const said = entryLines(plain(one.text)).join("\n");
        parts.push(said);
        size += said.length;
      }
      if (page.next <= from || page.next >= page.end) break;
      from = page.next;
    }
    return parts;
  };
  return async () => {
    try {
      const parts = await gather();
      await host.copyText(parts.join("\n"));
      toast(t("run.logCopied", { count: parts.length }));
    } catch (thrown) {
      toastError(thrown, t);
    }
  };
}
