// The last list of runs that was on screen: previous and next run follow it.

let trail: readonly string[] = [];

/** Lists tell what they show, in their order. */
export function setTrail(runs: readonly string[]): void {
  trail = runs;
}

/** The run before or after another in that list. */
export function neighbour(run: string, step: 1 | -1): string | undefined {
  const at = trail.indexOf(run);
  return at < 0 ? undefined : trail[at + step];
}
