//! The shapes an entry has, as data, and the entry they make of a launch.

use serde_json::{Map, Value};

use crate::Launch;

/// The kind of a client's file and the way to its servers in it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Document {
    /// JSON with comments and trailing commas. Several ways when versions of the client differ: the first is taken
    /// unless the file already has a later one.
    Json { ways: &'static [&'static [&'static str]] },
    /// TOML.
    Toml { ways: &'static [&'static [&'static str]] },
    /// YAML, which we print and never write.
    Yaml { ways: &'static [&'static [&'static str]] },
}

/// How program and arguments are named.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program {
    /// Two properties: the program under this name, `args`.
    Named(&'static str),
    /// One list under `command`.
    List,
}

/// A property with the same value for every launch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fixed {
    Text(&'static str),
    Number(u64),
    Flag(bool),
    List(&'static [&'static str]),
    /// The server's key.
    Key,
}

/// What an entry looks like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) document: Document,
    /// Properties before the program.
    pub(crate) lead: &'static [(&'static str, Fixed)],
    pub(crate) program: Program,
    /// The name of the environment's property; left out when the launch has no environment.
    pub(crate) env: &'static str,
    /// Properties after the environment.
    pub(crate) tail: &'static [(&'static str, Fixed)],
}

impl Shape {
    /// Returns the ways to the servers, the usual one first.
    pub(crate) fn ways(&self) -> &'static [&'static [&'static str]] {
        match self.document {
            Document::Json { ways } | Document::Toml { ways } | Document::Yaml { ways } => ways,
        }
    }

    /// Returns the entry of a launch.
    pub(crate) fn entry(&self, launch: &Launch) -> Map<String, Value> {
        let mut entry = Map::new();
        let fixed = |entry: &mut Map<String, Value>, list: &[(&str, Fixed)]| {
            for (name, value) in list {
                entry.insert((*name).to_owned(), fixed_value(*value, launch));
            }
        };
        fixed(&mut entry, self.lead);
        match self.program {
            Program::Named(name) => {
                entry.insert(name.to_owned(), Value::from(launch.command()));
                entry.insert(String::from("args"), Value::from(launch.args().to_vec()));
            }
            Program::List => {
                let mut words = vec![launch.command().to_owned()];
                words.extend_from_slice(launch.args());
                entry.insert(String::from("command"), Value::from(words));
            }
        }
        if !launch.env().is_empty() {
            let env: Map<String, Value> =
                launch.env().iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
            entry.insert(self.env.to_owned(), Value::Object(env));
        }
        fixed(&mut entry, self.tail);
        entry
    }
}

fn fixed_value(value: Fixed, launch: &Launch) -> Value {
    match value {
        Fixed::Text(text) => Value::from(text),
        Fixed::Number(number) => Value::from(number),
        Fixed::Flag(flag) => Value::from(flag),
        Fixed::List(list) => Value::from(list.to_vec()),
        Fixed::Key => Value::from(launch.key()),
    }
}

/// Returns the plain form that most clients share: program, arguments and, if any, the environment.
pub(crate) fn plain_entry(launch: &Launch) -> Map<String, Value> {
    Shape {
        document: Document::Json { ways: &[] },
        lead: &[],
        program: Program::Named("command"),
        env: "env",
        tail: &[],
    }
    .entry(launch)
}
