//! Managed files: those that a call brings along, and those that a run creates. A run sees handles only.
//!
//! A file parameter is copied before the run starts, to `<store>/<sha256>/<original name>`, read-only. The source may
//! grow, shrink or be exchanged meanwhile: what is copied is what one descriptor showed, at most the limit, and never
//! half of an old file and half of a new one. Created files lie in `<created>/<run>/<name>`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use model::{Limits, Param, ParamType, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::fault::{Fault, Faults};
use crate::file_name::{is_safe_name, numbered, safe_name};
use crate::media_type::media_type;
use disk::read::{ReadError, open_regular};

/// Files that one run may create.
pub const MOST_CREATED: usize = 10_000;
/// How often a file that is rewritten while it is copied is copied again.
const ATTEMPTS: usize = 3;
const CREATED_PREFIX: &str = "created/";

/// A managed file as a run sees it: plain JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRef {
    /// The handle: `<sha256>/<name>`, or `created/<run>/<name>`.
    pub file: String,
    /// The name it had, or was created under.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its media type, by its name.
    pub media_type: String,
}

/// Why a file is not taken, not stored, or not found.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// What came is no absolute path: relative, a URL, data itself, empty.
    #[error("must be the absolute path of a file on this machine, not {came}")]
    NotAbsolute {
        /// What came, in short.
        came: String,
    },
    /// Nothing usable is there: missing, no regular file, not readable.
    #[error("cannot be used: {}", source.sentence())]
    Unusable {
        /// The cause, which names the path.
        source: ReadError,
    },
    /// The file belongs to the system (`/proc`, `/sys`), whatever its kind says.
    #[error("cannot be used: `{path}` is a view of the system, not a file on a disk", path = path.display())]
    SystemView {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than a file parameter may be.
    #[error("is too large: `{path}` has {size} bytes, and 50 MB ({limit} bytes) is the most", path = path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size in bytes when it was looked at.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file was rewritten each time it was copied.
    #[error("changes while it is read: `{path}`; give a copy of it", path = path.display())]
    Changing {
        /// The path.
        path: PathBuf,
    },
    /// The store cannot be written.
    #[error("cannot be stored in `{path}`: {source}", path = path.display())]
    Store {
        /// The place in the store.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The handle is none, or nothing lies behind it.
    #[error("`{handle}` is no file of this store")]
    UnknownHandle {
        /// The handle, at most 200 characters of it.
        handle: String,
    },
    /// The run has created as many files as it may.
    #[error("this run has created {MOST_CREATED} files, which is the most")]
    TooManyCreated,
}

/// Both stores of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedFiles {
    imported: PathBuf,
    created: PathBuf,
}

impl ManagedFiles {
    /// Names the folders: of imported files, and of created ones. Neither is touched before it is needed.
    #[must_use]
    pub fn new(imported: PathBuf, created: PathBuf) -> Self {
        Self { imported, created }
    }

