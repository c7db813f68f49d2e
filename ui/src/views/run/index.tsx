// A run: its head, its tabs, and the list of runs beside it.
import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { RunDetail, RunNode } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { address, navigate, useAddress } from "../../app/router";
import { useTitle } from "../../app/title";
import { useI18n } from "../../i18n";
import { Tabs } from "../../kit/Tabs";
import { Kbd } from "../../kit/Kbd";
import { firstTab, hasEnded, tabsOf } from "./facts";
import { Bone, ErrorState, Late } from "../../kit/States";
import { Boundary } from "./parts";
import { DiagramTab } from "./diagram/DiagramTab";
import { InputTab } from "./input/InputTab";
import { LogsTab } from "./logs/LogsTab";
import { OutputTab } from "./output/OutputTab";
import { QuestionTab } from "./question/QuestionTab";
import { StandingStrip } from "./question/StandingStrip";
import { RunHeader } from "./RunHeader";
import { RunListPane, useListPane } from "./RunListPane";
import { RunStrip } from "./RunStrip";
import { StepsTab } from "./steps/StepsTab";
import { TimelineTab } from "./timeline/TimelineTab";
import { openQuestions, TAB_NAMES, type TabName, type TabProps } from "./types";
import { remember, remembered } from "../../app/memory";
import "./run.css";

const isTab = (name: string | undefined): name is TabName => TAB_NAMES.includes(name as TabName);

export default function RunView() {
  const { segments } = useAddress();
  const run = segments[1] ?? "";
  const root = useRef<HTMLDivElement>(null);
  const list = useListPane(root, run, useData("run", { run }).data?.run.status === "waiting_for_input");
  const short = useShort(root);
  return (
    <div ref={root} className="run-view" data-list={list.open || undefined} data-short={short || undefined}>
      <RunListPane run={run} pane={list} />
      <RunPane key={run} run={run} pane={list} />
    </div>
  );
}

/** Below this height, in rem, the head keeps to what has to be there. */
const SHORT_BELOW = 32;

/** Whether the view is low: a small window, or large text in it. */
function useShort(ref: RefObject<HTMLElement | null>): boolean {
  const [short, setShort] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = () => setShort(element.clientHeight < SHORT_BELOW * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    const styles = new MutationObserver(measure);
    styles.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
    measure();
    return () => {
      sizes.disconnect();
      styles.disconnect();
    };
  }, [ref]);
  return short;
}

