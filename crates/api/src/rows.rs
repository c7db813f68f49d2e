//! From what is recorded to the rows that the page shows.

use std::collections::HashMap;

use model::{InteractionKind, Origin, RunId, RunStatus, TimestampMs};
use store::{Found, FoundPart, Owner, Project, Question, RowDetails, RunEntry, RunRecord, Store};

use crate::Answer;
use crate::wire::run::{Answered, FoundAt, FoundIn, Progress, QuestionRow, RunRow, StageRow};

/// How long a client's form stays open unless its server was started with another limit.
const CALL_OPEN: TimestampMs = 300_000;

/// Titles of projects, each looked up once.
pub(crate) struct Titles<'a> {
    store: &'a Store,
    known: HashMap<String, Option<Project>>,
}

impl<'a> Titles<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store, known: HashMap::new() }
    }

    fn project(&mut self, id: &str) -> Option<&Project> {
        let store = self.store;
        self.known.entry(id.to_owned()).or_insert_with(|| store.project(id).ok()).as_ref()
    }

    /// Returns a project's title, and whether it is registered.
    pub(crate) fn of(&mut self, id: &str) -> (String, bool) {
        match self.project(id) {
            Some(project) => (project.title.clone(), !project.removed),
            None => (id.to_owned(), false),
        }
    }
}

/// Makes rows of some runs.
pub(crate) fn rows(store: &Store, entries: &[RunEntry]) -> Answer<Vec<RunRow>> {
    let details = store.row_details(entries)?;
    let mut parents: Vec<RunId> = entries.iter().filter_map(|entry| entry.summary.parent.clone()).collect();
    parents.dedup();
    let parents = if parents.is_empty() { Vec::new() } else { store.entries(&parents)? };
    let mut titles = Titles::new(store);
    let rows = entries.iter().zip(details).map(|(entry, details)| {
        let parent = parents.iter().find(|parent| Some(&parent.summary.run_id) == entry.summary.parent.as_ref());
        row(entry, details, parent.map(|parent| parent.summary.entrypoint_title.clone()), &mut titles)
    });
    Ok(rows.collect())
}

fn row(entry: &RunEntry, details: RowDetails, parent_title: Option<String>, titles: &mut Titles<'_>) -> RunRow {
    let run = &entry.summary;
    let (title, registered) = titles.of(&run.project);
    let (done, all) = details.nodes;
    RunRow {
        run_id: run.run_id.to_string(),
        project: run.project.clone(),
        project_title: title,
        registered: run.registered && registered,
        entrypoint_id: run.entrypoint_id.to_string(),
        entrypoint_title: run.entrypoint_title.clone(),
        status: run.status,
        origin: run.origin,
        client: run.client.clone(),
        parent: run.parent.as_ref().map(ToString::to_string),
        parent_title,
        created_at: run.created_at,
        started_at: run.started_at,
        finished_at: run.finished_at,
        duration_ms: run.duration_ms(),
        cancel_reason: run.cancel_reason.map(|reason| reason.as_str().to_owned()),
        pinned: run.pinned,
        stages: stages(&details.stages),
        phase: details.at_phase,
        step: details.at_step,
        progress: match details.said {
            Some(said) => Some(Progress { done: said.done, total: said.total }),
            None => (all > 0).then_some(Progress { done, total: None }),
        },
        error: details.error,
        found: None,
    }
}

/// Each stage ends where the next begins; the end of a run has none.
pub(crate) fn stages(stages: &[store::Stage]) -> Vec<StageRow> {
    stages
        .iter()
        .enumerate()
        .map(|(place, stage)| StageRow {
            status: stage.status,
            at: stage.at,
            until: stages.get(place + 1).map(|next| next.at),
        })
        .collect()
}

pub(crate) fn found(found: Found) -> FoundAt {
    let part = match found.part {
        FoundPart::Id => FoundIn::Id,
        FoundPart::Entrypoint => FoundIn::Entrypoint,
        FoundPart::Input => FoundIn::Input,
        FoundPart::Output => FoundIn::Output,
        FoundPart::Error => FoundIn::Error,
        FoundPart::Node => FoundIn::Node,
        FoundPart::Log => FoundIn::Log,
    };
    FoundAt { part, text: found.text, start: found.start, length: found.length }
}

/// Tells whether declining is an answer: to a script it is. A program is started again with its answer, and there is none.
pub(crate) fn can_decline(question: &Question) -> bool {
    question.kind == InteractionKind::Approval || question.seq.is_some() || question.child.is_some()
}

pub(crate) fn question(question: &Question) -> QuestionRow {
    let mut form = question.form.clone();
    let approval = form.approval.take();
    QuestionRow {
        number: question.number,
        kind: question.kind,
        form,
        child: question.child.as_ref().map(ToString::to_string),
        asked_at: question.asked_at,
        expires_at: question.expires_at,
        answer: question.answer.as_ref().map(|answer| Answered {
            action: answer.action,
            content: answer.content.clone(),
            by: answer.by.clone(),
            at: answer.at,
        }),
        can_decline: can_decline(question).then_some(true),
        approval,
    }
}

/// Until when the client's call may still be open: its server lives, and asked the person not long ago.
pub(crate) fn call_open_until(run: &RunRecord, now: TimestampMs) -> Option<TimestampMs> {
    let asked = run.pending()?.asked_at;
    let open = run.summary.origin == Origin::Mcp
        && run.summary.status == RunStatus::WaitingForInput
        && run.owner.as_ref().is_some_and(Owner::is_alive);
    Some(asked + CALL_OPEN).filter(|until| open && *until > now)
}
