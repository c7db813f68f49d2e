// Which rows a log shows: every position, less what is folded away or left out by the store, or only chosen positions.

export interface PhaseRange {
  id: number;
  title: string;
  /** first position */ from: number;
  /** after the last */ to: number;
  ms?: number;
  now?: boolean;
}
export type LogRow =
  | { kind: "entry"; position: number }
  | { kind: "head"; phase: PhaseRange; folded: boolean }
  | { kind: "cut"; position: number; entries: number; bytes: number }
  | { kind: "gap"; from: number; to: number };

export interface Cut {
  position: number;
  entries: number;
  bytes: number;
}

interface Segment {
  row: number;
  rows: number;
  from: number;
  make: (offset: number) => LogRow;
}

/** The rows of a log, without ever holding a list of them. */
export class LogRows {
  private segments: Segment[] = [];
  readonly count: number;

  private constructor(segments: Segment[], count: number) {
    this.segments = segments;
    this.count = count;
  }

  /** Every position below `end`, in phases; folded ones are their head only. */
  static all(end: number, phases: readonly PhaseRange[], folded: ReadonlySet<number>, cut: Cut | undefined): LogRows {
    const segments: Segment[] = [];
    let count = 0;
    const push = (rows: number, from: number, make: (offset: number) => LogRow) => {
      if (rows <= 0) return;
      segments.push({ row: count, rows, from, make });
      count += rows;
    };
    const entries = (from: number, to: number) => {
      if (cut && cut.entries > 0 && cut.position >= from && cut.position < Math.max(to, from + 1)) {
        push(cut.position - from, from, (offset) => ({ kind: "entry", position: from + offset }));
        push(1, cut.position, () => ({ kind: "cut", ...cut }));
        const after = Math.min(to, cut.position + cut.entries);
        push(to - after, after, (offset) => ({ kind: "entry", position: after + offset }));
      } else push(to - from, from, (offset) => ({ kind: "entry", position: from + offset }));
    };
    let at = 0;
    for (const phase of phases) {
      if (phase.from < at || phase.from >= end) continue;
      entries(at, phase.from);
      const isFolded = folded.has(phase.id);
      const to = Math.min(end, Math.max(phase.from, phase.to));
      push(1, phase.from, () => ({ kind: "head", phase: { ...phase, to }, folded: isFolded }));
      if (!isFolded) entries(phase.from, to);
      at = to;
    }
    entries(at, end);
    return new LogRows(segments, count);
  }

  /** Only these positions, in order. With `around`, that many lines before and after each, and a gap between. */
  static chosen(positions: readonly number[], end: number, around = 0): LogRows {
    if (around === 0) {
      const make = (offset: number): LogRow => ({ kind: "entry", position: positions[offset] ?? 0 });
      return new LogRows(positions.length ? [{ row: 0, rows: positions.length, from: positions[0] ?? 0, make }] : [], positions.length);
    }
    const segments: Segment[] = [];
    let count = 0;
    let shown = 0;
    let index = 0;
    while (index < positions.length) {
      const first = positions[index] ?? 0;
      const from = Math.max(shown, first - around);
      let to = Math.min(end, first + around + 1);
      index += 1;
      while (index < positions.length && (positions[index] ?? 0) - around <= to) {
        to = Math.min(end, (positions[index] ?? 0) + around + 1);
        index += 1;
      }
      const gapFrom = shown;
      if (from > gapFrom) {
        segments.push({ row: count, rows: 1, from: gapFrom, make: () => ({ kind: "gap", from: gapFrom, to: from }) });
        count += 1;
      }
      if (to > from) {
        segments.push({ row: count, rows: to - from, from, make: (offset) => ({ kind: "entry", position: from + offset }) });
        count += to - from;
      }
      shown = to;
    }
    return new LogRows(segments, count);
  }

  private segmentOfRow(row: number): Segment | undefined {
    let [low, high] = [0, this.segments.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.segments[middle]?.row ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return this.segments[low];
  }

  at(row: number): LogRow | undefined {
    if (row < 0 || row >= this.count) return undefined;
    const segment = this.segmentOfRow(row);
    return segment?.make(row - segment.row);
  }

  /** The row of a position, or the nearest row that stands for it (its folded head). */
  rowOf(position: number): number {
    let best = 0;
    for (const segment of this.segments) {
      if (segment.from > position) break;
      const first = segment.make(0);
      if (first.kind === "entry" && segment.rows > 0) {
        // Chosen positions are not contiguous: search them.
        let [low, high] = [0, segment.rows - 1];
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          const row = segment.make(middle);
          if (row.kind === "entry" && row.position <= position) low = middle;
          else high = middle - 1;
        }
        best = segment.row + low;
      } else best = segment.row;
    }
    return best;
  }
}

/** The phase whose lines hold a position. */
export function phaseOf(phases: readonly PhaseRange[], position: number): PhaseRange | undefined {
  let found: PhaseRange | undefined;
  for (const phase of phases) if (phase.from <= position && position < phase.to) found = phase;
  return found;
}
