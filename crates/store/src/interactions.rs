//! Questions to a person. Each is answered once, by whoever is first.

use model::{
    AnswerAction, CancelReason, Form, Interaction, InteractionKind, ParamType, RunId, RunStatus, TimestampMs,
    format_timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::{Value, json};

use crate::body::{Stored, decode_text, json as read_json, parse};
use crate::database::{Fault, Outcome};
use crate::family::{self, Place, Shown};
use crate::masked_form::{self, holds_mask};
use crate::runs::{Lease, RunRecord, RunSummary, SUMMARY, Step, cancel, find, grow, held, note, step, summary};
use crate::{Durability, MASK, Result, Sealer, Store, StoreError};

/// Runs that one call of [`Store::expire_waiting`] ends.
const EXPIRED_AT_ONCE: i64 = 100;

/// A question to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewQuestion {
    /// The host call that asks, if the run is a script.
    pub seq: Option<u64>,
    /// What is asked.
    pub form: Form,
    /// Whether it asks for facts or for leave.
    pub kind: InteractionKind,
    /// The related run that really asks, if it is not this one.
    pub child: Option<RunId>,
    /// How long it waits, in milliseconds from the moment that it is recorded, before the run is given up.
    pub patience: Option<i64>,
}

/// An answer to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAnswer {
    /// What was done with the question.
    pub action: AnswerAction,
    /// The values, checked and with defaults filled in; `null` unless accepted.
    pub content: Value,
    /// Who answered: `client`, `cli`, `desktop`.
    pub by: String,
}

/// An answer that was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What was done with the question.
    pub action: AnswerAction,
    /// The values, secrets masked.
    pub content: Value,
    /// Who answered.
    pub by: String,
    /// When.
    pub at: TimestampMs,
}

/// A question of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its number in the run, from 0.
    pub number: u64,
    /// The host call that asked.
    pub seq: Option<u64>,
    /// What was asked.
    pub form: Form,
    /// Whether it asked for facts or for leave.
    pub kind: InteractionKind,
    /// The related run that really asks.
    pub child: Option<RunId>,
    /// When it was asked.
    pub asked_at: TimestampMs,
    /// When the run is given up.
    pub expires_at: Option<TimestampMs>,
    /// What was answered.
    pub answer: Option<Answered>,
}

impl Question {
    /// Returns the question in the shape in which it is shown.
    #[must_use]
    pub fn to_interaction(&self) -> Interaction {
        let answer = self.answer.as_ref();
        Interaction {
            form: self.form.clone(),
            kind: self.kind,
            answer: answer.map(|answer| answer.content.clone()),
            action: answer.map(|answer| answer.action),
            by: answer.map(|answer| answer.by.clone()),
            asked_at: format_timestamp(self.asked_at),
            answered_at: answer.map(|answer| format_timestamp(answer.at)),
        }
    }
}

/// A question that waits, with its run.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    /// The run.
    pub run: RunSummary,
    /// The question.
    pub question: Question,
}

fn kind_name(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Form => "form",
        InteractionKind::Approval => "approval",
    }
}

/// A question as it is answered: in the run that really asks.
struct AskedForm {
    place: Place,
    /// As it was shown there.
    form: Form,
    /// As it was asked, where that is needed and known.
    true_form: Option<Form>,
    /// As it was shown in the runs above, up to the one that is named.
    above: Vec<Form>,
    /// Whether the run that really asks is not recorded any more.
    is_child: bool,
}

const COLUMNS: &str = "interactions.question, interactions.seq, interactions.kind, interactions.form, \
     interactions.child, interactions.asked_at, interactions.expires_at, interactions.action, interactions.content, \
     interactions.answered_by, interactions.answered_at, interactions.sealed_form IS NOT NULL";

