//! The index on disk: what every process of a workspace has read, so that no other has to read it again.
//!
//! One file, `index/records.bin` in the workspace's cache: a head, then frames, each of one file's record as it was at one
//! stamp. The last frame of a file counts. Frames are only ever appended, under a lock, and have check sums: what a killed
//! process left half written is cut off by the next writer, and nobody reads past it. When most frames are old, a new file
//! takes the old one's place; whoever reads the old one sees that and begins anew.
//!
//! Nothing here is relied on. A frame is used only when the file it is of still has the stamp it was read at; a file of
//! another format, another configuration, or one that cannot be read or written counts as none.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{IdSource as _, SystemIds};
use siphasher::sip::SipHasher13;

use crate::config::Config;
use crate::files::{self, Stamp};
use crate::header::{Bytes, write_text};
use crate::record::{Kind, Record, Unreadable, Whole};
use crate::terms;

/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"WFCBOARD";
/// Another number is another format, or something that is read out of files in another way.
const FORMAT: u32 = 2;
/// Magic, format, nothing, what it is made for, generation.
const HEAD: u64 = 32;
/// Two lengths and two check sums.
const FRAME_HEAD: u64 = 16;
/// A frame's flags and stamp, after which its path stands.
const BEFORE_PATH: usize = 1 + 32;
/// The largest part of a frame that is believed.
const MAX_PART: u32 = 64 * 1024 * 1024;
/// How long a writer waits for another before it writes nothing.
const WAIT: Duration = Duration::from_millis(50);
/// Frames beyond twice what is needed before the file is made anew.
const SPARE: usize = 500;

/// What was read of a file.
pub(crate) type Found = Result<Arc<Record>, Unreadable>;

/// A frame's place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    start: u64,
    record: u32,
    terms: u32,
}

impl Frame {
    fn length(self) -> u64 {
        FRAME_HEAD + u64::from(self.record) + u64::from(self.terms)
    }
}

/// What a frame says.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) stamp: Stamp,
    /// Whether the stamp tells every later change.
    pub(crate) sure: bool,
    pub(crate) found: Found,
    pub(crate) frame: Frame,
}

/// The index file of a workspace, as far as it was read.
#[derive(Debug)]
pub(crate) struct Shelf {
    path: PathBuf,
    /// What the frames are made for: another configuration reads files in another way.
    purpose: u64,
    open: Option<Open>,
    /// Whether this process writes.
    writes: bool,
}

#[derive(Debug)]
struct Open {
    file: File,
    inode: u64,
    /// Where the next frame is expected.
    end: u64,
    frames: usize,
}

fn purpose(config: &Config) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.write(format!("{config:?}").as_bytes());
    hasher.finish()
}

/// Frames that are to be appended: one text of bytes, since there may be very many.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    lengths: Vec<(u32, u32)>,
}

impl Batch {
    /// Adds what was read of a file.
    pub(crate) fn add(&mut self, path: &str, stamp: Stamp, sure: bool, found: &Result<Whole, Unreadable>) {
        let bytes = &mut self.bytes;
        let head = bytes.len();
        bytes.extend_from_slice(&[0; FRAME_HEAD as usize]);
        let start = bytes.len();
        bytes.push(u8::from(sure) | u8::from(found.is_err()) << 1);
        for number in [stamp.modified_ns.cast_unsigned(), stamp.changed_ns.cast_unsigned(), stamp.size, stamp.inode] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        write_text(bytes, path);
        match found {
            Ok(whole) => whole.write(bytes),
            Err(bad) => {
                bytes.push(bad.kind.number());
                bytes.push(u8::from(bad.archived));
                write_text(bytes, &bad.reason);
            }
        }
        let middle = bytes.len();
        if let Ok(whole) = found {
            terms::write(&terms::of(whole), bytes);
        }
        let length = |from: usize, to: usize| u32::try_from(to - from).unwrap_or(u32::MAX);
        let lengths = (length(start, middle), length(middle, bytes.len()));
        let (record, words) = (lengths.0.to_le_bytes(), lengths.1.to_le_bytes());
        let first = [record, words].concat();
        let sums = [sum(&first, &bytes[start..middle]), crc32fast::hash(&bytes[middle..])];
        bytes[head..head + 8].copy_from_slice(&first);
        bytes[head + 8..head + 12].copy_from_slice(&sums[0].to_le_bytes());
        bytes[head + 12..head + 16].copy_from_slice(&sums[1].to_le_bytes());
        self.lengths.push(lengths);
    }

    /// Adds another one's frames after the own.
    pub(crate) fn append(&mut self, mut other: Self) {
        if self.bytes.is_empty() {
            *self = other;
        } else {
            self.bytes.append(&mut other.bytes);
            self.lengths.append(&mut other.lengths);
        }
    }

    /// Where the frames are when they begin at `start`.
    fn frames(&self, mut start: u64) -> Vec<Frame> {
        let place = |(record, terms): &(u32, u32)| {
            let frame = Frame { start, record: *record, terms: *terms };
            start += frame.length();
            frame
        };
        self.lengths.iter().map(place).collect()
    }
}

