// Where matches lie in the whole log, beside the scroll bar.
import { useEffect, useRef } from "react";
import type { LogRows } from "./rows";

export function ScrollMarks({ rows, positions, current }: { rows: LogRows; positions: readonly number[]; current: number | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const dpr = window.devicePixelRatio || 1;
      element.width = Math.max(1, Math.round(width * dpr));
      element.height = Math.max(1, Math.round(height * dpr));
      const context = element.getContext("2d");
      if (!context || rows.count === 0 || positions.length === 0) return;
      context.setTransform(dpr, 0, 0, dpr, 0, 0);
      const style = getComputedStyle(element);
      context.fillStyle = style.getPropertyValue("--mark-now").trim();
      // One mark a pixel at most; a hundred thousand matches cost as much as a few hundred.
      const done = new Set<number>();
      const stride = Math.max(1, Math.floor(positions.length / 5_000));
      for (let index = 0; index < positions.length; index += stride) {
        const y = Math.round((rows.rowOf(positions[index] ?? 0) / rows.count) * (height - 3));
        if (done.has(y)) continue;
        done.add(y);
        context.fillRect(2, y, width - 4, 2);
      }
      if (current !== undefined) {
        context.fillStyle = style.getPropertyValue("--ink").trim();
        context.fillRect(0, Math.round((rows.rowOf(current) / rows.count) * (height - 3)), width, 3);
      }
    };
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    draw();
    return () => observer.disconnect();
  }, [rows, positions, current]);
  return positions.length > 0 ? <canvas ref={canvas} className="lg-marks" aria-hidden="true" /> : null;
}
