use super::*;
use crate::{Launch, client};
use insta::assert_snapshot;
use proptest::prelude::*;

fn shape(id: &str) -> &'static Shape {
    &client(id).unwrap().shape
}

fn launch() -> Launch {
    Launch::new("wf-report", "/opt/Zoë's \"tools\"/workflow-code", ["--workflow-mcp", "wk7r2"]).unwrap()
}

fn set_in(id: &str, text: &str) -> String {
    set(shape(id), text, "wf-report", &shape(id).entry(&launch())).unwrap()
}

fn fault(id: &str, text: &str) -> Fault {
    match set(shape(id), text, "wf-report", &shape(id).entry(&launch())) {
        Err(EditError::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

const COMMENTED: &str = r#"// Where my editor starts things
{
    "editor.fontSize": 13, // not too small
    "mcpServers": {
        /* my files */
        "files": {
            "command": "npx",
            "args": ["-y", "files-server"], // reads only
        },
        // "old": { "command": "gone" },
    },
    "theme": "dark", // last
}
"#;

#[test]
fn json_keeps_comments_order_and_trailing_commas() {
    assert_snapshot!(set_in("cursor", COMMENTED), @r#"
    // Where my editor starts things
    {
        "editor.fontSize": 13, // not too small
        "mcpServers": {
            /* my files */
            "files": {
                "command": "npx",
                "args": ["-y", "files-server"], // reads only
            },
            "wf-report": {
                "command": "/opt/Zoë's \"tools\"/workflow-code",
                "args": ["--workflow-mcp", "wk7r2"],
            },
            // "old": { "command": "gone" },
        },
        "theme": "dark", // last
    }
    "#);
}

#[test]
fn json_removal_gives_the_text_back() {
    let with = set_in("cursor", COMMENTED);
    assert_eq!(remove(shape("cursor"), &with, "wf-report").unwrap(), COMMENTED);
    let plain = "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" }\n\t}\n}";
    assert_eq!(remove(shape("cursor"), &set_in("cursor", plain), "wf-report").unwrap(), plain);
}

#[test]
fn json_makes_what_is_missing() {
    let fresh = "{\n  \"mcpServers\": {\n    \"wf-report\": {\n      \"command\": \"/opt/Zoë's \\\"tools\\\"/workflow-code\",\n      \"args\": [\"--workflow-mcp\", \"wk7r2\"]\n    }\n  }\n}\n";
    assert_eq!(set_in("cursor", ""), fresh);
    assert_eq!(set_in("cursor", "  \n"), fresh);
    assert_eq!(set_in("cursor", "{}\n"), fresh);
    assert_snapshot!(set_in("cursor", "// nothing yet\n"), @r#"
    // nothing yet
    {
      "mcpServers": {
        "wf-report": {
          "command": "/opt/Zoë's \"tools\"/workflow-code",
          "args": ["--workflow-mcp", "wk7r2"]
        }
      }
    }
    "#);
}

#[test]
fn a_repair_keeps_what_the_person_added_to_our_entry() {
    let text = r#"{
  "mcpServers": {
    "wf-report": {
      "command": "/tmp/.mount_x/workflow-code", // after the update
      "args": ["--workflow-mcp", "wk7r2"],
      "disabled": false,
      "autoApprove": ["main"]
    }
  }
}
"#;
    assert_snapshot!(set_in("cline", text), @r#"
    {
      "mcpServers": {
        "wf-report": {
          "command": "/opt/Zoë's \"tools\"/workflow-code", // after the update
          "args": ["--workflow-mcp", "wk7r2"],
          "disabled": false,
          "autoApprove": ["main"],
          "timeout": 1800
        }
      }
    }
    "#);
}

#[test]
fn tabs_line_ends_and_byte_order_mark_stay() {
    let text = "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}\r\n";
    let after = set_in("cursor", text);
    assert!(after.starts_with("\u{feff}{\r\n\t\"mcpServers\""), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(after.contains("\r\n\t\t\"wf-report\": {\r\n\t\t\t\"command\""), "{after:?}");
    assert_eq!(find(shape("cursor"), &after, "a").unwrap(), Some(serde_json::json!({"command": "x"})));
}

#[test]
fn a_file_in_one_line_is_understood() {
    let after = set_in("cursor", r#"{"a":[1,2,{"b":null}],"mcpServers":{"x":{"command":"y"}},"z":1e3}"#);
    assert!(after.contains(r#""a":[1,2,{"b":null}]"#), "{after}");
    assert!(find(shape("cursor"), &after, "x").unwrap().is_some());
}

#[test]
fn broken_json_is_refused_with_its_line() {
    for (text, line, part) in [
        ("{\n  \"mcpServers\": {\n", 3, "Unterminated"),
        ("{\n\n  mcpServers: {}\n}", 3, "property"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, "comma"),
        ("[]", 1, "not a list"),
        ("\n\nnull", 3, "object is expected"),
        ("42", 1, "not a number"),
        ("{}\n{}", 2, "more than one"),
        ("{\n \"x\": 1,\n \"mcpServers\": []\n}", 3, "`mcpServers` should be an object and is a list"),
        ("{\n \"mcpServers\": null\n}", 2, "is `null`"),
        ("{\n \"mcpServers\": {},\n \"mcpServers\": {}\n}", 1, "`mcpServers` stands here twice"),
        ("{\n \"mcpServers\": {\n \"wf-report\": {}, \"wf-report\": {}}}", 2, "`wf-report` stands here twice"),
        ("{'mcpServers': {}}", 1, "quoted"),
        ("\u{0}", 1, ""),
    ] {
        let fault = fault("cursor", text);
        assert!(fault.reason.contains(part), "{text:?}: {fault:?}");
        assert_eq!(fault.line, line, "{text:?}: {fault:?}");
    }
}

#[test]
fn deep_nesting_is_refused_before_any_parser() {
    for (id, start, open) in [("cursor", "", "["), ("cursor", "", "{\"a\":"), ("codex", "a = ", "[")] {
        let text = format!("{start}{}", open.repeat(200_000));
        assert_eq!(fault(id, &text), Fault::new(1, "brackets nest deeper than 100"), "{id}");
    }
    // Brackets in texts and comments are no nesting.
    let quoted = format!("{{\n// {0}\n/* {0} */\n\"a\": \"\\\"{0}\"\n}}", "[".repeat(500));
    assert!(find(shape("cursor"), &quoted, "x").unwrap().is_none());
    let quoted = format!("# {0}\na = '''\n{0}'''\nb = \"\\\"{0}\"\nc = \"\"\"\"{0}\"\"\"\n", "[".repeat(500));
    assert!(find(shape("codex"), &quoted, "x").unwrap().is_none());
    // As deep as allowed, parsed on a small stack.
    let text = format!("{{\"a\": {}{}}}", "[".repeat(99), "]".repeat(99));
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(move || assert!(set_in("cursor", &text).contains("wf-report")))
        .unwrap()
        .join()
        .unwrap();
    // Dots nest as well; the parser or we must say no, and nobody may fall over.
    let dots = format!("{}x = 1", "a.".repeat(100_000));
    let _ = find(shape("codex"), &dots, "x");
    let header = format!("[{}x]\ny = 1", "a.".repeat(100_000));
    let _ = find(shape("codex"), &header, "x");
}

const CODEX: &str = r#"# my settings
model = "gpt-5"   # fast enough

[mcp_servers.docs]   # not ours
command = "npx"
args = ["-y", "docs-server"]

[mcp_servers.docs.env]
LANG = "C"

[profiles.work]
model = "o4"
when = 2026-01-02T03:04:05Z
"#;

#[test]
fn toml_keeps_everything_else() {
    assert_snapshot!(set_in("codex", CODEX), @r#"
    # my settings
    model = "gpt-5"   # fast enough

    [mcp_servers.docs]   # not ours
    command = "npx"
    args = ["-y", "docs-server"]

    [mcp_servers.docs.env]
    LANG = "C"

    [mcp_servers.wf-report]
    command = "/opt/Zoë's \"tools\"/workflow-code"
    args = ["--workflow-mcp", "wk7r2"]
    startup_timeout_sec = 30
    tool_timeout_sec = 1800

    [profiles.work]
    model = "o4"
    when = 2026-01-02T03:04:05Z
    "#);
    assert_eq!(remove(shape("codex"), &set_in("codex", CODEX), "wf-report").unwrap(), CODEX);
}

#[test]
fn toml_repair_keeps_comments_and_additions() {
    let text = r#"[mcp_servers.wf-report]
command = "/tmp/.mount_x/workflow-code" # the old one
args = ["--workflow-mcp", "wk7r2"]
enabled = false

[mcp_servers.docs]   # not ours, left alone
command = "npx"
"#;
    assert_snapshot!(set_in("codex", text), @r#"
    [mcp_servers.wf-report]
    command = "/opt/Zoë's \"tools\"/workflow-code" # the old one
    args = ["--workflow-mcp", "wk7r2"]
    enabled = false
    startup_timeout_sec = 30
    tool_timeout_sec = 1800

    [mcp_servers.docs]   # not ours, left alone
    command = "npx"
    "#);
}

#[test]
fn toml_in_other_notations_is_understood() {
    assert_snapshot!(set_in("codex", "mcp_servers = { docs = { command = \"npx\" } }\n"), @r#"mcp_servers = { docs = { command = "npx" } , wf-report = { command = "/opt/Zoë's \"tools\"/workflow-code", args = ["--workflow-mcp", "wk7r2"], startup_timeout_sec = 30, tool_timeout_sec = 1800 } }"#);
    let dotted = set_in("codex", "mcp_servers.docs.command = \"npx\"\n");
    assert!(find(shape("codex"), &dotted, "docs").unwrap().is_some(), "{dotted}");
    let header = set_in("codex", "[mcp_servers]\n\n[x]\ny = 1\n");
    assert!(header.contains("[mcp_servers.wf-report]"), "{header}");
    let windows = set_in("codex", "a = 1\r\n\r\n[b]\r\nc = 2\r\n");
    assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
}

#[test]
fn broken_toml_is_refused_with_its_line() {
    for (text, line, part) in [
        ("a = 1\nb = \n", 2, "value"),
        ("a = 1\n\na = 2\n", 3, "duplicate"),
        ("x = 1\nmcp_servers = 3\n", 2, "`mcp_servers` should be a table and is an integer"),
        ("[[mcp_servers]]\na = 1\n", 1, "is an array of tables"),
        ("{}", 1, ""),
    ] {
        let fault = fault("codex", text);
        assert!(fault.reason.contains(part), "{text:?}: {fault:?}");
        assert_eq!(fault.line, line, "{text:?}: {fault:?}");
    }
}

#[test]
fn both_forms_of_opencode_are_kept() {
    let first =
        set_in("opencode", "{\n  \"mcp\": {\n    \"docs\": { \"type\": \"remote\", \"url\": \"https://x\" }\n  }\n}\n");
    assert_eq!(lookup(&parse(shape("opencode"), &first).unwrap(), &["mcp"]).unwrap().len(), 2);
    let second = set_in(
        "opencode",
        "{\n  \"mcp\": {\n    \"servers\": {\n      \"docs\": { \"type\": \"remote\" }\n    }\n  }\n}\n",
    );
    let value = parse(shape("opencode"), &second).unwrap();
    assert_eq!(lookup(&value, &["mcp", "servers"]).unwrap().keys().collect::<Vec<_>>(), ["docs", "wf-report"]);
    assert_eq!(lookup(&value, &["mcp"]).unwrap().len(), 1);
    // A server that is called `servers`.
    let named = set_in("opencode", "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"x\"]}}}");
    assert_eq!(lookup(&parse(shape("opencode"), &named).unwrap(), &["mcp"]).unwrap().len(), 2);
}

#[test]
fn paths_come_out_of_every_format_as_they_went_in() {
    for command in [
        r"C:\Program Files\Workflow Code\workflow-code.exe",
        "/opt/a b/ü/数据's \"x\"",
        r"\\server\share\é$HOME`%PATH%",
    ] {
        let launch = Launch::new("k", command, ["--workflow-mcp", "it's", "a\\\"b"]).unwrap();
        for row in crate::clients().iter().filter(|row| row.by_hand.is_none()) {
            let entry = row.shape.entry(&launch);
            let text = set(&row.shape, "", "k", &entry).unwrap();
            assert_eq!(find(&row.shape, &text, "k").unwrap(), Some(Value::Object(entry)), "{}", row.id);
        }
    }
}

/// JSON values, and the same written with comments, trailing commas and odd spaces.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(String::from("null")),
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let trivia = prop_oneof![Just(""), Just(" "), Just("\n  "), Just(" // c\n"), Just("/* { */")];
        let name = prop_oneof![
            Just(String::from("mcpServers")),
            Just(String::from("wf-report")),
            "[a-z]{0,4}".prop_map(String::from)
        ];
        prop_oneof![
            (proptest::collection::vec((inner.clone(), trivia.clone()), 0..4), any::<bool>()).prop_map(
                |(items, comma)| {
                    let body: Vec<String> = items.iter().map(|(item, space)| format!("{space}{item}{space}")).collect();
                    let comma = if comma && !body.is_empty() { "," } else { "" };
                    format!("[{}{comma}]", body.join(","))
                }
            ),
            (proptest::collection::vec((name, inner, trivia), 0..4), any::<bool>()).prop_map(|(items, comma)| {
                let mut seen = std::collections::BTreeSet::new();
                let body: Vec<String> = items
                    .iter()
                    .filter(|(name, ..)| seen.insert(name.clone()))
                    .map(|(name, item, space)| format!("{space}{}:{space}{item}{space}", Value::from(name.as_str())))
                    .collect();
                let comma = if comma && !body.is_empty() { "," } else { "" };
                format!("{{{}{comma}}}", body.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever parses and has the right shape is edited without loss; the check never has to step in.
    #[test]
    fn json_edits_lose_nothing(text in json_text()) {
        let entry = shape("cursor").entry(&launch());
        match set(shape("cursor"), &text, "wf-report", &entry) {
            Ok(after) => {
                prop_assert_eq!(find(shape("cursor"), &after, "wf-report").unwrap().is_some(), true);
                let again = set(shape("cursor"), &after, "wf-report", &entry).unwrap();
                prop_assert_eq!(&again, &after);
                prop_assert!(remove(shape("cursor"), &after, "wf-report").is_ok());
            }
            Err(EditError::Fault(_)) => {}
            Err(EditError::Unsafe) => prop_assert!(false, "the check had to step in for {}", text),
        }
    }

    /// No text at all makes the editors panic.
    #[test]
    fn any_text_is_survived(text in any::<String>(), start in "\\PC{0,40}") {
        for id in ["cursor", "codex", "opencode"] {
            for text in [&text, &start] {
                let _ = set(shape(id), text, "k", &shape(id).entry(&launch()));
                let _ = remove(shape(id), text, "k");
            }
        }
    }

    /// Fragments of TOML in any order.
    #[test]
    fn toml_edits_lose_nothing(lines in proptest::collection::vec(prop_oneof![
        Just("[mcp_servers.docs]"), Just("[mcp_servers]"), Just("[mcp_servers.wf-report]"), Just("[a.b]"), Just("[[list]]"),
        Just("command = \"x\" # c"), Just("env = { A = 'b' }"), Just("k = [1, 2,\n 3]"), Just("# comment"), Just(""),
        Just("mcp_servers.a.b = 1"), Just("t = '''\n[x]\n'''"), Just("f = inf"), Just("d = 1979-05-27"),
    ], 0..10)) {
        let text = lines.join("\n");
        let entry = shape("codex").entry(&launch());
        match set(shape("codex"), &text, "wf-report", &entry) {
            Ok(after) => {
                prop_assert_eq!(&set(shape("codex"), &after, "wf-report", &entry).unwrap(), &after);
                prop_assert!(remove(shape("codex"), &after, "wf-report").is_ok());
            }
            Err(EditError::Fault(_)) => {}
            Err(EditError::Unsafe) => prop_assert!(false, "the check had to step in for {}", text),
        }
    }
}
