//! The installation's own key: 32 random bytes that never leave the machine.
//!
//! It seals what a client carries back to us (signed, readable), encrypts what must wait on disk (answers that are secret),
//! and hashes what must be recognised but not guessed. Each use has a key of its own, derived for its purpose.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use model::TimestampMs;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::files::{self, Put};
use crate::{Error, Result, SealError, Secret};

const KEY: usize = 32;
const TAG: usize = 32;
const NONCE: usize = 24;
/// The first byte of everything sealed or encrypted; another form would have another.
const FORM: u8 = 1;
/// The longest text that is tried to open: larger ones are not ours.
const TEXT: usize = 4 * 1024 * 1024;

/// The installation's key.
#[derive(Clone)]
pub struct InstallationKey {
    key: Zeroizing<[u8; KEY]>,
    tightened: bool,
}

impl InstallationKey {
    /// Reads the key at `path`, or makes it there if there is none. Of several that make it at once, one wins and all
    /// return the winner's.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Write`], [`Error::NoRandom`]; [`Error::Content`] when the file is a link, somebody
    /// else's, or not 32 bytes long. A damaged key is never replaced silently: what it sealed would be lost.
    pub fn load_or_create(path: &Path) -> Result<Self> {
        // Two rounds: the second reads what somebody else made in the meantime.
        for _ in 0..2 {
            if let Some(private) = files::read_private(path, KEY as u64)? {
                let bytes: [u8; KEY] = private.bytes.as_slice().try_into().map_err(|_| Error::Content {
                    path: path.to_owned(),
                    reason: format!(
                        "it has not {KEY} bytes; remove it to get a new key, which voids what waits for an answer"
                    ),
                })?;
                return Ok(Self { key: Zeroizing::new(bytes), tightened: private.tightened });
            }
            let mut key = Zeroizing::new([0; KEY]);
            getrandom::fill(key.as_mut_slice()).map_err(|_| Error::NoRandom)?;
            if files::write_private(path, key.as_slice(), Put::New)? {
                return Ok(Self { key, tightened: false });
            }
        }
        Err(Error::Content { path: path.to_owned(), reason: String::from("it comes and goes") })
    }

    /// Makes a key of given bytes; for tests and for keys kept elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        Self { key: Zeroizing::new(bytes), tightened: false }
    }

    /// Returns whether the key's file could be read by others until now; it has been set right.
    #[must_use]
    pub fn was_exposed(&self) -> bool {
        self.tightened
    }

    /// Returns a key for one purpose, for a codec that wants its own. Different purposes give unrelated keys.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; KEY]> {
        let mut mac = mac(&self.key);
        mac.update(b"workflow-code derive\0");
        mac.update(purpose.as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }

    /// Returns a hash of `data` that nobody without this key can compute, as 64 hexadecimal digits.
    #[must_use]
    pub fn keyed_hash(&self, purpose: &str, data: &[u8]) -> String {
        let mut mac = mac(&self.derive(&format!("hash {purpose}")));
        mac.update(data);
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Seals `payload` for `associated` until `expires_at`. The text is URL-safe; whoever has it can read the payload, but
    /// not change it, nor use it for anything else.
    #[must_use]
    pub fn seal(&self, payload: &[u8], associated: &[u8], expires_at: TimestampMs) -> String {
        let mut sealed = Vec::with_capacity(1 + 8 + payload.len() + TAG);
        sealed.push(FORM);
        sealed.extend_from_slice(&expires_at.to_be_bytes());
        sealed.extend_from_slice(payload);
        let tag = self.seal_mac(&sealed, associated).finalize().into_bytes();
        sealed.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(sealed)
    }

    /// Opens what [`InstallationKey::seal`] made for the same `associated`, if `now` is before its end.
    ///
    /// # Errors
    /// [`SealError::Malformed`], [`SealError::Forged`], [`SealError::Expired`]. Only a text whose seal fits is called expired.
    pub fn open(&self, text: &str, associated: &[u8], now: TimestampMs) -> std::result::Result<Vec<u8>, SealError> {
        let sealed = decode(text)?;
        let (body, tag) = sealed.split_last_chunk::<TAG>().ok_or(SealError::Malformed)?;
        let (head, payload) = body.split_first_chunk::<9>().ok_or(SealError::Malformed)?;
        if head[0] != FORM {
            return Err(SealError::Malformed);
        }
        // Compared in constant time.
        self.seal_mac(body, associated).verify_slice(tag).map_err(|_| SealError::Forged)?;
        let mut expires_at = [0; 8];
        expires_at.copy_from_slice(&head[1..]);
        if now >= TimestampMs::from_be_bytes(expires_at) {
            return Err(SealError::Expired);
        }
        Ok(payload.to_vec())
    }

    /// Encrypts a secret for `associated` (say, its run and field). The text is URL-safe.
    ///
    /// # Errors
    /// [`SealError::NoRandom`].
    pub fn encrypt(&self, secret: &Secret, associated: &[u8]) -> std::result::Result<String, SealError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SealError::NoRandom)?;
        let payload = Payload { msg: secret.expose().as_bytes(), aad: associated };
        let hidden = self.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Malformed)?;
        let mut text = Vec::with_capacity(1 + NONCE + hidden.len());
        text.push(FORM);
        text.extend_from_slice(&nonce);
        text.extend_from_slice(&hidden);
        Ok(URL_SAFE_NO_PAD.encode(text))
    }

    /// Decrypts what [`InstallationKey::encrypt`] made for the same `associated`.
    ///
    /// # Errors
    /// [`SealError::Malformed`], [`SealError::Forged`].
    pub fn decrypt(&self, text: &str, associated: &[u8]) -> std::result::Result<Secret, SealError> {
        let text = decode(text)?;
        let (head, hidden) = text.split_first_chunk::<{ 1 + NONCE }>().ok_or(SealError::Malformed)?;
        if head[0] != FORM {
            return Err(SealError::Malformed);
        }
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&head[1..]);
        let payload = Payload { msg: hidden, aad: associated };
        let plain = self.cipher().decrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Forged)?;
        String::from_utf8(plain).map(Secret::from).map_err(|_| SealError::Malformed)
    }

    fn seal_mac(&self, body: &[u8], associated: &[u8]) -> Hmac<Sha256> {
        let mut mac = mac(&self.derive("seal"));
        // The length keeps the two parts apart.
        mac.update(&(associated.len() as u64).to_be_bytes());
        mac.update(associated);
        mac.update(body);
        mac
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.derive("encrypt")).into())
    }
}

impl fmt::Debug for InstallationKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("InstallationKey(•••)")
    }
}

fn mac(key: &[u8; KEY]) -> Hmac<Sha256> {
    // HMAC fills short keys with zeros up to its block (RFC 2104); done here, no length can be wrong.
    let mut block = Zeroizing::new([0; 64]);
    block[..KEY].copy_from_slice(key);
    Hmac::<Sha256>::new((&*block).into())
}

fn decode(text: &str) -> std::result::Result<Vec<u8>, SealError> {
    if text.len() > TEXT {
        return Err(SealError::Malformed);
    }
    URL_SAFE_NO_PAD.decode(text).map_err(|_| SealError::Malformed)
}

#[cfg(test)]
mod tests;
