//! Rule files, right and wrong, and what a rule sees.

use super::*;

fn read_text(text: &str) -> Result<Vec<Rule>, RuleError> {
    parse(text, Path::new("/p/src/.deepreview"))
}

fn rule(changes: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "py_rule:\n  description: d\n  match:\n    include: [\"**/*.py\"]\n  review:\n    strategy: individual\n    \
         instructions: Look.\n",
    );
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn one(changes: &[(&str, &str)]) -> Rule {
    read_text(&rule(changes)).expect("rules").remove(0)
}

fn wrong(changes: &[(&str, &str)]) -> String {
    read_text(&rule(changes)).expect_err("refused").to_string()
}

#[test]
fn an_empty_file_holds_no_rules() {
    assert!(read_text("").expect("rules").is_empty());
    assert!(read_text("# nothing\n").expect("rules").is_empty());
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    assert!(wrong(&[("strategy: individual", "strategy: each")]).contains("line 6"));
    assert!(wrong(&[("  match:\n    include: [\"**/*.py\"]\n", "")]).contains("`match` is missing"));
    assert!(wrong(&[("[\"**/*.py\"]", "[]")]).contains("at least one pattern"));
    assert!(wrong(&[("description: d", &format!("description: {}", "x".repeat(257)))]).contains("257"));
    assert!(wrong(&[("py_rule", "py.rule")]).contains("py.rule"));
    assert!(wrong(&[("py_rule", "py rule")]).contains("py rule"));
    assert!(wrong(&[("description: d", "description: d\n  more: 1")]).contains("more"));
    assert!(wrong(&[("instructions: Look.", "instructions: {file: none.md}")]).contains("none.md"));
    assert!(read_text("a: [").is_err());
    assert!(read_text("- a").is_err());
    assert!(one(&[("description: d", &format!("description: {}", "x".repeat(256)))]).description.len() == 256);
}

#[test]
fn instructions_may_stand_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("look.md"), "Look hard.").expect("written");
    let path = folder.path().join(RULE_FILE);
    let text = rule(&[("instructions: Look.", "instructions: {file: look.md}")]);
    assert_eq!(parse(&text, &path).expect("rules")[0].instructions, "Look hard.");
    std::fs::write(folder.path().join("look.md"), [0xff]).expect("written");
    assert!(parse(&text, &path).is_err());
}

#[test]
fn a_rule_sees_its_own_folder_only() {
    let rule = one(&[]);
    let root = Path::new("/p");
    assert!(rule.matches(root, "src/a.py") && rule.matches(root, "src/deep/a.py"));
    for other in ["lib/a.py", "src2/a.py", "a.py", "src", "../src/a.py", "/p/src/a.py"] {
        assert!(!rule.matches(root, other), "{other}");
    }
}

#[test]
fn an_exclude_wins() {
    let rule = one(&[("[\"**/*.py\"]", "[\"**/*.py\", \"a.py\"]\n    exclude: [\"gen/**\"]")]);
    let root = Path::new("/p");
    assert!(rule.matches(root, "src/a.py"));
    assert!(!rule.matches(root, "src/gen/a.py"));
}

#[test]
fn a_catch_all_has_nothing_but_catch_alls() {
    assert!(one(&[("**/*.py", "**/*")]).is_catch_all());
    assert!(!one(&[("[\"**/*.py\"]", "[\"**/*\", \"*.py\"]")]).is_catch_all());
}

#[test]
fn rules_stand_with_the_line_of_their_name_and_the_deepest_file_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let put =
        |name: &str, text: &str| crate::files::write(&folder.path().join(name), text.as_bytes()).expect("written");
    put(".deepreview", &format!("{}{}", rule(&[]), rule(&[("py_rule", "second")])));
    put("src/deep/.deepreview", &rule(&[("py_rule", "deep")]));
    put("src/.deepreview", &rule(&[("py_rule", "mid")]));
    put("bad/.deepreview", "x: 1");
    put("node_modules/.deepreview", &rule(&[("py_rule", "skipped")]));
    let found = find(folder.path());
    let seen: Vec<(&str, usize)> = found.rules.iter().map(|rule| (rule.name.as_str(), rule.line)).collect();
    assert_eq!(seen, [("deep", 1), ("mid", 1), ("py_rule", 1), ("second", 8)]);
    assert_eq!(found.errors.len(), 1);
    assert!(found.errors[0].0.ends_with("bad/.deepreview"));
}
