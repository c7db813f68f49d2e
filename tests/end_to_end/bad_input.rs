//! Bad input, one named test a kind: a clear error each, nothing lost, no process left behind.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};
use store::{Store, StoreOptions};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, Opening, executable};

use crate::fixtures::{
    LEGACY, MODERN, SOON, UUID, command, environment, project, runs, serve, serve_with, shown, usual_project,
    wait_for_file, write,
};

/// Runs a command that must fail, with this exit code and these words on standard error, and without a panic.
#[track_caller]
fn fails(home: &Environment, arguments: &[&str], code: i32, says: &[&str]) -> Finished {
    let done = home.run(arguments).expect("it ends");
    assert_failed(&done, code, says);
    done
}

#[track_caller]
fn assert_failed(done: &Finished, code: i32, says: &[&str]) {
    assert_eq!(done.code, code, "{done:?}");
    for word in says {
        assert!(done.stderr.contains(word), "`{word}` is not in {done:?}");
    }
    assert!(!done.stderr.contains("panicked"), "{done:?}");
    assert!(done.stderr.lines().count() <= 6, "a clear error is short: {done:?}");
}

/// Starts a launch that cannot serve, and checks that it says so on every request of either era.
fn refuses(home: &Environment, arguments: &[&str], says: &[&str]) {
    for opening in [Opening::None, MODERN] {
        let mut client = Client::start(home, arguments, ClientOptions { opening, ..ClientOptions::default() });
        for method in ["initialize", "server/discover", "tools/list", "tools/call", "ping"] {
            let error = client.request(method, json!({ "name": "main", "arguments": {} })).error();
            assert_eq!(error["code"], -32603, "{method}: {error}");
            for word in says {
                let message = error["message"].as_str().unwrap_or_default();
                assert!(message.contains(word), "{method}: `{word}` is not in {message}");
            }
        }
        assert_eq!(client.finish().0, 3);
    }
    home.assert_nothing_left();
}

/// The id of the project in this home, registered.
fn registered(home: &Environment) -> String {
    let folder = home.home().join("project");
    let added = command(home, &["projects", "add", &folder.to_string_lossy(), "--json"]);
    added[0]["projectId"].as_str().expect("an id").to_owned()
}

#[test]
fn no_entrypoint_left() {
    let home = environment();
    let folder = project(
        &home,
        json!({ "one": "./one.workflow.ts", "two": "./missing.workflow.ts", "later": { "command": ["true"], "draft": true } }),
        &[("one.workflow.ts", "export default async( {")],
    );
    let folder = folder.to_string_lossy().into_owned();
    // Found out at the first start, and read from the cache at the second one.
    for _ in 0..2 {
        refuses(&home, &["mcp", &folder], &["`one` (", "`two` (", "workflow-code structure"]);
    }
    let id = registered(&home);
    refuses(&home, &["--workflow-mcp", &id], &["`one` (", "`two` ("]);
}

#[test]
fn related_projects_that_are_not_there() {
    let home = environment();
    let folder = usual_project(&home).to_string_lossy().into_owned();
    let declared = json!({ "name": "fixture", "id": UUID, "projectType": "workflow", "workflow": {
        "entrypoints": { "hello": "./hello.workflow.ts" },
        "relatedProjects": { "style": { "id": "22222222-2222-4222-8222-222222222222" } } } });
    write(&home, "project/package.json", &declared.to_string());
    let silent = json!({ "name": "silent", "id": "22222222-2222-4222-8222-222222222222", "projectType": "workflow" });
    write(&home, "silent/package.json", &silent.to_string());
    let at = |name: &str| home.home().join(name).to_string_lossy().into_owned();
    for (bound, says) in [
        (format!("stile={}", at("silent")), ["`stile`", "`style`"]),
        (format!("style={}", at("nowhere")), ["--related-project", "nowhere"]),
        (format!("style={}", at("silent")), ["`silent`", "in return"]),
    ] {
        refuses(&home, &["mcp", &folder, "--related-project", &bound], &says);
        let done = home.run(&["run", &folder, "hello", "--name", "Ada", "--related-project", &bound]).expect("it ends");
        assert_failed(&done, 3, &says);
    }
    // A registered project is told as well, though its data folders are its own.
    let id = registered(&home);
    let bound = format!("stile={}", at("silent"));
    let done = home.run(&["run", &id, "hello", "--name", "Ada", "--related-project", &bound]).expect("it ends");
    assert_failed(&done, 3, &["`stile`"]);
}

fn database(home: &Environment) -> PathBuf {
    let profile: Value =
        serde_json::from_slice(&std::fs::read(home.home().join(".workflow-code/desktop.json")).expect("it was made"))
            .expect("JSON");
    PathBuf::from(profile["profiles"]["default"]["dataDir"].as_str().expect("a folder")).join("desktop.db")
}

