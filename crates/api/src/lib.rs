//! The window's commands, without the window.
//!
//! Here: the list of commands, declared once ([`commands`]), from which come the dispatcher ([`Api::call`]) and the page's
//! TypeScript ([`bindings`]); what crosses the border ([`wire`], [`ApiError`]); the commands themselves, against the store;
//! the live feed ([`Feed`]); and [`Host`], what they need of whoever can start runs and processes.
//!
//! Not here: SQL (`store`), running anything (`runtime`, behind [`Host`]), windows (`src-tauri`), HTTP (the dev server in
//! `tests`).
//!
//! Everything blocks: call it on a thread where that harms nobody.

mod api;
pub mod bindings;
pub mod commands;
mod error;
mod feed;
mod host;
mod rows;
pub mod wire;

pub use api::Api;
pub use error::{Answer, ApiError, ApiErrorCode};
pub use feed::{Feed, coalesce};
pub use host::{BoardDesk, BoardRoom, Facts, Host};
