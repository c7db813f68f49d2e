//! Files of which nothing is known: who reads one may find a pipe, a device, a link or a huge file under the name, and
//! who writes one may be stopped in the middle.
//!
//! [`mod@read`] opens and reads, [`inside`] keeps to a folder wherever links lead, [`mod@write`] replaces whole files and makes folders that their owner alone can look into. What a file
//! means, and which folders it may lie in, is for the callers.

pub mod inside;
pub mod read;
pub mod write;

pub use inside::{SafePathError, open_inside, read_inside, resolve_inside};
pub use read::{ReadError, open_following, open_regular, read_bounded, read_text};
pub use write::{private_folder, replace, replace_unsynced, sync_folder};
