// What is known of one step.
import { useState } from "react";
import { ExternalLink, ScrollText, X } from "lucide-react";
import { navigate, runAddress } from "../../../app/router";
import { useI18n } from "../../../i18n";
import { Button, IconButton } from "../../../kit/Button";
import { Glyph } from "../../../kit/Glyph";
import { JsonTree } from "../../../kit/JsonTree";
import { Reveal } from "../../../kit/Reveal";
import { Dialog } from "../../../kit/Sheet";
import type { TabProps } from "../types";
import type { Member } from "./model";
import { nodeFacts } from "./model";
import { kindText, memberGlyph, memberMs, memberTitle } from "./words";

interface InspectorProps {
  member: Member;
  now: number;
  end: number | undefined;
  onClose: () => void;
  go: TabProps["go"];
}

export function Inspector({ member, now, end, onClose, go }: InspectorProps) {
  const { t, format } = useI18n();
  const [shown, setShown] = useState<{ title: string; text?: string; value?: unknown } | null>(null);
  const { node } = member;
  const facts = nodeFacts(node);
  const ms = memberMs(member, now, end);
  const line = [
    ms === undefined ? undefined : format.duration(ms),
    facts.tokens === undefined ? undefined : t("run.tokens", { count: facts.tokens }),
    facts.model,
    node.startedAt
      ? node.finishedAt
        ? t("run.fromTo", { from: format.timeSeconds(node.startedAt), to: format.timeSeconds(node.finishedAt) })
        : t("run.since", { at: format.timeSeconds(node.startedAt) })
      : undefined,
  ]
    .filter(Boolean)
    .join(" · ");
  const tries =
    facts.try !== undefined ? t(facts.tries === undefined ? "run.tryN" : "run.tryOf", { n: facts.try, of: facts.tries ?? facts.try }) : undefined;
  return (
    <section className="dg-inspector" aria-label={t("run.stepDetails")}>
      <div className="k-r">
        <Glyph name={memberGlyph(member.status, node)} />
        <span className="k-semi k-trunc">
          <Reveal text={memberTitle(t, node)} limit={120} />
        </span>
        <span className="k-sub k-trunc">
          {[kindText(t, { ...member, node: { ...node, detail: undefined } }), tries].filter(Boolean).join(t("run.listJoin"))}
        </span>
        <span className="k-grow" />
        <IconButton icon={X} label={t("common.close")} keys="Esc" size="small" onClick={onClose} />
      </div>
      {facts.error && (
        <div className={member.status === "failed" ? "k-fail k-break dg-message" : "k-mid k-break dg-message"}>
          <Reveal text={facts.error} limit={600} />
        </div>
      )}
      {line && <div className="k-sub k-num dg-line">{line}</div>}
      <div className="k-r k-wrap">
        {facts.child && (
          <Button size="small" icon={ExternalLink} onClick={() => navigate(runAddress(facts.child ?? ""))}>
            {t("run.openChildRun")}
          </Button>
        )}
        <Button
          size="small"
          icon={ScrollText}
          onClick={() => go("logs", facts.log === undefined ? { at: node.startedAt } : { line: facts.log })}
          {...(node.startedAt ? {} : { offBecause: t("run.notStartedYet") })}
        >
          {t("run.openInLogs")}
        </Button>
        {facts.prompt && (
          <Button size="small" onClick={() => setShown({ title: t("run.prompt"), text: facts.prompt ?? "" })}>
            {t("run.prompt")}
          </Button>
        )}
        {facts.answer && (
          <Button size="small" onClick={() => setShown({ title: t("run.answerText"), text: facts.answer ?? "" })}>
            {t("run.answerText")}
          </Button>
        )}
        {node.detail !== undefined && node.detail !== null && !facts.prompt && (
          <Button size="small" look="quiet" onClick={() => setShown({ title: t("run.stepDetails"), value: node.detail })}>
            {t("run.allDetails")}
          </Button>
        )}
      </div>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={shown?.title ?? ""}
        buttons={<Button onClick={() => setShown(null)}>{t("common.close")}</Button>}
      >
        {shown?.text !== undefined && (
          <div className="k-code dg-long">
            <Reveal text={shown.text} limit={20_000} />
          </div>
        )}
        {shown?.value !== undefined && (
          <div className="dg-tree">
            <JsonTree value={shown.value} root="detail" plain label={t("run.stepDetails")} />
          </div>
        )}
      </Dialog>
    </section>
  );
}
