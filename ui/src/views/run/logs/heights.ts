// Heights of a very long list, of which only what was seen is known. A Fenwick tree over rows: finding the row at a
// place and the place of a row cost about twenty steps at a million rows, and nothing is allocated while scrolling.

export class Heights {
  private tree: Float64Array;
  private own: Float32Array;
  private size = 0;

  constructor(
    count: number,
    private base: number,
  ) {
    this.tree = new Float64Array(0);
    this.own = new Float32Array(0);
    this.resize(count);
  }

  get count(): number {
    return this.size;
  }
  get total(): number {
    return this.top(this.size);
  }

  /** Sets the number of rows. Rows that come new have the base height. */
  resize(count: number): void {
    if (count > this.own.length) {
      const room = Math.max(1024, count + Math.floor(count / 4));
      const own = new Float32Array(room);
      own.set(this.own.subarray(0, this.size));
      own.fill(0, this.size);
      this.own = own;
      this.size = count;
      this.rebuild();
      return;
    }
    for (let row = count; row < this.size; row += 1) if (this.own[row] !== 0) this.set(row, this.base);
    this.size = count;
  }

  private rebuild(): void {
    const room = this.own.length;
    const tree = new Float64Array(room + 1);
    for (let at = 1; at <= room; at += 1) {
      tree[at] = (tree[at] ?? 0) + (this.own[at - 1] ?? 0);
      const parent = at + (at & -at);
      if (parent <= room) tree[parent] = (tree[parent] ?? 0) + (tree[at] ?? 0);
    }
    this.tree = tree;
  }

  height(row: number): number {
    return this.base + (this.own[row] ?? 0);
  }

  /** Sets the height of a row; returns by how much it changed. */
  set(row: number, height: number): number {
    if (row < 0 || row >= this.size) return 0;
    const extra = height - this.base;
    const change = extra - (this.own[row] ?? 0);
    if (change === 0) return 0;
    this.own[row] = extra;
    for (let at = row + 1; at < this.tree.length; at += at & -at) this.tree[at] = (this.tree[at] ?? 0) + change;
    return change;
  }

  /** Where a row begins. */
  top(row: number): number {
    let sum = Math.min(row, this.size) * this.base;
    for (let at = Math.min(row, this.size); at > 0; at -= at & -at) sum += this.tree[at] ?? 0;
    return sum;
  }

  /** The row at a place; the last one below the end. */
  rowAt(place: number): number {
    if (this.size === 0) return 0;
    let row = 0;
    let rest = place;
    for (let step = 2 ** Math.floor(Math.log2(this.tree.length || 1)); step > 0; step = Math.floor(step / 2)) {
      const next = row + step;
      if (next >= this.tree.length) continue;
      const sum = (this.tree[next] ?? 0) + step * this.base;
      if (sum <= rest) {
        row = next;
        rest -= sum;
      }
    }
    return Math.min(row, this.size - 1);
  }
}
