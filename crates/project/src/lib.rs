//! A folder becomes a Project.
//!
//! Here: package.json, discovery of entrypoints, declarations of parameters, schemas for clients, checking of inputs and
//! answers, command-line arguments, file parameters, `.env`, the cache of structure reports, related projects, and the
//! templates of `workflow-code init`.
//!
//! Not here: parsing or running project code (crate `script`, in a worker process: what a source declares comes in as
//! JSON), SQL (`store`), processes (`process`), JSON-RPC (`mcp`). Nothing here reads the process environment or the
//! clock; both are handed in.

pub mod cache;
pub mod check;
pub mod cli_args;
pub mod cli_parse;
pub mod discovery;
pub mod dynamic;
pub mod env;
pub mod fault;
pub mod file_name;
pub mod files;
pub mod form_schema;
pub mod init;
pub mod json;
pub mod media_type;
pub mod merge;
pub mod moment;
pub mod package;
pub mod params;
pub mod related;
pub mod report;
pub mod schema;
pub mod value;
pub mod words;

pub use cache::StructureCache;
pub use check::{check_answer, check_call, check_call_with_files, check_input, check_related_call};
pub use cli_args::cli_args;
pub use cli_parse::parse_cli;
pub use discovery::{Candidate, CandidateSource, Discovery, Naming, discover};
pub use env::{EnvFile, command_environment, is_secret_looking};
pub use fault::{Fault, Faults};
pub use files::{FileError, FileRef, ManagedFiles};
pub use form_schema::{FormEra, FormSchema, NotElicitable, form_schema};
pub use init::{FileChange, IdRule, InitError, InitPlan, Template, init, plan_init};
pub use merge::{Declared, Merged, merge};
pub use package::{Declaration, Manifest, PackageError, RelatedDeclaration, read_project_type};
pub use params::{Purpose, read_form, read_params};
pub use related::{RelatedError, check_alias, check_related};
pub use report::{Finding, assemble};
pub use schema::{input_schema, params_schema, tool_description};
