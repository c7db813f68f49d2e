//! Which provider a run's agents have, and which there are to choose from.
//!
//! The run's own comes before the project's, and that before the person's. Programs that are installed are only told
//! of: who works in a person's name, and on whose account, is for the person to say.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use agents::command::{Preset, presets};
use agents::http::HttpSettings;
use serde_json::{Value, json};

use crate::context::{ProcessEnvironment, Project};

/// Bytes of the person's settings file that are read.
const FILE_BYTES: u64 = 64 * 1024;

/// A provider that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRow {
    /// Its name, as `--provider` takes it.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// `command`, `http` or `canned`.
    pub kind: &'static str,
    /// Whether it could be used now: its program is on the `PATH`, or there is a connection.
    pub installed: bool,
    /// How a person gets it, in one sentence.
    pub setup: String,
}

/// Lists the providers there are by name. `connected` says whether there is a saved connection.
#[must_use]
pub fn providers(environment: &ProcessEnvironment, connected: bool) -> Vec<ProviderRow> {
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let mut rows: Vec<ProviderRow> = presets()
        .into_iter()
        .map(|preset| ProviderRow {
            installed: preset.is_installed(&path),
            name: preset.name,
            title: preset.title,
            kind: "command",
            setup: preset.setup,
        })
        .collect();
    rows.push(ProviderRow {
        name: HttpSettings::NAME.into(),
        title: "The saved connection".into(),
        kind: "http",
        installed: connected,
        setup: "Save a connection to a server with chat completions: `workflow-code auth login URL`.".into(),
    });
    rows.push(ProviderRow {
        name: "canned".into(),
        title: "Canned replies".into(),
        kind: "canned",
        installed: true,
        setup: "For tests and dry runs: replies from a file (`canned:FILE`), or the prompt itself.".into(),
    });
    rows
}

/// What was chosen, before it is known whether it can be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Choice {
    /// An agent program.
    Command(Box<Preset>),
    /// The saved connection.
    Http(Box<HttpSettings>),
    /// Replies, from a file or none.
    Canned(Option<String>),
}

/// Finds what was chosen for a run.
pub(crate) fn choose(project: &Project) -> Result<Choice, String> {
    let of_project = project.manifest.provider.as_ref();
    let of_person = match &project.agents_file {
        Some(file) => read_default(file)?,
        None => None,
    };
    match (&project.provider, of_project, of_person.as_ref()) {
        (Some(name), ..) => named(name, &[of_project, of_person.as_ref()]),
        (None, Some(setting), _) => from_setting(setting, &[of_person.as_ref()]),
        (None, None, Some(setting)) => from_setting(setting, &[]),
        (None, None, None) => Err(none_chosen(&project.environment, is_connected(project))),
    }
}

/// Whether a project's runs have a connection, whose key is not asked for.
pub(crate) fn is_connected(project: &Project) -> bool {
    project.connection.as_ref().is_some_and(|source| source.origin(&project.env_file()).is_some())
}

/// Reads a setting: a name, an argument list, `{command, …}` or `{http: {…}}`.
fn from_setting(setting: &Value, others: &[Option<&Value>]) -> Result<Choice, String> {
    match setting {
        Value::String(name) => named(name, others),
        Value::Object(object) if object.contains_key("http") => {
            if let Some(odd) = object.keys().find(|key| *key != "http") {
                return Err(format!("the agent provider cannot be read: beside `http` there is `{odd}`"));
            }
            let settings = HttpSettings::read(&object["http"]).map_err(|error| error.to_string())?;
            Ok(Choice::Http(Box::new(settings)))
        }
        setting => Preset::read("command", setting)
            .map(|preset| Choice::Command(Box::new(preset)))
            .map_err(|error| error.to_string()),
    }
}

/// Finds a provider by its name: one that a setting describes, or a known one.
fn named(name: &str, settings: &[Option<&Value>]) -> Result<Choice, String> {
    for setting in settings.iter().flatten() {
        if setting.is_string() {
            continue;
        }
        match from_setting(setting, &[]) {
            Ok(Choice::Command(preset)) if preset.name == name => return Ok(Choice::Command(preset)),
            Ok(Choice::Http(settings)) if settings.name == name => return Ok(Choice::Http(settings)),
            Ok(_) | Err(_) => {}
        }
    }
    if let Some(file) = name.strip_prefix("canned:") {
        return Ok(Choice::Canned(Some(file.to_owned())));
    }
    if name == "canned" {
        return Ok(Choice::Canned(None));
    }
    if name == HttpSettings::NAME {
        return Ok(Choice::Http(Box::default()));
    }
    let all = presets();
    if let Some(preset) = all.iter().find(|preset| preset.name == name) {
        return Ok(Choice::Command(Box::new(preset.clone())));
    }
    let mut known: Vec<&str> = all.iter().map(|preset| preset.name.as_str()).collect();
    known.extend([HttpSettings::NAME, "canned"]);
    agents::check_provider(name, &known).map_err(|error| error.to_string())?;
    Err(format!("the agent provider `{name}` cannot be used"))
}

