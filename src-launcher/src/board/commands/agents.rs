//! `agents …`, `ci …` and `claude …`: what is generated, and what an agent asks for itself.

use ::board::FileReport;
use serde_json::json;

use super::{Command, Result, reports};
use crate::board::cli::Done;

/// Whether the system runs this file.
fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

impl Command<'_> {
    pub(super) fn context(&self) -> Result<Done> {
        self.options.allow("agents context", &["card", "limit"], false)?;
        let limit = self.options.number_to("limit", 1, 50)?.unwrap_or(20);
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
        // The files name a bare command; whether it can be run here is the machine's affair.
        let reachable = crate::env_vars::get("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| is_program(&folder.join("workflow-code"))));
        let ok = reachable && found.iter().all(FileReport::is_current);
        let mut done = reports(&found).failing(!ok);
        done.answer["ok"] = json!(ok);
        done.answer["issues"] = json!(self.board.surface_issues(&found, reachable));
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
        self.options.allow("claude plugin", &["force"], false)?;
        let into = std::path::Path::new(self.options.word(2, "a folder")?);
        let written = self.board.write_plugin(into, self.options.flag("force"))?;
        let text = written.join("\n");
        Ok(Done::new(json!({ "files": written }), text))
    }
}
