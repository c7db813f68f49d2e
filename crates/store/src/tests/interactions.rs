//! Questions and answers.

use ::model::{AnswerAction, CancelReason, Form, InteractionKind, Param, ParamType, RunStatus};
use serde_json::{Value, json};
use std::sync::{Arc, Barrier};

use super::runs::ends;
use super::{Fixture, Flip, START, alive, run};
use crate::{NewAnswer, NewQuestion, StoreError};

fn field(name: &str, kind: ParamType) -> Param {
    serde_json::from_value(json!({ "name": name, "type": kind.as_str() })).unwrap()
}

pub(crate) fn question(kind: ParamType) -> NewQuestion {
    NewQuestion {
        seq: Some(3),
        form: Form { title: "Tone".into(), message: None, fields: vec![field("tone", kind)], approval: None },
        kind: InteractionKind::Form,
        child: None,
        patience: None,
    }
}

pub(crate) fn answer(content: Value, by: &str) -> NewAnswer {
    NewAnswer { action: AnswerAction::Accept, content, by: by.into() }
}

#[test]
fn a_question_waits_and_its_answer_stays() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    assert_eq!(store.ask(&lease, &question(ParamType::String)).unwrap(), 0);
    assert_eq!(store.ask(&lease, &question(ParamType::String)).unwrap(), 1);
    let shown = store.show(lease.run()).unwrap();
    assert_eq!(shown.summary.status, RunStatus::WaitingForInput);
    assert_eq!(shown.pending().map(|question| question.number), Some(0));

    fixture.clock.advance(50);
    store.answer(lease.run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
    assert_eq!(store.answer_content(&lease, 0).unwrap(), Some((AnswerAction::Accept, json!({"tone": "plain"}))));
    assert_eq!(store.answer_content(&lease, 1).unwrap(), None);
    let shown = store.show(lease.run()).unwrap();
    assert_eq!(shown.pending().map(|question| question.number), Some(1));
    let interaction = serde_json::to_value(shown.questions[0].to_interaction()).unwrap();
    assert_eq!(
        interaction,
        json!({
            "form": {"title": "Tone", "fields": [
                {"name": "tone", "type": "string", "required": false, "multiple": false}]},
            "kind": "form", "answer": {"tone": "plain"}, "action": "accept", "by": "cli",
            "askedAt": "2026-08-28T06:53:20.000Z", "answeredAt": "2026-08-28T06:53:20.050Z"
        })
    );
    assert!(matches!(store.answer_content(&lease, 9), Err(StoreError::NoSuchQuestion { question: 9, .. })));
    assert!(matches!(
        store.answer(lease.run(), 9, &answer(json!({}), "cli")),
        Err(StoreError::NoSuchQuestion { question: 9, .. })
    ));
}

#[test]
fn the_first_answer_wins_and_the_others_are_told() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    fixture.store.ask(&lease, &question(ParamType::String)).unwrap();
    let barrier = Barrier::new(6);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|n| {
                let (store, barrier, lease) = (fixture.another(), &barrier, &lease);
                scope.spawn(move || {
                    barrier.wait();
                    (n, store.answer(lease.run(), 0, &answer(json!({"tone": n}), &format!("client{n}"))))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winners: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(n, _)| *n).collect();
    assert_eq!(winners.len(), 1);
    for (_, outcome) in outcomes {
        if let Err(error) = outcome {
            let StoreError::AlreadyAnswered { by, at, .. } = error else { panic!("{error}") };
            assert_eq!((by, at), (format!("client{}", winners[0]), START));
        }
    }
    assert_eq!(fixture.store.answer_content(&lease, 0).unwrap().unwrap().1, json!({"tone": winners[0]}));
}

#[test]
fn who_does_not_wait_gets_no_answer() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    store.ask(&lease, &question(ParamType::String)).unwrap();
    store.request_cancel(lease.run(), CancelReason::Person).unwrap();
    let late = store.answer(lease.run(), 0, &answer(json!({}), "cli"));
    assert!(matches!(late, Err(StoreError::NotWaiting { status: RunStatus::Cancelled, .. })));
    assert!(store.show(lease.run()).unwrap().pending().is_none());
}

#[test]
fn a_secret_answer_is_sealed_and_forgotten() {
    let fixture = Fixture::new();
    let store = fixture.store.sealing(Arc::new(Flip));
    let lease = store.create_run(&run()).unwrap();
    store.ask(&lease, &question(ParamType::Secret)).unwrap();
    let content = json!({"tone": "s3cr3t-answer"});
    let unsealed = fixture.store.answer(lease.run(), 0, &answer(content.clone(), "cli"));
    assert!(matches!(unsealed, Err(StoreError::Unstorable { .. })));
    store.answer(lease.run(), 0, &answer(content.clone(), "cli")).unwrap();
    assert_eq!(store.questions(lease.run()).unwrap()[0].answer.as_ref().unwrap().content, json!({"tone": "•••"}));
    assert_eq!(store.answer_content(&lease, 0).unwrap().unwrap().1, content);

    store.transition(&lease, RunStatus::Running).unwrap();
    store.finish(&lease, ends(RunStatus::Success, None)).unwrap();
    assert_eq!(store.answer_content(&lease, 0).unwrap().unwrap().1, json!({"tone": "•••"}));
    let sealed: Option<Vec<u8>> =
        fixture.raw().query_row("SELECT sealed FROM interactions", [], |row| row.get(0)).unwrap();
    assert_eq!(sealed, None);
}

#[test]
fn waiting_runs_are_listed_oldest_first_and_expire() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let mut leases = Vec::new();
    for days in [30, 10, 30] {
        let lease = store.create_run(&run()).unwrap();
        let patience = Some(days * 86_400_000);
        store.ask(&lease, &NewQuestion { patience, ..question(ParamType::String) }).unwrap();
        fixture.clock.advance(1_000);
        leases.push(lease);
    }
    store.answer(leases[2].run(), 0, &answer(json!({}), "cli")).unwrap();
    let open =
        |most| -> Vec<_> { store.open_questions(most).unwrap().into_iter().map(|open| open.run.run_id).collect() };
    assert_eq!(open(10), [leases[0].run().clone(), leases[1].run().clone()]);
    assert_eq!(open(1), [leases[0].run().clone()]);
    assert_eq!(store.expire_waiting().unwrap(), []);
    fixture.clock.advance(11 * 86_400_000);
    assert_eq!(store.expire_waiting().unwrap(), [], "the clock may be wrong");
    fixture.clock.advance(3_600_000);
    assert_eq!(fixture.another().expire_waiting().unwrap(), [leases[1].run().clone()]);
    let expired = store.run(leases[1].run()).unwrap();
    assert_eq!((expired.status, expired.cancel_reason), (RunStatus::Cancelled, Some(CancelReason::Expired)));
    assert!(matches!(
        store.take_over(expired.run_id.as_str().parse().as_ref().unwrap(), &alive(), None),
        Err(StoreError::NotFree { .. })
    ));
    assert_eq!(open(10), [leases[0].run().clone()]);
}

#[test]
fn a_waiting_run_let_go_is_taken_by_whoever_answers() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    store.ask(&lease, &question(ParamType::String)).unwrap();
    store.release(&lease).unwrap();
    let other = fixture.another();
    other.answer(lease.run(), 0, &answer(json!({"tone": "warm"}), "desktop")).unwrap();
    let taken = other.take_over(lease.run(), &alive(), Some(2)).unwrap();
    other.transition(&taken.lease, RunStatus::Running).unwrap();
    assert!(matches!(store.transition(&lease, RunStatus::Running), Err(StoreError::StaleEpoch { .. })));
}