/// Reads the columns of [`COLUMNS`] that begin at `first`.
fn question(row: &Row<'_>, first: usize) -> Outcome<Question> {
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    let kind = match row.get_ref(first + 2)?.as_str().unwrap_or("") {
        "form" => InteractionKind::Form,
        "approval" => InteractionKind::Approval,
        other => return Err(Fault::Damaged(format!("a question is of the unknown kind `{other}`"))),
    };
    let answer = match row.get::<_, Option<i64>>(first + 10)? {
        None => None,
        Some(at) => {
            let action: String = row.get::<_, Option<String>>(first + 7)?.unwrap_or_default();
            let content: Option<String> = row.get(first + 8)?;
            Some(Answered {
                action: serde_json::from_value(json!(action))
                    .map_err(|error| Fault::Damaged(format!("an answer: {error}")))?,
                content: content.map_or(Ok(Value::Null), |text| read_json(&text, "an answer"))?,
                by: row.get::<_, Option<String>>(first + 9)?.unwrap_or_default(),
                at,
            })
        }
    };
    let mut form: Form = parse(&row.get::<_, String>(first + 3)?, "a question")?;
    let child = row.get::<_, Option<String>>(first + 4)?.map(crate::runs::run_id).transpose()?;
    let is_true_form_kept: bool = row.get(first + 11)?;
    if answer.is_none() && child.is_none() && !is_true_form_kept {
        // What a masked default stood for is not known: the field has none. (A related run knows what its own mean.)
        for field in &mut form.fields {
            field.default.take_if(|default| holds_mask(default));
        }
    }
    Ok(Question {
        number: number(row.get(first)?),
        seq: row.get::<_, Option<i64>>(first + 1)?.map(number),
        kind,
        form,
        child,
        asked_at: row.get(first + 5)?,
        expires_at: row.get(first + 6)?,
        answer,
    })
}

/// Reads the questions of a run.
pub(crate) fn of_run(connection: &Connection, key: i64) -> Outcome<Vec<Question>> {
    let sql = format!("SELECT {COLUMNS} FROM interactions WHERE run = ?1 ORDER BY question");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([key])?;
    let mut questions = Vec::new();
    while let Some(row) = rows.next()? {
        questions.push(question(row, 0)?);
    }
    Ok(questions)
}

/// Writes the query for questions that wait, oldest run first.
pub(crate) fn open_sql() -> String {
    format!(
        "SELECT {SUMMARY}, {COLUMNS} FROM runs INDEXED BY runs_by_status \
         CROSS JOIN interactions ON interactions.run = runs.key \
         WHERE runs.status = 'waiting_for_input' AND interactions.answered_at IS NULL \
         ORDER BY runs.created_at, runs.key, interactions.question LIMIT ?1"
    )
}

/// Finds waiting runs with a question whose time is over.
pub(crate) const EXPIRED: &str = "SELECT runs.run_id FROM runs INDEXED BY runs_by_status \
     CROSS JOIN interactions ON interactions.run = runs.key \
     WHERE runs.status = 'waiting_for_input' AND interactions.answered_at IS NULL \
     AND interactions.expires_at <= ?1 LIMIT ?2";

/// Replaces the values of secret fields.
fn without_secrets(form: &Form, content: &Value) -> Value {
    let mut shown = content.clone();
    if let Some(members) = shown.as_object_mut() {
        for field in form.fields.iter().filter(|field| field.kind == ParamType::Secret) {
            if let Some(value) = members.get_mut(&field.name) {
                *value = Value::from(MASK);
            }
        }
    }
    shown
}

/// Seals a text for a column of its own: the encoding goes in front, since the column holds nothing else.
fn sealed_text(text: &str, sealer: &dyn Sealer) -> Vec<u8> {
    let Stored { encoding, data } = Stored::sealed(text.as_bytes(), sealer);
    let mut bytes = vec![u8::try_from(encoding).unwrap_or(0)];
    bytes.extend(data);
    bytes
}

/// Opens what [`sealed_text`] sealed.
fn opened_text(bytes: &[u8], sealer: Option<&dyn Sealer>, what: &str) -> Outcome<String> {
    let (encoding, data) = bytes.split_first().ok_or_else(|| Fault::Damaged(format!("{what} is empty")))?;
    decode_text(i64::from(*encoding), data.to_vec(), sealer, what)
}

impl Store {
    /// Returns a form as people and clients see it, secrets masked. An answer by what is masked here is taken by
    /// [`Store::answer`] for what it stands for; without a sealer that is not kept, and defaults are left out.
    #[must_use]
    pub fn shown_form(&self, form: &Form) -> Form {
        let mut shown = masked_form::masked(self.masker(), form);
        if self.sealer().is_none() {
            for (field, truth) in shown.fields.iter_mut().zip(&form.fields) {
                field.default.take_if(|default| truth.default.as_ref() != Some(&*default));
            }
        }
        shown
    }

