//! A program to start: argument list, folder, environment, streams.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The whole environment of a child; nothing is inherited beside it.
pub type Environment = BTreeMap<OsString, OsString>;

/// What a child reads on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Nothing: the null device. Never our own input.
    Null,
    /// A pipe that the caller writes.
    Pipe,
}

/// A program with its arguments. No shell ever sees them.
#[derive(Debug, Clone)]
pub struct Spec {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) input: Input,
    pub(crate) dies_with_parent: bool,
    pub(crate) only_group: bool,
}

impl Spec {
    /// Names the program. A name without `/` is looked up in the `PATH` of the child's environment.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            folder: None,
            environment: Environment::new(),
            input: Input::Null,
            dies_with_parent: false,
            only_group: false,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<I, S>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets the folder it starts in.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets its whole environment.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets what it reads.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Has the system kill it when the *thread* that starts it ends. Only for a thread that lives as long as its
    /// process, since the kernel counts threads here.
    #[must_use]
    pub fn dies_with_parent(mut self) -> Self {
        self.dies_with_parent = true;
        self
    }

    /// Gives it a process group of its own, and leaves it in our session. For our own image, which neither looks for a
    /// terminal nor stays in reach of one: then the system starts it without copying our memory's tables first, which
    /// takes longer than all else in a start.
    #[must_use]
    pub fn only_group(mut self) -> Self {
        self.only_group = true;
        self
    }
}