    /// Copies the file at an absolute path into the store.
    ///
    /// # Errors
    ///
    /// [`FileError`], whose text is the rest of a sentence that begins with the parameter's name.
    pub fn import(&self, path: &str) -> Result<FileRef, FileError> {
        let mut source = open_source(path)?;
        let mut attempt = 1;
        loop {
            match self.copy(&source) {
                Ok(file) => return Ok(file),
                Err(FileError::Changing { .. }) if attempt < ATTEMPTS => {
                    attempt += 1;
                    source = open_source(path)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Replaces every path among the file parameters of a checked input by the [`FileRef`] of its imported copy. A value
    /// that is a [`FileRef`] of these stores already (from the run that calls) stays.
    ///
    /// # Errors
    ///
    /// Every file that is not taken.
    pub fn import_all(&self, params: &[Param], input: &mut Map<String, Value>) -> Result<Vec<FileRef>, Faults> {
        let mut imported = Vec::new();
        let faults = for_each_file(params, input, |value| {
            let file = match known_ref(value) {
                Some(file) => {
                    self.resolve(&file.file)?;
                    file
                }
                None => self.import(value.as_str().unwrap_or_default())?,
            };
            let json = to_json(&file);
            imported.push(file);
            Ok(json)
        });
        Faults::unless_any(faults, imported)
    }

    /// Returns the input with every [`FileRef`] replaced by the path of the stored file, as programs get it.
    ///
    /// # Errors
    ///
    /// Every handle that leads to nothing.
    pub fn with_paths(&self, params: &[Param], input: &Map<String, Value>) -> Result<Map<String, Value>, Faults> {
        let mut replaced = input.clone();
        let faults = for_each_file(params, &mut replaced, |value| {
            let Some(file) = known_ref(value) else { return Ok(value.clone()) };
            let path = self.resolve(&file.file)?;
            match path.to_str() {
                Some(path) => Ok(path.into()),
                None => Err(FileError::UnknownHandle { handle: file.file }),
            }
        });
        Faults::unless_any(faults, replaced)
    }

    /// Returns the path behind a handle: always a regular file inside the stores.
    ///
    /// # Errors
    ///
    /// [`FileError::UnknownHandle`] for anything else, whatever it tries to name.
    pub fn resolve(&self, handle: &str) -> Result<PathBuf, FileError> {
        let unknown = || FileError::UnknownHandle { handle: crate::words::clean(handle).chars().take(200).collect() };
        let parts: Vec<&str> = handle.split('/').collect();
        let path = match parts.as_slice() {
            [digest, name] if is_digest(digest) && is_safe_name(name) => self.imported.join(digest).join(name),
            ["created", run, name] if run.parse::<RunId>().is_ok() && is_safe_name(name) => {
                self.created.join(run).join(name)
            }
            _ => return Err(unknown()),
        };
        // No link is followed: neither the file nor its folder may be one.
        let folder = path.parent().ok_or_else(unknown)?;
        let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if is_folder && is_file { Ok(path) } else { Err(unknown()) }
    }

    /// Opens the file behind a handle for reading, with its size.
    ///
    /// # Errors
    ///
    /// As [`ManagedFiles::resolve`], or when it cannot be read.
    pub fn open(&self, handle: &str) -> Result<(File, u64), FileError> {
        let path = self.resolve(handle)?;
        let (file, metadata) = open_regular(&path).map_err(|source| FileError::Unusable { source })?;
        Ok((file, metadata.len()))
    }

    /// Reads the whole file behind a handle.
    ///
    /// # Errors
    ///
    /// As [`ManagedFiles::open`].
    pub fn read(&self, handle: &str) -> Result<Vec<u8>, FileError> {
        let path = self.resolve(handle)?;
        let (file, _) = open_regular(&path).map_err(|source| FileError::Unusable { source })?;
        disk::read::read_open(file, &path, Limits::FILE_BYTES).map_err(|source| FileError::Unusable { source })
    }

    /// Tells about the file behind a handle.
    ///
    /// # Errors
    ///
    /// As [`ManagedFiles::resolve`].
    pub fn info(&self, handle: &str) -> Result<FileRef, FileError> {
        let path = self.resolve(handle)?;
        let size = std::fs::symlink_metadata(&path).map_err(|source| FileError::Store { path, source })?.len();
        let name = handle.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(FileRef { file: handle.to_owned(), media_type: media_type(&name).into(), name, size })
    }

    /// Stores a file that a run creates. The same name with the same bytes is the same file; with other bytes the name
    /// gets a number, since a handle that was given away must keep meaning what it meant.
    ///
    /// # Errors
    ///
    /// Bytes over the limit, too many files, a store that cannot be written.
    pub fn create(&self, run: &RunId, name: &str, bytes: &[u8]) -> Result<FileRef, FileError> {
        let folder = self.created.join(run.as_str());
        let size = bytes.len() as u64;
        let wanted = safe_name(name);
        if size > Limits::FILE_BYTES {
            return Err(FileError::TooLarge { path: folder.join(wanted), size, limit: Limits::FILE_BYTES });
        }
        let failed = |source| FileError::Store { path: folder.clone(), source };
        disk::private_folder(&folder).map_err(failed)?;
        let mut temporary = temporary_file(&folder).map_err(failed)?;
        temporary.write_all(bytes).map_err(failed)?;
        finish(temporary.as_file()).map_err(failed)?;
        let mut candidate = wanted.clone();
        for number in 2..=MOST_CREATED + 1 {
            let path = folder.join(&candidate);
            match temporary.persist_noclobber(&path) {
                Ok(_) => {}
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    temporary = error.file;
                    let same = disk::read::read_bounded(&path, size).is_ok_and(|known| known == bytes);
                    if !same {
                        candidate = numbered(&wanted, number);
                        continue;
                    }
                }
                Err(error) => return Err(FileError::Store { path, source: error.error }),
            }
            return Ok(FileRef {
                file: format!("{CREATED_PREFIX}{run}/{candidate}"),
                media_type: media_type(&candidate).into(),
                name: candidate,
                size,
            });
        }
        Err(FileError::TooManyCreated)
    }

    /// Lists the files that a run has created, by name.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read; one that is not there has no files.
    pub fn list_created(&self, run: &RunId) -> Result<Vec<FileRef>, FileError> {
        let folder = self.created.join(run.as_str());
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(FileError::Store { path: folder, source }),
        };
        let mut names: Vec<String> = entries
            .take(MOST_CREATED * 2)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with(TEMPORARY_PREFIX) && is_safe_name(name))
            .collect();
        names.sort();
        Ok(names.iter().filter_map(|name| self.info(&format!("{CREATED_PREFIX}{run}/{name}")).ok()).collect())
    }

    fn copy(&self, source: &Source) -> Result<FileRef, FileError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| FileError::Store { path, source }
        };
        disk::private_folder(&self.imported).map_err(failed(&self.imported))?;
        let mut temporary = temporary_file(&self.imported).map_err(failed(&self.imported))?;
        let digest = source.copy_to(temporary.as_file_mut(), &self.imported)?;
        let folder = self.imported.join(&digest);
        let target = folder.join(&source.name);
        // The same bytes under the same name are there already more often than not, unless a crash or a hand left
        // something else in their place.
        let known = std::fs::symlink_metadata(&target).is_ok_and(|known| known.is_file() && known.len() == source.size);
        if !known {
            finish(temporary.as_file()).map_err(failed(&self.imported))?;
            disk::private_folder(&folder).map_err(failed(&folder))?;
            temporary.persist(&target).map_err(|error| FileError::Store { path: target, source: error.error })?;
        }
        Ok(FileRef {
            file: format!("{digest}/{}", source.name),
            name: source.name.clone(),
            size: source.size,
            media_type: media_type(&source.name).into(),
        })
    }
}

