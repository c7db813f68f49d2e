//! A registered board: served by its id, its changes in the history.

use serde_json::{Value, json};
use workflow_code_tests::{BoardSoakOptions, Client, ClientOptions, DevServer, Environment, Opening, board_soak};

use crate::fixtures::{LEGACY, MODERN, environment};

fn registered(home: &Environment) -> String {
    home.write("b/project.config.mjs", "export default {};").expect("written");
    home.write("b/.project/cards/.gitkeep", "").expect("written");
    let added = home.run(&["projects", "add", "b", "--json"]).expect("runs").json();
    assert_eq!(added[0]["kind"], "board", "{added}");
    added[0]["projectId"].as_str().expect("an id").to_owned()
}

fn serve(home: &Environment, id: &str, opening: Opening) -> Client {
    let arguments = ["--workflow-mcp".to_owned(), id.to_owned()];
    Client::start(home, &arguments, ClientOptions { opening, ..ClientOptions::default() })
}

fn runs(home: &Environment) -> Vec<Value> {
    home.run(&["runs", "list", "--json"]).expect("runs").json().as_array().expect("a list").clone()
}

#[test]
fn what_changes_a_board_is_in_the_history_and_what_reads_it_is_not() {
    for opening in [LEGACY, MODERN] {
        let home = environment();
        let id = registered(&home);
        let mut client = serve(&home, &id, opening);
        let tools = client.request("tools/list", json!({})).result();
        assert_eq!(tools["tools"].as_array().map(Vec::len), Some(32));
        let created = client.call("project_card_create", json!({ "title": "A card" })).result();
        let card = created["structuredContent"]["record"].clone();
        let claimed =
            client.call("project_card_claim", json!({ "id": card["id"], "actor": "Ada" })).result()["structuredContent"]["record"].clone();
        client.call("project_card_list", json!({})).result();
        let refused = client.call("project_card_claim", json!({ "id": card["id"], "actor": "Ben" })).result();
        assert_eq!(refused["isError"], true);
        assert_eq!(client.finish().0, 0);
        let recorded = runs(&home);
        let names: Vec<&str> = recorded.iter().filter_map(|run| run["entrypointId"].as_str()).collect();
        assert_eq!(names, ["project_card_claim", "project_card_create"]);
        assert_eq!((&recorded[0]["origin"], &recorded[0]["status"]), (&json!("mcp"), &json!("success")));
        let run = recorded[0]["runId"].as_str().expect("an id");
        let shown = home.run(&["runs", "show", run, "--json"]).expect("runs").json();
        assert_eq!(shown["input"]["actor"], "Ada");
        assert_eq!((&shown["output"]["before"], &shown["output"]["after"]), (&card["revision"], &claimed["revision"]));
        assert_ne!(card["revision"], claimed["revision"]);
        home.assert_nothing_left();
    }
}

#[test]
fn a_board_that_cannot_be_read_says_so_on_every_request_and_to_the_doctor() {
    let home = environment();
    let id = registered(&home);
    home.write("b/project.config.mjs", "export default { cards: { areas: [] } };").expect("written");
    let doctor = home.run(&["doctor", &id]).expect("runs");
    assert!(doctor.stdout.contains("CONFIG_CARDS_AREAS_REQUIRED"), "{}{}", doctor.stdout, doctor.stderr);
    let started = home.run(&["--workflow-mcp", &id]).expect("runs");
    assert_eq!(started.code, 3, "{}", started.stderr);
    assert!(started.stderr.contains("CONFIG_CARDS_AREAS_REQUIRED"), "{}", started.stderr);
}

#[test]
fn the_window_shows_a_board_moves_its_cards_and_hears_of_others_changes() {
    let home = environment();
    let id = registered(&home);
    let server = DevServer::start(&home, &[]).expect("the dev server starts");
    let call = |tool: &str, arguments: Value| {
        server.call("board_call", json!({ "project": id, "tool": tool, "arguments": arguments }))
    };
    let view = server.ok("board_view", json!({ "project": id }));
    assert_eq!((&view["cards"], &view["readOnly"]), (&json!([]), &json!(false)));
    let names: Vec<&str> =
        view["statuses"].as_array().expect("columns").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(names.first(), Some(&"backlog"), "{names:?}");

    let events = server.events();
    let about_the_board = |change: &Value| change["projects"].as_array().is_some_and(|all| all.contains(&json!(id)));
    let body = "## Acceptance criteria\n\n- [ ] It works\n";
    let created = call("project_card_create", json!({ "title": "A card", "body": body })).expect("a card");
    let card = created["record"]["id"].as_str().expect("an id").to_owned();
    events.wait(about_the_board);
    let of_card = json!({ "project": id, "id": card });
    let shown = server.ok("board_card", of_card.clone());
    assert_eq!(shown["acceptance"], json!([{ "text": "It works", "done": false, "line": 1 }]));
    let refusals = server.ok("board_refusals", of_card.clone());
    let done = refusals.as_array().expect("a list").iter().find(|one| one["status"] == "done").expect("done");
    assert_eq!(done["codes"], json!(["CARD_ACCEPTANCE_UNMET"]));
    let refused = call("project_card_transition", json!({ "id": card, "status": "done" })).expect_err("refused");
    assert_eq!((&refused["code"], &refused["detail"]["code"]), (&json!("conflict"), &json!("CARD_ACCEPTANCE_UNMET")));

    let tick = json!({ "project": id, "id": card, "line": 1, "done": true, "revision": shown["record"]["revision"] });
    assert_eq!(server.ok("board_acceptance", tick.clone())["acceptance"][0]["done"], true);
    assert_eq!(server.code("board_acceptance", tick), "conflict", "that revision is gone");
    call("project_card_transition", json!({ "id": card, "status": "done" })).expect("it may now");
    let view = server.ok("board_view", json!({ "project": id }));
    assert_eq!(view["cards"][0]["status"], "done");
    assert_eq!(view["cards"][0]["acceptance"], json!({ "done": 1, "total": 1 }));

    // What only reads, and what was refused, is no run.
    call("project_card_list", json!({})).expect("a list");
    let recorded = runs(&home);
    let made: Vec<(&str, &str)> =
        recorded.iter().filter_map(|run| Some((run["entrypointId"].as_str()?, run["origin"].as_str()?))).collect();
    let origin = "desktop";
    assert_eq!(made, [("project_card_transition", origin), ("card-ac", origin), ("project_card_create", origin)]);

    // Another process writes the files: the window is told, and shows it.
    let events = server.events();
    let noted = home.run(&["board", "card", "create", "--title", "Another", "--root", "b"]).expect("runs");
    assert_eq!(noted.code, 0, "{}", noted.stderr);
    events.wait(about_the_board);
    server.wait_for("board_view", &json!({ "project": id }), |view| view["cards"].as_array().map(Vec::len) == Some(2));

    assert_eq!(server.code("board_card", json!({ "project": id, "id": "T-9999" })), "not_found");
    server.finish();
    home.assert_nothing_left();
}

