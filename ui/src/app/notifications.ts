// Tells the person, while the window has no focus, that a run waits, failed, was interrupted or is done (design, "Notifications").
import { useEffect, useRef } from "react";
import type { AppSettings, Home, RunRow, RunStatus } from "../api/contract";
import { useChanges } from "../api/feed";
import { useHost } from "../host";
import { type I18n, useI18n } from "../i18n";
import { revealText } from "../kit/text";
import { clientName } from "./clients";
import { useSettings } from "./settings";

/** Changes within this time, in milliseconds, become one notification. */
const TOGETHER = 2000;
/** A run that was started in the window tells its end only when it took longer than this. */
const LONG_ENOUGH = 30_000;

export type NoteKind = keyof AppSettings["notify"];
export interface Note {
  kind: NoteKind;
  title: string;
  body: string;
  /** The run that a click opens. */
  run: string;
}

/** What a status is worth telling; null for nothing. */
export function kindOf(run: Pick<RunRow, "status" | "origin" | "durationMs">, wanted: AppSettings["notify"]): NoteKind | null {
  const kinds: Partial<Record<RunStatus, NoteKind>> = { waiting_for_input: "waits", failed: "failed", timeout: "failed", interrupted: "interrupted" };
  const kind = kinds[run.status];
  if (kind) return wanted[kind] ? kind : null;
  if (run.status !== "success") return null;
  return wanted.finished || (run.origin === "desktop" && (run.durationMs ?? 0) > LONG_ENOUGH) ? "finished" : null;
}

const shown = (text: string) => revealText(text).slice(0, 200);

/** The texts. Never output, answers or paths; of an approval the program and its first argument only. */
export function noteOf(run: RunRow, kind: NoteKind, waiting: Home["waiting"], { t, format }: I18n, now: number): Note {
  const name = shown(run.entrypointTitle);
  const asked = waiting.find((one) => one.run.runId === run.runId);
  switch (kind) {
    case "waits": {
      if (asked?.question.kind === "approval") {
        const { program, args } = asked.question.approval ?? { program: "", args: [] };
        return { kind, run: run.runId, title: t("shell.noteApproval", { name }), body: shown([program, ...args.slice(0, 1)].join(" ")) };
      }
      const question = shown(asked?.question.form.title ?? "");
      const left = asked?.callOpenUntil === undefined ? 0 : asked.callOpenUntil - now;
      return {
        kind,
        run: run.runId,
        title: t("shell.noteWaits", { name }),
        body:
          left > 0
            ? t("shell.noteWaitsBody", {
                question: question.replace(/[.?!。？！]$/u, ""),
                client: shown(clientName(run.client ?? "")),
                time: format.duration(Math.ceil(left / 60_000) * 60_000),
              })
            : t("shell.noteWaitsBodyAnyTime", { question }),
      };
    }
    case "failed":
      return { kind, run: run.runId, title: t("shell.noteFailed", { name }), body: shown(run.error?.split("\n")[0] ?? "") };
    case "interrupted":
      return { kind, run: run.runId, title: t("shell.noteInterrupted", { name }), body: t("shell.noteInterruptedBody") };
    case "finished":
      return { kind, run: run.runId, title: t("shell.noteFinished", { name }), body: format.duration(run.durationMs ?? 0) };
  }
}

/** Several of a kind become one. */
export function together(notes: Note[], names: Map<string, string>, { t }: I18n): Note[] {
  const several = {
    waits: "shell.noteSeveralWait",
    failed: "shell.noteSeveralFailed",
    interrupted: "shell.noteSeveralInterrupted",
    finished: "shell.noteSeveralFinished",
  } as const;
  const kinds = [...new Set(notes.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const own = notes.filter((note) => note.kind === kind);
    const first = own[0] as Note;
    if (own.length === 1) return first;
    return {
      kind,
      run: first.run,
      title: t(several[kind], { count: own.length }),
      body: own.map(({ run }) => names.get(run) ?? run).join(t("shell.noteJoin")),
    };
  });
}

/** Watches the feed and notifies. */
export function useNotifications(): void {
  const host = useHost();
  const i18n = useI18n();
  const [settings] = useSettings();
  const latest = useRef({ i18n, settings });
  const told = useRef(new Map<string, RunStatus>());
  const pending = useRef(new Set<string>());
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    latest.current = { i18n, settings };
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);

  /** Projects whose notifications are switched off. */
  async function quietProjects(rows: RunRow[]): Promise<Set<string>> {
    const projects = [...new Set(rows.filter(({ registered }) => registered).map(({ project }) => project))];
    const asked = await Promise.allSettled(projects.map((project) => host.call("project_settings", { project })));
    return new Set(
      projects.filter((_, index) => {
        const answer = asked[index];
        return answer?.status === "fulfilled" && !answer.value.notifications;
      }),
    );
  }

  async function tell(): Promise<void> {
    timer.current = undefined;
    const runs = [...pending.current];
    pending.current.clear();
    if (document.hasFocus() || runs.length === 0) return;
    const { i18n, settings } = latest.current;
    const [rows, home] = await Promise.all([host.call("run_row", { runs }), host.call("home", {})]);
    const quiet = await quietProjects(rows);
    const notes: Note[] = [];
    const names = new Map<string, string>();
    for (const row of rows) {
      if (told.current.get(row.runId) === row.status) continue;
      told.current.set(row.runId, row.status);
      const kind = kindOf(row, settings.notify);
      if (!kind || quiet.has(row.project)) continue;
      names.set(row.runId, shown(row.entrypointTitle));
      notes.push(noteOf(row, kind, home.waiting, i18n, Date.now()));
    }
    for (const note of together(notes, names, i18n)) await host.notify(note.title, note.body, note.run);
  }

  useChanges((change) => {
    // With the focus here the person sees it; what was seen is not told later.
    if (document.hasFocus()) return;
    for (const run of change.runs) pending.current.add(run);
    if (pending.current.size > 0 && timer.current === undefined)
      timer.current = window.setTimeout(() => void tell().catch(() => undefined), TOGETHER);
  });
}
