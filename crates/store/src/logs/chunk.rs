//! Some entries of a log as bytes: for each its stream, the time since the one before, its length, its text.

use model::TimestampMs;

use crate::body::{Stored, decode};
use crate::database::{Fault, Outcome};
use crate::logs::{CHUNK, LogEntry, LogStream};
use crate::runs::searchable;

/// Some entries in their stored form.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) count: i64,
    pub(super) bytes: i64,
    pub(super) streams: i64,
    pub(super) stored: Stored,
    pub(super) text: String,
}

pub(super) fn chunks(entries: &[(LogStream, TimestampMs, String)]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    let mut bytes = 0;
    for (index, (_, _, text)) in entries.iter().enumerate() {
        if bytes > 0 && bytes + text.len() > CHUNK {
            chunks.push(chunk(entries.get(begin..index).unwrap_or_default()));
            begin = index;
            bytes = 0;
        }
        bytes += text.len();
    }
    chunks.push(chunk(entries.get(begin..).unwrap_or_default()));
    chunks
}

fn chunk(entries: &[(LogStream, TimestampMs, String)]) -> Chunk {
    let mut data = Vec::new();
    let (mut streams, mut before, mut bytes) = (0, 0, 0);
    let mut texts = [String::new(), String::new()];
    for (stream, at, text) in entries {
        streams |= stream.bit();
        bytes += text.len();
        data.push(u8::try_from(stream.bit()).unwrap_or(0));
        // Zigzag: a clock may jump back.
        let step = at.wrapping_sub(before);
        number(&mut data, ((step << 1) ^ (step >> 63)).cast_unsigned());
        number(&mut data, text.len() as u64);
        data.extend_from_slice(text.as_bytes());
        before = *at;
        // Words are looked for in each stream, since pieces of two streams may alternate within one.
        let [stdout, stderr] = &mut texts;
        match stream {
            LogStream::Stdout => stdout.push_str(text),
            LogStream::Stderr => stderr.push_str(text),
        }
    }
    let [stdout, stderr] = &texts;
    Chunk {
        count: i64::try_from(entries.len()).unwrap_or(i64::MAX),
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        streams,
        stored: Stored::new(&data),
        text: searchable(&[stdout, stderr]),
    }
}

/// Appends a number, seven bits a byte, the low ones first.
fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads entries back. Every length is checked against what is there.
struct Reader<'a> {
    rest: &'a [u8],
    at: TimestampMs,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn entry(&mut self) -> Option<(LogStream, TimestampMs, String)> {
        let (stream, rest) = self.rest.split_first()?;
        self.rest = rest;
        let stream = match stream {
            1 => LogStream::Stdout,
            2 => LogStream::Stderr,
            _ => return None,
        };
        let zigzag = self.number()?;
        let step = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        self.at = self.at.wrapping_add(step);
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some((stream, self.at, String::from_utf8(text.to_vec()).ok()?))
    }
}

/// Decodes a chunk and hands each entry with its position to `each`, until that returns false.
pub(super) fn entries(first: i64, encoding: i64, data: Vec<u8>, mut each: impl FnMut(LogEntry) -> bool) -> Outcome<()> {
    let data = decode(encoding, data, None, "a log")?;
    let mut reader = Reader { rest: &data, at: 0 };
    let mut position = u64::try_from(first).unwrap_or(0);
    while !reader.rest.is_empty() {
        let (stream, at, text) = reader.entry().ok_or_else(|| Fault::Damaged("a log has a broken chunk".into()))?;
        if !each(LogEntry { position, stream, at, text }) {
            break;
        }
        position += 1;
    }
    Ok(())
}
