// The canvas of the diagram: boxes and lines, moved and zoomed with the pointer. It is hidden from assistive technology;
// the list beside it says the same and is complete.
import { memo, type PointerEvent, type RefObject, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { LocateFixed, Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { useI18n } from "../../../i18n";
import { Button, IconButton } from "../../../kit/Button";
import { Glyph } from "../../../kit/Glyph";
import type { Lane } from "./model";
import { caption } from "./model";
import { hold, BOX, type Box, fit, type Layout, SCALES, type View, visible, zoomAt } from "./layout";
import { captionText, kindText, laneTitle, memberGlyph, memberMs, memberTitle } from "./words";

/** How large 16 px are at the present text size. */
function useLife(): number {
  const [life] = useState(() => (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16) / 16);
  return life;
}

/** Below this zoom a box is only its glyph and a bar of its state's colour. */
const PLAIN_BELOW = 0.4;

export interface CanvasControl {
  view: () => View;
  set: (view: View) => void;
  size: () => { width: number; height: number };
  life: () => number;
}

interface CanvasProps {
  plan: Layout;
  lanes: readonly Lane[];
  selected: string | null;
  now: number;
  end: number | undefined;
  follow: boolean;
  control: RefObject<CanvasControl | null>;
  onSelect: (key: string) => void;
  onOpen: (key: string) => void;
  onPan: () => void;
  onFollow: () => void;
  onUnfold: (lane: string) => void;
}

export function Canvas({ plan, lanes, selected, now, end, follow, control, onSelect, onOpen, onPan, onFollow, onUnfold }: CanvasProps) {
  const { t } = useI18n();
  const frame = useRef<HTMLDivElement>(null);
  const world = useRef<HTMLDivElement>(null);
  const heads = useRef<HTMLDivElement>(null);
  // Boxes are drawn in pixels at text size 100 %; larger text is a larger world.
  const life = useLife();
  const view = useRef<View>({ x: 0, y: 0, scale: life });
  const size = useRef({ width: 0, height: 0 });
  const [shown, setShown] = useState<Box[]>([]);
  const [scale, setScale] = useState(life);
  const raf = useRef(0);
  const mini = useRef<HTMLCanvasElement>(null);
  const planRef = useRef(plan);

  // Moving the view touches one transform; boxes are only exchanged when others come into sight.
  const draw = useCallback(() => {
    raf.current = 0;
    const { x, y, scale: zoom } = view.current;
    if (world.current) world.current.style.transform = `translate(${x}px, ${y}px) scale(${zoom})`;
    // Captions of lanes stay at the top however far down one is.
    if (heads.current) {
      heads.current.style.transform = `translateY(${Math.max(0, -y / zoom)}px)`;
      heads.current.toggleAttribute("data-stuck", y < 0);
    }
    if (frame.current) {
      frame.current.style.backgroundPosition = `${x + 4}px ${y + 2}px`;
      frame.current.style.setProperty("--zoom", String(zoom));
    }
    const next = visible(planRef.current.boxes, view.current, size.current.width, size.current.height);
    setShown((old) => (old.length === next.length && old.every((box, index) => box === next[index]) ? old : next));
    setScale(zoom);
    if (mini.current) drawMini(mini.current, planRef.current, view.current, size.current);
  }, []);
  const schedule = useCallback(() => {
    if (!raf.current) raf.current = requestAnimationFrame(draw);
  }, [draw]);
  const set = useCallback(
    (next: View) => {
      view.current = hold(next, planRef.current, size.current.width, size.current.height);
      schedule();
    },
    [schedule],
  );

  useLayoutEffect(() => {
    planRef.current = plan;
    draw();
  }, [plan, draw]);
  useImperativeHandle(control, (): CanvasControl => ({ view: () => view.current, set, size: () => size.current, life: () => life }), [set, life]);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      size.current = { width: element.clientWidth, height: element.clientHeight };
      schedule();
    });
    observer.observe(element);
    size.current = { width: element.clientWidth, height: element.clientHeight };
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey)
        set(
          zoomAt(view.current, Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0035)), event.clientX - box.left, event.clientY - box.top),
        );
      else {
        const line = event.deltaMode === 1 ? 20 : 1;
        const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
        set({ ...view.current, x: view.current.x - dx * line, y: view.current.y - dy * line });
      }
      onPan();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", onWheel);
      cancelAnimationFrame(raf.current);
      raf.current = 0;
    };
  }, [schedule, set, onPan]);

  const drag = useRef<{ id: number; x: number; y: number; moved: boolean } | null>(null);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 && event.button !== 1) return;
    drag.current = { id: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = drag.current;
    if (!from || from.id !== event.pointerId) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (!from.moved && Math.hypot(dx, dy) < 4) return;
    if (!from.moved) {
      from.moved = true;
      frame.current?.setPointerCapture(event.pointerId);
      onPan();
    }
    from.x = event.clientX;
    from.y = event.clientY;
    set({ ...view.current, x: view.current.x + dx, y: view.current.y + dy });
  };
  const onPointerUp = (event: PointerEvent) => {
    const from = drag.current;
    drag.current = null;
    if (from?.moved) {
      event.preventDefault();
      return;
    }
    const target = (event.target as HTMLElement).closest<HTMLElement>("[data-box]");
    if (!target) return;
    const key = target.dataset.box ?? "";
    if (key.startsWith("fold:")) onUnfold(key.slice(5));
    else onSelect(key);
  };
  const middle = (factor: number) => set(zoomAt(view.current, factor, size.current.width / 2, size.current.height / 2));
  const plain = scale < PLAIN_BELOW * life;

  return (
    <div className="dg-frame">
      <div
        ref={frame}
        className="dg-canvas"
        aria-hidden="true"
        data-plain={plain || undefined}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          drag.current = null;
        }}
        onDoubleClick={(event) => {
          const key = (event.target as HTMLElement).closest<HTMLElement>("[data-box]")?.dataset.box;
          if (key && !key.startsWith("fold:")) onOpen(key);
        }}
      >
        <div ref={world} className="dg-world" style={{ width: plan.width, height: plan.height }}>
          <svg className="dg-edges" width={plan.width} height={plan.height} fill="none">
            <path d={plan.edges.dashed} className="dg-edge-dashed" />
            <path d={plan.edges.dashedArrows} className="dg-arrow-dashed" />
            <path d={plan.edges.solid} className="dg-edge" />
            <path d={plan.edges.arrows} className="dg-arrow" />
          </svg>
          {shown.map((box) => (
            <BoxView
              key={box.key}
              box={box}
              selected={box.key === selected}
              plain={plain}
              glyph={(plain ? 28 : 16) / life}
              ms={
                box.member
                  ? Math.round((memberMs(box.member, now, end) ?? -1000) / (box.member.status === "running" ? 1000 : 1)) *
                    (box.member.status === "running" ? 1000 : 1)
                  : -1
              }
            />
          ))}
          <div ref={heads} className="dg-heads" style={{ width: plan.width }}>
            {lanes.map((lane, index) => (
              <div key={lane.key} className="dg-lane" style={{ left: plan.laneX[index] ?? 0, width: BOX.width }}>
                <span className="k-semi k-trunc">{laneTitle(t, lane)}</span>
                <span className="k-xs k-dim k-trunc">{captionText(t, caption(lane.members))}</span>
              </div>
            ))}
          </div>
        </div>
      </div>
      <div className="dg-tools">
        <span className="dg-group">
          <IconButton icon={ZoomOut} label={t("run.zoomOut")} keys="-" disabled={scale <= SCALES.least} onClick={() => middle(1 / 1.25)} />
          <span className="k-sm k-num k-mid dg-scale">{t("run.percent", { n: Math.round((scale / life) * 100) })}</span>
          <IconButton icon={ZoomIn} label={t("run.zoomIn")} keys="+" disabled={scale >= SCALES.most} onClick={() => middle(1.25)} />
        </span>
        <span className="dg-group">
          <IconButton
            icon={Maximize}
            label={t("run.fit")}
            keys="0"
            onClick={() => {
              onPan();
              set(fit(plan, size.current.width, size.current.height, life));
            }}
          />
        </span>
        <Button icon={LocateFixed} keys="F" aria-pressed={follow} className="dg-follow" onClick={onFollow}>
          {t("run.follow")}
        </Button>
      </div>
      <canvas
        ref={mini}
        className="dg-mini"
        aria-hidden="true"
        onPointerDown={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const ratio = miniRatio(plan, box.width, box.height);
          onPan();
          set({
            ...view.current,
            x: size.current.width / 2 - ((event.clientX - box.left - 4) / ratio.x) * view.current.scale,
            y: size.current.height / 2 - ((event.clientY - box.top - 4) / ratio.y) * view.current.scale,
          });
        }}
      />
    </div>
  );
}

