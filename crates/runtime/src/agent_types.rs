//! `agentType`: agents that a project describes in `.claude/agents/NAME.md`.
//!
//! A provider that knows a name gets it. For any other the file's text goes before the prompt, and its model counts where
//! the call names none. A name that nobody knows is noted, and the usual agent does the work.

use std::path::Path;

use agents::{Desk, Request};
use script::Note;

/// Where a project describes its agents.
const FOLDER: &str = ".claude/agents";

/// Bytes of a description that are read.
const BYTES: u64 = 256 * 1024;

/// Settles a request's `agentType`; returns what is to be noted.
pub(crate) fn settle(request: &mut Request, desk: &Desk) -> Option<Note> {
    let name = request.option("agentType")?.to_owned();
    if desk.knows_agent_type(&name, &request.folder) {
        return None;
    }
    request.options.shift_remove("agentType");
    let Some(described) = read(&request.folder, &name) else {
        return Some(Note {
            code: "agent-type-unknown".into(),
            text: format!("there is no agent `{name}` in `{FOLDER}`, so the usual one does the work"),
            subject: Some(name),
        });
    };
    request.prompt = format!("{}\n\n{}", described.text, request.prompt);
    if let Some(model) = described.model
        && !request.options.contains_key("model")
        && desk.capabilities().options.iter().any(|option| option == "model")
    {
        request.options.insert("model".into(), model.into());
    }
    None
}

/// An agent as a project describes it.
#[derive(Debug, PartialEq, Eq)]
struct Described {
    text: String,
    model: Option<String>,
}

fn read(root: &Path, name: &str) -> Option<Described> {
    let plain = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_' | ' ');
    if name.is_empty() || name.len() > 100 || !name.chars().all(plain) {
        return None;
    }
    Some(parse(&disk::read_inside(root, &format!("{FOLDER}/{name}.md"), BYTES).ok()?))
}

/// Takes the front matter off a description. Only its `model` matters here.
fn parse(text: &str) -> Described {
    let text = text.trim_start_matches('\u{feff}');
    let front = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    let Some((front, body)) = front else { return Described { text: text.trim().into(), model: None } };
    let model =
        front.lines().find_map(|line| line.strip_prefix("model:")).map(|model| model.trim().trim_matches(['"', '\'']));
    Described {
        text: body.trim_start_matches('-').trim().into(),
        // `inherit` is the model of the conversation, and a run has none.
        model: model.filter(|model| !model.is_empty() && *model != "inherit").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use agents::canned::{Canned, CannedProvider};
    use serde_json::{Value, json};

    use super::*;

    fn settled(root: &Path, options: Value) -> (Request, Option<Note>) {
        let mut args = options;
        args["prompt"] = "Look.".into();
        let mut request = Request::read("run", 1, &args, root.to_owned()).unwrap();
        let desk = Desk::new(Arc::new(CannedProvider(Canned::new(Value::Null))), 1, Duration::ZERO, |_| {});
        let note = settle(&mut request, &desk);
        (request, note)
    }

    #[test]
    fn a_projects_agent_speaks_before_the_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join(FOLDER);
        std::fs::create_dir_all(&agents).unwrap();
        std::fs::write(agents.join("critic.md"), "---\nname: critic\nmodel: opus\n---\n\nYou doubt.\n").unwrap();
        let (request, note) = settled(folder.path(), json!({"agentType": "critic"}));
        assert_eq!(
            (request.prompt.as_str(), request.option("model"), note),
            ("You doubt.\n\nLook.", Some("opus"), None)
        );
        assert!(!request.options.contains_key("agentType"));
        let (request, _) = settled(folder.path(), json!({"agentType": "critic", "model": "haiku"}));
        assert_eq!(request.option("model"), Some("haiku"));
        // What is no file of the project is no agent: neither waited for nor followed.
        std::os::unix::fs::symlink("/etc/hostname", agents.join("link.md")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, agents.join("pipe.md"), rustix::fs::Mode::RWXU).unwrap();
        for unknown in ["nobody", "../../etc/passwd", "", "link", "pipe"] {
            let (request, note) = settled(folder.path(), json!({"agentType": unknown}));
            assert_eq!(
                (request.prompt.as_str(), note.map(|note| note.code)),
                ("Look.", Some("agent-type-unknown".into()))
            );
        }
    }

    #[test]
    fn front_matter_is_taken_off() {
        assert_eq!(parse("Just text."), Described { text: "Just text.".into(), model: None });
        assert_eq!(parse("---\nmodel: inherit\n---\nA").model, None);
        assert_eq!(
            parse("---\nmodel: \"sonnet\"\n---\nA"),
            Described { text: "A".into(), model: Some("sonnet".into()) }
        );
    }
}
