// Phases as lanes, members as boxes, the same as a list, and what is known of the selected one.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useActions } from "../../../app/actions";
import { useNow } from "../../../app/clock";
import { navigate, runAddress, setParams, useParam } from "../../../app/router";
import { useWidth } from "../../../app/useWidth";
import { useI18n } from "../../../i18n";
import { PanelRight } from "lucide-react";
import { IconButton } from "../../../kit/Button";
import { hasEnded } from "../facts";
import { Nothing } from "../parts";
import { remember, remembered } from "../../../app/memory";
import type { TabProps } from "../types";
import { Canvas, type CanvasControl } from "./Canvas";
import { Inspector } from "./Inspector";
import { fit, layout, neighbour, reveal, zoomAt } from "./layout";
import { lanes as makeLanes, nodeFacts } from "./model";
import { StepList } from "./StepList";
import "./diagram.css";

/** Below this width of the view, in rem, the list lies over the canvas. */
const OVERLAY_BELOW = 59.75;

export function DiagramTab({ detail, nodes, go }: TabProps) {
  const { t } = useI18n();
  const { run } = detail;
  const live = !hasEnded(run.status);
  const now = useNow(1000);
  const [step, setStep] = useParam("step");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [follow, setFollow] = useState(live && step === null);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  // Where the list would lie over the canvas it is closed until it is asked for.
  const [kept, setKept] = useState(() => remembered<boolean | null>("run.diagram.side", null));
  const side = kept ?? (width === undefined || width >= OVERLAY_BELOW);
  const control = useRef<CanvasControl | null>(null);

  const lanes = useMemo(() => makeLanes(nodes, run.status), [nodes, run.status]);
  const plan = useMemo(() => layout(lanes, open), [lanes, open]);
  const selected = step ? `n:${step}` : null;
  const members = useMemo(() => lanes.flatMap((lane) => lane.members), [lanes]);
  const member = members.find((one) => `n:${one.node.id}` === selected);
  const foldOf = (key: string) => lanes.find((lane) => lane.members.some((one) => `n:${one.node.id}` === key))?.key;

  const show = useCallback(
    (key: string) => {
      const box = plan.byKey.get(key);
      const at = control.current;
      if (box && at) {
        const { width, height } = at.size();
        at.set(reveal(at.view(), box, width, height));
      }
    },
    [plan],
  );
  const select = (key: string) => {
    const lane = foldOf(key);
    if (!plan.byKey.has(key) && lane !== undefined) setOpen((old) => new Set(old).add(lane));
    setStep(key.slice(2));
    setFollow(false);
    if (!side) setKept(true);
  };
  // What is selected comes into view, also when its lane was folded a moment ago.
  useEffect(() => {
    if (selected && !follow) show(selected);
  }, [selected, show, follow]);

  const newest = useMemo(
    () =>
      members
        .filter((one) => one.status === "running" || one.status === "waiting_for_input")
        .toSorted((a, b) => (b.node.startedAt ?? 0) - (a.node.startedAt ?? 0))[0],
    [members],
  );
  useEffect(() => {
    if (follow && newest) show(`n:${newest.node.id}`);
  }, [follow, newest, show]);

  const openBox = (key: string) => {
    const one = members.find((other) => `n:${other.node.id}` === key);
    if (!one) return;
    const { child, log } = nodeFacts(one.node);
    if (child) navigate(runAddress(child));
    else go("logs", log === undefined ? { at: one.node.startedAt } : { line: log });
  };
  const onPan = useCallback(() => setFollow(false), []);
  const walk = (direction: "up" | "down" | "left" | "right") => {
    const next = neighbour(plan, selected ?? "", direction);
    if (!next) return;
    if (next.member) select(next.key);
    else setOpen((old) => new Set(old).add(next.key.slice(5)));
  };
  const zoom = (factor: number) => {
    const at = control.current;
    if (at) {
      const { width, height } = at.size();
      at.set(zoomAt(at.view(), factor, width / 2, height / 2));
    }
  };
  const toggleSide = () => {
    setKept(!side);
    remember("run.diagram.side", !side);
  };

  useActions([
    { id: "diagram.follow", title: t("run.follow"), group: "view", keys: "F", run: () => setFollow(!follow) },
    { id: "diagram.in", title: t("run.zoomIn"), group: "view", keys: "+", alias: ["="], palette: false, run: () => zoom(1.25) },
    { id: "diagram.out", title: t("run.zoomOut"), group: "view", keys: "-", palette: false, run: () => zoom(1 / 1.25) },
    {
      id: "diagram.fit",
      title: t("run.fit"),
      group: "view",
      keys: "0",
      palette: false,
      run: () => {
        const at = control.current;
        if (at) {
          setFollow(false);
          const { width, height } = at.size();
          at.set(fit(plan, width, height, at.life()));
        }
      },
    },
    { id: "diagram.up", title: t("run.walkUp"), group: "view", keys: "↑", palette: false, run: () => walk("up") },
    { id: "diagram.down", title: t("run.walkDown"), group: "view", keys: "↓", palette: false, run: () => walk("down") },
    { id: "diagram.left", title: t("run.walkLeft"), group: "view", keys: "←", palette: false, run: () => walk("left") },
    { id: "diagram.right", title: t("run.walkRight"), group: "view", keys: "→", palette: false, run: () => walk("right") },
    { id: "diagram.open", title: t("run.openStep"), group: "view", keys: "Enter", palette: false, run: () => selected && openBox(selected) },
    { id: "diagram.side", title: t("run.stepsToggle"), group: "view", keys: "]", run: toggleSide },
    ...(selected
      ? [{ id: "diagram.close", title: t("common.close"), group: "view" as const, keys: "Esc", palette: false, run: () => setParams({ step: null }) }]
      : []),
  ]);

  if (nodes.length === 0) return <Nothing text={t(live ? "run.noStepsYet" : "run.noSteps")} />;
  return (
    <div ref={root} className="dg" data-side={side || undefined}>
      <Canvas
        plan={plan}
        lanes={lanes}
        selected={selected}
        now={now}
        end={run.finishedAt ?? undefined}
        follow={follow}
        control={control}
        onSelect={select}
        onOpen={openBox}
        onPan={onPan}
        onFollow={() => setFollow(!follow)}
        onUnfold={(lane) => setOpen((old) => new Set(old).add(lane))}
      />
      {!side && <IconButton icon={PanelRight} label={t("run.stepsToggle")} keys="]" bordered className="dg-side-open" onClick={toggleSide} />}
      {side && (
        <aside className="dg-side" aria-label={t("run.steps")}>
          <StepList
            lanes={lanes}
            selected={selected}
            now={now}
            end={run.finishedAt ?? undefined}
            onSelect={select}
            onOpen={openBox}
            onHide={toggleSide}
          />
          {member && <Inspector member={member} now={now} end={run.finishedAt ?? undefined} onClose={() => setParams({ step: null })} go={go} />}
        </aside>
      )}
    </div>
  );
}
