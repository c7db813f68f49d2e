//! The token that clients of an HTTP server show: a line in a file that only its owner can read.
//!
//! It outlives the server, since clients are configured with it once. It is neither printed nor logged.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mcp::http::Token;
use model::{IdSource, SystemIds};

use crate::failure::Failure;
use crate::profile;

/// The file when none is named, in `~/.workflow-code`.
const FILE: &str = "http-token";

/// What is read of it.
const MOST_BYTES: u64 = 4_096;

/// Others may not look into it.
const OTHERS: u32 = 0o077;

/// Reads the token, and makes one where there is none yet. Also returns where it is.
pub(crate) fn get(named: Option<&Path>) -> Result<(Token, PathBuf), Failure> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => {
            let home = profile::workflow_home()?;
            disk::private_folder(&home).map_err(|error| failure(&home, &format!("cannot be made: {error}")))?;
            home.join(FILE)
        }
    };
    let text = match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path).and_then(|()| read(&path)),
        outcome => outcome,
    };
    let text = text.map_err(|error| failure(&path, &format!("cannot be used: {error}")))?;
    let token = Token::new(text.trim()).map_err(|error| {
        failure(&path, &format!("holds no token: {error}"))
            .hinted("remove the file; a new one is made at the next start")
    })?;
    Ok((token, path))
}

fn failure(path: &Path, what: &str) -> Failure {
    Failure::environment(format!("the token's file `{}` {what}", path.display()))
}

fn read(path: &Path) -> io::Result<String> {
    let (file, facts) = disk::open_following(path).map_err(disk::ReadError::into_io)?;
    if facts.mode() & OTHERS != 0 {
        return Err(io::Error::other("others may read or write it; `chmod 600` keeps them out"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a new token. Of two that come first at once, the first one's counts.
fn make(path: &Path) -> io::Result<()> {
    let mut bytes = [0; 32];
    SystemIds.fill(&mut bytes);
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(format!("{token}\n").as_bytes())?;
        // Unlike a rename, a link does not replace what is there.
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            outcome => outcome,
        }
    })();
    let _ = fs::remove_file(&temporary);
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_kept_for_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let (_, found) = get(Some(&path)).expect("made");
        assert_eq!(found, path);
        let first = fs::read_to_string(&path).expect("readable");
        assert_eq!((first.trim().len(), fs::metadata(&path).expect("there").mode() & 0o777), (64, 0o600));
        get(Some(&path)).expect("read");
        assert_eq!(fs::read_to_string(&path).expect("readable"), first);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_file_that_others_may_read_or_that_holds_none_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        fs::write(&path, "0123456789abcdef0123456789abcdef").expect("written");
        let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        for mode in [0o644, 0o640, 0o620, 0o604] {
            set(mode);
            assert!(get(Some(&path)).expect_err("refused").message.contains("chmod 600"), "{mode:o}");
        }
        set(0o600);
        assert!(get(Some(&path)).is_ok());
        for text in ["", "short", "with blanks in it 0123456789"] {
            fs::write(&path, text).expect("written");
            let failure = get(Some(&path)).expect_err("refused");
            assert!(failure.message.contains("holds no token") && !failure.message.contains("blanks"), "{failure}");
        }
        assert!(get(Some(folder.path())).is_err());
    }
}
