//! Questions to a person: from what a script or command asks to a form, and the ones that are open.

use model::{Form, InteractionKind, Param, ParamType, RunId};
use script::{CallKind, HostCall};
use serde_json::Value;

use crate::protocol::ExecJob;

/// An open question.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) number: u64,
    /// Who goes on when it is answered.
    pub(super) asker: Asker,
    pub(super) form: Form,
    pub(super) kind: InteractionKind,
}

/// Who goes on when a question is answered.
#[derive(Debug, Clone)]
pub(super) enum Asker {
    /// A script: the answer is the call's result.
    Script(HostCall),
    /// A command, which asks by ending, and is started again.
    Command,
    /// A script that wants to run a program: leave is needed first.
    Program(HostCall, Box<ExecJob>),
    /// A script whose request was under way when its process died: leave is needed to make it again.
    Request(HostCall),
    /// A related run: the answer is passed on to it.
    Child {
        /// The host call that started it.
        call: HostCall,
        /// The related run.
        child: RunId,
        /// The question's number there.
        number: u64,
    },
}

impl Asker {
    /// The related run that really asks.
    pub(super) fn child(&self) -> Option<&RunId> {
        match self {
            Self::Child { child, .. } => Some(child),
            Self::Script(_) | Self::Program(..) | Self::Request(_) | Self::Command => None,
        }
    }

    /// The host call behind it.
    pub(super) fn call(&self) -> Option<&HostCall> {
        match self {
            Self::Script(call) | Self::Program(call, _) | Self::Request(call) | Self::Child { call, .. } => Some(call),
            Self::Command => None,
        }
    }
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
    leave(title, format!("The workflow asks for leave to use `{}`.{with}", model::visible_line(tool)))
}

/// Makes a form that asks for leave: one box to tick.
pub(super) fn leave(title: String, message: String) -> Form {
    let approve = Param {
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
    };
    // Nothing in what is approved may be hidden, or stand elsewhere than it seems to.
    let (title, message) = (model::visible_line(&title), Some(model::visible_text(&message)));
    Form { title, message, fields: vec![approve], approval: None }
}
