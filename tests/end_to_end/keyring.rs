//! A login in the keyring of the desktop, with the real `gnome-keyring-daemon` in a session bus of its own, and the
//! executable in the poor environment in which clients start it.
//!
//! Needs the packages `gnome-keyring` and `dbus`, which `cargo xtask test` installs; without them these tests fail.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use workflow_code_tests::{Environment, Finished, executable};

const SERVER: &str = "http://127.0.0.1:9/base";
const KEY: &str = "sk-hush-keyring-4711";

/// How the keyring stands when the executable comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// No session bus at all.
    NoBus,
    /// A bus on which nothing offers to keep secrets.
    NoService,
    /// The service of somebody who has never logged in graphically: there is no keyring to keep anything in.
    NoCollection,
    /// As after a graphical login.
    Unlocked,
    /// There is a keyring, and nobody has unlocked it.
    Locked,
}

/// What the steps of a scene came to.
struct Played {
    folder: std::path::PathBuf,
}

impl Played {
    fn step(&self, name: &str) -> Finished {
        let read = |ending: &str| fs::read_to_string(self.folder.join(format!("{name}.{ending}"))).unwrap_or_default();
        let code = read("code").trim().parse().unwrap_or_else(|_| panic!("step {name} was not reached"));
        Finished { code, stdout: read("out"), stderr: read("err") }
    }
}

