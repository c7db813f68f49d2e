// A scrolling list of any number of rows, of which only those in sight exist. Heights are learnt as rows are seen; what
// is in sight stays where it is when rows above it change.
//
// The rows lie in a layer that sticks to the top of the window of the list, so that no position is ever millions of
// pixels (where browsers round); scrolling moves the layer by less than a row, or exchanges its rows.
import { type ReactNode, type RefObject, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { Heights } from "./heights";

/** Browsers can't make an element higher than some 33 million pixels. Longer lists scroll in proportion. */
const MOST_PIXELS = 30_000_000;
const OVERSCAN = 6;
/** Where what is brought into sight comes to stand, as a part of the window's height. */
const FROM_TOP = 0.35;
/** How often a line is looked for again, as rows above it turn out higher than thought. */
const MOST_TRIES = 8;

export interface LogListControl {
  /** Brings a row into sight; of a row of many lines, the one that is meant. */
  reveal: (row: number, line?: LineInRow) => void;
  end: () => void;
  home: () => void;
  /** The first row in sight. */
  first: () => number;
  isAtEnd: () => boolean;
  focus: () => void;
  /** What stands at the top, and how far it is scrolled out. */
  place: () => LogPlace;
  toPlace: (place: LogPlace) => void;
}

export interface LineInRow {
  /** where it begins, in pixels below the row's top, if no line above it is wrapped */ within: number;
  /** the line itself, once its row is drawn */ find: (row: Element) => Element | null;
}

export interface LogPlace {
  key: number;
  offset: number;
}

interface LogListProps {
  count: number;
  /** Changes when rows mean something else than before (folded, filtered). */
  meaning: unknown;
  rowHeight: number;
  /** Heights known without looking, or undefined. */
  heightOf: (row: number) => number | undefined;
  /** How high a row that was never drawn should be about. */
  guessOf: (row: number) => number | undefined;
  /** Rows are as high as they turn out. */
  measured: boolean;
  /** What identifies a row over changes of meaning, and where it went. */
  keyOf: (row: number) => number;
  rowOfKey: (key: number) => number;
  render: (row: number, clip: { from: number; to: number }) => ReactNode;
  follow: boolean;
  onScrolled: (by: { user: boolean; up: boolean; atEnd: boolean; first: number; last: number }) => void;
  control: RefObject<LogListControl | null>;
  label: string;
  children?: ReactNode;
}

interface Span {
  first: number;
  last: number;
  clipFrom: number;
  clipTo: number;
  /** where the rows from `first` on begin */ tops: number[];
}

export function LogList({
  count,
  meaning,
  rowHeight,
  heightOf,
  guessOf,
  measured,
  keyOf,
  rowOfKey,
  render,
  follow,
  onScrolled,
  control,
  label,
  children,
}: LogListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState<Span>({ first: 0, last: 0, clipFrom: 0, clipTo: 0, tops: [] });
  const [viewport, setViewport] = useState(0);
  const state = useRef({
    y: 0,
    top: 0,
    first: 0,
    /** A line on its way into sight. Where it is, is known for sure when its row was drawn. */
    sought: null as { key: number; find: LineInRow["find"]; tries: number } | null,
    heights: new Heights(0, rowHeight),
    raf: 0,
    own: -1,
    meaning: undefined as unknown,
    base: rowHeight,
    measured,
    anchor: { key: 0, offset: 0 },
  });
  const props = useRef({ count, follow, onScrolled, heightOf, guessOf, keyOf, rowOfKey, measured });
  useLayoutEffect(() => {
    props.current = { count, follow, onScrolled, heightOf, guessOf, keyOf, rowOfKey, measured };
  });

  const height = useCallback(() => scroller.current?.clientHeight ?? 0, []);
  const factor = useCallback(() => {
    const { heights } = state.current;
    const total = heights.total;
    return total <= MOST_PIXELS ? 1 : (total - height()) / Math.max(1, MOST_PIXELS - height());
  }, [height]);

  /** Exchanges rows and moves the layer for the present place. */
  const place = useCallback(() => {
    const at = state.current;
    const { heights } = at;
    const view = height();
    const most = Math.max(0, heights.total - view);
    at.y = Math.min(Math.max(0, at.y), most);
    const first = Math.max(0, heights.rowAt(at.y) - OVERSCAN);
    const last = Math.min(heights.count - 1, heights.rowAt(at.y + view) + OVERSCAN);
    at.first = first;
    at.top = heights.top(first);
    const anchorRow = heights.rowAt(at.y);
    at.anchor = { key: heights.count > 0 ? props.current.keyOf(anchorRow) : 0, offset: at.y - heights.top(anchorRow) };
    if (layer.current) layer.current.style.transform = `translateY(${at.top - at.y}px)`;
    // Rows much higher than the window draw only the part of them in sight, in steps.
    const step = 400;
    const clipFrom = Math.floor((at.y - 200) / step) * step;
    setSpan((old) => {
      if (old.first === first && old.last === last && old.clipFrom === clipFrom && old.tops.at(-1) === heights.top(last)) return old;
      return {
        first,
        last,
        clipFrom,
        clipTo: clipFrom + view + 2 * step,
        tops: Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => heights.top(first + index)),
      };
    });
    return most;
  }, [height]);

  const sync = useCallback(() => {
    const element = scroller.current;
    const at = state.current;
    if (!element || !spacer.current) return;
    const shown = `${Math.min(at.heights.total, MOST_PIXELS)}px`;
    if (spacer.current.style.height !== shown) spacer.current.style.height = shown;
    const most = place();
    const wanted = most > 0 && at.y >= most - 0.5 ? element.scrollHeight - element.clientHeight : at.y / factor();
    if (Math.abs(element.scrollTop - wanted) >= 1) {
      element.scrollTop = wanted;
      at.own = element.scrollTop;
    }
  }, [factor, place]);

  // The list changed: learn heights, keep what is in sight, or stay at the end.
  useLayoutEffect(() => {
    const at = state.current;
    const isNew = at.meaning !== meaning || at.base !== rowHeight || at.measured !== measured;
    const { key, offset } = at.anchor;
    if (isNew) {
      at.heights = new Heights(count, rowHeight);
      at.meaning = meaning;
      at.base = rowHeight;
      at.measured = measured;
    } else at.heights.resize(count);
    const anchor = at.heights.rowAt(at.y);
    for (let row = span.first; row <= Math.min(span.last, count - 1); row += 1) {
      const known = heightOf(row);
      const grown = known === undefined ? 0 : at.heights.set(row, known);
      if (row < anchor) at.y += grown;
    }
    if (follow) {
      // What comes into sight at the end was never drawn. Taken for one line each, dozens of long entries would be laid out to show the last.
      let left = height();
      for (let row = count - 1; row >= 0 && left > 0; row -= 1) {
        const isDrawn = row >= span.first && row <= span.last;
        if (!isDrawn && at.heights.height(row) === rowHeight) at.heights.set(row, guessOf(row) ?? rowHeight);
        left -= at.heights.height(row);
      }
      at.y = at.heights.total;
    } else if (isNew && at.y > 0) {
      // At the very beginning one stays there: what comes in above, the head of a phase, is the beginning now.
      const row = rowOfKey(key);
      at.y = at.heights.top(Math.min(row, Math.max(0, count - 1))) + offset;
    }
    sync();
  });

  // Rows that were drawn tell how high they are; nothing in sight moves for it.
  useLayoutEffect(() => {
    const at = state.current;
    if (!layer.current) return;
    const anchor = at.heights.rowAt(at.y);
    let above = 0;
    let changed = false;
    if (measured) {
      let row = span.first;
      for (const child of layer.current.children) {
        // One whose height is known is not measured as well: rounded, the two would take turns for ever.
        const delta = heightOf(row) === undefined ? at.heights.set(row, (child as HTMLElement).offsetHeight) : 0;
        if (delta !== 0) {
          changed = true;
          if (row < anchor) above += delta;
        }
        row += 1;
      }
    }
    if (changed) {
      at.y = follow ? at.heights.total : at.y + above;
      sync();
    }
    // The line that is sought is looked for among the rows that belong to this place, no others.
    if (!at.sought || at.first !== span.first || !scroller.current) return;
    const { key, find } = at.sought;
    const row = layer.current.children[rowOfKey(key) - span.first];
    const line = row && find(row)?.getBoundingClientRect();
    if (!line) return;
    const view = scroller.current.getBoundingClientRect();
    const isInSight = line.top >= view.top && line.bottom <= view.bottom;
    at.sought = isInSight || at.sought.tries === 0 ? null : { key, find, tries: at.sought.tries - 1 };
    if (isInSight) return;
    at.y += line.top - view.top - view.height * FROM_TOP;
    sync();
  });

  useEffect(() => {
    const element = scroller.current;
    const at = state.current;
    if (!element) return undefined;
    const onScroll = () => {
      // What was scrolled by the list itself is no wish of the reader.
      const user = Math.abs(element.scrollTop - at.own) >= 1;
      at.own = -1;
      if (!user) return;
      at.sought = null;
      const isBottom = element.scrollTop >= element.scrollHeight - element.clientHeight - 1;
      const before = at.y;
      at.y = isBottom ? at.heights.total : element.scrollTop * factor();
      if (at.raf) return;
      at.raf = requestAnimationFrame(() => {
        at.raf = 0;
        const most = place();
        const view = height();
        props.current.onScrolled({
          user: true,
          up: at.y < before - 0.5,
          atEnd: at.y >= most - rowHeight / 2,
          first: at.heights.rowAt(at.y),
          last: at.heights.rowAt(at.y + view),
        });
      });
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(() => {
      setViewport(element.clientHeight);
      if (props.current.follow) at.y = at.heights.total;
      sync();
    });
    observer.observe(element);
    setViewport(element.clientHeight);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
      cancelAnimationFrame(at.raf);
      at.raf = 0;
    };
  }, [factor, place, sync, height, rowHeight]);

  // What came into sight without scrolling (at first, after a fold) is told as well.
  useEffect(() => {
    const at = state.current;
    if (at.heights.count === 0) return;
    props.current.onScrolled({
      user: false,
      up: false,
      atEnd: at.y >= at.heights.total - height() - rowHeight / 2,
      first: at.heights.rowAt(at.y),
      last: at.heights.rowAt(at.y + height()),
    });
  }, [span.first, span.last, viewport, height, rowHeight]);

  const to = useCallback(
    (y: number, sought: (typeof state.current)["sought"] = null) => {
      state.current.y = y;
      state.current.sought = sought;
      sync();
    },
    [sync],
  );
  useImperativeHandle(
    control,
    (): LogListControl => ({
      reveal: (row, line) => {
        const { heights, y } = state.current;
        // A row that was never drawn counts as one line: a place inside of it would be a place in another row.
        const { heightOf, guessOf, keyOf } = props.current;
        if (line && heights.height(row) === rowHeight) heights.set(row, heightOf(row) ?? guessOf(row) ?? rowHeight);
        const top = heights.top(row) + (line?.within ?? 0);
        const bottom = top + (line ? rowHeight : heights.height(row));
        const view = height();
        const sought = line ? { key: keyOf(row), find: line.find, tries: MOST_TRIES } : null;
        // What is well in sight already stays where it is.
        to(top >= y + rowHeight && bottom <= y + view - rowHeight ? y : top - view * FROM_TOP, sought);
      },
      end: () => to(state.current.heights.total),
      home: () => to(0),
      first: () => state.current.heights.rowAt(state.current.y),
      isAtEnd: () => state.current.y >= state.current.heights.total - height() - rowHeight / 2,
      focus: () => scroller.current?.focus(),
      place: () => state.current.anchor,
      toPlace: ({ key, offset }) => to(state.current.heights.top(props.current.rowOfKey(key)) + offset),
    }),
    [to, height, rowHeight],
  );

  const rows: ReactNode[] = [];
  for (let row = span.first; row <= Math.min(span.last, count - 1); row += 1) {
    const top = span.tops[row - span.first] ?? 0;
    rows.push(render(row, { from: span.clipFrom - top, to: span.clipTo - top }));
  }
  // A region that scrolls has to be reachable by keyboard.
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={scroller} className="lg-list" tabIndex={0} role="log" aria-label={label} aria-live="off">
      <div ref={spacer} className="lg-spacer">
        <div className="lg-sticky">
          <div ref={layer} className="lg-layer">
            {rows}
          </div>
        </div>
      </div>
      {children}
    </div>
  );
}
