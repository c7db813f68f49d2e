//! What a person copies for a client: command line, link, snippet, and what to know about them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::paths::{ClientPaths, Platform, Scope};
use crate::shape::{Document, plain_entry};
use crate::table::{AddCommand, Client, Link};
use crate::{Launch, toml_document};

/// The language of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// What is offered for copying, in the order command line, link, text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snippet {
    /// The text to paste: a whole file with this one server in it.
    pub text: String,
    /// The text's language.
    pub language: Language,
    /// The file it belongs into, if one is known.
    pub file: Option<String>,
    /// The client's own command that does the same, quoted for a POSIX shell. `None` where it has none, and on
    /// Windows, whose shells take quotes in other ways.
    pub command_line: Option<String>,
    /// A link that opens the client with the server filled in.
    pub link: Option<String>,
    /// What to look at before copying, one sentence each.
    pub warnings: Vec<String>,
}

/// Makes the snippet of a launch for a client.
#[must_use]
pub fn render(client: &Client, scope: Scope, launch: &Launch, paths: &ClientPaths) -> Snippet {
    let entry = client.shape.entry(launch);
    let way = client.shape.ways().first().copied().unwrap_or_default();
    let (text, language) = match client.shape.document {
        Document::Json { .. } => (pretty(&nest(way, launch.key(), entry)), Language::Json),
        Document::Toml { .. } => (toml_document::render(way, launch.key(), &entry), Language::Toml),
        Document::Yaml { .. } => (yaml(&nest(way, launch.key(), entry)), Language::Yaml),
    };
    Snippet {
        text,
        language,
        file: client.file(scope, paths).map(|file| file.to_string_lossy().into_owned()),
        command_line: client
            .add
            .filter(|_| paths.platform != Platform::Windows)
            .and_then(|add| command_line(client, add, scope, launch)),
        link: client.link.map(|link| deep_link(link, launch)),
        warnings: warnings(client, launch),
    }
}

/// Returns what about this launch a client would misread.
pub(crate) fn warnings(client: &Client, launch: &Launch) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(start) = client.expands {
        let words = std::iter::once(launch.command()).chain(launch.args().iter().map(String::as_str));
        for word in words.filter(|word| word.contains(start)) {
            warnings.push(format!("{} reads `{start}` in `{word}` as the start of a variable", client.name));
        }
    }
    let command = launch.command();
    let ending = command.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if matches!(ending.as_str(), "cmd" | "bat") {
        warnings.push(format!("`{command}` is a batch file, which loses quotes; give the program itself"));
    }
    if command.contains("/.mount_") || command.contains("/AppTranslocation/") {
        warnings.push(format!("`{command}` lies in a place that is gone after this start"));
    }
    warnings
}

fn nest(way: &[&str], key: &str, entry: Map<String, Value>) -> Value {
    let one = |name: &str, value| Value::Object(Map::from_iter([(name.to_owned(), value)]));
    way.iter().rev().fold(one(key, Value::Object(entry)), |inner, name| one(name, inner))
}

fn pretty(value: &Value) -> String {
    // `{:#}` of a value is its indented JSON.
    format!("{value:#}\n")
}

/// Writes a value as block YAML. Texts are JSON strings, which YAML's double-quoted style contains.
fn yaml(value: &Value) -> String {
    fn write(value: &Value, depth: usize, out: &mut String) {
        let Value::Object(map) = value else { return };
        for (name, inner) in map {
            out.push_str(&"  ".repeat(depth));
            out.push_str(name);
            match inner {
                Value::Object(object) if !object.is_empty() => {
                    out.push_str(":\n");
                    write(inner, depth + 1, out);
                }
                other => {
                    out.push_str(": ");
                    out.push_str(&other.to_string());
                    out.push('\n');
                }
            }
        }
    }
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn command_line(client: &Client, add: AddCommand, scope: Scope, launch: &Launch) -> Option<String> {
    let entry = Value::Object(client.shape.entry(launch)).to_string();
    let pairs: Vec<String> = launch.env().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut words: Vec<&str> = Vec::new();
    match add {
        AddCommand::ClaudeJson => {
            words.extend(["claude", "mcp", "add-json", launch.key(), &entry, "-s", scope.as_str()]);
            return Some(model::command_line(words));
        }
        AddCommand::CodeJson => {
            if scope == Scope::Project {
                return None;
            }
            let whole = Value::Object(named(launch)).to_string();
            return Some(model::command_line(["code", "--add-mcp", &whole]));
        }
        AddCommand::Dashes(program, options) => {
            // These commands know no scope: they write the user's file.
            if scope == Scope::Project {
                return None;
            }
            words.extend([program, "mcp", "add"]);
            words.extend_from_slice(options);
            words.push(launch.key());
            for pair in &pairs {
                words.extend(["--env", pair]);
            }
            words.push("--");
        }
        AddCommand::Timeout(program) => {
            words.extend([program, "mcp", "add", "-s", scope.as_str(), "--timeout", CALL_MS_TEXT]);
            for pair in &pairs {
                words.extend(["-e", pair]);
            }
            words.push(launch.key());
        }
    }
    words.push(launch.command());
    words.extend(launch.args().iter().map(String::as_str));
    Some(model::command_line(words))
}

/// The call limit of the table as a word of a command line; a test keeps the two equal.
const CALL_MS_TEXT: &str = "1800000";

/// Everything but letters, digits and the marks that RFC 3986 leaves unreserved.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn deep_link(link: Link, launch: &Launch) -> String {
    match link {
        Link::NameAndConfig(prefix) => {
            let config = STANDARD.encode(Value::Object(plain_entry(launch)).to_string());
            let name = utf8_percent_encode(launch.key(), COMPONENT);
            // `+`, `/` and `=` of Base64 mean something else in a query.
            let config = utf8_percent_encode(&config, COMPONENT);
            format!("{prefix}?name={name}&config={config}")
        }
        Link::WholeJson(prefix) => {
            let whole = Value::Object(named(launch)).to_string();
            format!("{prefix}{}", utf8_percent_encode(&whole, COMPONENT))
        }
    }
}

/// The plain entry with the key in it, as VS Code takes it.
fn named(launch: &Launch) -> Map<String, Value> {
    let mut whole = Map::new();
    whole.insert(String::from("name"), Value::from(launch.key()));
    whole.extend(plain_entry(launch));
    whole
}

#[cfg(test)]
mod tests;