/// Looks at every file among a checked input's file parameters without importing any, so that faults of files are named
/// together with all others.
#[must_use]
pub fn probe_all(params: &[Param], input: &Value) -> Vec<Fault> {
    let Some(members) = input.as_object() else { return Vec::new() };
    let mut members = members.clone();
    for_each_file(params, &mut members, |value| {
        if let Some(path) = value.as_str().filter(|path| !path.is_empty()) {
            open_source(path)?;
        }
        Ok(value.clone())
    })
}

const TEMPORARY_PREFIX: &str = ".incoming-";

struct Source {
    path: PathBuf,
    name: String,
    size: u64,
    file: File,
}

fn open_source(written: &str) -> Result<Source, FileError> {
    let path = Path::new(written);
    if !path.is_absolute() || written.contains('\0') {
        let came = crate::json::short(&Value::from(written));
        let came = match written.split_once(':') {
            // A scheme, but not a drive letter.
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("data") => "the data itself".into(),
            Some((scheme, rest)) if scheme.len() > 1 && rest.starts_with("//") => format!("the URL {came}"),
            Some(_) | None if written.is_empty() => "an empty text".into(),
            Some(_) | None if written.contains('\0') => format!("{came}, which has a NUL character"),
            Some(_) | None => format!("the relative path {came}"),
        };
        return Err(FileError::NotAbsolute { came });
    }
    let unusable = |source: ReadError| FileError::Unusable { source };
    let resolved = path.canonicalize().map_err(|source| unusable(ReadError::io(path, source)))?;
    let (file, metadata) = open_regular(&resolved).map_err(unusable)?;
    if is_system_view(&file) {
        return Err(FileError::SystemView { path: resolved });
    }
    if metadata.len() > Limits::FILE_BYTES {
        return Err(FileError::TooLarge { path: resolved, size: metadata.len(), limit: Limits::FILE_BYTES });
    }
    // The name that was given, not the one a link leads to: that is the name its owner knows.
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    Ok(Source { name: safe_name(&name), path: resolved, size: metadata.len(), file })
}

