// Time to pixels and back, with idle stretches shrunk, and the ticks of the axis.

export interface Span {
  from: number;
  to: number;
}
export interface Gap extends Span {
  /** a person was waited for */ waited: boolean;
}

/** Pixels of a shrunk idle stretch. */
export const GAP_WIDTH = 92;
const GAP_LEAST_MS = 10_000;
const GAP_LEAST_SHARE = 0.05;

/** Joins overlapping spans. */
export function union(spans: readonly Span[]): Span[] {
  const sorted = spans.filter((span) => span.to >= span.from).toSorted((a, b) => a.from - b.from);
  const out: Span[] = [];
  for (const span of sorted) {
    const last = out.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else out.push({ ...span });
  }
  return out;
}

export const length = (spans: readonly Span[]): number => spans.reduce((sum, span) => sum + span.to - span.from, 0);

/** Spans less other spans. */
export function without(spans: readonly Span[], less: readonly Span[]): Span[] {
  let rest = union(spans);
  for (const cut of union(less)) {
    rest = rest.flatMap((span) => {
      if (cut.to <= span.from || cut.from >= span.to) return [span];
      const parts: Span[] = [];
      if (cut.from > span.from) parts.push({ from: span.from, to: cut.from });
      if (cut.to < span.to) parts.push({ from: cut.to, to: span.to });
      return parts;
    });
  }
  return rest;
}

/** Stretches in which nothing was at work, for more than 5 % of the run and 10 s. */
export function idleGaps(whole: Span, busy: readonly Span[], waits: readonly Span[]): Gap[] {
  const least = Math.max(GAP_LEAST_MS, (whole.to - whole.from) * GAP_LEAST_SHARE);
  return without([whole], busy)
    .filter((span) => span.to - span.from > least)
    .map((span) => ({ ...span, waited: length(without([span], waits)) < (span.to - span.from) / 2 }));
}

export interface Tick {
  at: number;
  x: number;
}
export interface TimeScale {
  readonly range: Span;
  readonly width: number;
  readonly gaps: (Gap & { x: number; width: number })[];
  x(at: number): number;
  time(x: number): number;
  ticks(leastPixels: number): Tick[];
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
  7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** A scale over `range`, `width` pixels wide. Gaps in range shrink to 92 px each, as long as half of the width is left. */
export function timeScale(range: Span, width: number, gaps: readonly Gap[]): TimeScale {
  const span = Math.max(1, range.to - range.from);
  const inside = gaps
    .map((gap) => ({ ...gap, from: Math.max(gap.from, range.from), to: Math.min(gap.to, range.to) }))
    .filter((gap) => gap.to - gap.from > span * 0.02);
  const gapWidth = inside.length === 0 ? 0 : Math.min(GAP_WIDTH, width / 2 / inside.length);
  const live = Math.max(1, span - length(inside));
  const perMs = Math.max(0, width - gapWidth * inside.length) / live;
  // Only shrink: a short gap must not grow.
  const useful = inside.filter((gap) => (gap.to - gap.from) * perMs > gapWidth);
  if (useful.length < inside.length) return timeScale(range, width, useful);

  const pieces: { from: number; to: number; x: number; perMs: number }[] = [];
  const placed: (Gap & { x: number; width: number })[] = [];
  let [at, x] = [range.from, 0];
  for (const gap of inside) {
    pieces.push({ from: at, to: gap.from, x, perMs });
    x += (gap.from - at) * perMs;
    pieces.push({ from: gap.from, to: gap.to, x, perMs: gapWidth / (gap.to - gap.from) });
    placed.push({ ...gap, x, width: gapWidth });
    x += gapWidth;
    at = gap.to;
  }
  pieces.push({ from: at, to: Math.max(at + 1, range.to), x, perMs });

  const scale: TimeScale = {
    range,
    width,
    gaps: placed,
    x(time) {
      const piece = pieces.find((one) => time < one.to) ?? pieces[pieces.length - 1];
      return piece ? piece.x + (time - piece.from) * piece.perMs : 0;
    },
    time(place) {
      let found = pieces[0];
      for (const piece of pieces) if (piece.x <= place) found = piece;
      return found ? found.from + (found.perMs > 0 ? (place - found.x) / found.perMs : 0) : range.from;
    },
    ticks(leastPixels) {
      const step = STEPS.find((one) => one * perMs >= leastPixels) ?? STEPS.at(-1) ?? 1;
      const out: Tick[] = [];
      // Ticks count from the range's own origin, which is the run's start as long as nothing is zoomed.
      const origin = range.from;
      for (let offset = 0; offset <= span && out.length < 200; offset += step) {
        const time = origin + offset;
        if (placed.some((gap) => time > gap.from && time < gap.to)) continue;
        const place = scale.x(time);
        const last = out.at(-1);
        if (last && place - last.x < leastPixels * 0.6) continue;
        if (placed.some((gap) => place > gap.x - leastPixels * 0.4 && place < gap.x + gap.width + leastPixels * 0.2)) continue;
        out.push({ at: time, x: place });
      }
      return out;
    },
  };
  return scale;
}

/** Zooms a range around a time, within the whole. */
export function zoomRange(range: Span, whole: Span, factor: number, around: number): Span {
  const span = Math.min(whole.to - whole.from, Math.max(10, (range.to - range.from) / factor));
  const share = (around - range.from) / Math.max(1, range.to - range.from);
  return inside({ from: around - span * share, to: around + span * (1 - share) }, whole);
}

/** Moves a range so that it lies within the whole. */
export function inside(range: Span, whole: Span): Span {
  const span = Math.min(range.to - range.from, whole.to - whole.from);
  const from = Math.min(Math.max(range.from, whole.from), whole.to - span);
  return { from, to: from + span };
}
