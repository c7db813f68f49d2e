//! Schemas, their inheritance, and the rules made of them.

use super::*;

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let ground = Self { folder: tempfile::tempdir().expect("a folder") };
        for (name, text) in files {
            files::write(&ground.root().join(name), text.as_bytes()).expect("written");
        }
        ground
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn schemas(&self) -> Schemas {
        let mut found = Vec::new();
        crate::walk::files(self.root(), |name| anonymous_target(name).is_some(), |path| found.push(path));
        Schemas {
            named: named(&[self.root().join("schemas"), self.root().join("more")]),
            anonymous: anonymous(self.root(), found),
        }
    }

    fn rules(&self) -> (Vec<Rule>, Vec<String>) {
        self.schemas().rules(self.root())
    }
}

fn schema(name: &str, text: &'static str) -> (String, &'static str) {
    (format!("schemas/{name}/deepschema.yml"), text)
}

fn ground(schemas: &[(&str, &'static str)]) -> Ground {
    let files: Vec<(String, &str)> = schemas.iter().map(|(name, text)| schema(name, text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    Ground::new(&files)
}

#[test]
fn an_empty_schema_is_listed_and_makes_no_rule() {
    let ground = ground(&[("bare", "")]);
    assert!(ground.schemas().named[0].schema.is_ok());
    let (rules, errors) = ground.rules();
    assert!(rules.is_empty() && errors.is_empty());
}

#[test]
fn a_broken_schema_is_listed_and_reported() {
    let ground = ground(&[("bad", "unknown_key: 1"), ("worse", "a: ["), ("short", "examples: [{path: x}]")]);
    assert!(ground.schemas().named.iter().all(|one| one.schema.is_err()));
    let (rules, errors) = ground.rules();
    assert!(rules.is_empty());
    assert_eq!(errors.len(), 3);
    assert!(errors[0].contains("unknown_key"), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("description")), "{errors:?}");
}

#[test]
fn a_rule_needs_matchers_and_requirements() {
    let ground = ground(&[
        ("no_matchers", "requirements: {a: x}"),
        ("no_requirements", "matchers: ['*.md']"),
        ("both", "matchers: ['*.md']\nrequirements: {a: x}"),
        ("from_parent", "matchers: ['*.txt']\nparent_deep_schemas: [no_matchers]"),
    ]);
    let names: Vec<String> = ground.rules().0.into_iter().map(|rule| rule.name).collect();
    assert_eq!(names, ["both DeepSchema Compliance", "from_parent DeepSchema Compliance"]);
}

#[test]
fn parents_are_merged_in_order_and_the_child_wins() {
    let ground = ground(&[
        ("a", "requirements: {one: a, two: a}\nverification_bash_command: [first]\njson_schema_path: a.json"),
        ("b", "parent_deep_schemas: [a]\nrequirements: {two: b, three: b}\nverification_bash_command: [second]"),
        ("c", "parent_deep_schemas: [b]\nrequirements: {three: c}\nmatchers: ['*']"),
    ]);
    let schemas = ground.schemas();
    let c = schemas.named.iter().find(|one| one.name == "c").expect("there");
    let resolved = schemas.resolve("c", c.schema.as_ref().expect("usable")).expect("resolved");
    let merged: Vec<(&str, &str)> =
        resolved.requirements.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    assert_eq!(merged, [("one", "a"), ("two", "b"), ("three", "c")]);
    assert_eq!(resolved.commands, ["first", "second"]);
    assert!(resolved.json_schema.is_some_and(|path| path.ends_with("schemas/a/a.json")));
}

#[test]
fn loops_and_unknown_parents_leave_the_schema_out() {
    let ground = ground(&[
        ("a", "parent_deep_schemas: [b]\nmatchers: ['*']\nrequirements: {x: y}"),
        ("b", "parent_deep_schemas: [a]\nmatchers: ['*']\nrequirements: {x: y}"),
        ("c", "parent_deep_schemas: [nowhere]\nmatchers: ['*']\nrequirements: {x: y}"),
        ("d", "parent_deep_schemas: [d]\nmatchers: ['*']\nrequirements: {x: y}"),
        ("e", "parent_deep_schemas: [c]\nmatchers: ['*']\nrequirements: {x: y}"),
    ]);
    let (rules, errors) = ground.rules();
    assert!(rules.is_empty());
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("nowhere")));
}

/// Each level names the one below twice: without care that doubles the work at every level.
#[test]
fn a_family_tree_that_doubles_is_bounded() {
    let mut files = Vec::new();
    for level in 1..40 {
        let below = level - 1;
        files.push((
            format!("schemas/s{level}/deepschema.yml"),
            format!("parent_deep_schemas: [s{below}, s{below}]\nmatchers: ['*']\nrequirements: {{r{level}: x}}"),
        ));
    }
    files.push(("schemas/s0/deepschema.yml".into(), "requirements: {r0: x}".into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let ground = Ground::new(&files);
    let started = std::time::Instant::now();
    let _ = ground.rules();
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn the_first_source_of_a_name_counts() {
    let ground = Ground::new(&[
        ("schemas/page/deepschema.yml", "summary: mine"),
        ("more/page/deepschema.yml", "summary: shadowed"),
        ("more/other/deepschema.yml", "summary: other"),
        ("schemas/nofile/readme.txt", "x"),
    ]);
    let schemas = ground.schemas();
    let seen: Vec<(&str, Option<&str>)> = schemas
        .named
        .iter()
        .map(|one| (one.name.as_str(), one.schema.as_ref().ok().and_then(|schema| schema.summary.as_deref())))
        .collect();
    assert_eq!(seen, [("page", Some("mine")), ("other", Some("other"))]);
}

#[test]
fn references_are_shown_links_are_not_and_missing_ones_are_reported() {
    let ground = Ground::new(&[
        (
            "schemas/page/deepschema.yml",
            "matchers: ['*.md']\nrequirements: {a: x}\nreferences:\n- {path: guide.md, description: g}\n- {path: 'https://example.com', description: l}\n- {path: gone.md, description: m}\nexamples:\n- {path: good.md, description: A good one}",
        ),
        ("schemas/page/guide.md", "guide"),
    ]);
    let (rules, errors) = ground.rules();
    assert_eq!(rules[0].references.iter().map(|one| one.shown.as_str()).collect::<Vec<_>>(), ["schemas/page/guide.md"]);
    assert!(rules[0].instructions.contains("schemas/page/good.md") && rules[0].instructions.contains("A good one"));
    assert!(errors.len() == 1 && errors[0].contains("gone.md"));
}

#[test]
fn a_schema_beside_its_file_is_for_that_file_only() {
    let ground = Ground::new(&[
        ("docs/.deepschema.foo.py.yml", "requirements: {a: x}"),
        (".deepschema..yml", "requirements: {a: x}"),
        ("schemas/all/deepschema.yml", "matchers: ['**/*.py']\nrequirements: {b: y}"),
    ]);
    let schemas = ground.schemas();
    assert_eq!(schemas.anonymous.len(), 1);
    let (rules, _) = schemas.rules(ground.root());
    let matching = |file: &str| rules.iter().filter(|rule| rule.matches(ground.root(), file)).count();
    assert_eq!((matching("docs/foo.py"), matching("foo.py"), matching("docs/deep/foo.py")), (2, 1, 1));
    assert_eq!(schemas.applying("docs/foo.py").count(), 2);
    assert_eq!(schemas.applying("foo.txt").count(), 0);
}
