//! What package.json says of an entrypoint and what its source says of itself, joined key by key into one
//! [`Entrypoint`]. Where both say something, package.json wins.

use model::{Annotations, Entrypoint, EntrypointId, EntrypointSource, Param, ParamType, StructureError};
use serde_json::{Map, Value};

use crate::discovery::{Candidate, CandidateSource, Naming, mended_id, read_id};
use crate::json::short;
use crate::params::{Purpose, read_params};
use crate::words::{clean, nearest, sentences, title_from_id};

/// What a worker found in a candidate's source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Declared<'a> {
    /// A module, with what it exports as `entrypoint` (`null` when it exports none).
    Module(&'a Value),
    /// An orchestration script, with its `meta`.
    Script(&'a Value),
    /// There is no source to read: a command, or the dynamic entrypoint.
    Nothing,
}

/// An entrypoint, and what works but will trouble somebody.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The entrypoint.
    pub entrypoint: Entrypoint,
    /// Whole sentences.
    pub warnings: Vec<String>,
}

const KNOWN_KEYS: [&str; 12] = [
    "title",
    "description",
    "params",
    "draft",
    "timeoutSeconds",
    "memoryMb",
    "maxResultBytes",
    "readOnly",
    "destructive",
    "idempotent",
    "openWorld",
    "argsVerbatim",
];

/// Memory that a script worker may ask for, in MiB: 16 GiB.
const MOST_MEMORY_MB: u64 = 16 * 1024;
/// Less than this and the engine itself does not start.
const LEAST_MEMORY_MB: u64 = 8;
/// A year.
const MOST_TIMEOUT_SECONDS: u64 = 366 * 24 * 3600;
/// What one line on standard output may carry.
const MOST_RESULT_BYTES: u64 = 16 * 1024 * 1024;

/// Joins both declarations of a candidate.
///
/// # Errors
///
/// Every fault of both, in one sentence of the structure report.
pub fn merge(candidate: &Candidate, declared: Declared<'_>) -> Result<Merged, StructureError> {
    let error = |message: String| StructureError {
        entrypoint: candidate.id.to_string(),
        message,
        file: Some(candidate.place().to_owned()),
        line: None,
    };
    let empty = Map::new();
    let (own, meta): (&Map<String, Value>, bool) = match declared {
        Declared::Nothing | Declared::Module(Value::Null) => (&empty, false),
        Declared::Module(Value::Object(members)) => (members, false),
        Declared::Module(other) => {
            return Err(error(format!("`export const entrypoint` is {}; make it an object", short(other))));
        }
        Declared::Script(Value::Object(members)) => (members, true),
        Declared::Script(other) => return Err(error(format!("`meta` is {}; make it an object", short(other)))),
    };
    let mut reader = Reader { settings: &candidate.settings, own, faults: Vec::new(), warnings: Vec::new() };
    let id = reader.id(candidate, meta);
    if !meta {
        reader.warn_of_unknown(own, candidate.place());
    }
    reader.warn_of_unknown(&candidate.settings, "package.json");
    let title = reader.text("title").or_else(|| {
        let name = own.get("name").filter(|_| meta).and_then(Value::as_str).map(str::trim);
        name.filter(|name| !name.is_empty()).map(clean)
    });
    let description = reader.description(meta);
    let params = reader.params(meta);
    let entrypoint = Entrypoint {
        title: title.unwrap_or_else(|| title_from_id(id.as_str())),
        description,
        draft: reader.flag("draft").unwrap_or(false),
        params: if candidate.source == CandidateSource::Dynamic { crate::dynamic::params() } else { params },
        source: match &candidate.source {
            CandidateSource::File { file } if meta => EntrypointSource::Script { file: file.clone() },
            CandidateSource::File { file } => EntrypointSource::Module { file: file.clone() },
            CandidateSource::Command { argv } => EntrypointSource::Command { argv: argv.clone() },
            CandidateSource::Dynamic => EntrypointSource::Dynamic,
        },
        timeout_seconds: reader.count("timeoutSeconds", 0, MOST_TIMEOUT_SECONDS),
        memory_mb: reader.count("memoryMb", LEAST_MEMORY_MB, MOST_MEMORY_MB),
        max_result_bytes: reader
            .count("maxResultBytes", 256, MOST_RESULT_BYTES)
            .and_then(|bytes| usize::try_from(bytes).ok()),
        annotations: Annotations {
            read_only: reader.flag("readOnly"),
            destructive: reader.flag("destructive"),
            idempotent: reader.flag("idempotent"),
            open_world: reader.flag("openWorld"),
        },
        args_verbatim: reader.flag("argsVerbatim").unwrap_or(false),
        phases: own.get("phases").filter(|phases| meta && phases.is_array()).cloned(),
        id,
    };
    if reader.faults.is_empty() {
        Ok(Merged { entrypoint, warnings: reader.warnings })
    } else {
        Err(StructureError {
            entrypoint: entrypoint.id.to_string(),
            ..error(crate::words::cut_at_sentence(&reader.faults.join("; "), 4_000))
        })
    }
}