const BoxView = memo(function BoxView({
  box,
  selected,
  plain,
  glyph,
  ms,
}: {
  box: Box;
  selected: boolean;
  plain: boolean;
  glyph: number;
  ms: number;
}) {
  const { t, format } = useI18n();
  const { member } = box;
  const style = { transform: `translate(${box.x}px, ${box.y}px)`, width: BOX.width, height: BOX.height };
  if (!member) {
    return (
      <div data-box={box.key} className="dg-box dg-fold" style={style}>
        <Glyph name="success" label="" size={glyph} />
        <span className="k-med k-trunc">{t("run.foldCompleted", { n: box.completed ?? 0 })}</span>
      </div>
    );
  }
  return (
    <div
      data-box={box.key}
      data-status={member.status}
      data-selected={selected || undefined}
      data-queued={member.status === "queued" || member.status === "skipped" || undefined}
      className="dg-box"
      style={style}
    >
      <Glyph name={memberGlyph(member.status, member.node)} label="" size={glyph} />
      {!plain && (
        <span className="k-col k-grow">
          <span className="k-med k-trunc">{memberTitle(t, member.node)}</span>
          <span className="k-r k-xs k-dim dg-box-second">
            <span className="k-trunc k-grow">{kindText(t, member)}</span>
            {ms >= 0 && <span className="k-num">{format.duration(ms)}</span>}
          </span>
        </span>
      )}
    </div>
  );
});

