//! The result of a call, the one object that clients, the terminal and the resource all get.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{EntrypointId, ErrorCode, Form, ParamOption, ParamType, RunError, RunId, title_from_id};

/// How a call ended, seen from its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeStatus {
    /// With an output.
    Success,
    /// With an error.
    Failed,
    /// Stopped.
    Cancelled,
    /// Out of time.
    Timeout,
    /// The run waits for a person, or was interrupted, and can be continued.
    InteractionRequired,
}

/// One field of a pending form, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingField {
    /// The key of the answer.
    pub name: String,
    /// What a person sees.
    pub title: String,
    /// Its type; of a list, that of its items.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Whether it must be answered.
    pub required: bool,
    /// Whether the answer is a list.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub multiple: bool,
    /// What is answered when nothing is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub default: Option<Value>,
    /// What may be answered, if that is fixed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub options: Vec<ParamOption>,
}

/// What a run waits for, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The form's heading.
    pub title: String,
    /// What the person should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// What is asked.
    pub fields: Vec<PendingField>,
    /// The related run that asks, when it is not this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub child_run_id: Option<RunId>,
}

/// Characters of a question's title and message in a result; the record keeps them whole.
const TITLE_CHARACTERS: usize = 300;
const MESSAGE_CHARACTERS: usize = 8_000;

/// The beginning of a text that may be of any length, and says so where it is not all.
#[must_use]
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl From<&Form> for Pending {
    fn from(form: &Form) -> Self {
        let fields = form
            .fields
            .iter()
            .map(|field| PendingField {
                name: field.name.clone(),
                title: field.title.clone().unwrap_or_else(|| title_from_id(&field.name)),
                kind: field.kind,
                required: field.required,
                multiple: field.multiple,
                default: field.default.clone(),
                options: field.options.clone(),
            })
            .collect();
        Self {
            title: beginning(&form.title, TITLE_CHARACTERS),
            message: form.message.as_deref().map(|message| beginning(message, MESSAGE_CHARACTERS)),
            fields,
            child_run_id: None,
        }
    }
}

/// Says that `output` was replaced by its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputTruncated {
    /// Size of the whole output as compact JSON, in bytes.
    pub bytes: u64,
    /// The run whose record keeps it whole.
    pub run_id: RunId,
}

/// A file that a run created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedFile {
    /// Its name.
    pub name: String,
    /// Where it lies, absolute.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The run; absent only for `busy`, where no run began.
    pub run_id: Option<RunId>,
    /// How it ended.
    pub status: EnvelopeStatus,
    /// The entrypoint.
    pub entrypoint_id: EntrypointId,
    /// Its title.
    pub entrypoint_title: String,
    /// What came out. Only on success.
    pub output: Option<Value>,
    /// What went wrong. Only otherwise.
    pub error: Option<RunError>,
    /// What the run waits for.
    pub pending: Option<Pending>,
    /// What the run created.
    pub files: Vec<CreatedFile>,
}