function RunPane({ run, pane }: { run: string; pane: ReturnType<typeof useListPane> }) {
  const { t, format } = useI18n();
  const { segments } = useAddress();
  const detail = useData("run", { run });
  const nodes = useData("run_nodes", { run });
  const asked = isTab(segments[2]) ? segments[2] : undefined;
  useTitle(detail.data?.run.entrypointTitle ?? run);
  const heading = useRef<HTMLHeadingElement>(null);

  const data = detail.data;
  const list = nodes.data ?? [];
  const settled = data !== undefined && (nodes.data !== undefined || nodes.error !== null);
  const chosen = useOpening({ run, asked, data: settled ? data : undefined, nodes: list });

  const go = useCallback<TabProps["go"]>((tab, search = {}) => navigate(address(["run", run, tab], search)), [run]);
  const tabs = data ? tabsOf(data, list, asked) : [];
  const tab = asked && tabs.includes(asked) ? asked : undefined;
  const choose = (next: TabName) => {
    remember("run.tab", next);
    chosen();
    navigate(address(["run", run, next]), { replace: true });
  };
  useActions(
    tabs.map((name, index) => ({
      id: `run.tab.${name}`,
      title: t("run.goToTab", { tab: t(`run.tab_${name}`) }),
      group: "view",
      keys: String(index + 1),
      run: () => choose(name),
    })),
  );
  // A tab that isn't this run's (an old link, the question answered) leads to the first that is.
  useEffect(() => {
    if (settled && data && asked && !tabs.includes(asked)) navigate(address(["run", run, firstTab(data, list, null)]), { replace: true });
  });

  if (!data) {
    return (
      <div className="run-pane">
        {detail.error ? (
          <div className="run-padded">
            <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
          </div>
        ) : (
          <Late>
            <RunBones />
          </Late>
        )}
      </div>
    );
  }
  const counts: Partial<Record<TabName, string>> = {
    steps: format.number(list.filter((node) => node.kind === "step").length),
    logs: format.number(data.logLines),
    input: format.number(data.questions.filter((question) => question.answer).length),
  };
  const props: TabProps = { detail: data, nodes: list, go };
  const views: Record<TabName, () => ReactNode> = {
    question: () => <QuestionTab {...props} onSent={() => heading.current?.focus()} />,
    steps: () => <StepsTab {...props} />,
    output: () => <OutputTab {...props} />,
    diagram: () => <DiagramTab {...props} />,
    timeline: () => <TimelineTab {...props} />,
    logs: () => <LogsTab {...props} />,
    input: () => <InputTab {...props} />,
  };
  return (
    <div className="run-pane" onPointerDownCapture={chosen} onWheelCapture={chosen} onKeyDownCapture={chosen}>
      <RunHeader detail={data} heading={heading} pane={pane} tab={tab} />
      {openQuestions(data).length > 0 ? <StandingStrip detail={data} /> : <RunStrip detail={data} nodes={list} go={go} />}
      <Tabs
        label={t("run.tabs")}
        value={tab ?? ""}
        tabs={tabs.map((name) => ({ value: name, label: t(`run.tab_${name}`), ...(counts[name] === undefined ? {} : { count: counts[name] }) }))}
        onChange={(next) => isTab(next) && choose(next)}
        end={
          <span className="run-tab-keys">
            <Kbd keys="1" />–<Kbd keys={String(tabs.length)} />
          </span>
        }
      >
        {tab && <Boundary key={tab}>{views[tab]()}</Boundary>}
      </Tabs>
    </div>
  );
}

interface Opening {
  run: string;
  /** The tab in the address. */
  asked: TabName | undefined;
  /** Once all that decides is known. */
  data: RunDetail | undefined;
  nodes: readonly RunNode[];
}

/**
 * Leads to the tab a run opens at. That is decided once, when it is known. Who then only looks is led on when the run ends, to
 * what came of it; who chose a tab, or anything in it, is not moved. What it gives is to be called when a tab is chosen.
 */
function useOpening({ run, asked, data, nodes }: Opening): () => void {
  const lastUsed = remembered<string | null>("run.tab", null);
  const ended = data && hasEnded(data.run.status);
  const undecided = data !== undefined && !asked && !ended && lastUsed === null;
  const project = useData("project_overview", { project: data?.run.project ?? "" }, { enabled: undecided });
  const known = !undecided || project.data !== undefined || project.error !== null;
  const entrypoint = project.data?.entrypoints.find((one) => one.id === data?.run.entrypointId);
  /** The address that was found for a person, as long as the run goes on and nobody chose another. */
  const led = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (!data) return;
    const lead = () => {
      const tab = firstTab(data, nodes, lastUsed, entrypoint?.source === "command" ? "command" : "other");
      navigate(address(["run", run, tab], Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? ""))), { replace: true });
      // A question stays before the person who answered it.
      led.current = ended || tab === "question" ? undefined : location.hash;
    };
    if (!asked) {
      if (known) lead();
    } else if (led.current !== undefined && led.current !== location.hash) led.current = undefined;
    else if (led.current !== undefined && ended) lead();
  });
  return useCallback(() => {
    led.current = undefined;
  }, []);
}

/** The frame of a run with grey bars where its text will be. */
function RunBones() {
  return (
    <div className="run-bones" aria-hidden="true">
      <Bone width="16rem" height="1.25rem" />
      <Bone width="30rem" />
      <Bone width="100%" height="0.375rem" />
      <Bone width="24rem" height="1rem" />
      <Bone width="60%" />
      <Bone width="52%" />
      <Bone width="57%" />
    </div>
  );
}
