// What may differ between two runs without anybody caring: times, ids, durations. They are masked before log lines are
// compared, so that only what the program said counts.

const RULES: readonly [RegExp, string][] = [
  // A date with a time, then either alone.
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, "‹time›"],
  [/\b\d{4}-\d{2}-\d{2}\b/g, "‹date›"],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b/g, "‹time›"],
  // Ids: UUIDs, run ids, long hexadecimal and long mixed words.
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "‹id›"],
  [/\b\d{8}-[0-9a-z]{4,}\b/g, "‹id›"],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, "‹id›"],
  [/\b(?:pid|thread)[ =:]\d+\b/gi, "‹id›"],
  [/\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b/g, "‹id›"],
  // Durations, with their units, and the ones written as clocks.
  [/\b\d+(?:[.,]\d+)?\s?(?:ns|µs|us|ms|milliseconds?|secs?|seconds?|s|mins?|minutes?|m|hours?|h)\b(?:\s?\d+(?:[.,]\d+)?\s?(?:ms|s|m)\b)*/g, "‹took›"],
  // Epoch milliseconds and seconds of this century.
  [/\b1[5-9]\d{8}(?:\d{3})?\b/g, "‹time›"],
];

/** The line as it is compared. */
export function maskLine(line: string): string {
  let text = line.length > 4_000 ? line.slice(0, 4_000) : line;
  for (const [pattern, mark] of RULES) text = text.replace(pattern, mark);
  return text.trimEnd();
}
