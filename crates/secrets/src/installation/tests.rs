use super::*;
use proptest::prelude::*;
use std::fs;
use std::sync::Barrier;

fn key() -> InstallationKey {
    InstallationKey::from_bytes([7; 32])
}

#[test]
fn it_is_made_once_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/installation.key");
    let first = InstallationKey::load_or_create(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap().as_slice(), first.key.as_slice());
    assert_ne!(*first.key, [0; 32]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    }
    let second = InstallationKey::load_or_create(&path).unwrap();
    assert_eq!(second.key, first.key);
    assert_eq!(second.was_exposed(), cfg!(unix));
    assert_eq!(format!("{second:?}"), "InstallationKey(•••)");
}

#[test]
fn many_that_make_it_at_once_have_the_same() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("installation.key");
        let barrier = Barrier::new(8);
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        InstallationKey::load_or_create(&path).unwrap().key
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    }
}

#[test]
fn a_damaged_key_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("installation.key");
    for bytes in [&b""[..], &[1; 31], &[1; 33], &[1; 4096]] {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(InstallationKey::load_or_create(&path), Err(Error::Content { .. })));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(InstallationKey::load_or_create(&path), Err(Error::Content { .. })));
        assert!(!folder.path().join("elsewhere").exists());
    }
}

#[test]
fn a_seal_holds_its_purpose_and_its_time() {
    let sealed = key().seal(b"{\"runId\":\"x\"}", b"tool-a", 1_000);
    assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    assert_eq!(key().open(&sealed, b"tool-a", 999).unwrap(), b"{\"runId\":\"x\"}");
    assert_eq!(key().open(&sealed, b"tool-a", 1_000), Err(SealError::Expired));
    assert_eq!(key().open(&sealed, b"tool-b", 0), Err(SealError::Forged));
    assert_eq!(InstallationKey::from_bytes([8; 32]).open(&sealed, b"tool-a", 0), Err(SealError::Forged));
    for text in ["", "x", "%", "AAAA", &"A".repeat(5_000_000)] {
        assert_eq!(key().open(text, b"", 0), Err(SealError::Malformed), "{}", text.len());
    }
    // Bytes moved between payload and associated data do not fit.
    let moved = key().seal(b"b", b"a", 1_000);
    assert_eq!(key().open(&moved, b"ab", 0), Err(SealError::Forged));
}

#[test]
fn encryption_hides_and_binds() {
    let secret = Secret::from("hunter2");
    let text = key().encrypt(&secret, b"run-1/password").unwrap();
    assert_ne!(text, key().encrypt(&secret, b"run-1/password").unwrap(), "each has its own nonce");
    let raw = URL_SAFE_NO_PAD.decode(&text).unwrap();
    assert!(!raw.windows(7).any(|window| window == b"hunter2"));
    assert_eq!(key().decrypt(&text, b"run-1/password").unwrap().expose(), "hunter2");
    assert!(matches!(key().decrypt(&text, b"run-2/password"), Err(SealError::Forged)));
    assert!(matches!(InstallationKey::from_bytes([8; 32]).decrypt(&text, b"run-1/password"), Err(SealError::Forged)));
    assert!(matches!(key().decrypt("AQ", b""), Err(SealError::Malformed)));
}

#[test]
fn purposes_have_keys_of_their_own() {
    assert_ne!(key().derive("a"), key().derive("b"));
    assert_eq!(key().derive("a"), key().derive("a"));
    assert_ne!(*key().derive("a"), [7; 32]);
    let hash = key().keyed_hash("arguments", b"x");
    assert_eq!(hash.len(), 64);
    assert_ne!(hash, key().keyed_hash("other", b"x"));
    assert_ne!(hash, InstallationKey::from_bytes([8; 32]).keyed_hash("arguments", b"x"));
}

proptest! {
    #[test]
    fn what_is_sealed_opens_and_no_flipped_bit_does(payload in any::<Vec<u8>>(), associated in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let sealed = key().seal(&payload, &associated, i64::MAX);
        prop_assert_eq!(key().open(&sealed, &associated, 0).unwrap(), payload);
        let mut bytes = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        prop_assert!(key().open(&URL_SAFE_NO_PAD.encode(&bytes), &associated, 0).is_err());
    }

    #[test]
    fn what_is_encrypted_decrypts_and_no_flipped_bit_does(secret in any::<String>(), associated in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let text = key().encrypt(&Secret::from(secret.as_str()), &associated).unwrap();
        let opened = key().decrypt(&text, &associated).unwrap();
        prop_assert_eq!(opened.expose(), secret.as_str());
        let mut bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        prop_assert!(key().decrypt(&URL_SAFE_NO_PAD.encode(&bytes), &associated).is_err());
    }

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        prop_assert!(key().open(&text, b"", 0).is_err());
        prop_assert!(key().decrypt(&text, b"").is_err());
    }
}

/// The second case of RFC 4231 has a short key, which is padded as ours is.
#[test]
fn the_code_is_hmac_sha_256() {
    let mut padded = [0; 32];
    padded[..4].copy_from_slice(b"Jefe");
    let mut mac = mac(&padded);
    mac.update(b"what do ya want for nothing?");
    let code: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(code, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}
