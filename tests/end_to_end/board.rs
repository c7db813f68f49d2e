//! A registered board: served by its id, its changes in the history.

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Opening};

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
