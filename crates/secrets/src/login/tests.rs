use super::*;
use crate::MemoryStore;
use rstest::rstest;
use std::fs;

fn url(text: &str) -> ServerUrl {
    ServerUrl::parse(text).unwrap()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_login_with_a_keyring_leaves_no_key_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = MemoryStore::new();
    assert!(saved_login(folder.path()).unwrap().is_none());
    let one = url("https://one.example");
    login(folder.path(), &one, &Secret::from("hunter2"), LoginStore::Keyring, &keyring).unwrap();
    let text = fs::read_to_string(folder.path().join(AUTH_FILE)).unwrap();
    assert_eq!(text, "{\n  \"url\": \"https://one.example\",\n  \"store\": \"keyring\"\n}\n");
    #[cfg(unix)]
    assert_eq!(mode(&folder.path().join(AUTH_FILE)), 0o600);
    let saved = saved_login(folder.path()).unwrap().unwrap();
    assert_eq!((saved.store(), saved.tightened), (LoginStore::Keyring, false));
    assert_eq!(keyring.get(&one).unwrap().unwrap().expose(), "hunter2");

    // Another server: the old key goes.
    let two = url("https://two.example");
    login(folder.path(), &two, &Secret::from("other"), LoginStore::Keyring, &keyring).unwrap();
    assert!(keyring.get(&one).unwrap().is_none());

    // To the file: the keyring's copy goes as well.
    login(folder.path(), &two, &Secret::from("hunter3"), LoginStore::File, &keyring).unwrap();
    assert!(keyring.get(&two).unwrap().is_none());
    let saved = saved_login(folder.path()).unwrap().unwrap();
    assert!(matches!(&saved.key, SavedKey::File(key) if key.expose() == "hunter3"));
    assert!(!format!("{saved:?}").contains("hunter3"));

    assert!(logout(folder.path(), &keyring).unwrap());
    assert!(!logout(folder.path(), &keyring).unwrap());
    assert!(saved_login(folder.path()).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A keyring that refuses everything.
struct Broken;

impl SecretStore for Broken {
    fn kind(&self) -> crate::StoreKind {
        crate::StoreKind::Keyring
    }
    fn get(&self, _: &ServerUrl) -> Result<Option<Secret>> {
        Err(Error::Locked { seconds: 3 })
    }
    fn set(&self, _: &ServerUrl, _: &Secret) -> Result<()> {
        Err(Error::Locked { seconds: 3 })
    }
    fn delete(&self, _: &ServerUrl) -> Result<bool> {
        Err(Error::Locked { seconds: 3 })
    }
    fn probe(&self) -> Result<()> {
        Err(Error::Locked { seconds: 3 })
    }
}

#[test]
fn a_keyring_that_fails_is_never_replaced_by_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let refused = login(folder.path(), &url("https://x"), &Secret::from("hunter2"), LoginStore::Keyring, &Broken);
    assert!(matches!(refused, Err(Error::Locked { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // A login in the file does not need it.
    login(folder.path(), &url("https://x"), &Secret::from("hunter2"), LoginStore::File, &Broken).unwrap();
    assert!(logout(folder.path(), &Broken).unwrap());
    // A key in a locked keyring: the file stays until the key is gone.
    login(folder.path(), &url("https://x"), &Secret::from("hunter2"), LoginStore::Keyring, &MemoryStore::new())
        .unwrap();
    assert!(logout(folder.path(), &Broken).is_err());
    assert!(saved_login(folder.path()).unwrap().is_some());
}

#[rstest]
#[case("", "no JSON")]
#[case("[]", "no `url`")]
#[case("{\"url\": 7}", "no `url`")]
#[case("{\"url\": \"ftp://x\", \"store\": \"file\", \"key\": \"hunter2\"}", "scheme")]
#[case("{\"url\": \"https://u:hunter2@x\", \"store\": \"keyring\"}", "user")]
#[case("{\"url\": \"https://x\", \"store\": \"file\"}", "no `key`")]
#[case("{\"url\": \"https://x\", \"store\": \"hunter2\"}", "neither")]
#[case("{\"url\": \"https://x\", \"store\": \"file\", \"key\": {\"a\": \"hunter2\"}}", "no `key`")]
#[case("{\"key\": \"hunter2\", ", "no JSON")]
fn odd_files_are_refused_without_repeating_them(#[case] text: &str, #[case] part: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(AUTH_FILE), text).unwrap();
    let error = saved_login(folder.path()).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains(part) && !shown.contains("hunter2"), "{shown}");
    // A new login mends it, a logout removes it.
    assert!(logout(folder.path(), &MemoryStore::new()).unwrap());
}

#[test]
fn a_key_that_would_break_a_header_is_refused_when_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(AUTH_FILE), r#"{"url":"https://x","store":"file","key":"a\r\nX-Evil: 1"}"#).unwrap();
    assert!(matches!(saved_login(folder.path()), Err(Error::Value { .. })));
}

#[cfg(unix)]
#[test]
fn loose_permissions_are_set_right_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(AUTH_FILE);
    fs::write(&file, r#"{"url":"https://x","store":"file","key":"k"}"#).unwrap();
    chmod(&file, 0o644);
    assert!(saved_login(folder.path()).unwrap().unwrap().tightened);
    assert_eq!(mode(&file), 0o600);
    assert!(!saved_login(folder.path()).unwrap().unwrap().tightened);
}

#[cfg(unix)]
#[test]
fn links_pipes_and_huge_files_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(AUTH_FILE);
    let other = folder.path().join("other.json");
    fs::write(&other, r#"{"url":"https://evil","store":"keyring"}"#).unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    assert!(matches!(saved_login(folder.path()), Err(Error::Content { .. })));
    // A login replaces the link and leaves what it led to.
    login(folder.path(), &url("https://x"), &Secret::from("k"), LoginStore::File, &MemoryStore::new()).unwrap();
    assert!(!file.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&other).unwrap().contains("evil"));
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(matches!(saved_login(folder.path()), Err(Error::Content { .. })));
    fs::remove_file(&file).unwrap();
    fs::write(&file, "x".repeat(100_000)).unwrap();
    assert!(matches!(saved_login(folder.path()), Err(Error::Content { .. })));
}
