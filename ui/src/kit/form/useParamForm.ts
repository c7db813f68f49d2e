// The state of a generated form: what is typed, what is wrong with it, and when to say so. A field is checked when it is left and, once
// wrong, at every key; pressing the button checks all and goes to the first fault.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Fault, JsonValue, Param } from "../../api/contract";
import { dropDraft, loadDraft, saveDraft } from "./drafts";
import { afterPress } from "./press";
import { fieldOfPath, own, readDraft, readField, toDraft, type Draft, type DraftValue, type FaultMap } from "./value";

export interface ParamFormOptions {
  fields: readonly Param[];
  /** Where the typed text is kept until it is sent. Without it nothing is kept. */
  draftKey?: string;
  /** An input to start from, when no draft is kept. */
  initial?: JsonValue;
}

export interface ParamForm {
  fields: readonly Param[];
  draft: Draft;
  /** Shown faults only. */
  faults: FaultMap;
  /** How many fields are shown as wrong. */
  wrong: number;
  /** The form began with text that was kept from last time. */
  restored: boolean;
  /** Whether anything was typed since the start or the last reset. */
  changed: boolean;
  set: (name: string, value: DraftValue | ((before: DraftValue) => DraftValue)) => void;
  /** The person left a field. */
  leave: (name: string) => void;
  /** Checks everything, shows all faults, focuses the first; answers the input when all is right. */
  submit: () => Record<string, JsonValue> | undefined;
  /** The input as far as it is right, for previews. */
  input: Record<string, JsonValue>;
  /** All faults, shown or not. */
  allFaults: FaultMap;
  /** Puts an older input in, or the defaults. */
  reset: (input?: JsonValue) => void;
  /** Puts a whole draft in, as from the JSON side. */
  replace: (draft: Draft) => void;
  /** Faults from the backend: shown under their fields until those change. Answers what belongs to no field. */
  refuse: (faults: readonly Fault[], options?: { focus?: boolean }) => string[];
  /** Forgets the kept draft, once it is sent. */
  sent: () => void;
  /** Registers where a field is, for the focus. */
  register: (name: string) => (element: HTMLElement | null) => void;
  focusFirst: () => HTMLElement | null | undefined;
}

/** Where typing goes comes before the buttons beside it. */
const FOCUSABLE = [
  'input:not([type="hidden"]):not([tabindex="-1"]), textarea',
  '[role="radio"][tabindex="0"], [role="radio"][data-checked], [role="checkbox"], [role="switch"]',
  "button",
] as const;

function focusableIn(place: HTMLElement | undefined): HTMLElement | undefined {
  for (const selector of FOCUSABLE) {
    const found = place?.querySelector<HTMLElement>(selector);
    if (found) return found;
  }
  return undefined;
}

/** How long typing may rest before the draft is kept, in milliseconds. */
const SAVE_AFTER = 250;

export function useParamForm({ fields, draftKey, initial }: ParamFormOptions): ParamForm {
  const [kept] = useState(() => (draftKey ? loadDraft(draftKey) : undefined));
  const [draft, setDraft] = useState<Draft>(() => (kept ? { ...toDraft(fields, undefined), ...kept } : toDraft(fields, initial)));
  const [faults, setFaults] = useState<FaultMap>({});
  const [changed, setChanged] = useState(false);
  const places = useRef(new Map<string, HTMLElement>());
  const latest = useRef(draft);
  useLayoutEffect(() => {
    latest.current = draft;
  });

  const field = useCallback((name: string) => fields.find((other) => other.name === name), [fields]);

  useEffect(() => {
    if (!draftKey || !changed) return;
    const timer = setTimeout(() => saveDraft(draftKey, fields, draft), SAVE_AFTER);
    return () => {
      clearTimeout(timer);
      // Leaving the view must not lose the last words.
      if (latest.current === draft) saveDraft(draftKey, fields, draft);
    };
  }, [draftKey, fields, draft, changed]);

  const check = useCallback(
    (name: string, value: DraftValue, before: FaultMap): FaultMap => {
      const param = field(name);
      const { fault } = param ? readField(param, value) : {};
      const { [name]: _old, ...rest } = before;
      return fault ? { ...rest, [name]: fault } : rest;
    },
    [field],
  );

  const set = useCallback(
    (name: string, next: DraftValue | ((before: DraftValue) => DraftValue)) => {
      const value = typeof next === "function" ? (next as (before: DraftValue) => DraftValue)(own(latest.current, name)) : next;
      // Several changes may come before the next drawing (files dropped one after another).
      latest.current = { ...latest.current, [name]: value };
      setDraft((before) => ({ ...before, [name]: value }));
      setChanged(true);
      setFaults((before) => (Object.hasOwn(before, name) ? check(name, value, before) : before));
    },
    [check],
  );

  const leave = useCallback(
    (name: string) => afterPress(() => setFaults((before) => (before[name]?.said ? before : check(name, own(latest.current, name), before)))),
    [check],
  );

  const focus = useCallback((name: string) => {
    const place = places.current.get(name);
    const target = focusableIn(place) ?? place;
    target?.focus();
    target?.scrollIntoView({ block: "nearest" });
  }, []);

  const read = useMemo(() => readDraft(fields, draft), [fields, draft]);

  const submit = useCallback(() => {
    const { input, faults: found } = readDraft(fields, latest.current);
    setFaults(found);
    const first = fields.find((param) => Object.hasOwn(found, param.name));
    if (!first) return input;
    focus(first.name);
    return undefined;
  }, [fields, focus]);

  const reset = useCallback(
    (input?: JsonValue) => {
      setDraft(toDraft(fields, input));
      setFaults({});
      setChanged(input !== undefined);
    },
    [fields],
  );

  const replace = useCallback((next: Draft) => {
    setDraft(next);
    setFaults({});
    setChanged(true);
  }, []);

  const refuse = useCallback(
    (said: readonly Fault[], { focus: move = true } = {}): string[] => {
      const next: FaultMap = {};
      const homeless: string[] = [];
      for (const { path, message } of said) {
        const at = fieldOfPath(fields, path);
        if (!at) homeless.push(message);
        else next[at.name] ??= { key: "kit.faultRequired", said: message, index: at.index };
      }
      setFaults((before) => ({ ...before, ...next }));
      const first = fields.find((param) => Object.hasOwn(next, param.name));
      if (first && move) focus(first.name);
      return homeless;
    },
    [fields, focus],
  );

  const sent = useCallback(() => {
    setChanged(false);
    if (draftKey) dropDraft(draftKey);
  }, [draftKey]);

  const register = useCallback(
    (name: string) => (element: HTMLElement | null) => {
      if (element) places.current.set(name, element);
      else places.current.delete(name);
    },
    [],
  );

  const focusFirst = useCallback(() => {
    const first = fields[0] && places.current.get(fields[0].name);
    return focusableIn(first);
  }, [fields]);

  return {
    fields,
    draft,
    faults,
    wrong: Object.keys(faults).length,
    restored: kept !== undefined,
    changed,
    set,
    leave,
    submit,
    input: read.input,
    allFaults: read.faults,
    reset,
    replace,
    refuse,
    sent,
    register,
    focusFirst,
  };
}
