// A project with what the tests need: something that writes when told to, something that asks, something that needs leave, something that fails.
import type { Home } from "./world";

const PAGE = `export const entrypoint = {
  title: "Weekly page", description: "Makes one page of a week's notes.",
  params: {
    week: { type: "string", required: true, title: "Week", description: "Any day of it" },
    words: { type: "integer", minimum: 10, maximum: 500, default: 100, title: "Words" },
  },
};
export default async function (input, flow) {
  flow.phase("Read");
  console.log("\\u001b[32mread\\u001b[0m the notes of " + input.week);
  console.warn("one note is empty");
  const rows = await flow.step("Count", async () => [{ day: "Monday", words: 120 }, { day: "Tuesday", words: 95 }]);
  flow.phase("Write");
  console.log("<img src=x onerror=alert(1)> javascript:alert(1)");
  const file = flow.files.create("page.md", "# Week of " + input.week);
  return { rows, week: input.week, words: input.words ?? 100 };
}
`;

const ASK = `export const entrypoint = { title: "Greeting", description: "Asks whom to greet.", params: {} };
export default async function (input, flow) {
  flow.phase("Ask");
  const { name } = await flow.form({
    title: "Who is it for?", message: "The page greets this person.",
    fields: { name: { type: "string", required: true, title: "Name" } },
  });
  return { greeting: "Hello, " + name };
}
`;

const LEAVE = `export const entrypoint = { title: "Publish", description: "Publishes the page.", params: {} };
export default async function (input, flow) {
  const done = await flow.exec("/usr/bin/printf", ["published %s", "the page"]);
  return { said: done.stdout };
}
`;

const FAIL = `export const entrypoint = { title: "Ledger", params: {} };
export default async function (input, flow) {
  console.warn("the ledger is closed");
  flow.fail("Entry 4711 is not balanced", { errCode: 7 });
}
`;

/** Says a line, and the next one when its file is there. */
const GATE = `import pathlib, sys, time
print("the first line", flush=True)
while not pathlib.Path(sys.argv[-1] if len(sys.argv) > 1 else "go").exists():
    time.sleep(0.02)
print("the last line", flush=True)
`;

/** Writes the project and registers it; answers its id. */
export function register(home: Home): string {
  home.write("reports/package.json", {
    name: "reports",
    description: "Pages for the team.",
    id: "11111111-1111-4111-8111-111111111111",
    projectType: "workflow",
    workflow: {
      entrypoints: {
        page: "./page.workflow.ts",
        ask: "./ask.workflow.ts",
        publish: "./publish.workflow.ts",
        ledger: "./ledger.workflow.ts",
        gate: { command: ["python3", "gate.py"], title: "Gate", description: "Waits for a file." },
        other: { command: ["python3", "gate.py", "never"], title: "Other gate", draft: true },
      },
    },
  });
  home.write("reports/page.workflow.ts", PAGE);
  home.write("reports/ask.workflow.ts", ASK);
  home.write("reports/publish.workflow.ts", LEAVE);
  home.write("reports/ledger.workflow.ts", FAIL);
  home.write("reports/gate.py", GATE);
  const added = home.run("projects", "add", home.at("reports"), "--json");
  return String(added[0]?.projectId);
}
