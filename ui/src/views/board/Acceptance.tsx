// The check list of a card. A tick is written at once; several in a row are written one after the other, each on the newest revision.
import { useRef, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { BoardCardDetail } from "../../api/contract";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Checkbox, revealText, Some, toastError } from "../../kit";
import type { BoardWriter } from "./useBoard";

interface AcceptanceProps {
  project: string;
  id: string;
  detail: BoardCardDetail;
  revision: string;
  readOnly: boolean;
  /** A move was refused because of what is open here. */
  isUnmet: boolean;
  writer: BoardWriter;
}

export function Acceptance({ project, id, detail, revision, readOnly, isUnmet, writer }: AcceptanceProps) {
  const { t } = useI18n();
  const host = useHost();
  const client = useQueryClient();
  const [pending, setPending] = useState<ReadonlyMap<number, boolean>>(new Map());
  const queue = useRef<Promise<void>>(Promise.resolve());
  const key = ["board_card", { project, id }];

  const send = async (line: number, done: boolean) => {
    const newest = (client.getQueryData<BoardCardDetail>(key)?.record as { revision?: unknown } | undefined)?.revision;
    try {
      const fresh = await host.call("board_acceptance", { project, id, line, done, revision: typeof newest === "string" ? newest : revision });
      client.setQueryData(key, fresh);
    } catch (thrown) {
      toastError(thrown, t);
    }
    setPending((before) => {
      const next = new Map(before);
      next.delete(line);
      return next;
    });
    await writer.refresh();
  };
  const tick = (line: number, done: boolean) => {
    setPending((before) => new Map(before).set(line, done));
    queue.current = queue.current.then(() => send(line, done));
  };

  const items = detail.acceptance.map((item) => ({ ...item, done: pending.get(item.line) ?? item.done }));
  const met = items.filter(({ done }) => done).length;
  return (
    <section className="bd-section" data-unmet={isUnmet || undefined}>
      <div className="bd-section-head">
        <h3 className="k-h3">{t("board.acceptance")}</h3>
        {items.length > 0 && <span className="k-sub k-num">{t("board.metOf", { done: met, total: items.length })}</span>}
      </div>
      {items.length === 0 ? (
        <p className="k-sub">{t("board.noAcceptance")}</p>
      ) : (
        <Some items={items}>
          {(shown) => (
            <ul>
              {shown.map((item) => (
                <li key={item.line} className="bd-criterion" data-done={item.done || undefined}>
                  <Checkbox checked={item.done} disabled={readOnly} onChange={(done) => tick(item.line, done)}>
                    <span dir="auto">{revealText(item.text)}</span>
                  </Checkbox>
                </li>
              ))}
            </ul>
          )}
        </Some>
      )}
    </section>
  );
}
