use super::*;
use rstest::rstest;
use serde_json::json;
use std::os::unix::fs::symlink;

fn project(workflow: &Value, files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let package =
        json!({"id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow", "workflow": workflow});
    std::fs::write(folder.path().join("package.json"), package.to_string()).unwrap();
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    folder
}

fn find(folder: &tempfile::TempDir) -> Discovery {
    discover(&Manifest::read(folder.path()).unwrap())
}

fn ids(found: &Discovery) -> Vec<&str> {
    found.candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}

#[test]
fn without_a_declaration_workflow_files_are_found_and_sorted() {
    let folder = project(
        &json!({}),
        &[
            "b.workflow.ts",
            "workflows/a.workflow.mjs",
            "c.workflow.js",
            "workflows/deep/d.workflow.ts",
            "e.ts",
            "x.workflow.cjs",
        ],
    );
    let found = find(&folder);
    assert_eq!(ids(&found), ["a", "b", "c"]);
    assert_eq!(found.candidates[0].source, CandidateSource::File { file: "workflows/a.workflow.mjs".into() });
    assert!(found.errors.is_empty() && found.warnings.is_empty());
}

#[test]
fn a_declaration_keeps_its_order_and_replaces_the_search() {
    let workflow = json!({"entrypoints": {"z": "./src/z.ts", "convert": {"command": ["python3", "c.py"], "title": "C"},
        "workflow": {"dynamic": true, "maxResultBytes": 1000}, "a": {"script": "a.mjs"}}});
    let found = find(&project(&workflow, &["src/z.ts", "a.mjs", "other.workflow.ts"]));
    assert_eq!(ids(&found), ["z", "convert", "workflow", "a"]);
    assert_eq!(found.candidates[0].source, CandidateSource::File { file: "src/z.ts".into() });
    assert_eq!(found.candidates[1].source, CandidateSource::Command { argv: vec!["python3".into(), "c.py".into()] });
    assert_eq!(Value::from(found.candidates[1].settings.clone()), json!({"title": "C"}));
    assert_eq!(found.candidates[2].source, CandidateSource::Dynamic);
}

#[rstest]
#[case::missing(json!("./none.ts"), "does not exist; mend the path")]
#[case::outside(json!("../x.ts"), "leads out of the project; move the file into the project")]
#[case::absolute(json!("/etc/x.ts"), "write it like `./main.workflow.ts`")]
#[case::folder(json!("sub"), "is a folder, not a regular file")]
#[case::no_script(json!("notes.md"), "is no script")]
#[case::types(json!("t.d.ts"), "is no script")]
#[case::link(json!("out.ts"), "through a link")]
#[case::number(json!(5), "it is 5; write a path")]
#[case::nothing(json!({"title": "x"}), "neither `script` nor `command`")]
#[case::both(json!({"script": "ok.ts", "command": ["x"]}), "exclude each other")]
#[case::shell(json!({"command": "python3 x.py"}), "no shell reads it; write it as a list")]
#[case::empty(json!({"command": []}), "names no program")]
#[case::nul(json!({"command": ["a\u{0}"]}), "NUL")]
#[case::element(json!({"command": ["a", 1]}), "element 2 of `command` is 1")]
#[case::script(json!({"script": 7}), "`script` is 7")]
#[case::dynamic(json!({"dynamic": "yes"}), "`dynamic` is \"yes\"")]
fn one_broken_entrypoint_hides_no_other(#[case] body: Value, #[case] words: &str) {
    let workflow = json!({"entrypoints": {"bad": body, "ok": "ok.ts"}});
    let folder = project(&workflow, &["ok.ts", "notes.md", "sub/x", "t.d.ts"]);
    symlink("/etc/hostname", folder.path().join("out.ts")).unwrap();
    let found = find(&folder);
    assert_eq!(ids(&found), ["ok"]);
    assert_eq!(found.errors.len(), 1);
    assert_eq!(found.errors[0].entrypoint, "bad");
    assert!(found.errors[0].message.contains(words), "{}", found.errors[0].message);
}

#[rstest]
#[case("my flow", "call it `my-flow`, say")]
#[case("../../x", "call it `x`, say")]
#[case("日本", "give it such a name")]
#[case("", "give it such a name")]
fn bad_ids_are_told_with_a_better_one(#[case] id: &str, #[case] words: &str) {
    let found = find(&project(&json!({"entrypoints": {id: "ok.ts"}}), &["ok.ts"]));
    assert!(found.candidates.is_empty());
    assert!(found.errors[0].message.contains(words), "{}", found.errors[0].message);
}

#[test]
fn long_ids_and_ids_that_differ_in_case_are_warned_of() {
    let long = "x".repeat(41);
    let workflow = json!({"entrypoints": {long.as_str(): "ok.ts", "Main": "ok.ts", "main": "ok.ts", "y".repeat(64): "ok.ts",
        "z".repeat(65): "ok.ts"}});
    let found = find(&project(&workflow, &["ok.ts"]));
    assert_eq!(found.candidates.len(), 4);
    assert_eq!(found.errors.len(), 1);
    assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
    assert!(found.warnings[2].contains("`Main`, `main` differ in case only"), "{:?}", found.warnings);
}

#[test]
fn two_files_with_one_id_are_an_error_that_names_both() {
    let folder = project(&json!({}), &["a.workflow.ts", "workflows/a.workflow.ts", "b.workflow.ts"]);
    let found = find(&folder);
    assert_eq!(ids(&found), ["b"]);
    let message = &found.errors[0].message;
    assert!(message.contains("`a.workflow.ts` and `workflows/a.workflow.ts` both have this id"), "{message}");
}

#[test]
fn a_key_given_twice_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ok.ts"), "").unwrap();
    let package = r#"{"id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow",
        "workflow": {"entrypoints": {"a": "ok.ts", "b": "ok.ts", "a": "ok.ts"}}}"#;
    std::fs::write(folder.path().join("package.json"), package).unwrap();
    let found = find(&folder);
    assert_eq!(ids(&found), ["b"]);
    assert!(found.errors[0].message.contains("twice"), "{:?}", found.errors);
}

#[test]
fn a_found_file_that_is_a_link_out_or_no_file_is_an_error() {
    let folder = project(&json!({}), &["ok.workflow.ts", "dir.workflow.ts/x", ".workflow.ts", "bad name.workflow.ts"]);
    symlink("/etc/hostname", folder.path().join("out.workflow.ts")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe.workflow.js"), rustix::fs::Mode::RWXU).unwrap();
    let found = find(&folder);
    assert_eq!(ids(&found), ["ok"]);
    let broken: Vec<_> = found.errors.iter().map(|error| error.entrypoint.as_str()).collect();
    assert_eq!(broken, [".workflow.ts", "bad name", "dir", "out", "pipe"]);
}

#[test]
fn orchestration_scripts_of_the_claude_folder_come_only_when_asked_for() {
    let files = [
        "main.workflow.ts",
        ".claude/workflows/tool:review.js",
        ".claude/workflows/a.test.js",
        ".claude/workflows/README.md",
        ".claude/workflows/flow.d.ts",
    ];
    assert_eq!(ids(&find(&project(&json!({}), &files))), ["main"]);
    let found = find(&project(&json!({"claudeWorkflows": true}), &files));
    assert_eq!(ids(&found), ["main", "tool-review"]);
    assert_eq!(found.candidates[1].naming, Naming::Meta);
}
