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
    else {
      try {
        steps.push(JSON.parse(match[3] ?? '""') as string);
      } catch {
        return undefined;
      }
    }
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

/** The same place as a JSON pointer, as hosts want it: `output.a[2]` is `/a/2`. */
export function pointerOf(path: string): string | undefined {
  const steps = pathSteps(path);
  return steps?.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * As much of a cut off JSON text as can be read: what was open at the cut is closed, an unfinished value is left out.
 * Undefined when that is no JSON either.
 */
export function readBeginning(text: string): unknown {
  const open: string[] = [];
  let [inString, escaped] = [false, false];
  // The last place at which everything but the open brackets was finished.
  let [safe, safeOpen] = [0, ""];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (inString) {
      if (escaped) escaped = false;
      else if (sign === "\\") escaped = true;
      else if (sign === '"') inString = false;
      continue;
    }
    if (sign === '"') inString = true;
    else if (sign === "{" || sign === "[") {
      open.push(sign === "{" ? "}" : "]");
      [safe, safeOpen] = [at + 1, open.join("")];
    } else if (sign === "}" || sign === "]") {
      open.pop();
      [safe, safeOpen] = [at + 1, open.join("")];
    } else if (sign === ",") [safe, safeOpen] = [at, open.join("")];
  }
  if (safe === 0) return undefined;
  try {
    return JSON.parse(text.slice(0, safe) + [...safeOpen].toReversed().join(""));
  } catch {
    return undefined;
  }
}
