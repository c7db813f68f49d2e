use super::*;
use rstest::rstest;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn folder(package: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("package.json"), package).unwrap();
    folder
}

fn read(package: &str) -> Manifest {
    Manifest::read(folder(package.as_bytes()).path()).unwrap()
}

#[test]
fn everything_is_read_in_its_order() {
    let manifest = read(
        r#"{"name": "weekly", "id": "11111111-1111-4111-8111-11111111111A", "projectType": "workflow",
        "scripts": {}, "workflow": {"entrypoints": {"z": "./z.ts", "a": {"command": ["x"]}},
        "relatedProjects": {"style": {"id": "22222222-2222-4222-8222-222222222222"}},
        "secrets": ["TOKEN"], "httpHosts": ["API.example.com"], "language": "zh", "claudeWorkflows": true,
        "maxAgents": 5, "maxTokens": 1000, "unknown": 1}}"#,
    );
    assert_eq!(manifest.uuid, "11111111-1111-4111-8111-11111111111a");
    let ids: Vec<_> = manifest.entrypoints.iter().flatten().map(|declared| declared.id.as_str()).collect();
    assert_eq!(ids, ["z", "a"]);
    assert_eq!(manifest.related_projects[0].alias, "style");
    assert_eq!(manifest.secrets, ["TOKEN"]);
    assert_eq!(manifest.http_hosts, ["api.example.com"]);
    assert_eq!(manifest.language.as_deref(), Some("zh"));
    assert!(manifest.claude_workflows);
    assert_eq!((manifest.max_agents, manifest.max_tokens), (Some(5), Some(1000)));
    assert!(manifest.errors.is_empty(), "{manifest:?}");
    assert!(matches!(&manifest.warnings[..], [one] if one.contains("`workflow.unknown`")), "{:?}", manifest.warnings);
}

#[rstest]
#[case::kanban(r#"{"projectType": "kanban", "id": "x"}"#, "kanban")]
#[case::conversation(r#"{"projectType": "conversation"}"#, "conversation")]
#[case::none(r#"{"id": "11111111-1111-4111-8111-111111111111"}"#, "no `projectType`")]
#[case::number(r#"{"projectType": 7}"#, "`7`")]
#[case::no_id(r#"{"projectType": "workflow"}"#, "no `id`")]
#[case::bad_id(r#"{"projectType": "workflow", "id": "one"}"#, "no UUID: \"one\"")]
#[case::braced_id(r#"{"projectType": "workflow", "id": "11111111111141118111111111111111"}"#, "no UUID")]
#[case::number_id(r#"{"projectType": "workflow", "id": 1}"#, "no UUID: 1")]
#[case::list("[]", "a list of 0 instead of an object")]
#[case::comma("{\n \"a\": 1,\n}", "line 3, column 1")]
#[case::comment("{ // no\n}", "line 1, column 3")]
#[case::empty("", "no valid JSON")]
fn no_workflow_project(#[case] package: &str, #[case] words: &str) {
    let error = Manifest::read(folder(package.as_bytes()).path()).unwrap_err();
    let sentence = error.sentence();
    assert!(sentence.contains(words), "{sentence}");
    assert!(sentence.contains("package.json"), "{sentence}");
}

#[test]
fn a_missing_id_is_told_with_the_command_that_adds_it() {
    let folder = folder(br#"{"projectType": "workflow"}"#);
    let error = Manifest::read(folder.path()).unwrap_err();
    assert!(error.next_step().contains("workflow-code init"), "{}", error.next_step());
    assert!(error.next_step().contains("UUID"));
}

#[test]
fn missing_folders_and_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Manifest::read(&folder.path().join("none")), Err(PackageError::NoFolder { .. })));
    assert!(matches!(Manifest::read(folder.path()), Err(PackageError::NoPackage { .. })));
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(Manifest::read(&file), Err(PackageError::NotAFolder { .. })));
    assert_eq!(read_project_type(folder.path()).unwrap(), None);
}

#[test]
fn a_pipe_or_a_giant_as_package_json_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let error = Manifest::read(folder.path()).unwrap_err();
    assert!(error.sentence().contains("a named pipe"), "{}", error.sentence());
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
    let error = Manifest::read(folder.path()).unwrap_err();
    assert!(error.sentence().contains("larger than 1048576 bytes"), "{}", error.sentence());
}

#[test]
fn an_id_given_twice_is_marked_and_other_keys_are_warned_of() {
    let manifest = read(&format!(
        r#"{{"id": "{ID}", "projectType": "workflow", "name": "a", "name": "b",
        "workflow": {{"entrypoints": {{"main": "a.ts", "other": "o.ts", "main": "b.ts"}}}}}}"#
    ));
    let marks: Vec<_> = manifest.entrypoints.iter().flatten().map(|one| (one.id.as_str(), one.duplicate)).collect();
    assert_eq!(marks, [("main", true), ("other", false)]);
    assert_eq!(manifest.name, "b");
    assert_eq!(manifest.warnings, ["package.json gives `name` twice; the last one counts"]);
}

#[test]
fn broken_parts_do_not_hide_the_rest() {
    let manifest = read(&format!(
        r#"{{"id": "{ID}", "projectType": "workflow", "workflow": {{"entrypoints": ["main.ts"],
        "httpHosts": ["a", 1], "relatedProjects": {{"x": {{}}, "ok": {{"id": "{ID}"}}}}, "maxAgents": -1,
        "language": 3, "claudeWorkflows": "yes"}}}}"#
    ));
    assert_eq!(manifest.errors.len(), 1);
    assert_eq!(manifest.http_hosts, ["a"]);
    assert_eq!(manifest.related_projects.len(), 1);
    assert_eq!(manifest.warnings.len(), 5, "{:?}", manifest.warnings);
}

#[rstest]
#[case::text(r#""secrets": "A""#)]
#[case::object(r#""secrets": {"A": 1}"#)]
#[case::number_in_it(r#""secrets": ["A", 1]"#)]
#[case::misspelt(r#""secret": ["A"]"#)]
fn secrets_that_cannot_be_read_are_no_secrets_left_open(#[case] secrets: &str) {
    let package = format!(r#"{{"id": "{ID}", "projectType": "workflow", "workflow": {{{secrets}}}}}"#);
    let read = Manifest::read(folder(package.as_bytes()).path());
    assert!(matches!(read, Err(PackageError::Secrets { .. })), "{read:?}");
}

#[test]
fn a_byte_order_mark_is_tolerated() {
    let mut package = b"\xEF\xBB\xBF".to_vec();
    package.extend(format!(r#"{{"id": "{ID}", "projectType": "workflow"}}"#).bytes());
    assert_eq!(Manifest::read(folder(&package).path()).unwrap().entrypoints, None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_path_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let above = tempfile::tempdir().unwrap();
    let root = above.path().join(std::ffi::OsStr::from_bytes(b"p\xff"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("package.json"), format!(r#"{{"id": "{ID}", "projectType": "workflow"}}"#)).unwrap();
    let error = Manifest::read(&root).unwrap_err();
    assert!(matches!(error, PackageError::NotText { .. }), "{error}");
    assert!(matches!(read_project_type(&root), Err(PackageError::NotText { .. })));
}