/// The check sum of a frame's lengths and record.
fn sum(lengths: &[u8], record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(lengths);
    hasher.update(record);
    hasher.finalize()
}

/// Reads the record's part of a frame.
fn read_record(bytes: &[u8]) -> Option<(String, Stamp, bool, Found)> {
    let mut bytes = Bytes(bytes);
    let flags = bytes.byte()?;
    let mut long = || bytes.long();
    let stamp =
        Stamp { modified_ns: long()?.cast_signed(), changed_ns: long()?.cast_signed(), size: long()?, inode: long()? };
    let path = bytes.text()?.to_owned();
    let found = if flags & 2 == 0 {
        Ok(Arc::new(Record::read(&mut bytes, stamp)?))
    } else {
        let kind = Kind::of(bytes.byte()?)?;
        let archived = bytes.byte()? != 0;
        Err(Unreadable { kind, path: path.clone(), archived, reason: bytes.text()?.to_owned() })
    };
    (bytes.0.is_empty() && found.as_ref().map_or_else(|bad| &bad.path, |record| &record.path) == &path).then_some((
        path,
        stamp,
        flags & 1 != 0,
        found,
    ))
}

/// The head of a frame: lengths, and the two check sums.
fn read_frame_head(bytes: [u8; 16]) -> Option<([u8; 8], u32, u32, u32, u32)> {
    let mut head = Bytes(&bytes);
    let lengths = head.0.first_chunk::<8>().copied()?;
    let (record, terms, record_sum, terms_sum) = (head.number()?, head.number()?, head.number()?, head.number()?);
    (record <= MAX_PART && terms <= MAX_PART).then_some((lengths, record, terms, record_sum, terms_sum))
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

impl Shelf {
    /// The shelf of a workspace; with `writes` false, others' is read and nothing is written.
    pub(crate) fn new(root: &Path, config: &Config, writes: bool) -> Self {
        let path = root.join(&config.cache).join("index").join("records.bin");
        Self { path, purpose: purpose(config), open: None, writes }
    }

    /// Whether what is read is worth writing as frames.
    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Reads what was added since the last time, by file. `true`: another file is in the old one's place, and no frame of
    /// before counts any more.
    pub(crate) fn news(&mut self) -> (bool, HashMap<String, News>) {
        let mut news = HashMap::new();
        let now = fs::metadata(&self.path).ok();
        let same = match (&self.open, &now) {
            (Some(open), Some(now)) => open.inode == inode(now) && now.len() >= open.end,
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.open = now.and_then(|_| self.opened().ok().flatten());
        }
        let grown = |open: &Open| open.file.metadata().is_ok_and(|meta| meta.len() > open.end);
        if self.open.as_ref().is_some_and(grown) {
            self.read_on(&mut news);
        }
        (!same, news)
    }

    /// Opens the file, when it is one of ours.
    fn opened(&self) -> io::Result<Option<Open>> {
        let mut file = File::open(&self.path)?;
        let mut head = [0; HEAD as usize];
        let inode = inode(&file.metadata()?);
        let read = file.read_exact(&mut head).is_ok();
        let ours = read && head[..24] == self.head(0)[..24];
        Ok(ours.then_some(Open { file, inode, end: HEAD, frames: 0 }))
    }

    fn head(&self, generation: u64) -> [u8; HEAD as usize] {
        let mut head = [0; HEAD as usize];
        head[..8].copy_from_slice(MAGIC);
        head[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        head[16..24].copy_from_slice(&self.purpose.to_le_bytes());
        head[24..].copy_from_slice(&generation.to_le_bytes());
        head
    }

    /// Reads frames until the end, or until one that is not whole.
    fn read_on(&mut self, news: &mut HashMap<String, News>) {
        let Some(open) = &mut self.open else { return };
        let Ok(length) = open.file.metadata().map(|meta| meta.len()) else { return };
        if open.file.seek(SeekFrom::Start(open.end)).is_err() {
            return;
        }
        let mut input = BufReader::with_capacity(256 * 1024, &open.file);
        let mut record = Vec::new();
        loop {
            let mut head = [0; FRAME_HEAD as usize];
            if input.read_exact(&mut head).is_err() {
                return;
            }
            let Some((lengths, record_length, terms, record_sum, _)) = read_frame_head(head) else { return };
            let frame = Frame { start: open.end, record: record_length, terms };
            if open.end + frame.length() > length {
                return;
            }
            record.resize(record_length as usize, 0);
            if input.read_exact(&mut record).is_err()
                || sum(&lengths, &record) != record_sum
                || input.seek_relative(i64::from(terms)).is_err()
            {
                return;
            }
            let Some((path, stamp, sure, found)) = read_record(&record) else { return };
            open.end += frame.length();
            open.frames += 1;
            news.insert(path, News { stamp, sure, found, frame });
        }
    }

    /// Reads the terms of a file's frame.
    pub(crate) fn terms(&self, frame: Frame, path: &str) -> Option<Vec<u64>> {
        let bytes = self.bytes(frame)?;
        let (_, record, _, _, terms_sum) = read_frame_head(*bytes.first_chunk::<16>()?)?;
        // Another file may be in the place of the one that the frame was in.
        let mut said = Bytes(bytes.get(16 + BEFORE_PATH..)?);
        if said.text()? != path {
            return None;
        }
        let words = bytes.get(16 + record as usize..)?;
        (crc32fast::hash(words) == terms_sum).then(|| terms::read(words).collect())
    }

    fn bytes(&self, frame: Frame) -> Option<Vec<u8>> {
        let mut file = &self.open.as_ref()?.file;
        let mut bytes = vec![0; usize::try_from(frame.length()).ok()?];
        file.seek(SeekFrom::Start(frame.start)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Appends frames, and says where each is; `None` when nothing was written. What other processes appended meanwhile
    /// goes to `others`.
    pub(crate) fn append(&mut self, batch: &Batch, others: &mut HashMap<String, News>) -> Option<Vec<Frame>> {
        if !self.writes || batch.lengths.is_empty() {
            return None;
        }
        if fs::create_dir_all(self.path.parent()?).is_err() {
            // A folder that cannot be written to; everything works without.
            self.writes = false;
            return None;
        }
        let _lock = self.lock()?;
        let written = self.append_locked(batch, others);
        if written.is_none() {
            // Whatever it was (a full disk, another file in its place), the next look finds out what is there.
            self.open = None;
        }
        written
    }

    fn append_locked(&mut self, batch: &Batch, others: &mut HashMap<String, News>) -> Option<Vec<Frame>> {
        if self.open.is_none() {
            // Somebody else may have made it a moment ago.
            self.open = self.opened().ok().flatten();
        }
        if self.open.is_none() {
            self.replace(&[])?;
        }
        let mut file = File::options().write(true).open(&self.path).ok()?;
        let meta = file.metadata().ok()?;
        if self.open.as_ref().is_none_or(|open| open.inode != inode(&meta)) {
            return None;
        }
        self.read_on(others);
        let open = self.open.as_mut()?;
        if meta.len() > open.end {
            // Somebody was killed while writing; under the lock nobody is writing now.
            file.set_len(open.end).ok()?;
        }
        file.seek(SeekFrom::Start(open.end)).ok()?;
        file.write_all(&batch.bytes).ok()?;
        let frames = batch.frames(open.end);
        open.end += batch.bytes.len() as u64;
        open.frames += frames.len();
        Some(frames)
    }

    /// Whether most of the file is old, when `needed` frames are not.
    pub(crate) fn is_mostly_old(&self, needed: usize) -> bool {
        self.writes && self.open.as_ref().is_some_and(|open| open.frames > needed * 2 + SPARE)
    }

    /// Makes the file anew of the frames that are needed, and says where they are then; `None` when it stays as it is.
    pub(crate) fn compact(&mut self, needed: &[Frame]) -> Option<Vec<Frame>> {
        let _lock = self.lock()?;
        let meta = fs::metadata(&self.path).ok()?;
        let open = self.open.as_ref()?;
        // What others appended or made anew is not lost for a file that is smaller.
        if open.inode != inode(&meta) || open.end != meta.len() {
            return None;
        }
        self.replace(needed)
    }

    /// Puts a new file in the place of whatever is there, with frames of the one that is open.
    fn replace(&mut self, kept: &[Frame]) -> Option<Vec<Frame>> {
        let temporary = self.path.with_file_name(format!(".{}.tmp", files::random_name()));
        let made = self.make(&temporary, kept);
        if made.is_none() {
            let _ = fs::remove_file(&temporary);
        }
        let (open, places) = made?;
        self.open = Some(open);
        Some(places)
    }

    fn make(&self, at: &Path, kept: &[Frame]) -> Option<(Open, Vec<Frame>)> {
        let file = File::options().read(true).write(true).create_new(true).open(at).ok()?;
        let mut generation = [0; 8];
        SystemIds.fill(&mut generation);
        let mut output = io::BufWriter::with_capacity(256 * 1024, &file);
        output.write_all(&self.head(u64::from_le_bytes(generation))).ok()?;
        let mut places = Vec::with_capacity(kept.len());
        let mut end = HEAD;
        for frame in kept {
            output.write_all(&self.bytes(*frame)?).ok()?;
            places.push(Frame { start: end, ..*frame });
            end += frame.length();
        }
        output.flush().ok()?;
        drop(output);
        let inode = inode(&file.metadata().ok()?);
        files::rename(at, &self.path).ok()?;
        Some((Open { file, inode, end, frames: kept.len() }, places))
    }

    /// One writer at a time. A process that is killed holds nothing any more; one that stands still is not waited for.
    fn lock(&self) -> Option<File> {
        let path = self.path.with_extension("lock");
        let file = File::options().write(true).create(true).truncate(false).open(path).ok()?;
        let started = Instant::now();
        while file.try_lock().is_err() {
            if started.elapsed() >= WAIT {
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        Some(file)
    }
}
