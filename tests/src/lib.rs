//! What end-to-end tests share: a home of their own, the real executable, a protocol client, a census of processes.
//!
//! Nothing here touches the user's home, the network or the test process's environment.

mod chat_server;
mod client;
mod dev_client;
pub mod dev_server;
mod environment;
pub mod script_cases;
mod soak;

pub use chat_server::{Asked, ChatServer};
pub use client::{Answer, Client, ClientOptions, Opening};
pub use dev_client::{DevServer, Events};
pub use environment::{Environment, Finished, executable};
pub use soak::{SoakOptions, SoakOutcome, soak};