#[test]
fn unknown_id() {
    let home = environment();
    usual_project(&home);
    // Where nothing was ever registered, and where something else is.
    refuses(&home, &["--workflow-mcp", "nobody"], &["nobody", "projects add"]);
    let id = registered(&home);
    refuses(&home, &["--workflow-mcp", "nobody"], &["nobody", "projects list"]);
    for odd in ["../../etc/passwd", "", "a b", "x'; DROP TABLE projects; --", "\u{202e}", &"a".repeat(100_000)] {
        refuses(&home, &["--workflow-mcp", odd], &[]);
        fails(&home, &["projects", "show", odd], 3, &[]);
        fails(&home, &["doctor", odd], 3, &[]);
    }
    fails(&home, &["runs", "show", "20260101-aaaa"], 3, &["20260101-aaaa", "runs list"]);
    fails(&home, &["runs", "cancel", "20260101-aaaa"], 3, &["20260101-aaaa"]);
    fails(&home, &["runs", "wait", "20260101-aaaa"], 3, &["20260101-aaaa"]);
    fails(&home, &["runs", "show", "../../x"], 2, &["../../x"]);
    assert_eq!(command(&home, &["projects", "list", "--json"])[0]["projectId"], id.as_str(), "nothing is lost");
    home.assert_nothing_left();
}

#[test]
fn missing_folder() {
    let home = environment();
    let folder = usual_project(&home);
    let id = registered(&home);
    std::fs::rename(&folder, home.home().join("elsewhere")).expect("it can be moved");
    let path = folder.to_string_lossy().into_owned();
    refuses(&home, &["--workflow-mcp", &id], &[&path]);
    refuses(&home, &["mcp", &path], &[&path]);
    fails(&home, &["run", &path], 3, &[&path]);
    fails(&home, &["run", &id], 3, &[&path]);
    fails(&home, &["structure", &path], 3, &[&path]);
    fails(&home, &["projects", "add", &path], 3, &[&path]);
    fails(&home, &["config", &path], 3, &[&path]);
    // Something else in its place.
    write(&home, "project", "a file");
    refuses(&home, &["mcp", &path], &[&path]);
    std::fs::remove_file(&folder).expect("it can be removed");
    std::fs::create_dir(&folder).expect("it can be made");
    refuses(&home, &["mcp", &path], &["package.json", "init"]);
    home.assert_nothing_left();
}

