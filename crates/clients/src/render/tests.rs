use super::*;
use crate::{client, clients, default_key};
use insta::assert_snapshot;
use std::fmt::Write as _;

const UUID: &str = "11111111-1111-4111-8111-111111111111";

fn launch() -> Launch {
    Launch::new(default_key(UUID), "/opt/Zoë's tools/workflow-code", ["--workflow-mcp", "wk7r2"]).unwrap()
}

fn describe(snippet: &Snippet) -> String {
    let mut text = String::new();
    let file = snippet.file.as_deref().unwrap_or("-");
    let _ = writeln!(text, "file     {file}\nlanguage {:?}", snippet.language);
    let _ = writeln!(text, "command  {}", snippet.command_line.as_deref().unwrap_or("-"));
    let _ = writeln!(text, "link     {}", snippet.link.as_deref().unwrap_or("-"));
    for warning in &snippet.warnings {
        let _ = writeln!(text, "warning  {warning}");
    }
    let _ = write!(text, "\n{}", snippet.text);
    text
}

#[test]
fn every_client_on_linux() {
    let paths = ClientPaths::new(Platform::Linux, "/home/zoë");
    for client in clients() {
        assert_snapshot!(client.id, describe(&render(client, Scope::User, &launch(), &paths)));
    }
}

#[test]
fn the_files_of_every_client_on_the_other_systems() {
    let mut text = String::new();
    for (platform, home) in [(Platform::MacOs, "/Users/zoë"), (Platform::Windows, r"C:\Users\Zoë")] {
        let _ = writeln!(text, "{platform:?}");
        let paths = ClientPaths::new(platform, home);
        for client in clients() {
            if let Some(file) = client.file(Scope::User, &paths) {
                let _ = writeln!(text, "  {:14} {}", client.id, file.display());
            }
        }
    }
    let _ = writeln!(text, "Project");
    let paths = ClientPaths::new(Platform::Linux, "/h").with_project("/p");
    for client in clients() {
        if let Some(file) = client.file(Scope::Project, &paths) {
            let _ = writeln!(text, "  {:14} {}", client.id, file.display());
        }
    }
    assert_snapshot!("files", text);
}

#[test]
fn the_plain_form_is_the_documented_one() {
    let paths = ClientPaths::new(Platform::Linux, "/h");
    let launch = Launch::new(default_key(UUID), "/usr/bin/workflow-code", ["--workflow-mcp", "wk7r2"]).unwrap();
    let text = render(client("json").unwrap(), Scope::User, &launch, &paths).text;
    assert_snapshot!(text, @r#"
    {
      "mcpServers": {
        "workflow-11111111-1111-4111-8111-111111111111": {
          "command": "/usr/bin/workflow-code",
          "args": [
            "--workflow-mcp",
            "wk7r2"
          ]
        }
      }
    }
    "#);
}

#[test]
fn windows_paths_in_every_language() {
    let paths = ClientPaths::new(Platform::Windows, r"C:\Users\Zoë");
    let launch = Launch::new("wf-x", r"C:\Program Files\Zoë's\workflow-code.exe", ["--workflow-mcp", "wk7r2"]).unwrap();
    for id in ["json", "codex", "goose", "vscode"] {
        let snippet = render(client(id).unwrap(), Scope::User, &launch, &paths);
        assert_eq!(snippet.command_line, None, "{id}");
        assert_snapshot!(format!("windows-{id}"), describe(&snippet));
    }
}

#[test]
fn an_environment_is_written_in_each_shape_and_command() {
    let paths = ClientPaths::new(Platform::Linux, "/h");
    let launch = launch().with_key("wf-x").unwrap().with_env("LANG", "de DE").unwrap();
    let mut text = String::new();
    for id in ["json", "codex", "goose", "opencode", "gemini", "kimi"] {
        let _ = writeln!(text, "{}", describe(&render(client(id).unwrap(), Scope::User, &launch, &paths)));
    }
    assert_snapshot!("environment", text);
}

#[test]
fn project_commands_are_offered_only_where_they_exist() {
    let paths = ClientPaths::new(Platform::Linux, "/h").with_project("/p");
    let line = |id: &str| render(client(id).unwrap(), Scope::Project, &launch(), &paths).command_line;
    assert!(line("claude-code").unwrap().ends_with(" -s project"));
    assert!(line("gemini").unwrap().starts_with("gemini mcp add -s project "));
    assert_eq!([line("codex"), line("vscode"), line("kimi"), line("zed")], [None, None, None, None]);
}

#[test]
fn commands_that_will_not_work_are_named() {
    let paths = ClientPaths::new(Platform::Linux, "/h");
    let warnings = |id: &str, command: &str| {
        let launch = Launch::new("k", command, ["--workflow-mcp", "x"]).unwrap();
        render(client(id).unwrap(), Scope::User, &launch, &paths).warnings
    };
    assert_eq!(warnings("claude-code", "/opt/${HOME}/x").len(), 1);
    assert_eq!(warnings("gemini", "/opt/$x/x").len(), 1);
    assert!(warnings("codex", "/opt/${HOME}/x").is_empty());
    assert_eq!(warnings("json", "C:\\x\\workflow-code.CMD").len(), 1);
    assert_eq!(warnings("json", "/tmp/.mount_wk8xQ/usr/bin/workflow-code").len(), 1);
    assert!(warnings("json", "/usr/bin/workflow-code").is_empty());
}

#[test]
fn links_decode_to_the_entry() {
    let paths = ClientPaths::new(Platform::Linux, "/h");
    let link = render(client("cursor").unwrap(), Scope::User, &launch(), &paths).link.unwrap();
    let config = link.split_once("&config=").unwrap().1;
    let base = percent_encoding::percent_decode_str(config).decode_utf8().unwrap().into_owned();
    let entry: Value = serde_json::from_slice(&STANDARD.decode(base).unwrap()).unwrap();
    assert_eq!(entry, Value::Object(plain_entry(&launch())));
    let link = render(client("vscode").unwrap(), Scope::User, &launch(), &paths).link.unwrap();
    let json =
        percent_encoding::percent_decode_str(link.strip_prefix("vscode:mcp/install?").unwrap()).decode_utf8().unwrap();
    let whole: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(whole["name"], default_key(UUID));
    assert_eq!(whole["command"], "/opt/Zoë's tools/workflow-code");
}

#[test]
fn the_limit_on_the_command_line_is_the_tables() {
    let entry = client("gemini").unwrap().shape.entry(&launch());
    assert_eq!(entry["timeout"].to_string(), CALL_MS_TEXT);
}

#[test]
fn a_snippet_is_what_would_be_written() {
    for row in clients().iter().filter(|row| row.by_hand.is_none()) {
        let snippet = render(row, Scope::User, &launch(), &ClientPaths::new(Platform::Linux, "/h"));
        let found = crate::document::find(&row.shape, &snippet.text, launch().key()).unwrap();
        assert_eq!(found, Some(Value::Object(row.shape.entry(&launch()))), "{}", row.id);
    }
}
