// A home of its own with real programs in it: the dev server over a real store, launchers that write beside it, and a browser that looks.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { BROWSER, FLAGS } from "../../scripts/browser.mjs";

/** Where the executables were built. */
const RELEASE = process.env.WORKFLOW_CODE_RELEASE ?? path.join(import.meta.dirname, "../../../target/release");
const DIST = path.join(import.meta.dirname, "../../dist");

/** How long anything may take that waits for a condition. */
export const PATIENCE = 15_000;

const program = (name: string) => path.join(RELEASE, name);
type Json = Record<string, unknown>;

/** A folder that is the home of everything that is started in it. */
export class Home {
  readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), "workflow-code-page-test-")));
  /** What clients pass on, and no more. */
  readonly environment = { HOME: this.folder, PATH: "/usr/local/bin:/usr/bin:/bin", NO_COLOR: "1" };

  constructor() {
    for (const name of ["workflow-code", "dev-server"])
      if (!existsSync(program(name))) throw new Error(`there is no \`${program(name)}\`: \`cargo xtask test --ui\` builds what these tests need`);
    if (!existsSync(path.join(DIST, "index.html"))) throw new Error("the page is not built: `npm run build`");
  }

  at(...parts: string[]): string {
    return path.join(this.folder, ...parts);
  }

  write(file: string, content: string | object): string {
    const full = this.at(file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return full;
  }

  read(file: string): string {
    return readFileSync(this.at(file), "utf8");
  }

  /** Runs `workflow-code` to its end and reads its answer. */
  run(...words: string[]): Json & Json[] {
    return JSON.parse(this.say(...words) || "null") as Json & Json[];
  }

  /** Runs `workflow-code` to its end; answers what it wrote. */
  say(...words: string[]): string {
    const done = spawnSync(program("workflow-code"), words, { cwd: this.folder, env: this.environment, encoding: "utf8", timeout: 60_000 });
    if (done.status !== 0) throw new Error(`${words.join(" ")} ended with ${done.status}: ${done.stderr}`);
    return done.stdout;
  }

  start(command: string, words: string[]): ChildProcessWithoutNullStreams {
    return spawn(command, words, { cwd: this.folder, env: this.environment });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ends with its input, and is waited for. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
  await ended;
  clearTimeout(late);
}

/** The dev server, and what it serves at. */
export class Backend {
  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    readonly url: string,
    readonly token: string,
  ) {}

  static async start(home: Home): Promise<Backend> {
    const child = home.start(program("dev-server"), ["--until-eof", "--ui", DIST]);
    const said: string[] = [];
    child.stderr.on("data", (data) => said.push(String(data)));
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("exit", () => reject(new Error(`the dev server did not start: ${said.join("")}`)));
    });
    const { origin, searchParams } = new URL(url);
    return new Backend(child, origin, searchParams.get("token") ?? "");
  }

  /** Calls a command of the window. */
  async call(name: string, request: Json): Promise<Json> {
    const response = await fetch(`${this.url}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ name, request }),
    });
    const answer = (await response.json()) as { ok?: Json; error?: { message: string } };
    if (answer.error) throw new Error(`${name}: ${answer.error.message}`);
    return answer.ok ?? {};
  }

  end(): Promise<void> {
    return end(this.child);
  }
}

/** An AI client with the server it started. It leaves questions to whoever else answers. */
export class Client {
  private next = 1;
  private readonly waiting = new Map<number, (answer: Json) => void>();
  /** Questions that came. */
  readonly asked: Json[] = [];

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    createInterface({ input: child.stdout }).on("line", (line) => this.hear(JSON.parse(line) as Json));
    child.once("exit", (code) => {
      for (const tell of this.waiting.values()) tell({ error: { message: `the server ended with ${code}` } });
    });
  }

  /** Starts the command of a client's configuration and opens the connection. */
  static async start(home: Home, command: string, words: string[]): Promise<Client> {
    const client = new Client(home.start(command, words));
    await client.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: "claude-code", version: "2.0" },
    });
    client.write({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  /** The server of a registered project. */
  static of(home: Home, project: string): Promise<Client> {
    return Client.start(home, program("workflow-code"), ["--workflow-mcp", project]);
  }

  private write(message: Json): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  private hear(message: Json): void {
    if (typeof message.method === "string") {
      if (message.method === "elicitation/create") this.asked.push(message);
      return;
    }
    const id = Number(message.id);
    this.waiting.get(id)?.(message);
    this.waiting.delete(id);
  }

  async request(method: string, params: Json): Promise<Json> {
    const id = this.next++;
    const answered = new Promise<Json>((resolve) => this.waiting.set(id, resolve));
    this.write({ jsonrpc: "2.0", id, method, params });
    const answer = await answered;
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result as Json;
  }

  /** Calls a tool; the answer comes when its run has ended. */
  async call(name: string, input: Json): Promise<{ runId: string; status?: string; output?: unknown; isError?: boolean }> {
    const result = await this.request("tools/call", { name, arguments: input });
    return { ...(result.structuredContent as { runId: string }), isError: result.isError === true };
  }

  end(): Promise<void> {
    return end(this.child);
  }
}

/** A browser, and pages of it that may say nothing on their console. */
export class Looker {
  private constructor(
    private readonly browser: Browser,
    private readonly context: BrowserContext,
    private readonly backend: Backend,
    readonly said: string[],
  ) {}

  static async start(backend: Backend): Promise<Looker> {
    const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
    const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, reducedMotion: "reduce", locale: "en" });
    context.setDefaultTimeout(PATIENCE);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: backend.url });
    return new Looker(browser, context, backend, []);
  }

  async open(at: string): Promise<Page> {
    const page = await this.context.newPage();
    page.on("pageerror", (error) => this.said.push(error.message));
    page.on("console", (message) => message.type() === "error" && this.said.push(message.text()));
    await page.goto(`${this.backend.url}/?token=${this.backend.token}#${at}`);
    await page.locator("main > *").first().waitFor();
    return page;
  }

  end(): Promise<void> {
    return this.browser.close();
  }
}
