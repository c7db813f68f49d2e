// The whole run as a strip with a brush: drag to zoom, drag an edge or the middle to move it.
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { useI18n } from "../../../i18n";
import type { Bar } from "./model";
import { inside, type Span } from "./scale";

interface OverviewProps {
  whole: Span;
  range: Span;
  bars: readonly Bar[];
  onRange: (range: Span | null) => void;
}

export function Overview({ whole, range, bars, onRange }: OverviewProps) {
  const { t, format } = useI18n();
  const canvas = useRef<HTMLCanvasElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const drag = useRef<{ mode: "new" | "left" | "right" | "move"; start: number; range: Span } | null>(null);
  const span = Math.max(1, whole.to - whole.from);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const dpr = window.devicePixelRatio || 1;
      element.width = Math.round(width * dpr);
      element.height = Math.round(height * dpr);
      const context = element.getContext("2d");
      if (!context || width === 0) return;
      context.setTransform(dpr, 0, 0, dpr, 0, 0);
      const style = getComputedStyle(element);
      const colours: Record<Bar["kind"], string> = {
        ran: style.getPropertyValue("--idle-solid"),
        failed: style.getPropertyValue("--fail-solid"),
        queued: style.getPropertyValue("--line-strong"),
        waited: style.getPropertyValue("--wait-solid"),
      };
      const room = height - 8;
      bars.forEach((bar, index) => {
        context.fillStyle = colours[bar.kind].trim() || "gray";
        const y = 4 + (bars.length > 1 ? (index / (bars.length - 1)) * (room - 2) : room / 2);
        context.fillRect(((bar.from - whole.from) / span) * width, y, Math.max(1.5, ((bar.to - bar.from) / span) * width), bars.length > 60 ? 1 : 2);
      });
    };
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    draw();
    return () => observer.disconnect();
  }, [bars, whole.from, span]);

  const timeAt = (event: PointerEvent) => {
    const box = root.current?.getBoundingClientRect();
    return box ? whole.from + (Math.min(Math.max(event.clientX - box.left, 0), box.width) / box.width) * span : whole.from;
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    const box = event.currentTarget.getBoundingClientRect();
    const time = timeAt(event);
    const near = (at: number) => Math.abs(((at - whole.from) / span) * box.width - (event.clientX - box.left)) < 7;
    const isWhole = range.to - range.from > span * 0.999;
    const mode = near(range.from) ? "left" : near(range.to) ? "right" : !isWhole && time > range.from && time < range.to ? "move" : "new";
    drag.current = { mode, start: time, range };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = drag.current;
    if (!from) return;
    const time = timeAt(event);
    const least = span / 200;
    if (from.mode === "left") onRange({ from: Math.min(time, from.range.to - least), to: from.range.to });
    else if (from.mode === "right") onRange({ from: from.range.from, to: Math.max(time, from.range.from + least) });
    else if (from.mode === "move") onRange(inside({ from: from.range.from + time - from.start, to: from.range.to + time - from.start }, whole));
    else if (Math.abs(time - from.start) > least) onRange({ from: Math.min(time, from.start), to: Math.max(time, from.start) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = (range.to - range.from) * 0.1;
    if (event.key === "ArrowLeft") onRange(inside({ from: range.from - by, to: range.to - by }, whole));
    else if (event.key === "ArrowRight") onRange(inside({ from: range.from + by, to: range.to + by }, whole));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const percent = (at: number) => `${((at - whole.from) / span) * 100}%`;
  return (
    <div
      ref={root}
      className="tl-overview"
      role="slider"
      tabIndex={0}
      aria-label={t("run.overview")}
      aria-valuemin={0}
      aria-valuemax={Math.round(span)}
      aria-valuenow={Math.round(range.from - whole.from)}
      aria-valuetext={t("run.fromTo", { from: format.duration(range.from - whole.from), to: format.duration(range.to - whole.from) })}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        drag.current = null;
      }}
      onPointerCancel={() => {
        drag.current = null;
      }}
      onDoubleClick={() => onRange(null)}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} />
      <span className="tl-brush" style={{ left: percent(range.from), width: `${((range.to - range.from) / span) * 100}%` }} />
    </div>
  );
}