struct Reader<'a> {
    settings: &'a Map<String, Value>,
    own: &'a Map<String, Value>,
    faults: Vec<String>,
    warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    /// The value of a key, package.json's first; `null` says nothing.
    fn get(&self, key: &str) -> Option<&'a Value> {
        let said = |members: &'a Map<String, Value>| members.get(key).filter(|value| !value.is_null());
        said(self.settings).or_else(|| said(self.own))
    }

    fn id(&mut self, candidate: &Candidate, meta: bool) -> EntrypointId {
        if candidate.naming != Naming::Meta || !meta {
            return candidate.id.clone();
        }
        let name = self.own.get("name").and_then(Value::as_str).unwrap_or_default();
        match read_id(&mended_id(name)) {
            Ok(id) => id,
            Err(message) => {
                self.faults.push(format!("`meta.name` gives no id: {message}"));
                candidate.id.clone()
            }
        }
    }

    fn warn_of_unknown(&mut self, members: &Map<String, Value>, place: &str) {
        // Unknown keys are left alone, since they may be somebody else's; one that nearly is ours is a slip.
        for key in members.keys().filter(|key| !KNOWN_KEYS.contains(&key.as_str())).take(50) {
            if let Some(near) = nearest(key, KNOWN_KEYS) {
                self.warnings.push(format!("`{}` in {place} is not known; did you mean `{near}`?", clean(key)));
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.get(key) {
            None => None,
            Some(Value::String(text)) => Some(clean(text)).filter(|text| !text.trim().is_empty()),
            Some(other) => {
                self.faults.push(format!("`{key}` is {}; it must be a text", short(other)));
                None
            }
        }
    }

    fn description(&mut self, meta: bool) -> Option<String> {
        let description = self.text("description");
        let when = self.own.get("whenToUse").filter(|_| meta).and_then(Value::as_str).map(clean);
        // package.json's own description is whole; the script's says when to use it in a second field.
        let settled = self.settings.get("description").is_some_and(|value| !value.is_null());
        match (description, when) {
            (Some(description), Some(when)) if !settled => Some(sentences(&[description, when])),
            (None, Some(when)) => Some(when).filter(|when| !when.trim().is_empty()),
            (description, _) => description,
        }
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        match self.get(key) {
            None => None,
            Some(Value::Bool(value)) => Some(*value),
            Some(other) => {
                self.faults.push(format!("`{key}` is {}; it must be true or false", short(other)));
                None
            }
        }
    }

    fn count(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let value = self.get(key)?;
        let whole = crate::value::whole_number(value).and_then(|whole| u64::try_from(whole).ok());
        match whole {
            Some(whole) if (least..=most).contains(&whole) => Some(whole),
            Some(_) | None => {
                let shown = short(value);
                self.faults.push(format!("`{key}` is {shown}; it must be a whole number from {least} to {most}"));
                None
            }
        }
    }

    fn params(&mut self, meta: bool) -> Vec<Param> {
        match self.get("params") {
            None if meta => vec![args_param()],
            None => Vec::new(),
            Some(declared) => match read_params(declared, Purpose::Entrypoint) {
                Ok(params) => params,
                Err(found) => {
                    self.faults.extend(found.faults.iter().map(|fault| {
                        if fault.name.is_empty() { fault.message.clone() } else { format!("parameter {fault}") }
                    }));
                    Vec::new()
                }
            },
        }
    }
}

/// The one parameter of an orchestration script that declares none: any JSON value, not required.
#[must_use]
pub fn args_param() -> Param {
    Param {
        name: "args".into(),
        kind: ParamType::Json,
        required: false,
        multiple: false,
        default: None,
        title: None,
        description: Some(
            "What the script gets as `args`: any JSON value, given as the value itself and not as its text".into(),
        ),
        options: Vec::new(),
        minimum: None,
        maximum: None,
        min_length: None,
        max_length: None,
        pattern: None,
        format: None,
    }
}

/// Drops entrypoints that claim an id which an earlier one has, as can happen with ids from `meta.name`, and warns of
/// ids that clients will drop or confuse. The earlier one is kept: it is nearer to what the project declares.
#[must_use]
pub fn settle_ids(entrypoints: Vec<Entrypoint>) -> (Vec<Entrypoint>, Vec<StructureError>, Vec<String>) {
    let mut kept: Vec<Entrypoint> = Vec::new();
    let mut errors = Vec::new();
    for entrypoint in entrypoints {
        if let Some(first) = kept.iter().find(|known| known.id == entrypoint.id) {
            let first = file_of(first).unwrap_or("package.json").to_owned();
            errors.push(StructureError {
                entrypoint: entrypoint.id.to_string(),
                message: format!("`{first}` already has this id; change `meta.name`"),
                file: file_of(&entrypoint).map(str::to_owned),
                line: None,
            });
        } else {
            kept.push(entrypoint);
        }
    }
    let ids: Vec<&EntrypointId> = kept.iter().map(|entrypoint| &entrypoint.id).collect();
    let warnings = crate::discovery::id_warnings(&ids);
    (kept, errors, warnings)
}

fn file_of(entrypoint: &Entrypoint) -> Option<&str> {
    match &entrypoint.source {
        EntrypointSource::Module { file } | EntrypointSource::Script { file } => Some(file),
        EntrypointSource::Command { .. } | EntrypointSource::Dynamic => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn candidate(id: &str, source: CandidateSource, settings: &Value) -> Candidate {
        let settings = settings.as_object().cloned().unwrap_or_default();
        Candidate { id: id.parse().unwrap(), naming: Naming::Declared, source, settings }
    }

    fn file(settings: &Value) -> Candidate {
        candidate("weekly-report", CandidateSource::File { file: "main.ts".into() }, settings)
    }

    /// A module without parameters.
    pub(crate) fn module() -> Entrypoint {
        merge(&file(&json!({})), Declared::Nothing).unwrap().entrypoint
    }

    #[test]
    fn package_json_wins_key_by_key() {
        let own = json!({"title": "Own", "description": "Own words", "draft": true, "timeoutSeconds": 5, "readOnly": true,
            "params": {"a": {"type": "string"}}});
        let merged =
            merge(&file(&json!({"title": "Theirs", "timeoutSeconds": 0, "memoryMb": 64})), Declared::Module(&own))
                .unwrap();
        let entrypoint = merged.entrypoint;
        assert_eq!(entrypoint.title, "Theirs");
        assert_eq!(entrypoint.description.as_deref(), Some("Own words"));
        assert!(entrypoint.draft);
        assert_eq!((entrypoint.timeout_seconds, entrypoint.memory_mb), (Some(0), Some(64)));
        assert_eq!(entrypoint.annotations.read_only, Some(true));
        assert_eq!(entrypoint.annotations.destructive, None);
        assert_eq!(entrypoint.params[0].name, "a");
        assert_eq!(entrypoint.source, EntrypointSource::Module { file: "main.ts".into() });
    }

    #[test]
    fn a_module_that_declares_nothing_has_a_title_all_the_same() {
        let merged = merge(&file(&json!({})), Declared::Module(&Value::Null)).unwrap();
        assert_eq!(merged.entrypoint.title, "Weekly report");
        assert!(merged.entrypoint.params.is_empty());
        assert!(merged.warnings.is_empty());
    }

    #[test]
    fn a_script_takes_args_and_its_name_as_title() {
        let meta = json!({"name": "shelf-check", "description": "Checks shelves", "whenToUse": "Before opening.",
            "phases": [{"title": "Look"}], "author": "x"});
        let entrypoint = merge(&file(&json!({})), Declared::Script(&meta)).unwrap().entrypoint;
        assert_eq!(entrypoint.title, "shelf-check");
        assert_eq!(entrypoint.description.as_deref(), Some("Checks shelves. Before opening."));
        assert_eq!(entrypoint.params.len(), 1);
        assert_eq!((entrypoint.params[0].kind, entrypoint.params[0].required), (ParamType::Json, false));
        assert_eq!(entrypoint.phases, Some(json!([{"title": "Look"}])));
        assert_eq!(entrypoint.source, EntrypointSource::Script { file: "main.ts".into() });
        let meta = json!({"name": "n", "title": "T", "params": {"x": {"type": "integer"}}});
        let entrypoint = merge(&file(&json!({"argsVerbatim": true})), Declared::Script(&meta)).unwrap().entrypoint;
        assert_eq!((entrypoint.title.as_str(), entrypoint.params[0].name.as_str()), ("T", "x"));
        assert!(entrypoint.args_verbatim);
    }

    #[rstest]
    #[case("tool:review", "tool-review")]
    #[case("a b..c", "a-b-c")]
    fn the_claude_folder_takes_its_ids_from_meta(#[case] name: &str, #[case] id: &str) {
        let mut candidate =
            candidate("stem", CandidateSource::File { file: ".claude/workflows/stem.js".into() }, &json!({}));
        candidate.naming = Naming::Meta;
        let entrypoint = merge(&candidate, Declared::Script(&json!({ "name": name }))).unwrap().entrypoint;
        assert_eq!((entrypoint.id.as_str(), entrypoint.title.as_str()), (id, name));
        let error = merge(&candidate, Declared::Script(&json!({"name": "日本"}))).unwrap_err();
        assert!(error.message.contains("`meta.name` gives no id"), "{}", error.message);
    }

    #[test]
    fn every_fault_of_both_is_in_the_one_error() {
        let own = json!({"title": 5, "params": {"x": {"type": "select"}, "y": {"type": "odd"}}});
        let error = merge(&file(&json!({"timeoutSeconds": -1, "draft": "no", "memoryMb": 1})), Declared::Module(&own))
            .unwrap_err();
        for words in [
            "`title` is 5",
            "parameter `x` is a `select` without",
            "parameter `y` has the unknown type",
            "`timeoutSeconds` is -1",
            "`draft` is \"no\"",
            "`memoryMb` is 1; it must be a whole number from 8",
        ] {
            assert!(error.message.contains(words), "{words}: {}", error.message);
        }
        assert_eq!(error.file.as_deref(), Some("main.ts"));
        assert!(
            merge(&file(&json!({})), Declared::Module(&json!([1]))).unwrap_err().message.contains("make it an object")
        );
    }

    #[test]
    fn a_key_that_is_nearly_ours_is_warned_of_and_others_are_not() {
        let merged = merge(&file(&json!({"timeoutSecond": 5, "author": "x"})), Declared::Nothing).unwrap();
        assert_eq!(merged.warnings, ["`timeoutSecond` in package.json is not known; did you mean `timeoutSeconds`?"]);
    }

    #[test]
    fn commands_and_the_dynamic_entrypoint_need_no_source() {
        let command =
            candidate("c", CandidateSource::Command { argv: vec!["x".into()] }, &json!({"params": {"a": "string"}}));
        assert_eq!(merge(&command, Declared::Nothing).unwrap().entrypoint.params.len(), 1);
        let dynamic = candidate("workflow", CandidateSource::Dynamic, &json!({}));
        let names: Vec<_> =
            merge(&dynamic, Declared::Nothing).unwrap().entrypoint.params.into_iter().map(|param| param.name).collect();
        assert_eq!(names, ["script", "meta", "args"]);
    }

    #[test]
    fn of_two_equal_ids_the_first_is_kept_and_the_second_told() {
        let one = merge(&file(&json!({})), Declared::Nothing).unwrap().entrypoint;
        let (kept, errors, warnings) = settle_ids(vec![one.clone(), one]);
        assert_eq!((kept.len(), errors.len(), warnings.len()), (1, 1, 0));
        assert!(errors[0].message.contains("`main.ts` already has this id"));
    }
}
