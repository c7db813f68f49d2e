//! Modules: TypeScript, imports, what may be imported, what is kept.

mod common;

use common::{Project, TestHost, job_of, output_of, run, shown};
use serde_json::json;
use workflow_script::{JobKind, Outcome, Sources};

#[test]
fn a_typescript_module_gets_its_input_and_gives_its_output() {
    let mut job = job_of(
        JobKind::Module,
        "main.workflow.ts",
        "export const entrypoint = { title: 'x' };\n\
         enum Tone { Plain = 'plain' }\n\
         export default async function (input: { name: string }, flow) {\n\
           const words: string[] = ['Hello', input.name as string];\n\
           return { greeting: words.join(', '), tone: Tone.Plain };\n\
         }\n",
    );
    job.input = Some(json!({"name": "Ada"}));
    let mut host = TestHost::silent();
    assert_eq!(run(&job, &mut host), Outcome::Success(json!({"greeting": "Hello, Ada", "tone": "plain"})));
    assert_eq!(host.loaded.len(), 1);
    assert_eq!(host.loaded[0].path, "main.workflow.ts");
    assert_eq!(host.loaded[0].sha256.len(), 64);
}

#[test]
fn a_body_may_be_synchronous_and_return_nothing() {
    assert_eq!(output_of(""), json!(null));
    let job = job_of(JobKind::Module, "a.js", "export default () => 3");
    assert_eq!(shown(&run(&job, &mut TestHost::silent())), "success: 3");
}

#[test]
fn modules_of_the_project_are_imported() {
    let project = Project::new(&[
        (
            "main.ts",
            "import { twice } from './lib/math.ts';\nimport data from './data.json';\nimport type { T } from './types.ts';\nexport default () => twice(data.n as number)",
        ),
        ("lib/math.ts", "import { base } from '../base.js';\nexport const twice = (n: number) => n * 2 + base"),
        ("base.js", "export const base = 1"),
        ("data.json", "{\"n\": 4, \"__proto__\": 1}"),
    ]);
    let mut host = TestHost::silent();
    let job = project.job("main.ts");
    assert_eq!(run(&job, &mut host), Outcome::Success(json!(9)));
    let mut paths: Vec<_> = host.loaded.iter().map(|module| module.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["base.js", "data.json", "lib/math.ts", "main.ts"]);
    // From the kept sources alone the run is the same.
    let mut kept = job.clone();
    kept.root = "/nowhere".into();
    kept.sources = Sources::Kept(host.loaded.iter().map(|module| (module.path.clone(), module.text.clone())).collect());
    assert_eq!(run(&kept, &mut TestHost::silent()), Outcome::Success(json!(9)));
}