/** A very long or very wide plan is squeezed in one direction, so that its parts stay visible. */
function miniRatio(plan: Layout, width: number, height: number): { x: number; y: number } {
  const [x, y] = [(width - 8) / plan.width, (height - 8) / plan.height];
  const even = Math.min(x, y);
  return { x: Math.min(x, even * 8), y: Math.min(y, even * 8) };
}

function drawMini(canvas: HTMLCanvasElement, plan: Layout, view: View, size: { width: number; height: number }): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0) return;
  const dpr = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dpr)) {
    canvas.width = Math.round(width * dpr);
    canvas.height = Math.round(height * dpr);
  }
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name).trim() || "gray";
  const ratio = miniRatio(plan, width, height);
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.clearRect(0, 0, width, height);
  const colours: Record<string, string> = {
    failed: colour("--fail-solid"),
    running: colour("--run-solid"),
    waiting_for_input: colour("--wait-solid"),
    interrupted: colour("--intr-solid"),
    success: colour("--idle-solid"),
    cancelled: colour("--ghost"),
    queued: colour("--line-strong"),
    skipped: colour("--line-strong"),
  };
  for (const box of plan.boxes) {
    context.fillStyle = colours[box.member?.status ?? "success"] ?? "gray";
    context.fillRect(4 + box.x * ratio.x, 4 + box.y * ratio.y, Math.max(2, BOX.width * ratio.x), Math.max(1, BOX.height * ratio.y * 0.8));
  }
  context.strokeStyle = colour("--ink-2");
  context.lineWidth = 1;
  const [x, y] = [4 - (view.x / view.scale) * ratio.x, 4 - (view.y / view.scale) * ratio.y];
  const [w, h] = [(size.width / view.scale) * ratio.x, (size.height / view.scale) * ratio.y];
  const [left, top] = [Math.max(1, x), Math.max(1, y)];
  context.strokeRect(left + 0.5, top + 0.5, Math.max(4, Math.min(width - 2, x + w) - left), Math.max(4, Math.min(height - 2, y + h) - top));
}