/// `/proc` and `/sys` show regular files that block, lie about their size, and tell of other processes.
#[cfg(target_os = "linux")]
fn is_system_view(file: &File) -> bool {
    const PROC: u64 = 0x9fa0;
    const SYSFS: u64 = 0x6265_6572;
    // The field's type differs between platforms; what does not convert is none of the two.
    rustix::fs::fstatfs(file).is_ok_and(|system| matches!(u64::try_from(system.f_type), Ok(PROC | SYSFS)))
}

#[cfg(not(target_os = "linux"))]
fn is_system_view(_file: &File) -> bool {
    false
}

impl Source {
    /// Copies what the file had when it was opened and returns the SHA-256 of it in hexadecimal. Growth behind that is
    /// left out; a file that shrank or was rewritten in place is refused.
    fn copy_to(&self, target: &mut File, store: &Path) -> Result<String, FileError> {
        let unusable = |source| FileError::Unusable { source: ReadError::io(&self.path, source) };
        let changing = || FileError::Changing { path: self.path.clone() };
        let before = self.file.metadata().map_err(unusable)?;
        if before.len() < self.size {
            return Err(changing());
        }
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut left = self.size;
        let mut reader = (&self.file).take(self.size);
        while left > 0 {
            let read = match reader.read(&mut buffer) {
                Ok(0) => return Err(changing()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unusable(error)),
            };
            hasher.update(&buffer[..read]);
            target.write_all(&buffer[..read]).map_err(|source| FileError::Store { path: store.to_owned(), source })?;
            left = left.saturating_sub(read as u64);
        }
        let after = self.file.metadata().map_err(unusable)?;
        // Longer than before: something was appended, and the beginning is what it was. The same length at another
        // time: rewritten in place. Shorter: cut.
        let rewritten = after.len() == before.len() && after.modified().ok() != before.modified().ok();
        if after.len() < before.len() || rewritten {
            return Err(changing());
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

pub(crate) fn known_ref(value: &Value) -> Option<FileRef> {
    value.is_object().then(|| FileRef::deserialize(value).ok()).flatten()
}

fn to_json(file: &FileRef) -> Value {
    serde_json::json!({ "file": file.file, "name": file.name, "size": file.size, "mediaType": file.media_type })
}

/// Applies `change` to each value of each file parameter and collects what goes wrong, under the parameter's name.
fn for_each_file(
    params: &[Param],
    input: &mut Map<String, Value>,
    mut change: impl FnMut(&Value) -> Result<Value, FileError>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for param in params.iter().filter(|param| param.kind == ParamType::File) {
        let Some(value) = input.get_mut(&param.name) else { continue };
        let many = value.is_array();
        let values = match value {
            Value::Array(items) => items.as_mut_slice(),
            other => std::slice::from_mut(other),
        };
        for (index, value) in values.iter_mut().enumerate() {
            match change(value) {
                Ok(changed) => *value = changed,
                Err(error) => {
                    let name = if many { format!("{}[{index}]", param.name) } else { param.name.clone() };
                    faults.push(Fault {
                        came: Some(crate::json::short(value)),
                        allowed: Some(crate::value::allowed(param)),
                        ..Fault::new(name, error.to_string())
                    });
                }
            }
        }
    }
    faults
}

fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder)
}

/// Makes a written file read-only for its owner and durable.
fn finish(file: &File) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(0o400);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(true);
    file.set_permissions(permissions)?;
    file.sync_data()
}

#[cfg(test)]
mod tests;
