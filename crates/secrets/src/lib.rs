//! Secrets: a type that cannot be printed, the stores they live in, the installation's key, and connections.
//!
//! Here: [`Secret`]; [`SecretStore`] with [`KeyringStore`], [`FileStore`] and [`MemoryStore`]; the saved login
//! ([`SavedLogin`], [`login()`], [`logout`]); which server and key hold ([`resolve`]); [`InstallationKey`] for seals,
//! encryption and keyed hashes.
//!
//! Not here: masking of secrets in what is recorded (the store's door does that), asking a person for a key, HTTP, and
//! names of environment variables: their values come in as arguments.

mod connection;
mod error;
mod file_store;
mod files;
mod installation;
mod keyring_store;
mod login;
mod memory_store;
mod secret;
mod server;
mod store;

pub use connection::{Connection, Given, KeyPlace, Resolution, Resolved, Source, Sources, resolve};
pub use error::{Error, SealError};
pub use file_store::FileStore;
pub use installation::InstallationKey;
pub use keyring_store::{KeyringStore, keyring_service};
pub use login::{AUTH_FILE, LoginStore, SavedKey, SavedLogin, login, logout, saved_login};
pub use memory_store::MemoryStore;
pub use secret::Secret;
pub use server::{ServerUrl, ServerUrlError};
pub use store::{KEY_BYTES, SecretStore, StoreKind};

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
