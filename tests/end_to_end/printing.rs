//! What a person's terminal is sent: nothing that it obeys, whatever a project, a card or a log says.

use serde_json::{Value, json};
use workflow_code_tests::{Environment, Finished, executable};

use crate::fixtures::{UUID, environment, write};

/// A title, a clipboard, a cleared screen, a carriage return, a one-byte sequence, an override, an isolate, a mark.
const HOSTILE: &str = "x\u{1b}]0;t\u{7}\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\ry\u{9b}2J\u{202e}z\u{2066}\u{200f}\u{61c}";

/// Tells whether a terminal would obey any of this.
fn is_obeyed(text: &str) -> bool {
    text.chars().any(|letter| {
        (letter.is_control() && letter != '\n' && letter != '\t')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
    })
}

/// Runs a program on a terminal of its own, with nothing typed.
fn on_terminal(environment: &Environment, variables: &str, arguments: &[&str]) -> Finished {
    let program = executable().to_string_lossy().into_owned();
    let script = format!(
        "import os, pty, sys\n\
         os.environ.pop('NO_COLOR', None); os.environ.update(TERM='xterm'); os.environ.update(dict(pair.split('=') for pair in '{variables}'.split()))\n\
         pid, terminal = pty.fork()\n\
         if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
         while True:\n    \
             try: data = os.read(terminal, 65536)\n    \
             except OSError: break\n    \
             if not data: break\n    \
             os.write(1, data)\n\
         sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    );
    let arguments: Vec<&str> = ["-c", &script, &program].into_iter().chain(arguments.iter().copied()).collect();
    let mut finished = environment.run_program("python3", &arguments, b"").expect("python3 runs");
    // The terminal's own doing.
    finished.stdout = finished.stdout.replace("\r\n", "\n");
    finished
}

fn hostile_project(environment: &Environment) {
    let package = json!({
        "name": format!("evil{HOSTILE}"), "id": UUID, "projectType": "workflow", "description": HOSTILE,
        "workflow": { "entrypoints": {
            "main": { "command": ["sh", "-c", "printf '%s\\n' \"$HOSTILE_TEXT\"; printf '\\033[31mred\\n'; exit 3"],
                      "title": HOSTILE, "description": HOSTILE },
            "broken": HOSTILE,
        } },
    });
    write(environment, "evil/package.json", &package.to_string());
    write(environment, "evil/.env", "");
}

fn said(finished: &Finished) -> String {
    format!("{}{}", finished.stdout, finished.stderr)
}

#[test]
fn no_command_hands_a_terminal_what_it_obeys() {
    let mut environment = environment();
    environment.set("HOSTILE_TEXT", HOSTILE);
    hostile_project(&environment);
    let run = |arguments: &[&str]| environment.run(arguments).expect("the command runs");
    let added = run(&["projects", "add", "evil"]);
    assert!(!is_obeyed(&said(&added)), "{added:?}");
    let listed: Value = run(&["projects", "list", "--json"]).json();
    let project = listed[0]["projectId"].as_str().expect("an id").to_owned();
    let begun = run(&["run", &project, "main"]);
    assert!(!is_obeyed(&begun.stderr), "{begun:?}");
    let runs: Value = run(&["runs", "list", "--json"]).json();
    let id = runs[0]["runId"].as_str().expect("a run").to_owned();

    write(&environment, "b/project.config.mjs", "export default {};");
    let title = serde_json::to_string(HOSTILE).expect("JSON");
    let card = format!("---\nid: T-0001\ntitle: {title}\nstatus: next\ntype: task\n---\n\n{HOSTILE}\n");
    write(&environment, "b/.project/cards/T-0001-x.md", &card);

    let commands: [&[&str]; 14] = [
        &["projects", "list"],
        &["projects", "show", &project],
        &["runs", "list"],
        &["runs", "search", "evil"],
        &["runs", "show", &id],
        &["doctor"],
        &["doctor", &project],
        &["run", &project, HOSTILE],
        &["run", &project, "broken"],
        &["board", "card", "list", "--root", "b"],
        &["board", "card", "show", "T-0001", "--root", "b"],
        &["board", "next", "--root", "b"],
        &["board", "doctor", "--root", "b"],
        &["runs", "resume", &id, "--approve"],
    ];
    for arguments in commands {
        let done = run(arguments);
        assert!(!said(&done).is_empty(), "{arguments:?}");
        assert!(!is_obeyed(&said(&done)), "{arguments:?}: {done:?}");
    }

    // For programs it stays as it is, and a terminal is sent an equal text that it does not obey.
    let shown = run(&["runs", "show", &id, "--json"]);
    assert!(shown.json()["stdout"].as_str().is_some_and(|text| text.starts_with(HOSTILE)), "{shown:?}");
    for arguments in [["runs", "show", &id, "--json"].as_slice(), &["structure", "evil"], &["runs", "wait", &id]] {
        let done = on_terminal(&environment, "", arguments);
        assert!(!done.stdout.is_empty() && !is_obeyed(&done.stdout), "{arguments:?}: {done:?}");
    }
    let raw = run(&["runs", "logs", &id]);
    assert!(raw.stdout.starts_with(&format!("{HOSTILE}\n\u{1b}[31mred\n")), "{raw:?}");
    let plain = on_terminal(&environment, "NO_COLOR=1", &["runs", "logs", &id]);
    assert!(plain.stdout.contains("red") && !is_obeyed(&plain.stdout), "{plain:?}");
    let coloured = on_terminal(&environment, "", &["runs", "logs", &id]);
    assert!(coloured.stdout.contains("\u{1b}[31mred"), "{coloured:?}");
    let rest = coloured.stdout.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
    assert!(!is_obeyed(&rest), "{coloured:?}");
    environment.assert_nothing_left();
}

#[test]
fn a_result_that_could_not_be_written_is_no_success() {
    let environment = environment();
    write(&environment, "b/project.config.mjs", "export default {};");
    write(&environment, "b/.project/cards/.gitkeep", "");
    let program = executable().to_string_lossy().into_owned();
    let shell = |script: &str| environment.run_program("sh", &["-c", script, "sh", &program], b"").expect("sh runs");
    for (command, code) in
        [("runs list --json", 3), ("projects list --json", 3), ("doctor", 3), ("board card list --json --root b", 1)]
    {
        let full = shell(&format!("\"$1\" {command} > /dev/full"));
        assert_eq!(full.code, code, "{command}: {}", full.stderr);
        assert_eq!(full.stderr.matches("standard output cannot be written").count(), 1, "{command}: {}", full.stderr);
        // A reader that went away is no error.
        let unread = shell(&format!("{{ \"$1\" {command}; echo \"code $?\" >&2; }} | true"));
        assert!(!unread.stderr.contains("standard output"), "{command}: {}", unread.stderr);
    }
    environment.assert_nothing_left();
}
