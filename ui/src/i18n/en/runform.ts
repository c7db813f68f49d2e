import type { Area } from "../types";

const runform = {
  title: "Run {name}",
  titleChoose: "Run an entrypoint",
  entrypoint: "Entrypoint",
  find: "Find an entrypoint or project",
  noEntrypoint: "No entrypoint or project has “{text}” in its name",
  nothingAnywhere: "No project has anything to run now. Their overviews say why.",
  nothingToRun: "Nothing in this project can run now. Its overview says why.",
  entrypointGone: "The project has no entrypoint “{name}” any more. Choose another.",
  side: "How to fill it in",
  form: "Form",
  json: "JSON",
  jsonLabel: "Input as JSON",
  jsonHint: "The same values as in the form, both ways. Secrets stay in the form.",
  jsonObject: "The input has to be an object",
  jsonUnknown: { one: "{names} is not a parameter here", other: "{names} are not parameters here" },
  draft: "Draft",
  draftHint: "Not offered to AI clients",
  startFrom: "Start from",
  theDefaults: "the defaults",
  keptDraft: "what you typed last time",
  olderInputs: "Input of an older run",
  whenTime: "{day}, {time}",
  noParams: "It takes no input. Run starts it in {project}.",
  outside: "The same from outside",
  command: "Command",
  mcpCall: "MCP call",
  run: "Run",
  starting: "Starting",
} satisfies Area;

export default runform;
