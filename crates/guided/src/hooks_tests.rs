//! Hooks with what agent programs send.

use super::*;
use crate::guided::Settings;
use serde_json::json;

struct Ground {
    folder: tempfile::TempDir,
    guided: Guided,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            crate::files::write(&folder.path().join(name), text.as_bytes()).expect("written");
        }
        let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIT_CEILING_DIRECTORIES", "/tmp")]
            .map(|(name, value)| (name.into(), value.into()));
        Self { folder, guided: Guided::new(Settings::new(environment.into())) }
    }

    fn hook(&self, name: &str, event: &str, tool: &str, input: Value) -> Value {
        let input =
            json!({ "hook_event_name": event, "tool_name": tool, "tool_input": input, "cwd": self.folder.path() });
        answer(&self.guided, name, Platform::Claude, input.to_string().as_bytes(), self.folder.path()).expect("a hook")
    }

    fn written(&self, file: &str) -> String {
        let answer = self.hook(
            "deepschema_write",
            "PostToolUse",
            "Write",
            json!({ "file_path": self.folder.path().join(file) }),
        );
        answer.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

const SCHEMA: &str = "matchers: ['*.json', 'Plain']\njson_schema_path: shape.json\nverification_bash_command: ['test \"$1\" = \"$PWD/good.json\" || { echo \"not $1\"; exit 3; }']\n";

#[test]
fn a_written_file_is_checked_against_its_schemas() {
    let ground = Ground::new(&[
        (".deepwork/schemas/data/deepschema.yml", SCHEMA),
        (".deepwork/schemas/data/shape.json", "{\"type\": \"object\", \"required\": [\"rows\"]}"),
        ("good.json", "{\"rows\": 1}"),
        ("bad.json", "{}"),
        ("Plain", "rows: 1"),
        ("other.md", "x"),
    ]);
    assert_eq!(ground.written("other.md"), "");
    let good = ground.written("good.json");
    assert!(good.contains("`data`") && !good.contains("CRITICAL"), "{good}");
    let bad = ground.written("bad.json");
    assert!(
        bad.contains("CRITICAL") && bad.contains("rows") && bad.contains("exit code 3") && bad.contains("not "),
        "{bad}"
    );
    // Without an ending it is read as YAML: only the command complains.
    let plain = ground.written("Plain");
    assert!(plain.contains("exit code 3") && !plain.contains("required"), "{plain}");
}

#[test]
fn a_schema_that_cannot_check_is_a_reported_problem() {
    let ground = Ground::new(&[
        (".deepwork/schemas/a/deepschema.yml", "matchers: ['a.json']\njson_schema_path: none.json"),
        (".deepwork/schemas/b/deepschema.yml", "matchers: ['b.json']\njson_schema_path: list.json"),
        (".deepwork/schemas/b/list.json", "[1]"),
        (".deepwork/schemas/c/deepschema.yml", "matchers: ['c.json']\nparent_deep_schemas: [gone]"),
        ("a.json", "{}"),
        ("b.json", "{}"),
        ("c.json", "{}"),
    ]);
    assert!(ground.written("a.json").contains("none.json"));
    assert!(ground.written("b.json").contains("no JSON Schema"));
    assert!(ground.written("c.json").contains("`gone`"));
}

#[test]
fn a_check_that_was_turned_off_says_nothing_against_the_file() {
    let mut ground = Ground::new(&[
        (".deepschema.x.json.yml", "verification_bash_command: ['exit 4']\njson_schema_path: shape.json"),
        ("shape.json", "{\"type\": \"object\"}"),
        ("x.json", "{}"),
    ]);
    assert!(ground.written("x.json").contains("CRITICAL"));
    let environment = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
    ground.guided = Guided::new(Settings { commands: false, ..Settings::new(environment) });
    let said = ground.written("x.json");
    assert!(!said.contains("CRITICAL") && said.contains("Not checked") && said.contains("`exit 4`"), "{said}");
    std::fs::write(ground.folder.path().join("x.json"), "[]").expect("written");
    let said = ground.written("x.json");
    assert!(said.contains("CRITICAL") && said.contains("Not checked"), "{said}");
}

#[test]
fn inherited_checks_run_also_when_the_parent_is_for_other_files() {
    let ground = Ground::new(&[
        (".deepwork/schemas/base/deepschema.yml", "verification_bash_command: ['exit 4']"),
        (".deepwork/schemas/kid/deepschema.yml", "matchers: ['*.md']\nparent_deep_schemas: [base]"),
        ("x.md", "x"),
    ]);
    assert!(ground.written("x.md").contains("exit code 4"));
}

#[test]
fn what_is_not_about_a_written_file_here_is_answered_with_nothing() {
    let ground = Ground::new(&[(".deepschema.x.md.yml", "requirements: {a: x}"), ("x.md", "x")]);
    assert!(ground.written("x.md").contains("x.md"));
    let file = json!({ "file_path": ground.folder.path().join("x.md") });
    for (event, tool) in [("PreToolUse", "Write"), ("PostToolUse", "Read"), ("Stop", "")] {
        assert_eq!(ground.hook("deepschema_write", event, tool, file.clone()), json!({}));
    }
    for input in [
        json!({}),
        json!({ "file_path": 7 }),
        json!({ "file_path": "/etc/passwd" }),
        json!({ "file_path": "../x.md" }),
        json!({ "file_path": "" }),
    ] {
        assert_eq!(ground.hook("deepschema_write", "PostToolUse", "Edit", input), json!({}));
    }
    for bytes in [&b"not json"[..], b"", b"[]", b"\xff"] {
        let answer = answer(&ground.guided, "deepschema_write", Platform::Claude, bytes, ground.folder.path());
        assert_eq!(answer, Some(json!({})));
    }
    assert_eq!(answer(&ground.guided, "no_such_hook", Platform::Claude, b"{}", ground.folder.path()), None);
}

#[test]
fn gemini_has_names_of_its_own() {
    let ground = Ground::new(&[(".deepschema.x.md.yml", "requirements: {a: x}"), ("x.md", "x")]);
    let input = json!({
        "hook_event_name": "AfterTool", "tool_name": "write_file", "cwd": ground.folder.path(),
        "tool_input": { "file_path": "x.md" },
    });
    let answer = answer(
        &ground.guided,
        "deepschema_write",
        Platform::from_name(Some("gemini")),
        input.to_string().as_bytes(),
        Path::new("/"),
    );
    assert_eq!(answer.expect("a hook")["hookSpecificOutput"]["hookEventName"], json!("AfterTool"));
}

#[test]
fn after_a_commit_a_review_is_offered_unless_all_are_passed() {
    let ground = Ground::new(&[("x.md", "x")]);
    let said = |command: &str| {
        ground.hook("post_commit_reminder", "PostToolUse", "Bash", json!({ "command": command })).to_string()
    };
    assert_eq!(said("ls"), "{}");
    assert!(said("git commit -m x").contains("Offer the user"));
    let git = |arguments: &str| {
        let environment = [
            ("PATH", "/usr/bin:/bin"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ]
        .map(|(name, value)| (name.into(), value.into()));
        let spec = Spec::new("git")
            .arguments(arguments.split(' '))
            .folder(ground.folder.path())
            .environment(environment.into());
        assert!(
            command::run(spec, COMMAND_TIME, 1 << 20, &crate::Stop::default()).expect("git starts").succeeded(),
            "{arguments}"
        );
    };
    git("init -q -b main");
    git("add -A");
    git("commit -qm x");
    // No rule matches the files of the commit.
    assert!(said("cd x && git commit -m x").contains("No new review is needed"));
    let rule =
        "r:\n  description: d\n  match: {include: ['*.md']}\n  review: {strategy: individual, instructions: i}\n";
    std::fs::write(ground.folder.path().join(".deepreview"), rule).expect("written");
    assert!(said("git commit -m x").contains("Offer the user"));
    let project = ground.guided.project(ground.folder.path()).expect("a project");
    let scope = crate::reviews::Scope::Named(vec!["x.md".into()]);
    let list = project.review(scope, crate::reviews::Sources::All).into_text();
    let id = list.split("review_instructions/").nth(1).and_then(|rest| rest.split(".md\"").next()).expect("an id");
    let _ = project.mark_passed(id);
    assert!(said("git commit -m x").contains("No new review is needed"));
    // A rule that cannot be read may be one for these files.
    for (file, text) in [("sub/.deepreview", "r: {description: d}"), (".deepschema.x.md.yml", "what: 1")] {
        let path = ground.folder.path().join(file);
        crate::files::write(&path, text.as_bytes()).expect("written");
        let unknown = said("git commit -m x");
        assert!(
            !unknown.contains("No new review") && unknown.contains("is not known") && unknown.contains(file),
            "{unknown}"
        );
        std::fs::remove_file(path).expect("removed");
    }
}