/// The steps: each writes what it said and how it ended. `poor` leaves a program what clients leave it.
const STEPS: &str = r#"
mkdir -p "$HOME/out"
poor() { env -i HOME="$HOME" PATH=/usr/bin:/bin ${XDG_RUNTIME_DIR:+XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR"} ${ADDRESS:+DBUS_SESSION_BUS_ADDRESS="$ADDRESS"} "$@"; }
step() { name=$1; shift; code=0; "$@" >"$HOME/out/$name.out" 2>"$HOME/out/$name.err" || code=$?; echo $code >"$HOME/out/$name.code"; }
login() { printf '%s\n' "$KEY" | poor "$EXE" auth login "$SERVER" --json; }
"#;

/// Plays a scene: starts the bus and the service as they are to be, then runs `script`.
fn play(environment: &mut Environment, scene: Scene, by_runtime_folder: bool, script: &str) -> Played {
    for program in ["dbus-run-session", "gnome-keyring-daemon"] {
        let found =
            ["/usr/bin", "/bin", "/usr/local/bin"].iter().any(|folder| Path::new(folder).join(program).is_file());
        assert!(
            found,
            "`{program}` is missing: install the packages gnome-keyring and dbus, as `cargo xtask test` does"
        );
    }
    let home = environment.home();
    let runtime = home.join("run");
    fs::create_dir_all(&runtime).unwrap();
    fs::set_permissions(&runtime, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    environment.set("EXE", executable());
    environment.set("SERVER", SERVER);
    environment.set("KEY", KEY);
    environment.set("XDG_DATA_HOME", home.join("data"));
    // Where systemd's desktops have their bus. Without services: a bus that can start nothing.
    let services = if scene == Scene::NoService { "" } else { "<standard_session_servicedirs/>" };
    let address = if by_runtime_folder {
        environment.set("XDG_RUNTIME_DIR", &runtime);
        format!("unix:path={}", runtime.join("bus").display())
    } else {
        "unix:tmpdir=/tmp".to_owned()
    };
    let config = format!(
        "<busconfig><type>session</type><listen>{address}</listen>{services}<policy context=\"default\">\
         <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>"
    );
    let config = environment.write("bus.conf", config).unwrap();
    let prepare = match scene {
        Scene::NoBus | Scene::NoService => "",
        Scene::NoCollection | Scene::Locked => "gnome-keyring-daemon --start --components=secrets >/dev/null",
        Scene::Unlocked => "printf test-password | gnome-keyring-daemon --unlock --components=secrets >/dev/null",
    };
    // The poor environment has the bus's address only where the runtime folder does not say where it is.
    let address =
        if by_runtime_folder || scene == Scene::NoBus { "ADDRESS=" } else { "ADDRESS=$DBUS_SESSION_BUS_ADDRESS" };
    let script = format!("set -e\n{STEPS}\n{address}\n{prepare}\n{script}");
    let finished = if scene == Scene::NoBus {
        environment.run_program("/bin/sh", &["-c", &script], b"").unwrap()
    } else {
        let option = format!("--config-file={}", config.display());
        environment.run_program("dbus-run-session", &[option.as_str(), "--", "/bin/sh", "-c", &script], b"").unwrap()
    };
    assert_eq!(finished.code, 0, "{scene:?}: {}{}", finished.stdout, finished.stderr);
    Played { folder: home.join("out") }
}

/// A project whose command says which connection it was given.
fn project(environment: &Environment) {
    let package = json!({
        "name": "given", "id": "61a461a4-61a4-461a-8461-a461a461a461", "projectType": "workflow",
        "workflow": { "entrypoints": { "given": {
            "command": ["/bin/sh", "-c", "printf %s \"${#WORKFLOW_SERVER_ADMIN_KEY} $WORKFLOW_SERVER_ADMIN_KEY\""],
            "title": "Given", "description": "Says what it was given."
        } } }
    });
    environment.write("given/package.json", package.to_string()).unwrap();
}

fn is_available(status: &Finished) -> bool {
    status.json()["keyring"]["available"].as_bool().unwrap()
}

#[test]
fn without_a_service_a_login_says_so_and_offers_a_file() {
    for scene in [Scene::NoBus, Scene::NoService] {
        let mut environment = Environment::new().unwrap();
        let played =
            play(&mut environment, scene, false, "step login login\nstep status poor \"$EXE\" auth status --json");
        let login = played.step("login");
        assert_eq!(login.code, 3, "{scene:?}: {}", login.stderr);
        assert!(login.stderr.contains(&format!("auth login {SERVER} --store file")), "{scene:?}: {}", login.stderr);
        assert!(!is_available(&played.step("status")), "{scene:?}");
        assert!(!environment.home().join(".workflow-code/workflow-auth.json").exists(), "never chosen silently");
        environment.assert_nothing_left();
    }
}

#[test]
fn a_service_without_a_keyring_is_no_place_for_a_login() {
    let mut environment = Environment::new().unwrap();
    let played = play(
        &mut environment,
        Scene::NoCollection,
        false,
        "step login login\nstep status poor \"$EXE\" auth status --json",
    );
    let login = played.step("login");
    assert_eq!(login.code, 3, "a read proves nothing: {}", login.stderr);
    assert!(login.stderr.contains("--store file"), "{}", login.stderr);
    assert!(!is_available(&played.step("status")));
    assert!(!environment.home().join(".workflow-code/workflow-auth.json").exists(), "never chosen silently");
}

#[test]
fn a_login_in_the_keyring_reaches_runs_and_is_written_nowhere_else() {
    // The bus's address is told, or found in the runtime folder as on systemd's desktops.
    for by_runtime_folder in [false, true] {
        let mut environment = Environment::new().unwrap();
        project(&environment);
        let script = r#"
step login login
step status poor "$EXE" auth status --json
step run poor "$EXE" run "$HOME/given" given
printf '%s\n%s\n%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"given","arguments":{}}}' >"$HOME/lines"
step call sh -c 'exec 3>&1; { cat "$HOME/lines"; for again in $(seq 600); do if grep -q "\"id\":2" "$HOME/out/call.out"; then break; fi; sleep 0.05; done; } | env -i HOME="$HOME" PATH=/usr/bin:/bin ${XDG_RUNTIME_DIR:+XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR"} ${0:+DBUS_SESSION_BUS_ADDRESS="$0"} "$EXE" mcp "$HOME/given" >&3' "$ADDRESS"
step found grep -rlF "$KEY" "$HOME" --exclude-dir=data
step logout poor "$EXE" auth logout --json
step after poor "$EXE" auth status --json
"#;
        let played = play(&mut environment, Scene::Unlocked, by_runtime_folder, script);
        let login = played.step("login");
        assert_eq!(login.code, 0, "{}", login.stderr);
        assert_eq!(login.json()["store"], "keyring");
        let status = played.step("status").json();
        assert_eq!(status["keyring"]["available"], true, "{status}");
        assert_eq!(
            status["connection"],
            json!({ "url": SERVER, "source": "saved", "store": "keyring", "key": "present" })
        );
        let given = format!("{} •••", KEY.len());
        let run = played.step("run");
        assert_eq!(run.json()["output"], given.as_str(), "{}{}", run.stdout, run.stderr);
        let call = played.step("call");
        assert!(call.stdout.contains(&given), "{}{}", call.stdout, call.stderr);
        let found = played.step("found");
        assert_eq!(found.stdout, "", "the key is in no file of ours");
        assert_eq!(played.step("logout").json()["removed"], true);
        assert_eq!(played.step("after").json()["connection"], Value::Null);
        environment.assert_nothing_left();
    }
}

#[test]
fn a_locked_keyring_holds_no_run_up_and_the_key_is_there_once_it_is_unlocked() {
    let mut environment = Environment::new().unwrap();
    project(&environment);
    let first = play(&mut environment, Scene::Unlocked, false, "step login login");
    assert_eq!(first.step("login").code, 0, "{}", first.step("login").stderr);
    let script = "step status poor \"$EXE\" auth status --json\nstep run poor \"$EXE\" run \"$HOME/given\" given";
    let locked = play(&mut environment, Scene::Locked, false, script);
    let status = locked.step("status").json();
    assert_eq!((&status["keyring"]["available"], &status["connection"]["key"]), (&json!(false), &json!("unreachable")));
    let run = locked.step("run");
    assert_eq!((run.code, &run.json()["output"]), (0, &json!(0)), "it goes on without: {}", run.stderr);
    let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
    let id = run.json()["runId"].as_str().unwrap().to_owned();
    let shown = environment.run(&["runs", "show", &id, "--json", "--data-dir", &data]).unwrap().json();
    assert!(shown["stderr"].as_str().unwrap().contains("the connection is left out"), "{shown}");
    let unlocked = play(&mut environment, Scene::Unlocked, false, script);
    assert_eq!(unlocked.step("run").json()["output"], format!("{} •••", KEY.len()));
    environment.assert_nothing_left();
}
