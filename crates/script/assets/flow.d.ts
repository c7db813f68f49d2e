// The one description of what a workflow module gets. Copy it beside your sources, or point your editor at it:
//
//   import type { Flow, Entrypoint } from "./flow.d.ts";
//   export const entrypoint = { title: "Hello", params: { name: { type: "string", required: true } } } satisfies Entrypoint;
//   export default async function (input: { name: string }, flow: Flow) { … }
//
// `phase`, `log`, `fail`, `kv`, `knowledge`, `files` and `related(alias)` are there at once; every other call returns a
// promise. Wrong arguments, `fail`, a cancelled run, a limit and a diverging replay end the run, whatever catches them;
// everything else that fails can be caught, and becomes `null` inside `parallel` and `pipeline`.

/** What JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A managed file, as it comes in an input of type `file` or from `files.create`. Plain JSON. */
export interface FileRef {
  file: string;
  name: string;
  size: number;
  mediaType: string;
}

/** A parameter of an entrypoint, or a field of a form. */
export interface Param {
  type:
    | "string" | "positional" | "select" | "number" | "integer" | "boolean" | "checkboxes"
    | "date" | "datetime" | "time" | "file" | "secret";
  required?: boolean;
  multiple?: boolean;
  default?: Json;
  title?: string;
  description?: string;
  options?: readonly (string | number | { value: string | number; title?: string; description?: string })[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

/** What `export const entrypoint` may say. A literal is read without running the module. */
export interface Entrypoint {
  title?: string;
  description?: string;
  params?: { readonly [name: string]: Param };
  draft?: boolean;
  timeoutSeconds?: number;
  memoryMb?: number;
  maxResultBytes?: number;
  readOnly?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}

/** What a failed call throws. */
export interface WorkflowError extends Error {
  name: "WorkflowError";
  /** A stable word: `approval_denied`, `interaction_declined`, `AGENT_CAP` … */
  code: string;
  /** The number of a related project's business error. */
  errCode?: number;
  /** Of a related run: `{ runId, errCode, data }`, the last two as it gave them to `fail`. */
  data?: Json;
}

export interface Form {
  title: string;
  message?: string;
  fields: { readonly [name: string]: Param };
}

export interface ApprovalRequest {
  tool: string;
  title?: string;
  args?: Json;
}

export interface AgentOptions {
  /** What the run shows; by default the prompt's first line. */
  label?: string;
  /** The part of the run it is shown under; by default the current phase. */
  phase?: string;
  /** A JSON Schema: the answer is then a value that fits it, instead of text. */
  schema?: object;
  provider?: string;
  model?: string;
  effort?: string;
  agentType?: string;
  isolation?: string;
  stallMs?: number;
  timeoutMs?: number;
  retries?: number;
}

export interface ExecOptions {
  /** Relative to the project's folder. */
  cwd?: string;
  env?: { readonly [name: string]: string };
  stdin?: string;
  timeoutSeconds?: number;
  /** Whether it may be started again when a crash left its end unknown. */
  idempotent?: boolean;
}

export interface ExecResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
}

export interface HttpRequest {
  url: string | URL;
  method?: string;
  headers?: { readonly [name: string]: string };
  body?: string;
  /** Whether a request that changes something may be made again when a crash left its end unknown. */
  idempotent?: boolean;
}

export interface HttpResponse {
  status: number;
  /** By lower-case names. Those that came several times are joined by `, `, cookies by line breaks. */
  headers: { readonly [name: string]: string };
  text: string;
  /** The body's value, when it is JSON. */
  json?: Json;
}

/** This project's key-value store. */
export interface Kv {
  /** Returns the value, or `null`. */
  get(key: string): Promise<any>;
  set(key: string, value: Json | undefined): Promise<void>;
  /** Returns whether there was one. */
  delete(key: string): Promise<boolean>;
  /** Returns the keys that begin so. */
  list(prefix?: string): Promise<string[]>;
}

/** A value that a project's runs share. */
export interface Value<T> {
  get(): Promise<T>;
  set(value: T): Promise<void>;
  /** Sets what `fn` makes of the value, at once; `fn` may run again and should do nothing else. Returns the new value. */
  update(fn: (value: T) => T | Promise<T>): Promise<T>;
}

export interface KnowledgeEntry {
  id?: string;
  text: string;
  title?: string;
  tags?: readonly string[];
}

export interface KnowledgeHit {
  id: string;
  score: number;
  text: string;
  title: string | null;
  tags: string[];
}

/** The project's local knowledge base: ranked full-text search. */
export interface Knowledge {
  /** Returns the id. */
  add(entry: KnowledgeEntry): Promise<string>;
  search(query: string, options?: { limit?: number; tags?: readonly string[] }): Promise<KnowledgeHit[]>;
  /** Returns whether there was one. */
  remove(id: string): Promise<boolean>;
  list(): Promise<{ id: string; title: string | null; tags: string[] }[]>;
}

/** Managed files. */
export interface Files {
  info(file: FileRef): Promise<{ name: string; size: number; mediaType: string }>;
  readText(file: FileRef): Promise<string>;
  readBytes(file: FileRef): Promise<Uint8Array>;
  create(name: string, data: string | Uint8Array | ArrayBuffer): Promise<FileRef>;
  list(): Promise<FileRef[]>;
}

/** A related project that both sides declare. */
export interface Related {
  /** Runs an entrypoint of it as a child of this run and returns its output; throws its error. */
  run(entrypoint: string, input?: object): Promise<any>;
}

/** The second argument of a module's default export. */
export interface Flow {
  /** Begins a part of the run. */
  phase(title: string): void;
  /** Writes a line into the run's log. */
  log(message: any, data?: any): void;
  /** Says how far the run is. */
  progress(done: number, total?: number, message?: string): Promise<void>;
  /** Runs `fn` as a named node; calls of the `flow` it gets belong to that node. */
  step<T>(name: string, fn: (flow: Flow) => T | Promise<T>): Promise<T>;

  /** Runs an agent; `null` when it fails. */
  agent(prompt: string, options?: AgentOptions): Promise<any>;
  /** Starts all functions at once and waits for all; what throws becomes `null` in its place. */
  parallel<T>(thunks: readonly (() => T | Promise<T>)[]): Promise<(T | null)[]>;
  /** Sends each item through all stages, without waiting for the others; what throws becomes `null`. */
  pipeline(items: readonly any[], ...stages: ((previous: any, item: any, index: number) => any)[]): Promise<any[]>;

  /** Asks a person; the run waits for the answers, however long. */
  form(form: Form): Promise<any>;
  /** Asks a person for leave to use a tool. Never answered automatically. */
  approve(request: ApprovalRequest): Promise<boolean>;

  /** Runs a program, without a shell; asks a person first, unless the installation allows it. */
  exec(program: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Sends a request to a host that the project declares. */
  http(request: HttpRequest): Promise<HttpResponse>;

  readonly kv: Kv;
  /** Returns a value that the project's runs share; the result works with and without `await`. */
  value<T = any>(name: string, initial?: T): Promise<Value<T>> & Value<T>;
  readonly knowledge: Knowledge;
  readonly files: Files;
  related(alias: string): Related;

  /** Returns an entry of the project's `.env`; the process environment wins. */
  env(name: string): Promise<string | undefined>;
  /** Returns a secret; it is masked in everything recorded. */
  secret(name: string): Promise<string>;

  /** Ends the run with a business error. */
  fail(message: string, options?: { errCode?: number; data?: Json }): never;
}
