//! The keyring store against a real Secret Service, in private session buses.
//!
//! Each test starts this very test binary again inside `dbus-run-session` with a home of its own, where `gnome-keyring-daemon`
//! is in the state that the test names. Without these two programs, which `cargo xtask test` installs, the tests fail.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail and speak loudly")]
#![expect(clippy::disallowed_methods, reason = "the test needs other environments, hence processes of its own")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use workflow_secrets::{
    Error, KeyringStore, LoginStore, Secret, SecretStore, ServerUrl, keyring_service, login, logout, resolve,
};

/// Says to the inner process which scene it plays.
const SCENE: &str = "WORKFLOW_SECRETS_TEST_SCENE";

fn server(text: &str) -> ServerUrl {
    ServerUrl::parse(text).unwrap()
}

fn store() -> KeyringStore {
    KeyringStore::new(keyring_service("default"))
}

fn found(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Fails where a program is missing: what is not tested is not known to work.
fn need(program: &str) {
    assert!(found(program), "`{program}` is missing: install the packages gnome-keyring and dbus");
}

/// Runs this binary's test `name` with `prepare` done before it, in a private session bus.
fn inside(name: &str, home: &Path, prepare: &str) -> Output {
    need("dbus-run-session");
    need("gnome-keyring-daemon");
    let script = format!("{prepare}\nexec \"$0\" --exact {name} --nocapture");
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-ec", &script]).arg(std::env::current_exe().unwrap());
    run(command, name, home)
}

/// Runs `command` as scene `name` with a poor environment and a home of its own.
fn run(mut command: Command, name: &str, home: &Path) -> Output {
    for folder in ["run", "data"] {
        let path = home.join(folder);
        if !path.exists() {
            std::fs::DirBuilder::new().create(&path).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env(SCENE, name);
    command.output().unwrap()
}

/// Asserts that the inner test ran, and passed.
fn assert_passed(output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed") && err.contains("scene played"), "{out}\n{err}");
}

fn is_inner(name: &str) -> bool {
    std::env::var(SCENE).is_ok_and(|scene| scene == name)
}

/// Starts the daemon unlocked, which makes a `login` keyring if there is none.
const UNLOCKED: &str = "printf test-password | gnome-keyring-daemon --unlock --components=secrets >/dev/null";
/// Starts the daemon and unlocks nothing.
const STARTED: &str = "gnome-keyring-daemon --start --components=secrets >/dev/null";

#[test]
fn an_unlocked_keyring_tells_the_whole_story() {
    const NAME: &str = "an_unlocked_keyring_tells_the_whole_story";
    if !is_inner(NAME) {
        let home = tempfile::tempdir().unwrap();
        let output = inside(NAME, home.path(), UNLOCKED);
        assert_passed(&output);
        eprintln!(
            "{}",
            String::from_utf8_lossy(&output.stderr).lines().filter(|line| line.contains(" ms")).collect::<String>()
        );
        // A new bus, the same home: what was saved is there.
        return assert_passed(&inside("a_second_session_finds_the_key", home.path(), UNLOCKED));
    }
    let store = store();
    let (one, two) = (server("https://one.example/v1"), server("https://two.example"));
    assert!(store.get(&one).unwrap().is_none());
    assert!(!store.delete(&one).unwrap());
    let start = Instant::now();
    store.probe().unwrap();
    eprintln!("probe {} ms", start.elapsed().as_millis());
    store.set(&one, &Secret::from("key-1")).unwrap();
    let start = Instant::now();
    assert_eq!(store.get(&one).unwrap().unwrap().expose(), "key-1");
    eprintln!("get {} ms", start.elapsed().as_millis());
    assert!(store.get(&two).unwrap().is_none(), "a key belongs to its server");
    store.set(&one, &Secret::from("key-2")).unwrap();
    assert_eq!(store.get(&one).unwrap().unwrap().expose(), "key-2");
    let long = Secret::from("k".repeat(workflow_secrets::KEY_BYTES));
    store.set(&one, &long).unwrap();
    assert_eq!(store.get(&one).unwrap().unwrap().expose(), long.expose());
    assert!(KeyringStore::new(keyring_service("dev")).get(&one).unwrap().is_none(), "profiles are apart");
    assert!(store.delete(&one).unwrap() && !store.delete(&one).unwrap());

    // Several at once, more than may hang.
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || {
                let url = server(&format!("https://many-{number}.example"));
                store.set(&url, &Secret::from(format!("key-{number}"))).unwrap();
                assert_eq!(store.get(&url).unwrap().unwrap().expose(), format!("key-{number}"));
                assert!(store.delete(&url).unwrap());
            });
        }
    });

    // The way of a login.
    let folder = tempfile::tempdir().unwrap();
    login(folder.path(), &one, &Secret::from("hunter2"), LoginStore::Keyring, &store).unwrap();
    let saved = workflow_secrets::saved_login(folder.path()).unwrap();
    let sources = workflow_secrets::Sources { saved, ..Default::default() };
    let connection = resolve(&sources).resolved.unwrap().connect(&store).unwrap();
    assert_eq!(connection.key.unwrap().expose(), "hunter2");
    assert!(logout(folder.path(), &store).unwrap());
    assert!(store.get(&one).unwrap().is_none());

    store.set(&two, &Secret::from("stays")).unwrap();
    eprintln!("scene played");
}