#[test]
fn what_the_command_line_does_not_understand_is_refused_in_the_boards_form() {
    let home = environment();
    home.write("b/project.config.mjs", "export default { cards: { areas: ['api'], axes: { shift: ['day'] } } };")
        .expect("written");
    let board = |arguments: &[&str]| {
        let mut all = vec!["board"];
        all.extend(arguments);
        all.extend(["--root", "b", "--json"]);
        home.run(&all).expect("runs")
    };
    assert_eq!(board(&["card", "create", "--title", "A"]).code, 0);
    assert_eq!(board(&["card", "create", "--title=--area"]).code, 0);
    let long = "x".repeat(300);
    let cases: [(&[&str], i32, &str); 20] = [
        (&["zzz"], 2, "CLI_COMMAND_UNKNOWN"),
        (&["ui", "--port", "1"], 1, "CLI_ARGUMENT_UNKNOWN"),
        (&["version", "more"], 1, "CLI_ARGUMENT_UNKNOWN"),
        (&["card", "create", "--title", "--area", "api"], 1, "CLI_ARGUMENT_REQUIRED"),
        (&["card", "create", "--title", "Print", "a", "receipt"], 1, "CLI_ARGUMENT_UNKNOWN"),
        (&["card", "show", "T-0001", "T-0002"], 1, "CLI_ARGUMENT_UNKNOWN"),
        (&["card", "list", "backlog"], 1, "CLI_ARGUMENT_UNKNOWN"),
        (&["card", "list", "--area", "moon"], 1, "CLI_OPTION_INVALID"),
        (&["card", "list", "--axis", "mood=x"], 1, "CLI_OPTION_INVALID"),
        (&["card", "list", "--axis", "shift=night"], 1, "CLI_OPTION_INVALID"),
        (&["next", "--area", "moon"], 1, "CLI_OPTION_INVALID"),
        (&["next", "--limit", "99"], 1, "CLI_OPTION_INVALID"),
        (&["search", "x", "--kind", "poem"], 1, "CLI_OPTION_INVALID"),
        (&["doc", "list", "--kind", "poem"], 1, "CLI_OPTION_INVALID"),
        (&["changelog", "list", "--type", "poem"], 1, "CLI_OPTION_INVALID"),
        (&["memory", "list", "--collection", "poems"], 1, "CLI_OPTION_INVALID"),
        (&["doc", "create", "--title", "x", "--folder", &long], 1, "DOC_FOLDER_INVALID"),
        (&["claude", "plugin", "/proc/nowhere"], 1, "CLI_ARGUMENT_INVALID"),
        (&["init", "--agents", "moon", "--force"], 1, "INIT_TARGET_UNSUPPORTED"),
        (&["card", "create", "--title", "x", "--status", "doing"], 1, "CARD_CLAIM_REQUIRED"),
    ];
    for (arguments, exit, code) in cases {
        let done = board(arguments);
        let error: Value = serde_json::from_str(&done.stderr).unwrap_or_default();
        assert_eq!((done.code, error["error"]["code"].as_str()), (exit, Some(code)), "{arguments:?}: {done:?}");
        assert_eq!(done.stdout, "", "{arguments:?}");
    }
    let listed: Value = board(&["card", "list", "--axis", "shift=day"]).json();
    assert_eq!(listed["total"], 0);
    // The hooks' command is not where this environment looks for programs.
    let installed = board(&["claude", "install"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let checked = board(&["claude", "check"]);
    let answer: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    assert_eq!((checked.code, &answer["hookCommand"]), (1, &json!("unreachable")), "{checked:?}");
    assert_eq!(answer["issues"][0]["code"], "claude-hook-unreachable");
    home.assert_nothing_left();
}

#[test]
fn twelve_agents_at_once_lose_nothing_also_when_their_servers_are_killed() {
    for kills in [false, true] {
        let options = BoardSoakOptions { seed: 20_261_130, each: 4, kills, most: std::time::Duration::ZERO };
        let outcome = board_soak(options, |_| {}).unwrap();
        println!("{outcome}");
        assert!(outcome.failed.is_empty(), "{outcome}");
        assert!(outcome.cards > 0 && outcome.claims > 0 && outcome.notes > 0, "{outcome}");
    }
}
