//! New ids, never twice, whoever else is creating at the same time.

use serde_json::json;

use crate::board::Board;
use crate::error::{BoardError, Result};
use crate::{files, locks, paths};

/// One family's ids.
pub(crate) struct Ids<'a> {
    pub(crate) prefix: &'a str,
    /// Folders whose file names are looked at.
    pub(crate) folders: &'a [&'a str],
    /// How many numbers are tried.
    pub(crate) tries: u32,
    /// What to say when none was free.
    pub(crate) failed: &'static str,
}

/// An id nobody else will take while this lives.
pub(crate) struct Reserved {
    pub(crate) id: String,
    _lock: locks::Lock,
}

impl Board {
    /// Reserves the next id. The reservation guards the id itself, not a path: two titles never collide.
    pub(crate) fn reserve(&self, ids: &Ids<'_>) -> Result<Reserved> {
        let workspace = self.workspace();
        workspace.writable()?;
        let index = self.index();
        // A file may declare another id than its name begins with; that one is taken as well.
        let free = |mut number: u64| {
            while index.get(&format!("{}-{number:04}", ids.prefix)).is_some() {
                number += 1;
            }
            number
        };
        let mut number = free(self.highest(ids) + 1);
        for _ in 0..ids.tries {
            let id = format!("{}-{number:04}", ids.prefix);
            let path = workspace.at(&format!("{}/locks/ids/{id}.lock", self.config().cache));
            match locks::try_take(&path, "ids", &id)? {
                None => number = free(number + 1),
                Some(lock) => {
                    // Whoever held it before may have written its file since we looked.
                    let highest = self.highest(ids);
                    if highest < number {
                        return Ok(Reserved { id, _lock: lock });
                    }
                    number = free(highest + 1);
                }
            }
        }
        Err(BoardError::new(ids.failed, format!("no free id was found for `{}`", ids.prefix))
            .with(json!({ "prefix": ids.prefix })))
    }

    fn highest(&self, ids: &Ids<'_>) -> u64 {
        let mut highest = 0;
        for folder in ids.folders {
            files::walk(self.root(), folder, &[], 0, &mut |path| {
                let number = number_of(paths::name(path), ids.prefix).unwrap_or(0);
                highest = highest.max(number);
            });
        }
        highest
    }
}

/// The number in a file name that begins with an id.
pub(crate) fn number_of(name: &str, prefix: &str) -> Option<u64> {
    let rest = name.strip_prefix(prefix)?.strip_prefix('-')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits < 4 || rest[digits..].starts_with(|one: char| one.is_alphanumeric()) {
        return None;
    }
    rest[..digits].parse().ok().filter(|number| *number < u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_names() {
        assert_eq!(number_of("T-0012-nested.md", "T"), Some(12));
        assert_eq!(number_of("T-10000.md", "T"), Some(10_000));
        assert_eq!(number_of("T-001.md", "T"), None);
        assert_eq!(number_of("TT-0001.md", "T"), None);
        assert_eq!(number_of("T-0001x.md", "T"), None);
        assert_eq!(number_of("T-99999999999999999999.md", "T"), None);
    }
}
