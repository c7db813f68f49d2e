//! Making a folder a workspace.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::board::Board;
use crate::config::Config;
use crate::error::{Result, refuse};
use crate::files;
use crate::workspace::Workspace;

/// What to write.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// The project's name; the folder's when not given.
    pub name: Option<String>,
    /// Areas of cards.
    pub areas: Vec<String>,
    /// Whom instructions are generated for; the default's when empty. Given, they are generated at once.
    pub agents: Vec<String>,
    /// Where checks are generated for, at once.
    pub ci: Vec<String>,
    /// How documents are laid out, `kind` or `flat`.
    pub docs: Option<String>,
    /// Write over what is there.
    pub force: bool,
    /// Say what would be written, and write nothing.
    pub dry: bool,
}

impl InitOptions {
    /// The configuration that is asked for.
    fn config(&self, name: &str) -> Result<Value> {
        let targets = [
            ("agents", &self.agents, &["agents-md", "claude", "cursor", "copilot"][..]),
            ("ci", &self.ci, &["github", "gitlab", "generic"][..]),
        ];
        let areas = if self.areas.is_empty() { vec!["general".to_owned()] } else { self.areas.clone() };
        let mut config = Map::from_iter([
            ("schemaVersion".to_owned(), json!(2)),
            ("name".to_owned(), json!(name)),
            ("cards".to_owned(), json!({ "areas": areas })),
        ]);
        if let Some(layout) = &self.docs {
            config.insert("docs".into(), json!({ "layout": layout }));
        }
        for (section, wanted, allowed) in targets {
            if let Some(other) = wanted.iter().find(|one| !allowed.contains(&one.as_str())) {
                return Err(refuse!(
                    "INIT_TARGET_UNSUPPORTED",
                    "`{other}` is no target of --{section}: {}",
                    allowed.join(", ")
                )
                .with(json!({ "option": format!("--{section}"), "value": other, "allowed": allowed })));
            }
            if !wanted.is_empty() {
                config.insert(section.into(), json!({ "targets": wanted }));
            }
        }
        Ok(Value::Object(config))
    }
}

/// Makes `root` a workspace: `{plan, interactive, applied}`.
///
/// # Errors
///
/// `INIT_FILE_CONFLICT` for a file that is there already, `INIT_TARGET_UNSUPPORTED`, `GENERATED_FILE_UNMANAGED`, or a
/// configuration that would not be valid. Nothing is written then.
pub fn init(root: &Path, options: &InitOptions) -> Result<Value> {
    let name = options.name.clone().unwrap_or_else(|| {
        root.file_name().map_or_else(|| "project".into(), |name| name.to_string_lossy().into_owned())
    });
    let content = options.config(&name)?;
    let config = Config::from_value(content.clone())?;
    let now = model::format_timestamp(model::Clock::now(&model::SystemClock));
    let version = json!({ "schemaVersion": 2, "createdWith": concat!("workflow-code ", env!("CARGO_PKG_VERSION")), "createdAt": now });
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let plan = [
        ("project.config.mjs", format!("export default {};\n", pretty(&content))),
        (".project/VERSION", format!("{}\n", pretty(&version))),
        (".project/.gitignore", ".cache/\n".to_owned()),
    ];
    let taken: Vec<&str> = plan.iter().map(|(path, _)| *path).filter(|path| root.join(path).exists()).collect();
    if !taken.is_empty() && !options.force {
        return Err(refuse!(
            "INIT_FILE_CONFLICT",
            "these files are there already; --force writes over them: {}",
            taken.join(", ")
        )
        .with(json!({ "paths": taken })));
    }
    let board = Board::new(Workspace::planned(root, config));
    let generate = |dry: bool| -> Result<Vec<String>> {
        let mut paths = Vec::new();
        for (what, wanted) in [("agents", &options.agents), ("ci", &options.ci)] {
            if !wanted.is_empty() {
                paths
                    .extend(board.sync_generated(what, &[], options.force, dry)?.into_iter().map(|report| report.path));
            }
        }
        Ok(paths)
    };
    // What cannot be generated is known before the first file is written.
    let generated = generate(true)?;
    if !options.dry {
        for (path, text) in &plan {
            files::write(&root.join(path), text)?;
        }
        generate(false)?;
    }
    let paths: Vec<&str> = plan.iter().map(|(path, _)| *path).chain(generated.iter().map(String::as_str)).collect();
    Ok(json!({ "plan": paths, "interactive": false, "applied": !options.dry }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_configured_and_generated() {
        let root = tempfile::tempdir().expect("a folder");
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut options = InitOptions {
            agents: list("claude,cursor"),
            ci: list("github,moon"),
            docs: Some("flat".into()),
            ..InitOptions::default()
        };
        assert_eq!(init(root.path(), &options).expect_err("no target").code, "INIT_TARGET_UNSUPPORTED");
        options.ci = list("generic");
        std::fs::create_dir_all(root.path().join("scripts")).expect("made");
        std::fs::write(root.path().join("scripts/check-work-records.sh"), "theirs").expect("written");
        assert_eq!(init(root.path(), &options).expect_err("theirs").code, "GENERATED_FILE_UNMANAGED");
        assert!(!root.path().join("project.config.mjs").exists());
        options.force = true;
        let answer = init(root.path(), &InitOptions { dry: true, ..options.clone() }).expect("a plan");
        assert!(!root.path().join("project.config.mjs").exists());
        assert_eq!(init(root.path(), &options).expect("made")["plan"], answer["plan"]);
        for path in ["CLAUDE.md", ".cursor/rules/workfile.mdc", "scripts/check-work-records.sh"] {
            assert!(
                answer["plan"].as_array().expect("a plan").contains(&json!(path)) && root.path().join(path).exists()
            );
        }
        assert!(!root.path().join("AGENTS.md").exists());
        let made = Workspace::open(Some(root.path()), root.path(), false).expect("a workspace");
        assert_eq!(made.config().agents.targets, ["claude", "cursor"]);
        assert!(!made.config().docs.by_kind && made.config().ci.targets == ["generic"]);
        options.docs = Some("heap".into());
        assert_eq!(init(root.path(), &options).expect_err("no layout").code, "CONFIG_DOC_LAYOUT_INVALID");
    }
}
