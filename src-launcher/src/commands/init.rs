//! `workflow-code init`: a small working project, or what is missing in a folder that has something already.

use model::SystemIds;
use project::init::{IdRule, Template as Kind, plan_init};
use serde_json::json;

use crate::cli::{Init, Template};
use crate::failure::{Exit, Failure};
use crate::{invocation, out};

pub(crate) fn run(options: &Init) -> Result<u8, Failure> {
    let kind = match options.template {
        Template::Script => Kind::Script,
        Template::Command => Kind::Command,
    };
    if options.dir.to_str().is_none() {
        return Err(Failure::usage(format!(
            "`{}` is no path in UTF-8, and could not be served",
            options.dir.display()
        )));
    }
    let rule = if options.new_id { IdRule::Renew } else { IdRule::Keep };
    let failure = |error: project::init::InitError| Failure::from_error(Exit::Environment, &error);
    let plan = plan_init(&options.dir, kind, rule, &SystemIds).map_err(failure)?;
    plan.apply().map_err(failure)?;
    let dir = options.dir.display();
    if options.json {
        let files: Vec<_> = plan.changes.iter().map(|change| json!(change.path)).collect();
        out::json(&json!({ "path": options.dir, "uuid": plan.uuid, "files": files }));
    } else if plan.changes.is_empty() {
        out::note(&format!("`{dir}` is a workflow project already; nothing was missing"));
    } else {
        out::print(&plan.diff());
        // What the templates' entrypoint needs; somebody's own entrypoints need what they say.
        let ours = plan.changes.iter().any(|change| change.path.starts_with("main."));
        let example: &[&str] = if ours { &["main", "--name", "Ada"] } else { &[] };
        let folder = options.dir.to_string_lossy();
        out::note(&format!(
            "next: `{}`, then `{}`",
            invocation::command(&[&["run", &folder], example].concat()),
            invocation::command(&["projects", "add", &folder])
        ));
    }
    Ok(0)
}
