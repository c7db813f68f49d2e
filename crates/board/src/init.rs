//! Making a folder a workspace.

use std::path::Path;

use serde_json::{Value, json};

use crate::config::Config;
use crate::error::{Result, refuse};
use crate::files;

/// What to write.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// The project's name; the folder's when not given.
    pub name: Option<String>,
    /// Areas of cards.
    pub areas: Vec<String>,
    /// Write over what is there.
    pub force: bool,
    /// Say what would be written, and write nothing.
    pub dry: bool,
}

/// Makes `root` a workspace: `{plan, interactive, applied}`.
///
/// # Errors
///
/// `INIT_FILE_CONFLICT` for a file that is there already, or a configuration that would not be valid.
pub fn init(root: &Path, options: &InitOptions) -> Result<Value> {
    let name = options.name.clone().unwrap_or_else(|| {
        root.file_name().map_or_else(|| "project".into(), |name| name.to_string_lossy().into_owned())
    });
    let areas = if options.areas.is_empty() { vec!["general".to_owned()] } else { options.areas.clone() };
    let content = json!({ "schemaVersion": 2, "name": name, "cards": { "areas": areas } });
    Config::from_value(content.clone())?;
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
    if !options.dry {
        for (path, text) in &plan {
            files::write(&root.join(path), text)?;
        }
    }
    let paths: Vec<&str> = plan.iter().map(|(path, _)| *path).collect();
    Ok(json!({ "plan": paths, "interactive": false, "applied": !options.dry }))
}
