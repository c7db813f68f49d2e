//! Starting, being found by a second start, and ending.

use workflow_code_tests::{Environment, Session, desktop_executable, executable, wait_until};

use crate::{desktop, picture};

#[test]
fn the_front_door_opens_the_window() {
    let mut desktop = desktop();
    let mut session = Session::start(&mut desktop, &executable(), &[]);
    session.find("body");
    wait_until("a window with the product's name", || {
        desktop.titles().unwrap().iter().any(|title| title.contains("Workflow Code")).then_some(())
    });
    picture(&desktop, "start");
    session.assert_quiet();
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn without_a_display_one_line_says_so() {
    let environment = Environment::new().unwrap();
    for program in [executable(), desktop_executable()] {
        let finished = environment.run_program(&program, &[""; 0], b"").unwrap();
        assert_eq!(finished.code, 3, "{finished:?}");
        assert_eq!(finished.stdout, "");
        assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
        assert!(finished.stderr.contains("display"), "{}", finished.stderr);
    }
    let mut environment = environment;
    environment.set("DISPLAY", ":4711");
    let finished = environment.run_program(desktop_executable(), &[""; 0], b"").unwrap();
    assert_eq!(finished.code, 3, "{finished:?}");
    assert!(finished.stderr.lines().any(|line| line.contains("display")), "{}", finished.stderr);
    environment.assert_nothing_left();
}

#[test]
fn the_window_answers_to_the_command_line_too() {
    let environment = Environment::new().unwrap();
    let finished = environment.run_program(desktop_executable(), &["--version"], b"").unwrap();
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(finished.stdout.starts_with("workflow-code "), "{}", finished.stdout);
    let finished = environment.run_program(desktop_executable(), &["projects", "list", "--json"], b"").unwrap();
    assert_eq!((finished.code, finished.json()), (0, serde_json::json!([])), "{}", finished.stderr);
    environment.assert_nothing_left();
}