/// Says that nobody has chosen a provider, which there are, and how to choose.
fn none_chosen(environment: &ProcessEnvironment, connected: bool) -> String {
    let rows = providers(environment, connected);
    let usable: Vec<&ProviderRow> = rows.iter().filter(|row| row.installed && row.kind != "canned").collect();
    let how = |name: &str| {
        format!(
            "choose one for yourself with `workflow-code agents use {name}`, for a project with `\"provider\"` under \
             `workflow` in package.json, or for this run with `--provider {name}`"
        )
    };
    match usable.first() {
        Some(first) => {
            let names: Vec<String> = usable.iter().map(|row| format!("`{}`", row.name)).collect();
            format!("no agent provider is chosen; found here: {}: {}", names.join(", "), how(&first.name))
        }
        None => {
            let programs: Vec<String> =
                rows.iter().filter(|row| row.kind == "command").map(|row| format!("`{}`", row.name)).collect();
            format!(
                "no agent provider is chosen, and no known agent program ({}) is on the PATH: `workflow-code agents \
                 list` says how to get one; choose it with `workflow-code agents use NAME`, or for this run with \
                 `--provider NAME`",
                programs.join(", ")
            )
        }
    }
}

/// Reads the provider that a person has chosen for all projects; `None` where there is no file or no choice in it.
///
/// # Errors
///
/// A sentence that names the file, when it cannot be read or is no JSON object.
pub fn read_default(file: &Path) -> Result<Option<Value>, String> {
    let shown = file.display();
    let text = match disk::read_text(file, FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.sentence()),
    };
    let mend = "mend or remove it, or choose anew with `workflow-code agents use NAME`";
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("`{shown}` is no JSON: {error}; {mend}"))?;
    match value {
        Value::Object(mut object) => Ok(object.remove("provider").filter(|provider| !provider.is_null())),
        _ => Err(format!("`{shown}` holds no JSON object; {mend}")),
    }
}

/// Writes the provider that a person chooses for all projects; `None` takes the choice back.
///
/// # Errors
///
/// What is wrong with the choice, in one sentence, or that the file cannot be written.
pub fn write_default(file: &Path, provider: Option<&Value>) -> Result<(), String> {
    if let Some(provider) = provider {
        from_setting(provider, &[])?;
    }
    let text = format!("{:#}\n", json!({ "provider": provider }));
    let written = (|| {
        let folder = file.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
        std::fs::create_dir_all(folder)?;
        disk::replace(file, text.as_bytes(), 0o600)
    })();
    written.map_err(|error| format!("`{}` cannot be written: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_providers_in_every_form() {
        let read = |setting: Value| from_setting(&setting, &[]);
        assert!(matches!(read(json!("codex")), Ok(Choice::Command(preset)) if preset.name == "codex"));
        assert!(matches!(read(json!(["my-agent"])), Ok(Choice::Command(preset)) if preset.name == "command"));
        assert!(matches!(read(json!("http")), Ok(Choice::Http(settings)) if *settings == HttpSettings::default()));
        assert!(
            matches!(read(json!({"http": {"model": "m"}})), Ok(Choice::Http(settings)) if settings.model.is_some())
        );
        assert_eq!(read(json!("canned:a.json")), Ok(Choice::Canned(Some("a.json".into()))));
        for wrong in
            [json!(""), json!(" codex"), json!("claud"), json!({"http": {"modl": 1}}), json!({"http": {}, "x": 1})]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        let mine = json!({"name": "mine", "command": ["m"]});
        assert!(matches!(named("mine", &[None, Some(&mine)]), Ok(Choice::Command(preset)) if preset.name == "mine"));
    }

    #[test]
    fn nobody_is_chosen_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let bare = none_chosen(&ProcessEnvironment::new(), false);
        assert!(bare.contains("no known agent program") && bare.contains("agents use NAME"), "{bare}");
        // Longer messages lose their middle.
        assert!(bare.len() < 300, "{}", bare.len());
        std::fs::write(folder.path().join("codex"), "").unwrap();
        let environment: ProcessEnvironment = [("PATH".into(), folder.path().into())].into();
        let found = none_chosen(&environment, false);
        assert!(
            found.contains("found here: `codex`: choose one for yourself with `workflow-code agents use codex`"),
            "{found}"
        );
        assert!(none_chosen(&environment, true).contains("`codex`, `http`"));
    }

    #[test]
    fn a_persons_choice_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below/agents.json");
        assert_eq!(read_default(&file), Ok(None));
        write_default(&file, Some(&json!("codex"))).unwrap();
        assert_eq!(read_default(&file), Ok(Some(json!("codex"))));
        assert!(write_default(&file, Some(&json!("nobody"))).is_err());
        assert_eq!(read_default(&file), Ok(Some(json!("codex"))), "what cannot be used changes nothing");
        write_default(&file, None).unwrap();
        assert_eq!(read_default(&file), Ok(None));
        std::fs::write(&file, "[").unwrap();
        assert!(read_default(&file).unwrap_err().contains("agents.json"));
    }
}
