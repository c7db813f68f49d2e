//! Questions to a person: from what a script or command asks to a form, and the ones that are open.

use model::{Form, InteractionKind, Param, ParamType};
use script::{CallKind, HostCall};
use serde_json::Value;

/// An open question.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) number: u64,
    /// The host call that asks; a command asks by ending.
    pub(super) call: Option<HostCall>,
    pub(super) form: Form,
    pub(super) kind: InteractionKind,
}

/// A question, as whoever may answer it sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its number in the run.
    pub number: u64,
    /// What is asked.
    pub form: Form,
    /// Whether it asks for facts or for leave.
    pub kind: InteractionKind,
}

/// Reads what `form` or `approve` was called with.
pub(super) fn form_of(call: &HostCall) -> Result<(Form, InteractionKind), String> {
    match call.kind {
        CallKind::Approve => Ok((approval(&call.args), InteractionKind::Approval)),
        _ => project::read_form(&call.args)
            .map(|form| (form, InteractionKind::Form))
            .map_err(|faults| faults.to_string()),
    }
}

/// Makes the form that asks for leave: the tool and all its arguments, and one box to tick.
fn approval(args: &Value) -> Form {
    let tool = args.get("tool").and_then(Value::as_str).unwrap_or("a tool");
    let title = args.get("title").and_then(Value::as_str).map_or_else(|| format!("Allow {tool}?"), str::to_owned);
    let with = match args.get("args") {
        None | Some(Value::Null) => String::new(),
        Some(Value::Object(empty)) if empty.is_empty() => String::new(),
        Some(with) => format!("\n{with:#}"),
    };
    Form {
        title,
        message: Some(format!("The workflow asks for leave to use `{tool}`.{with}")),
        fields: vec![approve()],
    }
}

fn approve() -> Param {
    Param {
        name: "approve".into(),
        kind: ParamType::Boolean,
        required: true,
        multiple: false,
        default: None,
        title: Some("Approve".into()),
        description: Some("Whether it may be done".into()),
        options: Vec::new(),
        minimum: None,
        maximum: None,
        min_length: None,
        max_length: None,
        pattern: None,
        format: None,
    }
}
