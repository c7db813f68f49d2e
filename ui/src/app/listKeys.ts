/** Which item a key leads to in a list of `count`, from item `at` (below 0: from none); `undefined` for keys that lead nowhere. */
export function reachedBy(
  key: string,
  at: number,
  count: number,
  [previous, next]: readonly [string, string] = ["ArrowUp", "ArrowDown"],
): number | undefined {
  const to = key === previous ? at - 1 : key === next ? at + 1 : key === "Home" ? 0 : key === "End" ? count - 1 : undefined;
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}
