//! A project with what the views show: phases, steps, logs in colour, a table, a file, a question.

use std::path::PathBuf;

use serde_json::json;
use workflow_code_tests::Environment;

const REPORT: &str = r#"export const entrypoint = {
  title: "Weekly report", description: "Counts the notes of a week.",
  params: { week: { type: "string", required: true, description: "Any day of it" } },
};
export default async function (input, flow) {
  flow.phase("Read");
  console.log("\u001b[32mread\u001b[0m two notes of " + input.week);
  console.warn("one note is empty");
  flow.phase("Write");
  console.log("<img src=x onerror=alert(1)> javascript:alert(1)");
  return { rows: [{ day: "Monday", words: 120 }, { day: "Tuesday", words: 95 }], total: 215, week: input.week };
}
"#;

const ASK: &str = r#"export const entrypoint = { title: "Greeting", description: "Asks for a name.", params: {} };
export default async function (input, flow) {
  const { name } = await flow.form({
    title: "Who is it for?",
    fields: { name: { type: "string", required: true, title: "Name" } },
  });
  return { greeting: `Hello, ${name}` };
}
"#;

const SLOW: &str = r#"import sys, time, pathlib
pathlib.Path("started").write_text("yes")
while not pathlib.Path("go").exists():
    time.sleep(0.02)
print("done")
"#;

/// Writes the project, registers it, and returns its id and folder.
pub(crate) fn register(environment: &Environment) -> (String, PathBuf) {
    let package = json!({
        "name": "reports", "id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow",
        "workflow": { "entrypoints": {
            "report": "./report.workflow.ts",
            "ask": "./ask.workflow.ts",
            "slow": { "command": ["python3", "slow.py"], "title": "Slow", "description": "Waits for a file." },
        } },
    });
    environment.write("reports/package.json", package.to_string()).unwrap();
    environment.write("reports/report.workflow.ts", REPORT).unwrap();
    environment.write("reports/ask.workflow.ts", ASK).unwrap();
    environment.write("reports/slow.py", SLOW).unwrap();
    let folder = environment.home().join("reports");
    let added = environment.run(&["projects", "add", &folder.to_string_lossy(), "--json"]).unwrap();
    let id = added.json()[0]["projectId"].as_str().unwrap_or_else(|| panic!("{added:?}")).to_owned();
    (id, folder)
}

/// Runs `report` in the terminal and returns the run's id.
pub(crate) fn report(environment: &Environment, id: &str, week: &str) -> String {
    let done = environment.run(&["run", id, "report", "--week", week]).unwrap();
    assert_eq!(done.code, 0, "{done:?}");
    done.json()["runId"].as_str().unwrap().to_owned()
}
