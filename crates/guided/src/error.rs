//! Why a call could not be done.

use std::path::PathBuf;

use crate::catalog::Broken;
use crate::files::FileError;
use crate::names::UnsafeName;
use crate::session::SessionError;

/// Why a call could not be done. Each names the thing at fault and, where there is a choice, what there is.
#[derive(Debug, thiserror::Error)]
pub enum GuidedError {
    /// No such job.
    #[error("there is no job `{}`; the jobs are {}", short(job), quoted(known))]
    NoSuchJob {
        /// What was asked for.
        job: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The job is broken.
    #[error("the job `{}` cannot be used: {}", .0.folder, .0.error)]
    BrokenJob(Box<Broken>),
    /// No such workflow.
    #[error("the job `{job}` has no workflow `{}`; its workflows are {}", short(workflow), quoted(known))]
    NoSuchWorkflow {
        /// The job.
        job: String,
        /// What was asked for.
        workflow: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The platform gives ids, and none came.
    #[error(
        "`session_id` is required on platform `claude`: pass the CLAUDE_CODE_SESSION_ID that stands in your startup \
         context, and the same id in every later call"
    )]
    SessionRequired,
    /// An id that cannot be part of a path.
    #[error(transparent)]
    Name(#[from] UnsafeName),
    /// Nothing runs.
    #[error(
        "no workflow is active in session `{session}`{}; call `start_workflow` again with this session_id, and take \
         steps that are done already quickly by handing in their outputs with a `quality_review_override_reason`",
        agent.as_ref().map(|agent| format!(" for agent `{agent}`")).unwrap_or_default()
    )]
    NothingActive {
        /// The session.
        session: String,
        /// The agent, when one was named.
        agent: Option<String>,
    },
    /// The step was renamed or removed meanwhile.
    #[error(
        "the current step `{step}` is not found in `{workflow}` any more, since the job was changed; its steps are {}. \
         Abort the workflow and start it again, or give the step its name back",
        quoted(known)
    )]
    StepGone {
        /// The step.
        step: String,
        /// `job/workflow`.
        workflow: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No such step.
    #[error("`{workflow}` has no step `{}`; its steps are {}", short(step), quoted(known))]
    NoSuchStep {
        /// What was asked for.
        step: String,
        /// `job/workflow`.
        workflow: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Going forward is for `finished_step`.
    #[error(
        "`{step}` comes after the current step `{current}`: `go_to_step` goes back only; use `finished_step` to go on. \
         You can go to {}",
        quoted(known)
    )]
    Forward {
        /// What was asked for.
        step: String,
        /// Where the run stands.
        current: String,
        /// Where one can go.
        known: Vec<String>,
    },
    /// What was handed in does not fit.
    #[error("{0}")]
    Outputs(String),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Nobody waits for the answer any more.
    #[error("the call was cancelled, and nothing was changed")]
    Cancelled,
    /// The project's root is no folder.
    #[error("the project root `{}` is not a folder", .0.display())]
    Root(PathBuf),
}

impl From<SessionError> for GuidedError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Name(error) => Self::Name(error),
            SessionError::File(error) => Self::File(error),
        }
    }
}

/// What a message repeats of a name that somebody made up.
const REPEATED: usize = 120;

/// Cuts a name that is too long to be one.
fn short(name: &str) -> String {
    let mut shown: String = name.chars().take(REPEATED).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}

/// Writes names for a sentence.
#[must_use]
pub(crate) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
