//! The only crate that starts processes.
//!
//! Here: [`Spec`], an argument list with its folder, environment and streams, started without a shell in a session of
//! its own; [`tree`], which ends a process with all its descendants; [`keeper`], which does so when we are gone; [`orphans`], which makes this process the one
//! that inherits them; [`proc_info`], what `/proc` says of a process; [`standard_streams`], which takes the protocol's
//! descriptors out of everybody's reach; [`memory`], which keeps the allocator frugal.
//!
//! Not here: what is run and why (`runtime`), and whose output it is (`mcp`, `store`).
//!
//! Linux is built and tested. Elsewhere on Unix the walk over `/proc` finds nothing, and a tree ends with its process
//! group; that code is untested.

mod child;
pub mod keeper;
pub mod memory;
pub mod orphans;
pub mod proc_info;
mod spec;
pub mod standard_streams;
pub mod tree;

pub use child::{BlockingChild, SpawnError};
pub use spec::{Environment, Input, Spec};