    /// Asks a question: the run waits for input from now on, which is safe against a loss of power. A run that waits
    /// already asks one more. Returns the question's number.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`], or [`StoreError::Transition`] when the run has ended.
    pub fn ask(&self, lease: &Lease, new: &NewQuestion) -> Result<u64> {
        let shown = self.shown_form(&new.form);
        let form = json!(shown).to_string();
        // Also a form that holds the mask itself: it then is known to stand for nothing else.
        let is_sealed = shown != new.form || form.contains(MASK);
        let sealer = self.sealer().filter(|_| is_sealed);
        let sealed_form = sealer.map(|sealer| sealed_text(&json!(new.form).to_string(), sealer));
        let seq = new.seq.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX));
        let (kind, patience) = (kind_name(new.kind), new.patience);
        let child = new.child.as_ref().map(ToString::to_string);
        let (lease, outside) = (lease.clone(), self.outside());
        self.database.write(Durability::Power, move |connection| {
            let state = held(connection, &lease)?;
            let now = outside.clock.now();
            let expires_at = patience.map(|patience| now.saturating_add(patience));
            if state.status != RunStatus::WaitingForInput {
                step(connection, &state, Step { to: RunStatus::WaitingForInput, reason: None, at: now })?;
            }
            let number: i64 = connection
                .prepare_cached("SELECT coalesce(max(question) + 1, 0) FROM interactions WHERE run = ?1")?
                .query_row([state.key], |row| row.get(0))?;
            connection
                .prepare_cached(
                    "INSERT INTO interactions (run, question, seq, kind, form, child, asked_at, expires_at, \
                     sealed_form) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?
                .execute((state.key, number, seq, kind, &form, &child, now, expires_at, &sealed_form))?;
            if sealed_form.is_some() {
                connection.prepare_cached("UPDATE runs SET sealed = 1 WHERE key = ?1")?.execute([state.key])?;
            }
            note(connection, &state, "question")?;
            grow(connection, &state, i64::try_from(form.len()).unwrap_or(0))?;
            if child.is_some() {
                // It may have been answered before it stood here.
                family::settle_below(connection, &state, now)?;
            }
            Ok(u64::try_from(number).unwrap_or(0))
        })
    }

    /// Answers a question, if nobody has before; safe against a loss of power. Values of secret fields, and answers
    /// that hold a masked secret, are kept sealed until the run ends, and shown masked. What the form showed masked, an
    /// option or a default, stands for what the workflow had asked with. A question that stands in several records, since
    /// a related run asks it, is answered in all of them.
    ///
    /// The run itself does not move: its owner sees the answer, or whoever answered takes it over.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyAnswered`] says who was first; [`StoreError::NotWaiting`] when the run has ended;
    /// [`StoreError::Unstorable`] for a secret without a sealer.
    pub fn answer(&self, run: &RunId, question: u64, answer: &NewAnswer) -> Result<()> {
        let asked = self.asked(run, question, holds_mask(&answer.content))?;
        let (chosen, content) = self.read_answer(&asked, &answer.content)?;
        let shown = self.masker().mask_json(&without_secrets(&asked.form, &chosen));
        let sealed = if shown == content {
            None
        } else {
            let sealer = self.sealer().ok_or_else(|| StoreError::Unstorable {
                what: "an answer that holds a secret, without a key to seal it,".into(),
            })?;
            Some(sealed_text(&content.to_string(), sealer))
        };
        let (shown, by) = (shown.to_string(), self.masker().mask(&answer.by).into_owned());
        let action = answer.action.as_str();
        let (run, outside, place) = (run.clone(), self.outside(), asked.place);
        self.database.write(Durability::Power, move |connection| {
            let state = find(connection, &place.run)?;
            let before: Option<(Option<i64>, Option<String>)> = connection
                .prepare_cached("SELECT answered_at, answered_by FROM interactions WHERE run = ?1 AND question = ?2")?
                .query_row((state.key, place.question), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            match before {
                None => return Err(StoreError::NoSuchQuestion { run: run.clone(), question }.into()),
                Some((Some(at), by)) => {
                    let by = by.unwrap_or_default();
                    return Err(StoreError::AlreadyAnswered { run: run.clone(), question, by, at }.into());
                }
                Some((None, _)) => {}
            }
            match state.status {
                // One of several questions may be open while the run goes on with the answer to another.
                RunStatus::WaitingForInput | RunStatus::Running | RunStatus::Interrupted => {}
                RunStatus::Queued
                | RunStatus::Success
                | RunStatus::Failed
                | RunStatus::Cancelled
                | RunStatus::Timeout => {
                    return Err(StoreError::NotWaiting { run: run.clone(), status: state.status }.into());
                }
            }
            let at = outside.clock.now();
            connection
                .prepare_cached(
                    "UPDATE interactions SET action = ?3, content = ?4, sealed = ?5, answered_by = ?6, \
                     answered_at = ?7 WHERE run = ?1 AND question = ?2 AND answered_at IS NULL",
                )?
                .execute((state.key, place.question, action, &shown, &sealed, &by, at))?;
            if sealed.is_some() {
                connection.prepare_cached("UPDATE runs SET sealed = 1 WHERE key = ?1")?.execute([state.key])?;
            }
            note(connection, &state, "answer")?;
            grow(connection, &state, i64::try_from(shown.len()).unwrap_or(0))?;
            let shown = Shown { action, content: &shown, by: &by, at };
            family::answer_above(connection, &state, place.question, &shown)
        })
    }

    /// Finds the question that is really asked, and the ways in which it was shown. `is_masked`: the answer holds a mask,
    /// so that the form as it is is needed.
    fn asked(&self, run: &RunId, question: u64, is_masked: bool) -> Result<AskedForm> {
        type Row = (String, Option<Vec<u8>>, bool);
        self.database.read_together(|connection| {
            let places = family::places(connection, run, i64::try_from(question).unwrap_or(-1))?;
            let mut forms = Vec::with_capacity(places.len());
            for place in &places {
                let row: Option<Row> = connection
                    .prepare_cached(
                        "SELECT form, sealed_form, child IS NOT NULL FROM interactions WHERE run = ?1 AND question = ?2",
                    )?
                    .query_row((find(connection, &place.run)?.key, place.question), |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                    })
                    .optional()?;
                forms.push(row.ok_or_else(|| StoreError::NoSuchQuestion { run: run.clone(), question })?);
            }
            let mut forms = forms.into_iter();
            let (Some(place), Some((text, sealed, is_child))) = (places.into_iter().next(), forms.next()) else {
                return Err(StoreError::NoSuchQuestion { run: run.clone(), question }.into());
            };
            let above = forms.map(|(text, ..)| parse(&text, "a question")).collect::<Outcome<Vec<Form>>>()?;
            let form: Form = parse(&text, "a question")?;
            // An answer without a mask needs no key.
            let true_form = match sealed.filter(|_| is_masked) {
                Some(sealed) => {
                    Some(parse(&opened_text(&sealed, self.sealer(), "a sealed question")?, "a sealed question")?)
                }
                // Nothing in it is masked but where a run above shows it.
                None if is_masked && !above.is_empty() && !text.contains(MASK) => Some(form.clone()),
                None => None,
            };
            Ok(AskedForm { place, form, true_form, above, is_child })
        })
    }

    /// Reads an answer as it was chosen, and as the workflow gets it.
    fn read_answer(&self, asked: &AskedForm, content: &Value) -> Result<(Value, Value)> {
        match &asked.true_form {
            Some(true_form) => {
                let now = masked_form::masked(self.masker(), true_form);
                let ways: Vec<&Form> = asked.above.iter().chain([&asked.form, &now]).collect();
                Ok((content.clone(), masked_form::restored(content, true_form, &ways)))
            }
            // The related run that knows what its masks mean is gone.
            None if asked.is_child => Ok((content.clone(), content.clone())),
            None => {
                let content =
                    masked_form::without_masked(content, &asked.form).ok_or_else(|| StoreError::Unstorable {
                        what: "an answer by a value that was masked, and is not known any more,".into(),
                    })?;
                Ok((content.clone(), content))
            }
        }
    }

    /// Returns the values of an answer as they were given, for the run that goes on with them. `None`: not answered.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`] when the run is in other hands; [`StoreError::NoSuchQuestion`];
    /// [`StoreError::Damaged`] when what was sealed cannot be opened with this installation's key.
    pub fn answer_content(&self, lease: &Lease, question: u64) -> Result<Option<(AnswerAction, Value)>> {
        type Row = (Option<String>, Option<String>, Option<Vec<u8>>);
        self.database.read(|connection| {
            let key = held(connection, lease)?.key;
            let row: Option<Row> = connection
                .prepare_cached("SELECT action, content, sealed FROM interactions WHERE run = ?1 AND question = ?2")?
                .query_row((key, i64::try_from(question).unwrap_or(-1)), |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            let (action, content, sealed) =
                row.ok_or_else(|| StoreError::NoSuchQuestion { run: lease.run().clone(), question })?;
            let Some(action) = action else { return Ok(None) };
            let action =
                serde_json::from_value(json!(action)).map_err(|error| Fault::Damaged(format!("an answer: {error}")))?;
            let text = match sealed {
                Some(sealed) => Some(opened_text(&sealed, self.sealer(), "a sealed answer")?),
                None => content,
            };
            Ok(Some((action, text.map_or(Ok(Value::Null), |text| read_json(&text, "an answer"))?)))
        })
    }

    /// Returns the questions of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn questions(&self, run: &RunId) -> Result<Vec<Question>> {
        self.database.read_together(|connection| of_run(connection, find(connection, run)?.key))
    }

    /// Tells whether a question of a related run was answered under that run's own id, or never will be: then there is
    /// nothing left to answer here, and whoever takes the run up goes on. (Versions before this one left such questions.)
    #[must_use]
    pub fn is_answered_below(&self, run: &RunRecord, question: &Question) -> bool {
        let Some(child) = &question.child else { return false };
        if self.run(child).is_ok_and(|child| child.is_over()) {
            return true;
        }
        let earlier = |one: &&Question| one.child.as_ref() == Some(child) && one.number < question.number;
        let place = run.questions.iter().filter(earlier).count();
        self.questions(child).is_ok_and(|theirs| theirs.get(place).is_some_and(|theirs| theirs.answer.is_some()))
    }

    /// Returns at most `limit` questions that wait for an answer, those of the oldest runs first.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn open_questions(&self, limit: usize) -> Result<Vec<OpenQuestion>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&open_sql())?;
            let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
            let mut open = Vec::new();
            while let Some(row) = rows.next()? {
                open.push(OpenQuestion { run: summary(row)?, question: question(row, crate::runs::SUMMARY_KEY + 1)? });
            }
            Ok(open)
        })
    }

    /// Cancels waiting runs whose question nobody has answered in time, 100 at a time. Returns them. None while the clock
    /// has just jumped ahead by more than a day: an hour later it is believed.
    ///
    /// # Errors
    ///
    /// The database could not be read or written.
    pub fn expire_waiting(&self) -> Result<Vec<RunId>> {
        fn expired(connection: &Connection, now: TimestampMs) -> Outcome<Vec<RunId>> {
            let mut statement = connection.prepare_cached(EXPIRED)?;
            let mut rows = statement.query((now, EXPIRED_AT_ONCE))?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
                runs.push(crate::runs::run_id(row.get(0)?)?);
            }
            runs.dedup();
            Ok(runs)
        }
        let now = self.now();
        let outside = self.outside();
        let is_due = move |connection: &Connection| Ok(!expired(connection, now)?.is_empty());
        let ended = self.when_due(now, is_due, move |connection| {
            let runs = expired(connection, now)?;
            let mut ended = Vec::new();
            for run in runs {
                let state = find(connection, &run)?;
                // One of its family may have ended it with itself.
                if state.status == RunStatus::WaitingForInput {
                    cancel(connection, &state, CancelReason::Expired, &outside)?;
                    family::cancel_around(connection, &state, CancelReason::Expired, &outside)?;
                    ended.push(run);
                }
            }
            Ok(ended)
        })?;
        Ok(ended.unwrap_or_default())
    }
}