impl Envelope {
    /// Tells whether the call must be marked as an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.status != EnvelopeStatus::Success
    }

    /// Writes the envelope as clients get it: an `output` over `max_output_bytes` of compact JSON is replaced by its
    /// beginning, and cause and data of an error stay in the record.
    #[must_use]
    pub fn to_json(&self, max_output_bytes: usize) -> Value {
        let mut object = serde_json::Map::new();
        if let Some(run_id) = &self.run_id {
            object.insert("runId".into(), json!(run_id));
        }
        object.insert("status".into(), json!(self.status));
        object.insert("entrypointId".into(), json!(self.entrypoint_id));
        object.insert("entrypointTitle".into(), json!(self.entrypoint_title));
        if self.status == EnvelopeStatus::Success {
            let output = self.output.clone().unwrap_or(Value::Null);
            let text = output.to_string();
            match &self.run_id {
                Some(run_id) if text.len() > max_output_bytes => {
                    object.insert("output".into(), Value::String(preview(&output, &text, max_output_bytes)));
                    object.insert(
                        "outputTruncated".into(),
                        json!(OutputTruncated { bytes: text.len() as u64, run_id: run_id.clone() }),
                    );
                }
                Some(_) | None => {
                    object.insert("output".into(), output);
                }
            }
        } else if let Some(error) = &self.error {
            let mut shown = json!({ "code": error.code, "message": error.message });
            if let (Some(number), Some(shown)) = (error.err_code, shown.as_object_mut()) {
                shown.insert("errCode".into(), json!(number));
            }
            object.insert("error".into(), shown);
        }
        if let Some(pending) = &self.pending {
            object.insert("pending".into(), json!(pending));
        }
        if !self.files.is_empty() {
            object.insert("files".into(), json!(self.files));
        }
        Value::Object(object)
    }

    /// The JSON Schema that every envelope satisfies. Open, with `output` left out of `properties`: it may be any
    /// value, and an empty schema makes strict clients warn.
    #[must_use]
    pub fn schema() -> Value {
        let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        json!({
            "type": "object",
            "properties": {
                "runId": { "type": "string", "description": "Id of the recorded run" },
                "status": {
                    "type": "string",
                    "enum": ["success", "failed", "cancelled", "timeout", "interaction_required"],
                    "description": "How the call ended; `output` is there only on success"
                },
                "entrypointId": { "type": "string", "description": "The entrypoint that ran" },
                "entrypointTitle": { "type": "string", "description": "Its title" },
                "error": {
                    "type": "object",
                    "description": "Why there is no output",
                    "properties": {
                        "code": { "type": "string", "enum": codes, "description": "Stable code" },
                        "message": { "type": "string", "description": "What went wrong" },
                        "errCode": { "type": "integer", "description": "The workflow's own error number" }
                    },
                    "required": ["code", "message"]
                }
            },
            "required": ["status"]
        })
    }
}

/// The beginning of an output: of a string its own text, of anything else its JSON.
fn preview(output: &Value, json: &str, most: usize) -> String {
    let text = output.as_str().unwrap_or(json);
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(output: Value) -> Envelope {
        Envelope {
            run_id: "20260828-abcd".parse().ok(),
            status: EnvelopeStatus::Success,
            entrypoint_id: "main".parse().unwrap_or_else(|error| panic!("{error}")),
            entrypoint_title: "Main".into(),
            output: Some(output),
            error: None,
            pending: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn the_keys_stand_in_the_order_of_the_contract() {
        assert_eq!(
            envelope(json!({})).to_json(100).to_string(),
            r#"{"runId":"20260828-abcd","status":"success","entrypointId":"main","entrypointTitle":"Main","output":{}}"#
        );
    }

    #[test]
    fn a_pending_field_says_what_an_answer_looks_like() {
        let form: Form = serde_json::from_value(json!({"title": "Tags", "fields": [
            {"name": "all_tags", "type": "string", "required": true, "multiple": true, "default": ["a"]},
            {"name": "note", "type": "string", "required": false, "multiple": false, "title": "A note"}]}))
        .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            json!(Pending::from(&form).fields),
            json!([
                {"name": "all_tags", "title": "All tags", "type": "string", "required": true, "multiple": true,
                    "default": ["a"]},
                {"name": "note", "title": "A note", "type": "string", "required": false}
            ])
        );
    }

    #[test]
    fn an_output_is_cut_between_characters_and_says_so() {
        let cut = envelope(json!("ééé")).to_json(3);
        assert_eq!(cut["output"], "é");
        assert_eq!(cut["outputTruncated"], json!({"bytes": 8, "runId": "20260828-abcd"}));
    }

    #[test]
    fn a_cause_stays_in_the_record() {
        let mut failed = envelope(json!(1));
        failed.status = EnvelopeStatus::Failed;
        failed.error = Some(RunError {
            err_code: Some(42),
            ..RunError::new(ErrorCode::BusinessError, "No stock").with_cause("secret path")
        });
        let shown = failed.to_json(100);
        assert_eq!(shown["error"], json!({"code": "business_error", "message": "No stock", "errCode": 42}));
        assert_eq!(shown.get("output"), None);
        assert!(failed.is_error());
    }
}
