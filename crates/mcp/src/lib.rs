//! One MCP server skeleton for every family of tools.
//!
//! Here: [`lines`], the protocol's two descriptors as bounded lines; [`guard`], which answers what the protocol
//! library drops, misreads or exits on; [`family`], what a family of tools has to say; [`server`], which maps the
//! protocol of both eras to it; [`ordered`], a server without a runtime that
//! answers line by line; [`http`], the same servers for clients that do not start them; [`progress`], how often a client hears of a call; [`refusal`], a server that can only
//! say why it does not serve, or that turns into one.
//!
//! Not here: what a tool does. Protocol: Model Context Protocol, revisions 2024-11-05 to 2026-07-28; JSON-RPC 2.0.

#![expect(deprecated, reason = "log messages are deprecated since 2026-07-28, and in use by every older client")]

pub mod family;
#[doc(hidden)]
pub mod fuzz;
pub mod guard;
pub mod http;
pub mod lines;
mod message;
pub mod ordered;
pub mod progress;
pub mod refusal;
pub mod server;

pub use family::{
    Ask, Call, Caller, Channel, Elicited, Era, Family, Fault, Identity, InputRequest, Reply, Resource,
    ResourceTemplate, Tool,
};
pub use server::serve;
