// The mock host with this area's scenes in it.
import type { Commands } from "../../../api/contract";
// For tests and for looking; nothing that ships imports this file.
import { createMockHost, type MockHost, type MockOptions } from "../../../host/mock";
import { hits } from "../logs/lines";
import { type Scene, scenes } from "./scenes";

export type SceneHost = MockHost & { scenes: Record<string, Scene>; /** Tells the page that a scene changed. */ changed: (run: string) => void };

export function createSceneHost(options: MockOptions = {}, now = Date.now()): SceneHost {
  const base = createMockHost({ runs: 40, ...options });
  const all = scenes(now);
  const answer = <N extends keyof Commands>(name: N, request: Commands[N][0]): unknown => {
    const scene = all[(request as { run?: string }).run ?? ""];
    if (name === "runs") {
      const { query } = request as Commands["runs"][0];
      const rows = Object.values(all)
        .map((one) => one.detail.run)
        .filter((row) => !query.project || row.project === query.project);
      rows.sort((one, other) => other.createdAt - one.createdAt);
      return { rows, total: rows.length, complete: true };
    }
    if (name === "run_row") return (request as Commands["run_row"][0]).runs.flatMap((run) => all[run]?.detail.run ?? []);
    if (!scene) return undefined;
    switch (name) {
      case "run":
        return scene.detail;
      case "run_nodes":
        return scene.nodes;
      case "run_output": {
        const { path } = request as Commands["run_output"][0];
        if (path) {
          let part: unknown = scene.output;
          for (const step of path.split("/").slice(1)) part = (part as Record<string, unknown>)[step.replaceAll("~1", "/").replaceAll("~0", "~")];
          return { output: part, bytes: JSON.stringify(part).length, truncated: false };
        }
        if (scene.beginning !== undefined) return { output: scene.beginning, bytes: scene.detail.outputBytes, truncated: true };
        return { output: scene.output ?? null, bytes: scene.detail.outputBytes, truncated: false };
      }
      case "run_logs": {
        const { from, limit, stream } = request as Commands["run_logs"][0];
        const lines = [];
        let at = from;
        for (; at < scene.lines.count && lines.length < limit; at += 1) {
          const line = scene.lines.at(at);
          if (!stream || line.stream === stream) lines.push(line);
        }
        return { lines, next: at, end: scene.lines.count, ...(scene.leftOut ? { leftOut: scene.leftOut } : {}) };
      }
      case "run_log_search": {
        const { text, stream, limit = 1_000, case: exact = false, regex = false } = request as Commands["run_log_search"][0];
        if (regex && text === "(") return Promise.reject({ code: "invalid_input", message: "unclosed group" });
        const one = (line: string) => hits(line, { text, case: exact, regex }).length > 0;
        const positions: number[] = [];
        let total = 0;
        const most = Math.min(scene.lines.count, 200_000);
        for (let at = 0; at < most; at += 1) {
          const line = scene.lines.at(at);
          if ((stream && line.stream !== stream) || (text && !one(line.text))) continue;
          total += 1;
          if (positions.length < limit) positions.push(at);
        }
        return { positions, total };
      }
      case "continue_preview":
        return scene.preview;
      case "answer": {
        const { action, content } = request as Commands["answer"][0];
        const question = scene.detail.questions.find((one) => !one.answer);
        if (question) question.answer = { action, content: content ?? null, by: "You", at: Date.now() };
        scene.detail.run = { ...scene.detail.run, status: "running" };
        window.setTimeout(() => base.emit({ runs: [scene.detail.run.runId] }), 50);
        return {};
      }
      case "pin_run":
        scene.detail.run = { ...scene.detail.run, pinned: (request as Commands["pin_run"][0]).pinned };
        window.setTimeout(() => base.emit({ runs: [scene.detail.run.runId] }), 20);
        return {};
      case "cancel_run":
      case "continue_run":
      case "delete_run":
        window.setTimeout(() => base.emit({ runs: [scene.detail.run.runId] }), 20);
        return {};
      case "copy_as":
        return { text: "workflow-code run weekly-page" };
      default:
        return undefined;
    }
  };
  const original = base.call;
  const call: MockHost["call"] = async (name, request) => {
    const own = answer(name, request);
    if (own === undefined) return original(name, request);
    base.calls.push({ name, request });
    return structuredClone(await own) as never;
  };
  return Object.assign(base, { call, scenes: all, changed: (run: string) => base.emit({ runs: [run] }) });
}
