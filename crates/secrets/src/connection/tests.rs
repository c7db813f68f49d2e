use super::*;
use crate::{Error, MemoryStore, StoreKind};

fn given(url: &str, key: &str) -> Given {
    Given { url: (url != "-").then(|| url.to_owned()), key: (key != "-").then(|| Secret::from(key)) }
}

fn saved(url: &str, key: Option<&str>) -> Option<SavedLogin> {
    let key = key.map_or(SavedKey::Keyring, |key| SavedKey::File(Secret::from(key)));
    Some(SavedLogin { url: ServerUrl::parse(url).unwrap(), key, tightened: false })
}

/// Address, key and source in one line.
fn outcome(sources: &Sources) -> String {
    resolve(sources).resolved.map_or_else(
        || String::from("none"),
        |resolved| {
            let key = match &resolved.key {
                KeyPlace::None => "no key",
                KeyPlace::Here(key) => key.expose(),
                KeyPlace::Keyring => "keyring",
            };
            format!("{} {key} {:?}", resolved.url, resolved.source)
        },
    )
}

#[test]
fn the_first_source_with_an_address_wins() {
    let mut sources = Sources {
        environment: given("https://env", "k-env"),
        dot_env: given("https://dot", "k-dot"),
        desktop: saved("https://desk", None),
        saved: saved("https://file", Some("k-file")),
    };
    assert_eq!(outcome(&sources), "https://env k-env Environment");
    sources.environment = Given::default();
    assert_eq!(outcome(&sources), "https://dot k-dot DotEnv");
    sources.dot_env = given("", "");
    assert_eq!(outcome(&sources), "https://desk keyring Desktop");
    sources.desktop = None;
    assert_eq!(outcome(&sources), "https://file k-file Saved");
    sources.saved = None;
    assert_eq!(outcome(&sources), "none");
    assert!(resolve(&sources).notes.is_empty());
}

#[test]
fn halves_of_pairs_are_never_joined() {
    let all = |environment, dot_env| Sources {
        environment,
        dot_env,
        desktop: saved("https://desk", Some("k-desk")),
        saved: saved("https://file", Some("k-file")),
    };
    // A project's address alone gets no saved key, nor the environment's.
    assert_eq!(outcome(&all(given("-", "-"), given("https://evil", "-"))), "https://evil no key DotEnv");
    assert_eq!(outcome(&all(given("-", "k-env"), given("https://evil", "-"))), "https://evil no key DotEnv");
    // Nor does the environment's address get the project's key.
    assert_eq!(outcome(&all(given("https://env", "-"), given("-", "k-dot"))), "https://env no key Environment");
    assert_eq!(
        outcome(&all(given("https://env", "-"), given("https://dot", "k-dot"))),
        "https://env no key Environment"
    );
    // `.env` does not override the environment's key.
    assert_eq!(outcome(&all(given("-", "k-env"), given("https://dot", "k-dot"))), "https://dot no key DotEnv");
    // A key alone is no connection.
    assert_eq!(outcome(&all(given("-", "k-env"), given("-", "-"))), "https://desk k-desk Desktop");
    for sources in [
        all(given("-", "-"), given("https://evil", "-")),
        all(given("-", "k-env"), given("-", "-")),
        all(given("-", "k-env"), given("https://dot", "k-dot")),
    ] {
        let resolution = resolve(&sources);
        assert!(!resolution.notes.is_empty());
        assert!(!format!("{resolution:?}").contains("k-"), "{resolution:?}");
    }
}

#[test]
fn addresses_that_are_none_are_said_and_passed_over() {
    let sources = Sources {
        environment: given("https://user:hunter2@host", "k"),
        saved: saved("https://file", Some("k-file")),
        ..Sources::default()
    };
    assert_eq!(outcome(&sources), "https://file k-file Saved");
    let notes = resolve(&sources).notes.join("\n");
    assert!(notes.contains("not used") && !notes.contains("hunter2"), "{notes}");
    let sources = Sources { environment: given("https://x", "a\r\nb"), ..Sources::default() };
    assert_eq!(outcome(&sources), "https://x no key Environment");
    let sources = Sources { environment: given("http://10.1.1.1", "k"), ..Sources::default() };
    assert!(resolve(&sources).notes[0].contains("unencrypted"));
}

/// A keyring that must not be asked.
struct Untouchable;

impl SecretStore for Untouchable {
    fn kind(&self) -> StoreKind {
        StoreKind::Keyring
    }
    fn get(&self, _: &ServerUrl) -> Result<Option<Secret>> {
        Err(Error::Unreliable)
    }
    fn set(&self, _: &ServerUrl, _: &Secret) -> Result<()> {
        Err(Error::Unreliable)
    }
    fn delete(&self, _: &ServerUrl) -> Result<bool> {
        Err(Error::Unreliable)
    }
    fn probe(&self) -> Result<()> {
        Err(Error::Unreliable)
    }
}

#[test]
fn the_keyring_is_asked_only_for_a_key_that_is_there() {
    let sources = Sources {
        environment: given("https://env", "k-env"),
        desktop: saved("https://desk", None),
        ..Sources::default()
    };
    let connection = resolve(&sources).resolved.unwrap().connect(&Untouchable).unwrap();
    assert_eq!(connection.key.unwrap().expose(), "k-env");

    let keyring = MemoryStore::new();
    let login = Sources { desktop: saved("https://desk", None), ..Sources::default() };
    let resolved = resolve(&login).resolved.unwrap();
    assert!(resolved.connect(&Untouchable).is_err());
    assert!(resolved.connect(&keyring).unwrap().key.is_none());
    keyring.set(&resolved.url, &Secret::from("k-ring")).unwrap();
    assert_eq!(resolved.connect(&keyring).unwrap().key.unwrap().expose(), "k-ring");
    // A login file turned to another server finds nothing.
    let turned = Sources { desktop: saved("https://evil", None), ..Sources::default() };
    assert!(resolve(&turned).resolved.unwrap().connect(&keyring).unwrap().key.is_none());
}
