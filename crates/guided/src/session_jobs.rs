//! Jobs of one session: registered by an agent, there for that session only, and there again after a restart.

use crate::answers::{Registered, SessionJob};
use crate::check::{IDENTIFIER, is_identifier};
use crate::error::GuidedError;
use crate::files;
use crate::guided::Project;
use crate::job::{self, JOB_BYTES, JOB_FILE};
use crate::session::Session;

impl Project<'_> {
    /// `register_session_job`: keeps a job's text for a session. A text that is YAML and no job is kept as well, so that
    /// it can be fetched and corrected.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the name or the text, in words for the caller.
    pub fn register_session_job(&self, name: &str, text: &str, session_id: &str) -> Result<Registered, String> {
        check_name(name)?;
        if text.len() as u64 > JOB_BYTES {
            return Err(format!("the definition of `{name}` is larger than {JOB_BYTES} bytes"));
        }
        match crate::yaml::parse(text) {
            Err(error) => {
                return Err(format!("the definition of `{name}` is no valid YAML, nothing was kept: {error}"));
            }
            Ok(None) => return Err(format!("the definition of `{name}` is empty, nothing was kept")),
            Ok(Some(_)) => {}
        }
        let session = Session::open(self.places(), session_id).map_err(|error| said(&error.into()))?;
        let folder = session.jobs().join(name);
        let path = folder.join(JOB_FILE);
        self.places().write(&path, text.as_bytes()).map_err(|error| said(&error.into()))?;
        if let Err(error) = job::parse(text, &path) {
            return Err(format!(
                "the job `{name}` cannot be used: {error}\nIts text was left in `{}`: correct it and register it again.",
                path.display()
            ));
        }
        Ok(Registered {
            status: "registered",
            job_name: name.to_owned(),
            job_dir: files::display(&folder),
            message: format!(
                "The job `{name}` is registered for this session: call `start_workflow` with it and the same session_id."
            ),
        })
    }

    /// `get_session_job`: returns the text exactly as it was registered.
    ///
    /// # Errors
    ///
    /// When the session has no such job, in words for the caller.
    pub fn get_session_job(&self, name: &str, session_id: &str) -> Result<SessionJob, String> {
        check_name(name)?;
        let folder = self.places().session(session_id).map_err(|error| error.to_string())?;
        let path = folder.join("jobs").join(name).join(JOB_FILE);
        match files::read_text(&path, JOB_BYTES) {
            Ok(text) => Ok(SessionJob { job_name: name.to_owned(), job_definition_yaml: text }),
            Err(error) if error.is_not_found() => {
                Err(format!("there is no job `{name}` in the session `{session_id}`; register it first"))
            }
            Err(error) => Err(said(&error.into())),
        }
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if is_identifier(name) && name.len() <= 200 {
        return Ok(());
    }
    Err(format!("`{}` is no name for a job: {IDENTIFIER}", name.chars().take(80).collect::<String>()))
}

fn said(error: &GuidedError) -> String {
    model::with_causes(error)
}
