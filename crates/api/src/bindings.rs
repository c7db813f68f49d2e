//! The page's TypeScript, made from the list of commands and the types that cross the border.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use crate::ApiError;
use crate::commands::{Describe, describe};

/// Where the page keeps it, below the repository.
pub const FILE: &str = "ui/src/api/generated.ts";

const HEAD: &str = "// Made from crates/api by `cargo xtask gen`; do not edit.

/** Any JSON value. */
export type JsonValue = unknown;
";

/// Every type that was seen, by name.
struct Collector {
    config: Config,
    types: BTreeMap<String, String>,
    commands: Vec<String>,
}

impl Collector {
    fn name<T: TS + 'static + ?Sized>(&self) -> String {
        match T::name(&self.config) {
            name if name == "Nothing" => "{}".into(),
            name => name,
        }
    }
}

impl TypeVisitor for Collector {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only types of ours have a place of their own.
        if T::output_path().is_none() {
            T::visit_dependencies(self);
            T::visit_generics(self);
            return;
        }
        let name = T::ident(&self.config);
        if name == "Nothing" || self.types.contains_key(&name) {
            return;
        }
        let mut text = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
        text.push_str(&format!("export {}\n", T::decl(&self.config)));
        self.types.insert(name, text);
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

impl Describe for Collector {
    fn command<Request: TS + 'static, Response: TS + 'static>(&mut self, name: &str) {
        Request::visit_dependencies(self);
        let request = match Request::name(&self.config) {
            name if name == "Nothing" => "{}".into(),
            _ => Request::inline(&self.config),
        };
        self.visit::<Response>();
        let response = self.name::<Response>();
        self.commands.push(format!("  {name}: [{request}, {response}];\n"));
    }
}

/// Writes the declarations.
#[must_use]
pub fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let mut collector = Collector { config, types: BTreeMap::new(), commands: Vec::new() };
    describe(&mut collector);
    collector.visit::<ApiError>();
    let mut text = HEAD.to_owned();
    for declaration in collector.types.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    text.push_str("\n/** Every command: its request and its answer. */\nexport interface Commands {\n");
    for command in &collector.commands {
        // Comments of fields stand with the named types.
        text.push_str(&without_comments(command));
    }
    text.push_str("}\n");
    text
}

/// Takes comments out and puts what is left on one line.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find("/**") {
        out.push_str(rest.get(..begin).unwrap_or_default());
        rest = rest.get(begin..).and_then(|rest| rest.split_once("*/")).map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let mut line = String::from("  ");
    line.push_str(&out.split_whitespace().collect::<Vec<_>>().join(" "));
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn file() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)
    }

    #[test]
    fn the_page_has_what_the_commands_say() {
        let there = std::fs::read_to_string(file()).unwrap_or_default();
        assert!(there == typescript(), "{FILE} is not what the commands say: run `cargo xtask gen`");
    }

    /// Not a test: `cargo xtask gen` calls it to write the file.
    #[test]
    #[ignore = "writes a file"]
    fn write_the_page_s_file() {
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), typescript()).unwrap();
    }
}
