// The part of a log that is in memory: blocks of positions, fetched when they come into view, forgotten when many
// others were seen since. Listeners hear at most once a frame, however fast lines come.
import type { LogLine, LogPage } from "../../../api/contract";

/** Positions of one block. */
export const BLOCK = 400;
const MOST_BLOCKS = 80;
const MOST_CHARACTERS = 48_000_000;

interface Block {
  lines: Map<number, LogLine>;
  /** all positions below this are here */ until: number;
  characters: number;
  used: number;
}

export type FetchLog = (from: number, limit: number) => Promise<LogPage>;

export class LogPages {
  private blocks = new Map<number, Block>();
  private busy = new Set<number>();
  private clock = 0;
  private characters = 0;
  private listeners = new Set<() => void>();
  private frame = 0;
  private tailBusy = false;
  private tailAgain = false;
  /** Positions below this exist. */
  end = 0;
  leftOut: LogPage["leftOut"];
  /** True once the first answer came. */
  ready = false;
  error: unknown;
  /** Grows with every change, for `useSyncExternalStore`. */
  version = 0;

  constructor(
    private fetch: FetchLog,
    private schedule: (run: () => void) => number = (run) => requestAnimationFrame(run),
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  snapshot = (): number => this.version;

  private changed(): void {
    if (this.frame) return;
    this.frame =
      this.schedule(() => {
        this.frame = 0;
        this.version += 1;
        for (const listener of this.listeners) listener();
      }) || 1;
  }

  get(position: number): LogLine | undefined {
    const block = this.blocks.get(Math.floor(position / BLOCK));
    if (!block) return undefined;
    block.used = ++this.clock;
    return block.lines.get(position);
  }

  /** Tells whether a position was asked for and isn't there (left out, or of another stream). */
  isMissing(position: number): boolean {
    const block = this.blocks.get(Math.floor(position / BLOCK));
    return block !== undefined && position < block.until && !block.lines.has(position);
  }

  /** Sees to it that positions `from` up to `to` come. */
  want(from: number, to: number): void {
    const last = Math.floor(Math.max(from, Math.min(to, this.end) - 1) / BLOCK);
    for (let number = Math.floor(Math.max(0, from) / BLOCK); number <= last; number += 1) void this.load(number);
  }

  private async load(number: number): Promise<void> {
    const start = number * BLOCK;
    const goal = Math.min(start + BLOCK, this.end || start + BLOCK);
    const block = this.blocks.get(number);
    if (this.busy.has(number) || (block && block.until >= goal)) return;
    this.busy.add(number);
    try {
      let from = Math.max(start, block?.until ?? start);
      while (from < start + BLOCK) {
        const page = await this.fetch(from, start + BLOCK - from);
        // Only what follows the end says where it is: rows that nobody has fetched yet would stand there empty.
        this.take(page, from, start + BLOCK, this.end || page.end);
        if (page.next <= from) break;
        from = page.next;
        if (from >= page.end) break;
      }
      this.error = undefined;
    } catch (error) {
      this.error = error;
    } finally {
      this.busy.delete(number);
      this.ready = true;
      this.changed();
    }
  }

  private take(page: LogPage, from: number, limit: number, end: number): void {
    this.end = Math.max(this.end, end);
    if (page.leftOut) this.leftOut = page.leftOut;
    for (const line of page.lines) {
      const block = this.block(Math.floor(line.position / BLOCK));
      if (!block.lines.has(line.position)) {
        block.characters += line.text.length;
        this.characters += line.text.length;
      }
      block.lines.set(line.position, line);
    }
    const until = Math.min(limit, Math.max(page.next, from));
    for (let number = Math.floor(from / BLOCK); number * BLOCK < until; number += 1) {
      const block = this.block(number);
      // Lines behind a hole are kept, but the hole is still asked for.
      if (block.until >= Math.max(from, number * BLOCK)) block.until = Math.max(block.until, Math.min(until, (number + 1) * BLOCK));
    }
    this.forget();
    this.changed();
  }

  private block(number: number): Block {
    let block = this.blocks.get(number);
    if (!block) {
      block = { lines: new Map(), until: number * BLOCK, characters: 0, used: 0 };
      this.blocks.set(number, block);
    }
    block.used = ++this.clock;
    return block;
  }

  private forget(): void {
    while (this.blocks.size > MOST_BLOCKS || (this.characters > MOST_CHARACTERS && this.blocks.size > 3)) {
      let oldest: number | undefined;
      let used = Infinity;
      for (const [number, block] of this.blocks)
        if (block.used < used) {
          used = block.used;
          oldest = number;
        }
      if (oldest === undefined) return;
      this.characters -= this.blocks.get(oldest)?.characters ?? 0;
      this.blocks.delete(oldest);
    }
  }

  /** Fetches what was written since; calls while one is under way become one more. */
  async tail(): Promise<void> {
    if (this.tailBusy) {
      this.tailAgain = true;
      return;
    }
    this.tailBusy = true;
    try {
      do {
        this.tailAgain = false;
        await this.readOn();
        this.ready = true;
        this.error = undefined;
      } while (this.tailAgain);
    } catch (error) {
      this.error = error;
      this.ready = true;
    } finally {
      this.tailBusy = false;
      this.changed();
    }
  }

  /**
   * Lines that come faster than they are read: the end is what people look at, so it is fetched before it is said to exist. What lies
   * between is fetched when it comes into view.
   */
  private async readOn(): Promise<void> {
    const from = this.end;
    const first = await this.fetch(from, BLOCK);
    if (from === 0 || first.next >= first.end) {
      this.take(first, from, Math.max(first.next, from), first.end);
      return;
    }
    const near = Math.max(first.next, first.end - BLOCK);
    const last = await this.fetch(near, BLOCK);
    this.take(first, from, Math.max(first.next, from), from);
    // What was written during the second look comes with the next change.
    this.take(last, near, Math.max(last.next, near), last.next >= first.end ? last.next : last.end);
  }
}
