// A guided workflow: its steps as a thread, and for one step its gate, what it gave and how often it was tried.
import { type KeyboardEvent, useRef } from "react";
import { flushSync } from "react-dom";
import { FileText, Tag as TagIcon } from "lucide-react";
import { useActions } from "../../../app/actions";
import { useNow } from "../../../app/clock";
import { useParam } from "../../../app/router";
import { useI18n } from "../../../i18n";
import { Tag } from "../../../kit/Chip";
import { Glyph, type GlyphName } from "../../../kit/Glyph";
import { Icon } from "../../../kit/Icon";
import { Reveal } from "../../../kit/Reveal";
import { Some } from "../../../kit/Some";
import { Empty } from "../../../kit/States";
import { hasEnded } from "../facts";
import type { TabProps } from "../types";
import { type GuidedStep, thread, type ThreadItem } from "./model";
import "./steps.css";

const glyphOf = ({ node, step }: ThreadItem): GlyphName => (step?.override ? "overridden" : node.status === "queued" ? "todo" : node.status);

export function StepsTab({ detail, nodes }: TabProps) {
  const { t, format } = useI18n();
  const live = !hasEnded(detail.run.status);
  const tick = useNow(1000);
  const now = live ? tick : (detail.run.finishedAt ?? tick);
  const [chosen, setChosen] = useParam("step");
  const items = thread(nodes);
  const list = useRef<HTMLUListElement>(null);
  const current =
    items.find((item) => String(item.node.id) === chosen) ??
    items.find((item) => item.node.status === "running" || item.node.status === "waiting_for_input") ??
    items.findLast((item) => item.node.startedAt) ??
    items[0];
  const index = current ? items.indexOf(current) : -1;
  const reach = (next: number) => {
    const item = items[Math.max(0, Math.min(items.length - 1, next))];
    if (!item) return;
    // What is reached may not be drawn yet.
    flushSync(() => setChosen(String(item.node.id)));
    list.current?.querySelectorAll<HTMLElement>("button")[items.indexOf(item)]?.focus();
  };
  useActions([
    { id: "steps.next", title: t("run.nextStep"), group: "view", keys: "J", palette: false, run: () => reach(index + 1) },
    { id: "steps.previous", title: t("run.previousStep"), group: "view", keys: "K", palette: false, run: () => reach(index - 1) },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const next =
      event.key === "ArrowDown"
        ? index + 1
        : event.key === "ArrowUp"
          ? index - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? items.length - 1
              : undefined;
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    reach(next);
  };
  const took = (item: ThreadItem) => (item.node.startedAt ? format.duration((item.node.finishedAt ?? now) - item.node.startedAt) : "");
  const stateOf = (item: ThreadItem): { text: string; tone?: string } => {
    const { step, node } = item;
    if (step?.override) return { text: t("run.stepPassedWithReason"), tone: "k-wait" };
    if (step?.quietSince !== undefined && node.status === "running")
      return { text: t("run.stepQuiet", { at: format.time(step.quietSince) }), tone: "k-dim" };
    if (node.status === "running")
      return step?.with ? { text: t("run.stepWith", { who: step.with }), tone: "k-run" } : { text: t("run.stepRunning"), tone: "k-run" };
    if (node.status === "success") return { text: t("run.stepPassed") };
    if (node.status === "failed") return { text: t("run.stepFailed"), tone: "k-fail" };
    if (node.status === "skipped") return { text: t("run.stepSkipped") };
    if (node.status === "waiting_for_input") return { text: t("run.stepWaits"), tone: "k-wait" };
    return step?.isNested ? { text: t("run.stepSubWorkflow") } : { text: "" };
  };
  return (
    <div className="gd">
      <div className="gd-side">
        <Some items={items} atLeast={index + 2}>
          {(shown) => (
            <ul className="gd-thread" ref={list} onKeyDown={onKeyDown} aria-label={t("run.tab_steps")}>
              {shown.map((item, at) => {
                const state = stateOf(item);
                const begun = item.node.status !== "queued" && item.node.status !== "skipped";
                return (
                  <li key={item.node.id} style={{ paddingLeft: `${item.depth * 1.25}rem` }}>
                    <button
                      type="button"
                      className="gd-item"
                      aria-current={item === current ? "step" : undefined}
                      tabIndex={item === current ? 0 : -1}
                      data-line={(items[at + 1]?.depth ?? -1) >= item.depth ? (items[at + 1]?.node.startedAt ? "done" : "next") : undefined}
                      onClick={() => setChosen(String(item.node.id))}
                    >
                      <span className="gd-mark">
                        <Glyph name={glyphOf(item)} />
                      </span>
                      <span className="k-col k-grow">
                        <span className="k-r">
                          <span className={begun ? "k-semi k-trunc k-grow" : "k-mid k-trunc k-grow"}>{item.node.title}</span>
                          <span className="k-sub k-num">{took(item)}</span>
                        </span>
                        <span className="k-sub k-trunc">
                          <span className="k-mono gd-id">{item.step?.id ?? item.node.title}</span>
                          {state.text && (
                            <>
                              {" "}
                              · <span className={state.tone}>{state.text}</span>
                            </>
                          )}
                        </span>
                      </span>
                    </button>
                  </li>
                );
              })}
            </ul>
          )}
        </Some>
      </div>
      <div className="gd-main">{current ? <StepDetails item={current} /> : <Empty title={t("run.noSteps")} />}</div>
    </div>
  );
}

const gateGlyph = (status: GuidedStep["gate"][number]["status"]): GlyphName => status;

function StepDetails({ item }: { item: ThreadItem }) {
  const { t, format } = useI18n();
  const { node, step } = item;
  const failed = step?.gate.filter((check) => check.status === "failed").length ?? 0;
  const passed = step?.gate.filter((check) => check.status === "success").length ?? 0;
  const facts = [
    step && step.tries.length > 1 ? t("run.tryN", { n: step.tries.length }) : undefined,
    node.finishedAt
      ? t("run.finishedAt", { at: format.timeSeconds(node.finishedAt) })
      : node.startedAt
        ? t("run.since", { at: format.timeSeconds(node.startedAt) })
        : undefined,
  ]
    .filter(Boolean)
    .join(t("run.listJoin"));
  return (
    <>
      <div className="k-r k-wrap">
        <h2 className="k-h2 k-break">{node.title}</h2>
        {step?.override && (
          <Tag tone="wait">
            <Glyph name="overridden" size={12} label="" />
            {t("run.stepPassedWithReason")}
          </Tag>
        )}
        <span className="k-grow" />
        <span className="k-sub k-num">{facts}</span>
      </div>
      {step?.override && (
        <div className="gd-override">
          <Glyph name="overridden" size={18} label="" />
          <div className="k-col">
            <span className="k-med">{t("run.overridden")}</span>
            <span className="k-break">{t("run.quoted", { text: step.override.reason })}</span>
            <span className="k-sub">
              {[step.override.by, step.override.at === undefined ? undefined : format.timeSeconds(step.override.at)]
                .filter(Boolean)
                .join(t("run.listJoin"))}
              . {t("run.keptForEver")}
            </span>
          </div>
        </div>
      )}
      {step && step.gate.length > 0 && (
        <section>
          <div className="k-section-head">
            <h3 className="k-h3">{t("run.qualityGate")}</h3>
            <span className="k-sub">
              {[
                passed > 0 ? t("run.reviewsPassed", { count: passed }) : undefined,
                failed > 0 ? t(step.override ? "run.reviewsOverridden" : "run.reviewsFailed", { count: failed }) : undefined,
              ]
                .filter(Boolean)
                .join(t("run.listJoin"))}
            </span>
          </div>
          <Some items={step.gate}>
            {(shown) => (
              <ul className="k-panel k-rows">
                {shown.map((check, index) => (
                  <li key={index} className="gd-row gd-row-tall">
                    <Glyph name={gateGlyph(check.status)} />
                    <span className="k-col k-grow">
                      <span className="k-med k-break">{check.title}</span>
                      {check.note && <span className="k-sub k-break">{check.note}</span>}
                    </span>
                    <span className="k-sub k-num">{check.ms === undefined ? "" : format.duration(check.ms)}</span>
                  </li>
                ))}
              </ul>
            )}
          </Some>
        </section>
      )}
      {step && step.outputs.length > 0 && (
        <section>
          <div className="k-section-head">
            <h3 className="k-h3">{t("run.outputs")}</h3>
          </div>
          <Some items={step.outputs}>
            {(shown) => (
              <ul className="k-panel k-rows">
                {shown.map((output) => (
                  <li key={output.name} className="gd-row">
                    <span className="k-dim">
                      <Icon of={output.path ? FileText : TagIcon} />
                    </span>
                    <span className={output.path ? "k-mono k-break k-grow" : "k-break k-grow"}>
                      <Reveal text={output.path ?? output.value ?? ""} limit={400} />
                    </span>
                    <span className="k-sub k-trunc">{output.name}</span>
                    <span className="k-sm k-num k-mid gd-size">{output.bytes === undefined ? "" : format.bytes(output.bytes)}</span>
                  </li>
                ))}
              </ul>
            )}
          </Some>
        </section>
      )}
      {step && step.tries.length > 0 && (
        <section>
          <div className="k-section-head">
            <h3 className="k-h3">{t("run.tries")}</h3>
          </div>
          <ul className="k-panel k-rows">
            {step.tries.map((one) => (
              <li key={one.number} className="gd-row">
                <Glyph name={one.status} />
                <span className="k-med k-num gd-try">{t("run.tryTitle", { n: one.number })}</span>
                <span className="k-mid k-break k-grow">{one.note ?? ""}</span>
                <span className="k-sub k-num">{one.ms === undefined ? "" : format.duration(one.ms)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {(!step || (step.gate.length === 0 && step.outputs.length === 0 && step.tries.length === 0 && !step.override)) && (
        <Empty inline title={t(node.startedAt ? "run.stepNothingYet" : "run.stepNotStartedYet")} />
      )}
    </>
  );
}
