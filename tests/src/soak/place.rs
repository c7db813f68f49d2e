//! The home of a crash harness: one project whose runs leave countable effects, one database, one file of effects.

use std::collections::HashMap;
use std::path::PathBuf;

use store::{Create, DataStore, Store, StoreOptions};

use crate::Environment;

/// The project's id.
const UUID: &str = "50a450a4-50a4-450a-8450-a450a450a450";

const PACKAGE: &str = r#"{
  "name": "soak", "id": "50a450a4-50a4-450a-8450-a450a450a450", "projectType": "workflow",
  "workflow": { "entrypoints": {
    "steps": "./steps.workflow.ts",
    "legs": {
      "command": ["/bin/sh", "legs.sh"], "title": "Legs", "description": "A command that asks once.",
      "params": { "id": { "type": "string", "required": true }, "file": { "type": "string", "required": true } }
    }
  } }
}"#;

/// Each step is a program that adds a line to the file. A program that may have run before a crash is not run again
/// unless a person allows it, and here nobody does.
const STEPS: &str = r#"export const entrypoint = {
  title: "Steps",
  description: "Does things that can be counted, and asks once.",
  params: { id: { type: "string", required: true }, file: { type: "string", required: true } },
};

export default async function (input, flow) {
  const unsure: string[] = [];
  const act = async (step: string) => {
    try {
      const done = await flow.exec("/bin/sh", ["-c", 'echo "$1" >> "$2"', "sh", `${input.id} ${step}`, input.file]);
      if (done.exitCode !== 0) unsure.push(step);
    } catch (error) {
      if (error.code !== "approval_denied") throw error;
      unsure.push(step);
    }
    await flow.value("count").update((count) => (count ?? 0) + 1);
    await flow.kv.set(`${input.id}/${step}`, step);
  };
  await act("one");
  await act("two");
  const fields = { mood: { type: "string", options: ["calm", "brisk"], required: true } };
  const { mood } = await flow.form({ title: "Mood", fields });
  await flow.step("later", async (flow) => {
    await act("three");
    await act("four");
  });
  return { id: input.id, mood, unsure };
}
"#;

/// Its first leg asks, its second one ends.
const LEGS: &str = r#"if [ -z "$WORKFLOW_ANSWER" ]; then
  echo "$2 ask" >> "$4"
  echo '{"pending": {"title": "Mood", "fields": {"mood": {"type": "string", "options": ["calm", "brisk"], "required": true}}}}' > "$WORKFLOW_OUTPUT"
else
  echo "$2 answer" >> "$4"
  echo "{\"output\": {\"id\": \"$2\", \"answer\": $(cat "$WORKFLOW_ANSWER")}}" > "$WORKFLOW_OUTPUT"
fi
"#;

/// The steps of a run of `steps`.
pub(super) const ALL_STEPS: [&str; 4] = ["one", "two", "three", "four"];

/// The home.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) environment: Environment,
    pub(super) project: PathBuf,
    pub(super) data: PathBuf,
    pub(super) effects: PathBuf,
}

impl Place {
    pub(super) fn new() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the home cannot be made: {error}");
        let environment = Environment::new().map_err(failed)?;
        environment.write("soak/package.json", PACKAGE).map_err(failed)?;
        environment.write("soak/steps.workflow.ts", STEPS).map_err(failed)?;
        environment.write("soak/legs.sh", LEGS).map_err(failed)?;
        let effects = environment.write("effects.txt", "").map_err(failed)?;
        let (project, data) = (environment.home().join("soak"), environment.home().join("data"));
        Ok(Self { environment, project, data, effects })
    }

    /// The history, read as any other process would.
    pub(super) fn history(&self) -> Store {
        let options = StoreOptions { create: Create::Never, ..StoreOptions::default() };
        Store::new(self.data.join("history.db"), options)
    }

    /// How much was done, in bytes of the file of effects.
    pub(super) fn effects_length(&self) -> u64 {
        std::fs::metadata(&self.effects).map_or(0, |metadata| metadata.len())
    }

    /// How often each run did each of its steps.
    pub(super) fn effects(&self) -> Result<HashMap<(String, String), u64>, String> {
        let text = std::fs::read_to_string(&self.effects).map_err(|error| error.to_string())?;
        let mut counted = HashMap::new();
        for line in text.lines() {
            let (id, step) = line.split_once(' ').ok_or_else(|| format!("the effect `{line}` is torn"))?;
            *counted.entry((id.to_owned(), step.to_owned())).or_insert(0) += 1;
        }
        Ok(counted)
    }

    /// The counter that all runs share.
    pub(super) fn count(&self) -> Result<u64, String> {
        let values = DataStore::new(&self.data.join("values"), StoreOptions::default());
        let found = values.value(UUID, "count").map_err(|error| error.to_string())?;
        Ok(found.value.and_then(|value| value.as_u64()).unwrap_or(0))
    }

    /// Whether a step left its mark in the key-value store.
    pub(super) fn has_mark(&self, id: &str, step: &str) -> Result<bool, String> {
        let pairs = DataStore::new(&self.data.join("kv").join(UUID), StoreOptions::default());
        let found = pairs.kv_get(&format!("{id}/{step}")).map_err(|error| error.to_string())?;
        Ok(found.is_some_and(|value| value == step))
    }

    /// Arguments that every command here ends with.
    pub(super) fn data_option(&self) -> [String; 2] {
        ["--data-dir".into(), self.data.to_string_lossy().into_owned()]
    }
}