/// The second half of the story above; by itself it has nothing to look at.
#[test]
fn a_second_session_finds_the_key() {
    if is_inner("a_second_session_finds_the_key") {
        assert_eq!(store().get(&server("https://two.example")).unwrap().unwrap().expose(), "stays");
        eprintln!("scene played");
    }
}

#[test]
fn without_a_session_bus_there_is_no_service() {
    const NAME: &str = "without_a_session_bus_there_is_no_service";
    if !is_inner(NAME) {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]);
        return assert_passed(&run(command, NAME, home.path()));
    }
    let start = Instant::now();
    let store = store();
    assert!(matches!(store.probe(), Err(Error::NoService { .. })));
    assert!(matches!(store.get(&server("https://x")), Err(Error::NoService { .. })));
    assert!(matches!(store.set(&server("https://x"), &Secret::from("k")), Err(Error::NoService { .. })));
    assert!(start.elapsed() < Duration::from_secs(3), "a machine without a service does not wait");
    let folder = tempfile::tempdir().unwrap();
    let refused = login(folder.path(), &server("https://x"), &Secret::from("k"), LoginStore::Keyring, &store);
    assert!(matches!(refused, Err(Error::NoService { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "never silently a file");
    eprintln!("scene played");
}

#[test]
fn a_bus_without_a_secret_service_is_no_service() {
    const NAME: &str = "a_bus_without_a_secret_service_is_no_service";
    if !is_inner(NAME) {
        let home = tempfile::tempdir().unwrap();
        need("dbus-run-session");
        // A bus that can start nothing.
        let config = home.path().join("bus.conf");
        let text = "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context=\"default\">\
            <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>";
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new("dbus-run-session");
        command.arg(format!("--config-file={}", config.display())).arg("--").arg(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]);
        return assert_passed(&run(command, NAME, home.path()));
    }
    assert!(matches!(store().probe(), Err(Error::NoService { .. })));
    eprintln!("scene played");
}

#[test]
fn a_service_without_a_keyring_reads_well_and_cannot_write() {
    const NAME: &str = "a_service_without_a_keyring_reads_well_and_cannot_write";
    if !is_inner(NAME) {
        let home = tempfile::tempdir().unwrap();
        return assert_passed(&inside(NAME, home.path(), STARTED));
    }
    let store = store();
    assert!(store.get(&server("https://x")).unwrap().is_none());
    let refused = store.set(&server("https://x"), &Secret::from("k"));
    assert!(matches!(refused, Err(Error::NoKeyring { .. })), "{refused:?}");
    assert!(matches!(store.probe(), Err(Error::NoKeyring { .. })), "so a read proves nothing");
    eprintln!("scene played");
}

#[test]
fn a_locked_keyring_does_not_hold_anybody_up() {
    const NAME: &str = "a_locked_keyring_does_not_hold_anybody_up";
    if !is_inner(NAME) {
        let home = tempfile::tempdir().unwrap();
        // One session makes the keyring and a key, the next finds it locked.
        assert_passed(&inside("a_key_is_saved_for_later", home.path(), UNLOCKED));
        return assert_passed(&inside(NAME, home.path(), STARTED));
    }
    let store = store().with_patience(Duration::from_millis(1_500));
    for _ in 0..6 {
        let start = Instant::now();
        let refused = store.get(&server("https://later.example"));
        assert!(matches!(refused, Err(Error::Locked { .. } | Error::Denied { .. })), "{refused:?}");
        assert!(start.elapsed() < Duration::from_secs(3));
        eprintln!("locked: {refused:?} after {} ms", start.elapsed().as_millis());
    }
    eprintln!("scene played");
}

/// Prepares the scene above; by itself it has nothing to do.
#[test]
fn a_key_is_saved_for_later() {
    if is_inner("a_key_is_saved_for_later") {
        store().set(&server("https://later.example"), &Secret::from("k")).unwrap();
        eprintln!("scene played");
    }
}
