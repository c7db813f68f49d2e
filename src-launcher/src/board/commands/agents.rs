//! `agents …`, `ci …` and `claude …`: what is generated, and what an agent asks for itself.

use ::board::{BoardError, FileReport};
use serde_json::json;

use super::{Command, Result, reports};
use crate::board::cli::Done;

impl Command<'_> {
    pub(super) fn context(&self) -> Result<Done> {
        self.options.allow("agents context", &["card", "limit"], false)?;
        let limit = self.options.number("limit", 1)?.unwrap_or(20).min(50);
        let bundle = self.board.context(self.options.get("card"), limit)?;
        Ok(Done::new(bundle.answer, bundle.markdown))
    }

    pub(super) fn whoami(&self) -> Result<Done> {
        self.options.allow("agents whoami", &["actor"], false)?;
        let actor = self.around.actor(self.options.get("actor"));
        let answer = json!({ "actor": actor.name, "source": actor.source, "sessionId": self.around.session });
        Ok(Done::new(answer, actor.name))
    }

    pub(super) fn generated_sync(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} sync"), &["targets", "force"], true)?;
        let targets = self.options.list("targets").unwrap_or_default();
        let found =
            self.board.sync_generated(group, &targets, self.options.flag("force"), self.options.flag("dry-run"))?;
        Ok(reports(&found))
    }

    pub(super) fn generated_check(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} check"), &["targets"], false)?;
        let found = self.board.check_generated(group, &self.options.list("targets").unwrap_or_default())?;
        let failing = !found.iter().all(FileReport::is_current);
        Ok(reports(&found).failing(failing))
    }

    pub(super) fn claude_install(&self) -> Result<Done> {
        self.options.allow("claude install", &["force"], true)?;
        let found = self.board.install_surface(self.options.flag("force"), self.options.flag("dry-run"))?;
        let failing = found.iter().any(|report| report.status == "conflict");
        Ok(reports(&found).failing(failing))
    }

    pub(super) fn claude_check(&self) -> Result<Done> {
        self.options.allow("claude check", &[], false)?;
        let found = self.board.check_surface();
        let failing = !found.iter().all(FileReport::is_current);
        let mut done = reports(&found).failing(failing);
        // The files name a bare command; whether it can be run here is the machine's affair.
        let reachable = crate::env_vars::get("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("workflow-code").is_file()));
        done.answer["hookCommand"] = json!(if reachable { "reachable" } else { "unreachable" });
        if !reachable {
            done.text.push_str("\nunreachable  workflow-code is not in PATH here");
        }
        Ok(done)
    }

    pub(super) fn claude_uninstall(&self) -> Result<Done> {
        self.options.allow("claude uninstall", &[], false)?;
        Ok(reports(&self.board.uninstall_surface()?))
    }

    pub(super) fn claude_plugin(&self) -> Result<Done> {
        self.options.allow("claude plugin", &[], false)?;
        let into = std::path::Path::new(self.options.word(2, "a folder")?);
        let mut written = Vec::new();
        for (path, content) in self.board.plugin_files() {
            let at = into.join(&path);
            let made = at.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&at, content));
            made.map_err(|error| {
                BoardError::new("INTERNAL_ERROR", format!("`{}` cannot be written: {error}", at.display()))
            })?;
            written.push(path);
        }
        let text = written.join("\n");
        Ok(Done::new(json!({ "files": written }), text))
    }
}
