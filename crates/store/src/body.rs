//! Long texts as they are stored: as they are, compressed, or sealed.

use std::cell::RefCell;

use rusqlite::Connection;
use serde_json::Value;

use crate::database::{Fault, Outcome};

/// Bytes from which on a text is compressed.
const COMPRESSED_FROM: usize = 1_024;
/// A stored text may not grow beyond this when it is read, whatever the file says: 512 MiB.
const LARGEST: usize = 512 * 1024 * 1024;

const PLAIN: i64 = 0;
const ZSTD: i64 = 1;
const SEALED: i64 = 2;

/// Encrypts what must be kept for resuming but never lie readable in the database.
pub trait Sealer: Send + Sync {
    /// Returns `plain` sealed.
    fn seal(&self, plain: &[u8]) -> Vec<u8>;
    /// Returns what was sealed, or `None` when it was not sealed with this key or was changed.
    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>>;
}

/// A text in its stored form.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) encoding: i64,
    pub(crate) data: Vec<u8>,
}

impl Stored {
    pub(crate) fn len(&self) -> i64 {
        i64::try_from(self.data.len()).unwrap_or(i64::MAX)
    }

    /// Encodes bytes, compressed when that is worth it.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        if bytes.len() > COMPRESSED_FROM
            && let Some(packed) = compress(bytes)
            && packed.len() < bytes.len()
        {
            return Self { encoding: ZSTD, data: packed };
        }
        Self { encoding: PLAIN, data: bytes.to_vec() }
    }

    /// Encodes bytes that nobody may read in the file.
    pub(crate) fn sealed(bytes: &[u8], sealer: &dyn Sealer) -> Self {
        let Self { encoding, data } = Self::new(bytes);
        Self { encoding: encoding | SEALED, data: sealer.seal(&data) }
    }
}

/// Tells whether a stored text is sealed.
pub(crate) fn is_sealed(encoding: i64) -> bool {
    encoding & SEALED != 0
}

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Four bytes of length, little-endian, and a zstd frame.
fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length as usize <= LARGEST)?;
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(zstd::bulk::Compressor::new(1).ok()?),
        };
        let frame = compressor.compress(bytes).ok()?;
        let mut packed = Vec::with_capacity(frame.len() + 4);
        packed.extend_from_slice(&length.to_le_bytes());
        packed.extend_from_slice(&frame);
        Some(packed)
    })
}

fn decompress(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, frame) = packed.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > LARGEST {
        return None;
    }
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        // The capacity is a limit as well: a frame that holds more is an error.
        decompressor.decompress(frame, length).ok().filter(|bytes| bytes.len() == length)
    })
}

/// Decodes a stored text. `what` names it in the error.
pub(crate) fn decode(encoding: i64, data: Vec<u8>, sealer: Option<&dyn Sealer>, what: &str) -> Outcome<Vec<u8>> {
    let data = if is_sealed(encoding) {
        sealer
            .and_then(|sealer| sealer.open(&data))
            .ok_or_else(|| Fault::Damaged(format!("{what} is sealed with another key")))?
    } else {
        data
    };
    match encoding & !SEALED {
        PLAIN => Ok(data),
        ZSTD => decompress(&data).ok_or_else(|| Fault::Damaged(format!("{what} cannot be decompressed"))),
        other => Err(Fault::Damaged(format!("{what} has the unknown encoding {other}"))),
    }
}

/// Decodes a stored text.
pub(crate) fn decode_text(encoding: i64, data: Vec<u8>, sealer: Option<&dyn Sealer>, what: &str) -> Outcome<String> {
    String::from_utf8(decode(encoding, data, sealer, what)?).map_err(|_| Fault::Damaged(format!("{what} is no text")))
}

/// Reads JSON from the database. `what` names it in the error.
pub(crate) fn json(text: &str, what: &str) -> Outcome<Value> {
    parse(text, what)
}

/// Reads JSON of a known shape from the database.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Outcome<T> {
    serde_json::from_str(text).map_err(|error| Fault::Damaged(format!("{what}: {error}")))
}

/// Writes a body of a run, in place of an older one of that kind. Returns by how many bytes the run grew.
pub(crate) fn put(connection: &Connection, run: i64, kind: &str, body: &Stored) -> Outcome<i64> {
    let before: i64 = connection
        .prepare_cached("SELECT coalesce((SELECT length(data) FROM bodies WHERE run = ?1 AND kind = ?2), 0)")?
        .query_row((run, kind), |row| row.get(0))?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO bodies (run, kind, encoding, data) VALUES (?1, ?2, ?3, ?4)")?
        .execute((run, kind, body.encoding, &body.data))?;
    Ok(body.len() - before)
}

/// Deletes a body of a run. Returns its size.
pub(crate) fn delete(connection: &Connection, run: i64, kind: &str) -> Outcome<i64> {
    use rusqlite::OptionalExtension as _;
    Ok(connection
        .prepare_cached("DELETE FROM bodies WHERE run = ?1 AND kind = ?2 RETURNING length(data)")?
        .query_row((run, kind), |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

/// Reads a body of a run.
pub(crate) fn get(
    connection: &Connection,
    run: i64,
    kind: &str,
    sealer: Option<&dyn Sealer>,
) -> Outcome<Option<String>> {
    use rusqlite::OptionalExtension as _;
    let stored: Option<(i64, Vec<u8>)> = connection
        .prepare_cached("SELECT encoding, data FROM bodies WHERE run = ?1 AND kind = ?2")?
        .query_row((run, kind), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    stored.map(|(encoding, data)| decode_text(encoding, data, sealer, kind)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flip;

    impl Sealer for Flip {
        fn seal(&self, plain: &[u8]) -> Vec<u8> {
            plain.iter().map(|byte| byte ^ 0xff).collect()
        }

        fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
            Some(self.seal(sealed))
        }
    }

    #[test]
    fn short_texts_stay_and_long_ones_shrink() {
        let short = Stored::new(b"short");
        assert_eq!((short.encoding, short.data.as_slice()), (PLAIN, b"short".as_slice()));
        let text = "a line of a log\n".repeat(1_000);
        let long = Stored::new(text.as_bytes());
        assert!(long.encoding == ZSTD && long.data.len() < 200, "{}", long.data.len());
        assert_eq!(decode_text(ZSTD, long.data, None, "log").ok(), Some(text));
    }

    #[test]
    fn sealed_texts_need_the_key() {
        let text = "x".repeat(5_000);
        let stored = Stored::sealed(text.as_bytes(), &Flip);
        assert!(decode(stored.encoding, stored.data.clone(), None, "input").is_err());
        assert_eq!(decode_text(stored.encoding, stored.data, Some(&Flip), "input").ok(), Some(text));
    }

    #[test]
    fn a_damaged_or_exploding_body_is_an_error() {
        let packed = Stored::new(&[7; 100_000]).data;
        let mut lies = packed.clone();
        lies[..4].copy_from_slice(&10_u32.to_le_bytes());
        let mut huge = packed.clone();
        huge[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        for data in [Vec::new(), vec![1, 2], lies, huge, packed[..packed.len() - 3].to_vec()] {
            assert!(matches!(decode(ZSTD, data, None, "output"), Err(Fault::Damaged(_))));
        }
        assert!(matches!(decode(9, packed, None, "output"), Err(Fault::Damaged(_))));
    }
}