/// A folder that goes while it is served costs its calls, not the connection.
#[test]
fn a_folder_that_goes_while_it_is_served() {
    let home = environment();
    let folder = usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.request("tools/list", json!({})).result();
    std::fs::rename(&folder, home.home().join("elsewhere")).expect("it can be moved");
    for tool in ["hello", "fail"] {
        let result = client.call(
            tool,
            json!({ "name": "Ada" }).as_object().filter(|_| tool == "hello").map_or(json!({}), |all| json!(all)),
        );
        assert_eq!(result.result()["isError"], true);
    }
    std::fs::rename(home.home().join("elsewhere"), &folder).expect("it can be moved back");
    assert_eq!(client.call("hello", json!({ "name": "Ada" })).result()["isError"], false);
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
#[case::garbage("garbage", "not a database")]
#[case::folder("folder", "desktop.db")]
#[case::link("link", "link")]
#[case::foreign("foreign", "another program")]
fn unreadable_database(#[case] kind: &str, #[case] says: &str) {
    let home = environment();
    usual_project(&home);
    let id = registered(&home);
    let path = database(&home);
    for old in [path.clone(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
        let _ = std::fs::remove_file(old);
    }
    match kind {
        "garbage" => {
            std::fs::write(&path, "this is no database, and somebody's own file ".repeat(200)).expect("a file");
        }
        "folder" => std::fs::create_dir(&path).expect("a folder"),
        "link" => std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link"),
        _ => sqlite(&home, &path, "CREATE TABLE theirs (a); PRAGMA application_id = 7"),
    }
    let before = std::fs::read(&path).ok();
    let place = path.to_string_lossy().into_owned();
    refuses(&home, &["--workflow-mcp", &id], &[says, &place]);
    for arguments in [vec!["projects", "list"], vec!["runs", "list"], vec!["run", id.as_str(), "hello", "--name", "A"]]
    {
        fails(&home, &arguments, 3, &[says, "hint: "]);
    }
    let examined = home.run(&["doctor", "--json"]).expect("it ends");
    assert_eq!(examined.code, 3);
    assert_eq!(examined.json()["findings"].as_array().map(Vec::len), Some(1), "{}", examined.stdout);
    assert_eq!(std::fs::read(&path).ok(), before, "what is not ours stays as it is");
    home.assert_nothing_left();
}

/// Runs SQL in a database that no process of ours has open.
fn sqlite(home: &Environment, path: &Path, sql: &str) {
    let code =
        "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.executescript(sys.argv[2])\nc.commit()\nc.close()";
    let done = home.run_program("python3", &["-c", code, &path.to_string_lossy(), sql], &[]).expect("python3 runs");
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn too_new_database() {
    let home = environment();
    usual_project(&home);
    let id = registered(&home);
    let path = database(&home);
    let number = Store::new(&path, StoreOptions::default()).schema_number();
    let ours = format!("schema {number}");
    sqlite(&home, &path, "UPDATE meta SET min_writer = 4711; PRAGMA user_version = 4711");
    let before = std::fs::read(&path).expect("it is there");
    refuses(&home, &["--workflow-mcp", &id], &["4711", &ours, "update"]);
    fails(&home, &["projects", "list"], 3, &["4711", &ours, "update"]);
    fails(&home, &["runs", "list"], 3, &["4711"]);
    assert!(std::fs::read(&path).expect("it is there") == before, "the file is untouched");
    sqlite(&home, &path, &format!("UPDATE meta SET min_writer = 1; PRAGMA user_version = {number}"));
    assert_eq!(command(&home, &["projects", "list", "--json"])[0]["projectId"], id.as_str(), "nothing is lost");
    home.assert_nothing_left();
}

/// A private mount: the words that start a program with a small file system of its own at `place`. `None`, with the
/// reason told, where this user may not mount.
fn with_mount(home: &Environment, place: &Path, options: &str, script: &str) -> Option<Vec<OsString>> {
    std::fs::create_dir_all(place).expect("a folder");
    for unshare in [vec!["--mount"], vec!["--user", "--map-root-user", "--mount"]] {
        let mut attempt = unshare.clone();
        attempt.extend(["sh", "-c", "mount -t tmpfs tmpfs \"$0\""]);
        let place = place.to_string_lossy().into_owned();
        attempt.push(&place);
        if home.run_program("unshare", &attempt, &[]).is_ok_and(|done| done.code == 0) {
            let script = format!("set -e; mount -t tmpfs -o {options} tmpfs '{place}'; {script}; exec \"$@\"");
            let mut words: Vec<OsString> = unshare.iter().map(Into::into).collect();
            words.extend(["sh", "-c", &script, "sh"].map(Into::into));
            words.push(executable().into());
            return Some(words);
        }
    }
    eprintln!("SKIPPED: this user may not mount a file system of its own (`unshare --mount`)");
    None
}

/// Where a file of a process with mounts of its own is seen from here.
fn inside(pid: u32, path: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path))
}

/// Writes zeros until nothing fits any more.
fn fill_up(path: &Path) {
    let mut file = std::fs::File::create(path).expect("a file");
    for size in [64 * 1024, 4096, 1] {
        while file.write_all(&vec![0_u8; size]).is_ok() {}
    }
}

#[rstest]
fn full_disk(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let place = home.home().join("small");
    let Some(mut words) = with_mount(&home, &place, "size=2m", "true") else { return };
    let data = place.join("data");
    words.extend(["mcp".into(), home.home().join("project").into(), "--data-dir".into(), data.into()]);
    let options = ClientOptions { opening, ..ClientOptions::default() };
    let mut client = Client::start_program(&home, "unshare".into(), &words, options);
    let first = client.call("hello", json!({ "name": "Ada" })).result();
    assert_eq!(first["structuredContent"]["status"], "success", "{first}");
    let filler = inside(client.pid(), &place.join("filler"));
    fill_up(&filler);
    for _ in 0..3 {
        let error = client.call("hello", json!({ "name": "Ada" })).error();
        assert_eq!(error["code"], -32603, "{error}");
        assert!(error["message"].as_str().unwrap_or_default().contains("full"), "{error}");
    }
    client.request("tools/list", json!({})).result();
    std::fs::remove_file(&filler).expect("it is there");
    let again = client.call("hello", json!({ "name": "Ada" })).result();
    assert_eq!(again["structuredContent"]["status"], "success", "{again}");
    for result in [first, again] {
        let uri = format!("workflow-run://{}", result["structuredContent"]["runId"].as_str().expect("an id"));
        let kept = client.request("resources/read", json!({ "uri": uri })).result();
        assert!(kept["contents"][0]["text"].as_str().unwrap_or_default().contains("Hello, Ada"), "{kept}");
    }
    assert_eq!(client.finish().0, 0);
    home.assert_nothing_left();
}

/// The disk fills up while a run writes its log: the call is answered, and the next one works once there is room.
#[test]
fn a_disk_that_fills_up_during_a_run() {
    let home = environment();
    project(
        &home,
        json!({
            "noise": { "description": "Random noise.", "command": ["python3", "-c",
                "import os\nfor i in range(200): print(os.urandom(20000).hex())"] },
            "quiet": { "description": "One.", "command": ["echo", "1"] },
        }),
        &[],
    );
    let place = home.home().join("small");
    let Some(mut words) = with_mount(&home, &place, "size=2m", "true") else { return };
    words.extend(["mcp".into(), home.home().join("project").into(), "--data-dir".into(), place.join("data").into()]);
    let mut client = Client::start_program(&home, "unshare".into(), &words, ClientOptions::default());
    assert_eq!(client.call("quiet", json!({})).result()["structuredContent"]["status"], "success");
    let id = client.ask("tools/call", json!({ "name": "noise", "arguments": {} }));
    let answer = client.wait_until(&id, Instant::now() + Duration::from_secs(60));
    assert!(answer.is_some(), "a call on a full disk is answered all the same: {}", client.errors());
    client.request("tools/list", json!({})).result();
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn read_only_home() {
    let home = environment();
    usual_project(&home);
    let place = home.home().join("locked");
    let script = format!("cd '{}'; mount -o remount,ro '{0}'", place.display());
    let Some(words) = with_mount(&home, &place, "size=2m", &script) else { return };
    let project = home.home().join("project").to_string_lossy().into_owned();
    let run = |arguments: &[&str]| {
        let mut all: Vec<OsString> = vec![format!("HOME={}", place.display()).into(), "unshare".into()];
        all.extend(words.iter().cloned());
        all.extend(arguments.iter().map(Into::into));
        home.run_program("env", &all, &[]).expect("it ends")
    };
    assert_failed(&run(&["projects", "add", &project]), 3, &["desktop", "hint: "]);
    assert_failed(&run(&["run", &project, "hello", "--name", "Ada"]), 3, &[&*place.to_string_lossy()]);
    for reading in [
        vec!["projects", "list"],
        vec!["runs", "list"],
        vec!["doctor"],
        vec!["structure", &project],
        vec!["config", &project],
    ] {
        let done = run(&reading);
        assert_eq!(done.code, 0, "reading needs no writing: {reading:?}: {done:?}");
    }
    // A server without a place to record in still says what it offers, and why it runs nothing.
    let mut all: Vec<OsString> = vec![format!("HOME={}", place.display()).into(), "unshare".into()];
    all.extend(words.iter().cloned());
    all.extend(["mcp".into(), project.into()]);
    let mut client = Client::start_program(&home, "env".into(), &all, ClientOptions::default());
    assert!(client.request("tools/list", json!({})).result()["tools"].is_array());
    let error = client.call("hello", json!({ "name": "Ada" })).error();
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().unwrap_or_default().contains(&*place.to_string_lossy()), "{error}");
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn non_utf8_paths() {
    let home = environment();
    usual_project(&home);
    let odd = |name: &str| home.home().join(OsStr::from_bytes(&[name.as_bytes(), b"\xff"].concat()));
    let folder = odd("project");
    crate::fixtures::copy_folder(&home.home().join("project"), &folder).expect("it can be copied");
    let project = home.home().join("project").into_os_string();
    let run = |arguments: &[&OsStr]| home.run(arguments).expect("it ends");
    let word = OsStr::new;
    // A project in such a folder, named or entered.
    assert_failed(&run(&[word("structure"), folder.as_os_str()]), 3, &["no text"]);
    assert_failed(&run(&[word("projects"), word("add"), folder.as_os_str()]), 3, &["no text"]);
    assert_failed(&run(&[word("run"), folder.as_os_str()]), 2, &["UTF-8"]);
    assert_failed(&run(&[word("init"), odd("new").as_os_str()]), 2, &["UTF-8"]);
    assert!(!odd("new").exists());
    let words: Vec<OsString> = vec!["mcp".into(), folder.into_os_string()];
    let mut client = Client::start(&home, &words, ClientOptions { opening: Opening::None, ..ClientOptions::default() });
    let error = client.request("tools/list", json!({})).error();
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().unwrap_or_default().contains("no text"), "{error}");
    assert_eq!(client.finish().0, 3);
    // Data folders, ids, parameters, and a home.
    assert_failed(&run(&[word("mcp"), &project, word("--data-dir"), odd("data").as_os_str()]), 2, &["--data-dir"]);
    assert_failed(&run(&[word("--workflow-mcp"), OsStr::from_bytes(b"p\xff")]), 2, &["UTF-8"]);
    assert_failed(
        &run(&[word("run"), &project, word("hello"), word("--name"), OsStr::from_bytes(b"p\xff")]),
        2,
        &["UTF-8"],
    );
    let mut other = environment();
    let elsewhere = other.home().join(OsStr::from_bytes(b"home\xff"));
    std::fs::create_dir(&elsewhere).expect("a folder");
    other.set("HOME", elsewhere);
    for arguments in
        [vec!["projects", "list"], vec!["doctor"], vec!["projects", "add", project.to_str().expect("text")]]
    {
        assert_failed(&other.run(&arguments).expect("it ends"), 3, &["HOME"]);
    }
    // A file with such a name beside the sources troubles nobody.
    std::fs::write(home.home().join("project").join(OsStr::from_bytes(b"x\xff.workflow.ts")), "x").expect("a file");
    std::fs::write(
        home.home().join("project/package.json"),
        json!({ "name": "f", "id": UUID, "projectType": "workflow" }).to_string(),
    )
    .expect("a file");
    let report = command(&home, &["structure", project.to_str().expect("text")]);
    assert_eq!(report["entrypoints"][0]["id"], "hello", "{report}");
    home.assert_nothing_left();
}

#[rstest]
fn a_seventeen_mebibyte_line(#[values("serving", "refusing")] state: &str, #[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = match state {
        "serving" => serve(&home, opening),
        _ => Client::start(
            &home,
            &["--workflow-mcp", "nobody"],
            ClientOptions { opening: Opening::None, ..ClientOptions::default() },
        ),
    };
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":77,"method":"tools/list","params":{{"x":"{}"}}}}"#, "y".repeat(17 << 20));
    for _ in 0..2 {
        client.send_raw(line.as_bytes());
        let answer = client.next_message(Instant::now() + Duration::from_secs(30)).expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32600)), "{answer}");
    }
    if state == "serving" {
        assert_eq!(client.call("hello", json!({ "name": "Ada" })).result()["isError"], false);
        let memory = process::proc_info::resident_bytes(client.pid()).expect("it runs");
        assert!(memory < 80 << 20, "{memory} bytes are kept");
    }
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
fn deep_json(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    project(
        &home,
        json!({
            "hello": { "command": ["echo", "1"], "description": "One.", "params": { "a": { "type": "string" } } },
            "output": { "command": ["python3", "-c", "print('['*50000 + ']'*50000)"], "description": "Deep." },
            "report": { "description": "Deep.", "command": ["python3", "-c",
                "import os; open(os.environ['WORKFLOW_OUTPUT'], 'w').write('{\"output\":' + '['*50000 + ']'*50000 + '}')"] },
            "script": "./deep.workflow.ts",
        }),
        &[(
            "deep.workflow.ts",
            "export default async function (input, flow) { let a = []; for (let i = 0; i < 300; i++) a = [a]; return a; }",
        )],
    );
    let mut client = serve(&home, opening);
    client.request("tools/list", json!({})).result();
    for depth in [101, 1_000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{{"name":"hello","arguments":{{"a":{}1{}}}}}}}"#,
                open.repeat(depth),
                close.repeat(depth)
            );
            client.send_raw(line.as_bytes());
            let answer = client.next_message(Instant::now() + Duration::from_secs(30)).expect("an answer");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(78), &json!(-32600)), "{depth}");
        }
    }
    for (tool, status) in [("output", "success"), ("report", "failed"), ("script", "failed")] {
        let result = client.call(tool, json!({})).result();
        assert_eq!(result["structuredContent"]["status"], status, "{tool}: {result}");
    }
    client.finish();
    // On the command line, in package.json, in an input file.
    let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let folder = home.home().join("project").to_string_lossy().into_owned();
    let file = write(&home, "deep.json", &deep).to_string_lossy().into_owned();
    fails(&home, &["run", &folder, "--input-json", &file, "hello"], 2, &["nested"]);
    write(&home, "other/package.json", &format!(r#"{{"id":"{UUID}","projectType":"workflow","workflow":{deep}}}"#));
    fails(&home, &["structure", &home.home().join("other").to_string_lossy()], 3, &["package.json", "nested"]);
    write(&home, ".workflow-code/desktop.json", &deep);
    fails(&home, &["projects", "list"], 3, &["desktop.json"]);
    home.assert_nothing_left();
}

/// More than is ever recorded, on both streams at once, from a program and from what it started.
#[test]
fn a_worker_that_floods_both_streams() {
    let home = environment();
    project(
        &home,
        json!({ "flood": { "description": "Floods.", "command": ["sh", "-c",
            "head -c 90000000 /dev/zero | tr '\\0' 'o' & head -c 90000000 /dev/zero | tr '\\0' 'e' >&2; wait; echo; echo end"] },
            "hello": { "command": ["echo", "1"], "description": "One." } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "flood", "arguments": {} }));
    // Somebody else is served meanwhile.
    assert_eq!(client.call("hello", json!({})).result()["isError"], false);
    let deadline = Instant::now() + Duration::from_secs(120);
    let result = client.wait_until(&id, deadline).expect("it ends").result();
    let envelope = &result["structuredContent"];
    assert!(result.to_string().len() < 100_000, "the answer is small");
    let memory = process::proc_info::resident_bytes(client.pid()).expect("it runs");
    assert!(memory < 256 << 20, "{memory} bytes are kept");
    let run = envelope["runId"].as_str().expect("an id").to_owned();
    client.finish();
    let record = shown(&home, &run);
    let length = |stream: &str| record[stream].as_str().map_or(0, str::len);
    let (stdout, stderr) = (length("stdout"), length("stderr"));
    assert!(stdout + stderr <= (129 << 20), "{stdout} and {stderr} bytes are recorded");
    assert!(stdout > 1 << 20 && stderr > 1 << 20, "of both streams something is kept: {stdout} and {stderr}");
    home.assert_nothing_left();
}

#[rstest]
fn a_worker_that_ignores_signals(#[values("timeout", "cancel", "end")] how: &str) {
    let home = environment();
    project(
        &home,
        json!({ "deaf": { "description": "Deaf.", "timeoutSeconds": if how == "timeout" { 1 } else { 60 }, "command": ["python3", "-c",
            "import os, signal, time\n\
             for number in range(1, 65):\n\
             \x20 try: signal.signal(number, signal.SIG_IGN)\n\
             \x20 except (OSError, ValueError): pass\n\
             for _ in range(3):\n\
             \x20 if os.fork() == 0:\n\
             \x20   os.setsid()\n\
             \x20   if os.fork() == 0: time.sleep(3600)\n\
             \x20   os._exit(0)\n\
             open('ready', 'w').close()\n\
             while True: time.sleep(3600)"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "deaf", "arguments": {} }));
    wait_for_file(&home, "ready");
    match how {
        "timeout" => {
            let result = client.wait(&id).result();
            assert_eq!(result["structuredContent"]["status"], "timeout", "{result}");
        }
        "cancel" => {
            client.cancel(&id);
            crate::fixtures::wait_until("the run to end", || runs(&home)[0]["status"] == "cancelled");
        }
        _ => {}
    }
    if how != "end" {
        // The server is still there, and nothing else.
        let inner = &home;
        crate::fixtures::wait_until("the tree to end", || inner.census().len() == 1);
    }
    let (_, took) = client.finish();
    assert!(took < SOON, "it took {took:?}");
    home.assert_nothing_left();
}

/// What a program writes without end is heard after its time is over and after a cancel, not before.
#[rstest]
fn a_flood_of_output_does_not_outlast_its_end(#[values("timeout", "cancel")] how: &str) {
    let home = environment();
    project(
        &home,
        json!({ "flood": { "description": "Floods.", "timeoutSeconds": if how == "timeout" { 1 } else { 600 }, "command": ["python3", "-c",
            "import os, signal\n\
             signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
             open('ready', 'w').close()\n\
             while True: os.write(1, b'x' * 65536)"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "flood", "arguments": {} }));
    wait_for_file(&home, "ready");
    let since = Instant::now();
    if how == "cancel" {
        client.cancel(&id);
    }
    let inner = &home;
    let wanted = if how == "cancel" { "cancelled" } else { "timeout" };
    crate::fixtures::wait_until("the run to end", || runs(inner)[0]["status"] == wanted);
    // One second of time where it has that, two for the polite signal, and room for a busy machine.
    assert!(since.elapsed() < Duration::from_secs(12), "it took {:?}", since.elapsed());
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_line_of_any_length_is_recorded_as_it_is() {
    let home = environment();
    project(
        &home,
        json!({ "long": { "description": "One line.", "command": ["python3", "-c",
            "import sys; sys.stdout.buffer.write(('x' + '\u{6f22}\u{5b57}' * 50000 + '\\n::phase no\\nend\\n').encode()); \
             sys.stderr.write('e' * 65536)"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let result = client.call("long", json!({})).result();
    let run = result["structuredContent"]["runId"].as_str().expect("an id").to_owned();
    client.finish();
    let record = shown(&home, &run);
    let expected = format!("x{}\nend\n", "\u{6f22}\u{5b57}".repeat(50_000));
    assert!(record["stdout"] == expected, "{} characters", record["stdout"].as_str().map_or(0, str::len));
    assert_eq!(record["stderr"], "e".repeat(65_536) + "\n");
    home.assert_nothing_left();
}

#[test]
fn a_report_that_is_a_pipe_or_a_link_is_refused() {
    let home = environment();
    project(
        &home,
        json!({
            "pipe": { "description": "A pipe.", "command": ["python3", "-c",
                "import os; path = os.environ['WORKFLOW_OUTPUT']; os.path.exists(path) and os.remove(path); os.mkfifo(path)"] },
            "link": { "description": "A link.", "command": ["python3", "-c",
                "import os; path = os.environ['WORKFLOW_OUTPUT']; os.path.exists(path) and os.remove(path); os.symlink('/etc/passwd', path)"] },
        }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    for (tool, what) in [("pipe", "a named pipe"), ("link", "link")] {
        let result = client.call(tool, json!({})).result();
        let message = result["structuredContent"]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("its report is") && message.contains(what), "{result}");
        let data = home.home().join(".workflow-code");
        assert!(!result.to_string().contains(&*data.to_string_lossy()), "{result}");
    }
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_command_that_leaves_a_pipe_for_its_input_is_taken_up_all_the_same() {
    let home = environment();
    project(
        &home,
        json!({ "asks": { "description": "Asks.", "command": ["python3", "-c",
            "import json, os\n\
             path = os.environ['WORKFLOW_INPUT']\n\
             if 'WORKFLOW_ANSWER' in os.environ:\n\
             \x20 report = { 'output': json.load(open(path)) }\n\
             else:\n\
             \x20 os.remove(path); os.mkfifo(path)\n\
             \x20 report = { 'pending': { 'title': 'Which?', 'fields': { 'it': { 'type': 'string' } } } }\n\
             json.dump(report, open(os.environ['WORKFLOW_OUTPUT'], 'w'))"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let asked = client.call("asks", json!({})).result();
    let run = asked["structuredContent"]["runId"].as_str().expect("an id").to_owned();
    assert_eq!(asked["structuredContent"]["status"], "interaction_required", "{asked}");
    client.finish();
    let data = home.home().join("data").to_string_lossy().into_owned();
    let ended =
        command(&home, &["runs", "resume", &run, "--answer-json", r#"{"it": "this"}"#, "--json", "--data-dir", &data]);
    assert_eq!(ended["output"], json!({}), "{ended}");
    home.assert_nothing_left();
}

/// A worker that forks as fast as it can, within reason: all of it goes with the call.
#[test]
fn a_worker_that_forks_without_end() {
    let home = environment();
    project(
        &home,
        json!({ "bomb": { "description": "Forks.", "timeoutSeconds": 1, "command": ["python3", "-c",
            "import os, signal, time\n\
             signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
             until = time.time() + 20\n\
             while time.time() < until:\n\
             \x20 if os.fork() == 0:\n\
             \x20   os.setsid(); time.sleep(30); os._exit(0)\n\
             \x20 time.sleep(0.005)"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let result = client.call("bomb", json!({})).result();
    assert_eq!(result["structuredContent"]["status"], "timeout", "{result}");
    let inner = &home;
    crate::fixtures::wait_until("the forks to end", || inner.census().len() == 1);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn twenty_kilobytes_of_parentheses() {
    let home = environment();
    let (open, close) = ("(".repeat(10_000), ")".repeat(10_000));
    let sources = [
        ("call", format!("export default async function (input, flow) {{ return {open}1{close}; }}")),
        ("open", "(".repeat(20_000)),
        ("template", format!("export default async () => {}1{}", "`${".repeat(7_000), "}`".repeat(7_000))),
        ("types", format!("type T = {}1{}; export default async () => 1;", "Array<".repeat(4_000), ">".repeat(4_000))),
        ("unary", format!("export default async () => {}1;", "!".repeat(20_000))),
        ("arrows", format!("export default async () => {}1;", "a=>".repeat(7_000))),
        ("good", "export default async function () { return 1; }".into()),
    ];
    let entrypoints: serde_json::Map<String, Value> =
        sources.iter().map(|(name, _)| ((*name).to_owned(), json!(format!("./{name}.workflow.ts")))).collect();
    project(&home, entrypoints.into(), &[]);
    for (name, text) in &sources {
        write(&home, &format!("project/{name}.workflow.ts"), text);
    }
    let mut client = serve(&home, LEGACY);
    let tools = client.request("tools/list", json!({})).result();
    let names: Vec<&str> =
        tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"good") && !names.contains(&"call") && !names.contains(&"open"), "{names:?}");
    // Whatever is served although it looks like that is answered when it is called.
    for name in names {
        client.call(name, json!({})).result();
    }
    assert_eq!(client.call("good", json!({})).result()["structuredContent"]["output"], 1);
    client.finish();
    let report = command(&home, &["structure", &home.home().join("project").to_string_lossy()]);
    for error in report["errors"].as_array().expect("a list") {
        assert!(error["message"].as_str().is_some_and(|message| message.len() < 400), "{error}");
    }
    // In an argument they are a text like any other.
    project(
        &home,
        json!({ "length": { "command": ["python3", "-c", "import json, sys; print(len(json.load(sys.stdin)['text']))"],
            "description": "Counts.", "params": { "text": { "type": "string" } } } }),
        &[],
    );
    let mut client = serve_with(&home, LEGACY, &[]);
    let result = client.call("length", json!({ "text": "(".repeat(20_000) })).result();
    assert_eq!(result["structuredContent"]["output"], 20_000, "{result}");
    client.finish();
    home.assert_nothing_left();
}

/// What a hostile project may write into its own package.json.
#[test]
fn hostile_declarations_cost_only_themselves() {
    let home = environment();
    project(
        &home,
        json!({
            "good": { "command": ["echo", "1"], "description": "One." },
            "../escape": { "command": ["echo", "1"] },
            "space here": { "command": ["echo", "1"] },
            "outside": "../outside.workflow.ts",
            "absolute": "/etc/passwd",
            "link": "./link.workflow.ts",
            "folder": "./folder.workflow.ts",
            "pipe": "./pipe.workflow.ts",
            "nothing": {},
            "both": { "command": ["echo"], "script": "./x.ts" },
            "empty": { "command": [] },
            "bomb": { "command": ["echo", "1"], "params": { "a": { "type": "string", "pattern": "((((a{0,1000}){0,1000}){0,1000}){0,1000})" } } },
            "long": { "command": ["echo", "1"], "params": { "a": { "type": "string", "pattern": "(".repeat(20_000) } } },
            "odd": { "command": ["echo", "1"], "params": { "a": { "type": "nonsense" } } },
        }),
        &[],
    );
    let folder = home.home().join("project");
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link.workflow.ts")).expect("a link");
    std::fs::create_dir(folder.join("folder.workflow.ts")).expect("a folder");
    write(&home, "outside.workflow.ts", "export default async () => 1;");
    let made = home.run_program("mkfifo", &[folder.join("pipe.workflow.ts").as_os_str()], &[]).expect("it ends");
    assert_eq!(made.code, 0);
    let mut client = serve(&home, LEGACY);
    let tools = client.request("tools/list", json!({})).result();
    let names: Vec<&str> =
        tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["good"]);
    client.finish();
    let report = command(&home, &["structure", &folder.to_string_lossy()]);
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(13), "{report:#}");
    home.assert_nothing_left();
}

/// What a client may name as a file.
#[test]
fn odd_files_as_parameters() {
    let home = environment();
    project(
        &home,
        json!({ "size": { "command": ["sh", "-c", "wc -c < \"$2\"", "sh"], "description": "Counts.",
            "params": { "file": { "type": "file", "required": true } } } }),
        &[],
    );
    write(&home, "good.txt", "12345");
    write(&home, "-rf.txt", "1");
    write(&home, "it's \"q\" $(touch pwned) `x`; \u{202e}.txt", "123");
    let base = home.home();
    std::os::unix::fs::symlink(base.join("good.txt"), base.join("link.txt")).expect("a link");
    std::os::unix::fs::symlink(base.join("loop.txt"), base.join("loop.txt")).expect("a link");
    home.run_program("mkfifo", &[base.join("pipe").as_os_str()], &[]).expect("it ends");
    let mut client = serve(&home, LEGACY);
    let path = |name: &str| base.join(name).to_string_lossy().into_owned();
    for (name, size) in
        [("good.txt", 5), ("link.txt", 5), ("-rf.txt", 1), ("it's \"q\" $(touch pwned) `x`; \u{202e}.txt", 3)]
    {
        let result = client.call("size", json!({ "file": path(name) })).result();
        assert_eq!(result["structuredContent"]["output"], size, "{name}: {result}");
    }
    for bad in [
        path("missing"),
        path("loop.txt"),
        path("pipe"),
        path("."),
        "/dev/zero".into(),
        "good.txt".into(),
        "~/good.txt".into(),
        format!("file://{}", path("good.txt")),
        "data:text/plain;base64,QQ==".into(),
        format!("{}\0", path("good.txt")),
        path(&"n".repeat(5_000)),
        String::new(),
    ] {
        let error = client.call("size", json!({ "file": bad })).error();
        assert_eq!(error["code"], -32602, "{bad:?}: {error}");
        assert!(error["message"].as_str().unwrap_or_default().contains("file"), "{error}");
    }
    client.finish();
    assert!(!base.join("pwned").exists() && !base.join("project/pwned").exists());
    assert_eq!(runs(&home).len(), 4, "no run began for the others");
    home.assert_nothing_left();
}

/// Arguments of the command line that no command has, or has otherwise.
#[test]
fn wrong_usage_is_said_to_be_so() {
    let home = environment();
    let folder = usual_project(&home).to_string_lossy().into_owned();
    for words in [
        vec!["--no-such-option"],
        vec!["no-such-command"],
        vec!["mcp"],
        vec!["mcp", &folder, "--data-dir", "relative"],
        vec!["mcp", &folder, "--max-concurrent", "0"],
        vec!["mcp", &folder, "--max-result-bytes", "-1"],
        vec!["mcp", &folder, "--related-project", "no-equals-sign"],
        vec!["run", &folder],
        vec!["run", &folder, "nobody"],
        vec!["run", &folder, "hello"],
        vec!["run", &folder, "hello", "--name"],
        vec!["run", &folder, "hello", "--nobody", "1"],
        vec!["run", &folder, "hello", "--name", "a", "--name", "b"],
        vec!["runs", "list", "--status", "nonsense"],
        vec!["runs", "list", "--limit", "0"],
        vec!["runs", "list", "--before", "x"],
        vec!["runs", "logs", "20260101-aaaa", "--stream", "stdin"],
        vec!["config", &folder, "--client", "nobody"],
        vec!["config", &folder, "--write", "--preview"],
        vec!["init"],
        vec!["init", "x", "--template", "nobody"],
        vec!["--profile", "../../x", "projects", "list"],
    ] {
        let done = home.run(&words).expect("it ends");
        assert_eq!(done.code, 2, "{words:?}: {done:?}");
        assert!(done.stderr.starts_with("error: ") && done.stdout.is_empty(), "{words:?}: {done:?}");
    }
    assert!(!home.home().join(".workflow-code/desktop.json").exists(), "bad usage leaves nothing");
    home.assert_nothing_left();
}
