use super::*;
use crate::merge::{Declared, merge};
use model::SeededIds;
use rstest::rstest;

fn run(folder: &Path, template: Template, id_rule: IdRule) -> InitPlan {
    init(folder, template, id_rule, &SeededIds::new(7)).unwrap()
}

fn paths(plan: &InitPlan) -> Vec<&str> {
    plan.changes.iter().map(|change| change.path.as_str()).collect()
}

#[rstest]
#[case(Template::Script, "main.workflow.ts")]
#[case(Template::Command, "main.py")]
fn a_new_folder_becomes_a_project_that_is_found(#[case] template: Template, #[case] file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("My Reports");
    let plan = run(&root, template, IdRule::Keep);
    assert_eq!(paths(&plan), [".gitignore", file, "package.json"]);
    let manifest = Manifest::read(&root).unwrap();
    assert_eq!((manifest.uuid.as_str(), manifest.name.as_str()), (plan.uuid.as_str(), "my-reports"));
    let found = discover(&manifest);
    assert!(found.errors.is_empty() && found.warnings.is_empty(), "{found:?}");
    assert_eq!(found.candidates[0].id.as_str(), "main");
    let merged = merge(&found.candidates[0], Declared::Nothing).unwrap();
    assert!(merged.warnings.is_empty());
    if template == Template::Command {
        assert_eq!(merged.entrypoint.params.len(), 2);
    }
    // Once more: there is nothing left to do.
    assert!(run(&root, template, IdRule::Keep).changes.is_empty());
}

#[test]
fn only_what_is_missing_is_added_and_the_layout_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let package =
        "{\n    \"name\":   \"mine\",\n    \"scripts\": {\"a\": \"b\"},\n    \"workflow\": {\"secrets\": [\"T\"]}\n}\n";
    std::fs::write(folder.path().join("package.json"), package).unwrap();
    std::fs::write(folder.path().join(".gitignore"), "mine\n").unwrap();
    std::fs::write(folder.path().join("main.py"), "mine\n").unwrap();
    let plan = run(folder.path(), Template::Command, IdRule::Keep);
    assert_eq!(paths(&plan), ["main-2.py", "package.json"]);
    let text = std::fs::read_to_string(folder.path().join("package.json")).unwrap();
    assert!(text.starts_with("{\n    \"name\":   \"mine\",\n    \"scripts\": {\"a\": \"b\"},\n"), "{text}");
    assert_eq!(std::fs::read_to_string(folder.path().join("main.py")).unwrap(), "mine\n");
    let manifest = Manifest::read(folder.path()).unwrap();
    assert_eq!(manifest.secrets, ["T"]);
    assert_eq!(discover(&manifest).candidates.len(), 1);
    let diff = plan.diff();
    assert!(
        diff.contains("--- /dev/null\n+++ b/main-2.py\n") && diff.contains("+    \"projectType\": \"workflow\""),
        "{diff}"
    );
    assert!(!diff.contains("-    \"name\""), "{diff}");
}

#[test]
fn a_project_with_workflows_gets_no_example() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.workflow.ts"), "").unwrap();
    let plan = run(folder.path(), Template::Script, IdRule::Keep);
    assert_eq!(paths(&plan), [".gitignore", "package.json"]);
    assert_eq!(discover(&Manifest::read(folder.path()).unwrap()).candidates[0].id.as_str(), "report");
}

#[test]
fn a_copy_gets_a_new_id_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), Template::Script, IdRule::Keep);
    let second = init(folder.path(), Template::Script, IdRule::Renew, &SeededIds::new(8)).unwrap();
    assert_ne!(first.uuid, second.uuid);
    assert_eq!(paths(&second), ["package.json"]);
    let before: Value = serde_json::from_str(&first.changes[2].new).unwrap();
    let mut after: Value = serde_json::from_str(&second.changes[0].new).unwrap();
    assert_eq!(after["id"], second.uuid.as_str());
    after["id"] = before["id"].clone();
    assert_eq!(before, after);
    assert_eq!(uuid::Uuid::parse_str(&second.uuid).unwrap().get_version_num(), 4);
}

#[rstest]
#[case(r#"{"projectType": "kanban"}"#, "kanban")]
#[case(r#"{"id": "one"}"#, "no UUID")]
#[case("{", "no valid JSON")]
#[case(r#"{"workflow": 5}"#, "cannot be extended")]
fn what_is_somebody_elses_or_broken_is_not_touched(#[case] package: &str, #[case] words: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("package.json"), package).unwrap();
    let error = init(folder.path(), Template::Script, IdRule::Keep, &SeededIds::new(1)).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("package.json")).unwrap(), package);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn whoever_was_faster_keeps_what_they_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_init(folder.path(), Template::Script, IdRule::Keep, &SeededIds::new(1)).unwrap();
    std::fs::write(folder.path().join("main.workflow.ts"), "theirs").unwrap();
    assert!(matches!(plan.apply(), Err(InitError::Changed { .. })));
    assert_eq!(std::fs::read_to_string(folder.path().join("main.workflow.ts")).unwrap(), "theirs");
    assert!(!folder.path().join("package.json").exists());
}

#[test]
fn keys_that_are_null_or_doubled_and_a_mark_are_dealt_with() {
    let folder = tempfile::tempdir().unwrap();
    let package = "\u{feff}{\"id\": null, \"id\": null, \"projectType\": null, \"workflow\": {\"entrypoints\": {}}}";
    std::fs::write(folder.path().join("package.json"), package).unwrap();
    run(folder.path(), Template::Script, IdRule::Keep);
    let text = std::fs::read_to_string(folder.path().join("package.json")).unwrap();
    assert!(text.starts_with('\u{feff}') && text.matches("\"id\"").count() == 1, "{text}");
    assert_eq!(discover(&Manifest::read(folder.path()).unwrap()).candidates.len(), 1);
}
