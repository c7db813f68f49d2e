//! Many at once: distinct ids, one holder, no lost note.

use std::collections::HashSet;

use board::{Claim, Forced, Proof};
use serde_json::json;

use crate::place::{PLAIN, Place, UNPROVED, code, fields_of};

#[test]
fn twelve_that_create_claim_move_and_release_at_once() {
    const EACH: usize = 6;
    let place = Place::new(json!({}));
    place.card(json!({ "title": "Shared" }), "");
    let ids: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..12)
            .map(|worker| {
                let board = place.another();
                scope.spawn(move || {
                    let actor = format!("worker-{worker}");
                    let mut ids = Vec::new();
                    for at in 0..EACH {
                        let title = format!("Card {worker} {at}");
                        let card = board
                            .create_card(fields_of(json!({ "title": title, "raised": "derived" })), "")
                            .expect("created");
                        let claim = Claim { actor: &actor, ..Claim::default() };
                        board.claim_card(&card.id, &claim, None).expect("claimed");
                        let taken = board.claim_card("T-0001", &claim, None);
                        board.note_card("T-0001", &format!("note {worker} {at}"), None, &actor).expect("noted");
                        match taken {
                            Ok((shared, _)) => {
                                assert_eq!(shared.text("claimed_by"), actor);
                                board
                                    .release_card("T-0001", None, &actor, &UNPROVED, &PLAIN, None)
                                    .expect("released by its holder");
                            }
                            Err(error) => assert_eq!(error.code, "CARD_ALREADY_CLAIMED"),
                        }
                        board
                            .transition_card(
                                &card.id,
                                "review",
                                &actor,
                                None,
                                &Proof::default(),
                                &Forced::default(),
                                None,
                            )
                            .expect("moved");
                        ids.push(card.id.clone());
                    }
                    ids
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    let distinct: HashSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (12 * EACH, 12 * EACH));
    let shared = place.another().get("T-0001").expect("read");
    let body = shared["body"].as_str().expect("text");
    for worker in 0..12 {
        for at in 0..EACH {
            assert_eq!(
                body.matches(&format!("— note {worker} {at}\n")).count()
                    + usize::from(body.ends_with(&format!("— note {worker} {at}"))),
                1
            );
        }
    }
    let codes: Vec<String> = place.codes().into_iter().filter(|code| code != "raised-missing").collect();
    assert!(codes.is_empty(), "{codes:?}");
    let board = place.read(".project/.cache/activity/board.json");
    assert!(board.contains("\"claims\":[]"), "every claim was given back: {board}");
}

#[test]
fn of_claims_at_the_same_instant_exactly_one_wins() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    let barrier = std::sync::Barrier::new(8);
    let won: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let (board, barrier) = (place.another(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let actor = format!("worker-{worker}");
                    let result = board.claim_card("T-0001", &Claim { actor: &actor, ..Claim::default() }, None);
                    let code = code(result);
                    assert!(["accepted", "CARD_ALREADY_CLAIMED"].contains(&code), "{code}");
                    usize::from(code == "accepted")
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).sum()
    });
    assert_eq!(won, 1);
}
