//! What end-to-end tests share: a home of their own, the real executable, a protocol client, a census of processes.
//!
//! Nothing here touches the user's home, the network or the test process's environment.

mod board_soak;
mod chat_server;
mod client;
mod desktop;
mod dev_client;
pub mod dev_server;
mod environment;
mod http_client;
pub mod script_cases;
mod soak;
#[expect(clippy::panic, clippy::unwrap_used, reason = "all of it is assertions")]
mod webdriver;

pub use board_soak::{BoardSoakOptions, BoardSoakOutcome, board_soak};
pub use chat_server::{Asked, ChatServer};
pub use client::{Answer, Client, ClientOptions, Opening};
pub use desktop::{Desktop, Part, desktop_executable};
pub use dev_client::{DevServer, Events};
pub use environment::{Environment, Finished, executable};
pub use http_client::{HttpServer, Response, Stream};
pub use soak::{SoakOptions, SoakOutcome, soak};
pub use webdriver::{Element, Session, wait_until};
