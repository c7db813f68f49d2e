// How the client that started a waiting run stands: whether its call is still open, and that the answer counts anyway.
import { Clock } from "lucide-react";
import type { RunDetail } from "../../../api/contract";
import { clientName } from "../../../app/clients";
import { useNow } from "../../../app/clock";
import { useI18n } from "../../../i18n";
import { Icon } from "../../../kit/Icon";
import { openQuestions } from "../types";

export function StandingStrip({ detail }: { detail: RunDetail }) {
  const { t, rich, format } = useI18n();
  const now = useNow(1000);
  const question = openQuestions(detail)[0];
  const client = (detail.run.client && clientName(detail.run.client)) || (detail.run.origin === "mcp" ? t("run.theClient") : undefined);
  const until = question?.expiresAt ? t("run.untilDate", { date: format.shortDate(question.expiresAt) }) : "";
  const open = detail.callOpenUntil ?? undefined;
  const ended = detail.callEndedAt ?? (open !== undefined && open <= now ? open : undefined);
  const isHere = question?.form.fields.some((field) => field.type === "file" || field.type === "secret") ?? false;
  let words;
  if (client === undefined) words = t("run.standingNoClient", { until });
  else if (detail.clientAnswer === "declined") words = t("run.standingDeclined", { client, until });
  else if (isHere) words = t("run.standingHere", { until });
  else if (detail.clientAnswer === "cannot_ask") words = t("run.standingCannot", { client, until });
  else if (ended === undefined && open !== undefined)
    words = rich("run.standingOpen", { client, left: <b className="k-num">{format.clock(open - now)}</b>, until });
  else if (ended !== undefined) words = t("run.standingEnded", { client, at: format.time(ended), until });
  else words = t("run.callOver", { client, until });
  return (
    <div className="run-standing" role="note">
      <Icon of={Clock} size={15} />
      <span>{words}</span>
    </div>
  );
}
