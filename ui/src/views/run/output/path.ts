// A value by the path the tree shows: `output.highlights[2]["odd key"]`.

const STEP = /^(?:\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/;

export function pathSteps(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let rest = path.replace(/^[A-Za-z_$][\w$]*/, "");
  while (rest !== "") {
    const match = STEP.exec(rest);
    if (!match) return undefined;
    if (match[1] !== undefined) steps.push(match[1]);
    else if (match[2] !== undefined) steps.push(Number(match[2]));
    else { try { steps.push(JSON.parse(match[3] ?? '""') as string); } catch { return undefined; } }
    rest = rest.slice(match[0].length);
  }
  return steps;
}

export function valueAt(value: unknown, path: string): { found: boolean; value?: unknown } {
  const steps = pathSteps(path);
  if (!steps) return { found: false };
  let at = value;
  for (const step of steps) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return { found: false };
    at = (at as Record<string | number, unknown>)[step];
  }
  return { found: true, value: at };
}
