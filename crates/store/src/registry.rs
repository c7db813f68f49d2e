//! The registry: which folders are projects, and which of them belong together.

use std::path::{Path, PathBuf};

use model::{ProjectId, RunId, TimestampMs};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::{Map, Value, json};

use crate::body;
use crate::database::{Fault, Outcome};
use crate::{Durability, Result, Store, StoreError, StoreOptions, changes, retention, runs};

/// What a folder is registered as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProjectKind {
    /// Workflows, by `package.json`.
    Workflow,
    /// Guided jobs, by `.deepwork/`.
    Guided,
    /// A project board, by `.project/`.
    Board,
    /// Conversations; registered but not served.
    Conversation,
    /// A kanban; registered but not served.
    Kanban,
    /// Any folder; registered but not served.
    Folder,
}

impl ProjectKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Workflow, Self::Guided, Self::Board, Self::Conversation, Self::Kanban, Self::Folder];

    /// Returns the kind's name as it is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Guided => "guided",
            Self::Board => "board",
            Self::Conversation => "conversation",
            Self::Kanban => "kanban",
            Self::Folder => "folder",
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A registered project: one folder as one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// What it is.
    pub kind: ProjectKind,
    /// Its own UUID, if it has one.
    pub uuid: Option<String>,
    /// Its folder, absolute.
    pub path: PathBuf,
    /// Its title.
    pub title: String,
    /// When it was added.
    pub added_at: TimestampMs,
    /// When it was last used.
    pub used_at: TimestampMs,
    /// Its settings, an object.
    pub settings: Map<String, Value>,
    /// Whether it was removed; then only its history is left.
    pub removed: bool,
}

/// Where a project's settings have the programs that its runs may start unasked.
pub const ALLOW_EXEC: &str = "allowExec";

impl Project {
    /// Returns the programs that its runs may start unasked, as its settings have them. What is no list of texts is
    /// none.
    #[must_use]
    pub fn allow_exec(&self) -> Vec<String> {
        let list = self.settings.get(ALLOW_EXEC).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|pattern| pattern.as_str().map(str::to_owned)).collect()
    }

    /// Writes the project as machine-readable output (camelCase, stable).
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "projectId": self.id,
            "uuid": self.uuid,
            "kind": self.kind.as_str(),
            "title": self.title,
            "path": self.path.to_string_lossy(),
        })
    }
}

/// A project to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    /// What it is.
    pub kind: ProjectKind,
    /// Its own UUID, if it has one.
    pub uuid: Option<String>,
    /// Its folder, absolute and with links resolved.
    pub path: PathBuf,
    /// Its title.
    pub title: String,
}

/// What adding a project did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedHow {
    /// It is new.
    New,
    /// It was there.
    Known,
    /// It was known at another place, which is gone.
    Moved,
    /// It had been removed, and is back with its history.
    Restored,
}

/// A project that was added.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    /// The project as it is now.
    pub project: Project,
    /// What adding it did.
    pub how: AddedHow,
}

/// A related project, seen from one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The project that says so.
    pub project: ProjectId,
    /// What it calls the other.
    pub alias: String,
    /// The other.
    pub other: ProjectId,
    /// Whether the other says the same of this one, so that the relation holds.
    pub both: bool,
}

/// Most runs that an error names.
const NAMED_RUNS: i64 = 100;
/// Bytes of a project's settings.
const SETTINGS_BYTES: usize = 1024 * 1024;

const COLUMNS: &str = "id, kind, uuid, path, title, added_at, used_at, settings, removed_at IS NOT NULL";
pub(crate) const LIST: &str = "SELECT id, kind, uuid, path, title, added_at, used_at, settings, \
     removed_at IS NOT NULL FROM projects INDEXED BY projects_listed WHERE removed_at IS NULL \
     ORDER BY used_at DESC, id DESC";

fn project(row: &Row<'_>) -> Outcome<Project> {
    let id: String = row.get(0)?;
    let damaged = |what: &str| Fault::Damaged(format!("project {id} has {what}"));
    let kind = ProjectKind::parse(row.get_ref(1)?.as_str().unwrap_or("")).ok_or_else(|| damaged("an unknown kind"))?;
    let settings = match body::json(&row.get::<_, String>(7)?, "a project's settings")? {
        Value::Object(settings) => settings,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(damaged("settings that are no object"));
        }
    };
    Ok(Project {
        kind,
        uuid: row.get(2)?,
        path: PathBuf::from(row.get::<_, String>(3)?),
        title: row.get(4)?,
        added_at: row.get(5)?,
        used_at: row.get(6)?,
        settings,
        removed: row.get(8)?,
        id: id.parse().map_err(|_| damaged("an impossible id"))?,
    })
}

fn by_id(connection: &Connection, id: &str) -> Outcome<Option<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id], |row| Ok(project(row))).optional()?.transpose()
}

fn by_place(connection: &Connection, path: &str, kind: ProjectKind) -> Outcome<Option<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects WHERE path = ?1 AND kind = ?2");
    connection.prepare_cached(&sql)?.query_row((path, kind.as_str()), |row| Ok(project(row))).optional()?.transpose()
}

/// Finds the projects of a UUID, those that are not removed first.
fn by_uuid(connection: &Connection, uuid: &str) -> Outcome<Vec<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects INDEXED BY projects_by_uuid WHERE uuid = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([uuid])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(project(row)?);
    }
    found.sort_by_key(|project| (project.removed, project.kind));
    Ok(found)
}

fn existing(connection: &Connection, id: &ProjectId) -> Outcome<Project> {
    by_id(connection, id.as_str())?.ok_or_else(|| StoreError::NoSuchProject { project: id.to_string() }.into())
}

fn noted(connection: &Connection, id: &ProjectId, what: &str) -> Outcome<()> {
    changes::note(connection, None, Some(id.as_str()), what)
}

fn text(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| StoreError::Unstorable { what: format!("{}, whose name is no text,", path.display()) })
}

/// What to do with a project that is to be added.
#[derive(Debug, Clone, PartialEq)]
enum Plan {
    Insert,
    /// The row of this folder and kind.
    Same(Project),
    /// The row of the same UUID at another place.
    Move(Project),
}

fn plan(connection: &Connection, new: &NewProject, path: &str) -> Outcome<Plan> {
    if let Some(found) = by_place(connection, path, new.kind)? {
        return Ok(Plan::Same(found));
    }
    let known = match &new.uuid {
        Some(uuid) => by_uuid(connection, uuid)?.into_iter().find(|known| known.kind == new.kind),
        None => None,
    };
    Ok(known.map_or(Plan::Insert, Plan::Move))
}

impl Store {
    /// Adds a project, or finds that it is there. A known UUID at a new place moves the row, with its history, when
    /// `still_there` says that the project is no longer at its old place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Copy`] when the project is still at its old place as well.
    pub fn add_project(&self, new: &NewProject, still_there: impl Fn(&Project) -> bool) -> Result<Added> {
        let path = text(&new.path)?;
        let new = &NewProject { title: self.masker().mask(&new.title).into_owned(), ..new.clone() };
        loop {
            let planned = self.database.read_together(|connection| plan(connection, new, &path))?;
            if let Plan::Move(known) = &planned
                && still_there(known)
            {
                return Err(StoreError::Copy {
                    path: new.path.clone(),
                    registered: known.path.clone(),
                    project: known.id.to_string(),
                });
            }
            let (new, path, outside) = (new.clone(), path.clone(), self.outside());
            let added = self.database.write(Durability::Process, move |connection| {
                // Another process may have added it since; then think again.
                if plan(connection, &new, &path)? != planned {
                    return Ok(None);
                }
                carry_out(connection, &outside, &new, &path, &planned).map(Some)
            })?;
            if let Some(added) = added {
                return Ok(added);
            }
        }
    }

    /// Returns the registered projects, the last used first.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn projects(&self) -> Result<Vec<Project>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let mut rows = statement.query([])?;
            let mut projects = Vec::new();
            while let Some(row) = rows.next()? {
                projects.push(project(row)?);
            }
            Ok(projects)
        })
    }

    /// Finds a project by its id or its UUID, also a removed one.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchProject`].
    pub fn project(&self, id_or_uuid: &str) -> Result<Project> {
        self.database.read_together(|connection| {
            if let Some(found) = by_id(connection, id_or_uuid)? {
                return Ok(found);
            }
            // UUIDs are written in either case (RFC 9562, 4).
            let lower = id_or_uuid.to_ascii_lowercase();
            for uuid in [id_or_uuid, &lower] {
                if let Some(found) = by_uuid(connection, uuid)?.into_iter().next() {
                    return Ok(found);
                }
            }
            Err(StoreError::NoSuchProject { project: runs::head(id_or_uuid, 200).to_owned() }.into())
        })
    }

    /// Finds the projects of a folder, also removed ones.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn projects_at(&self, path: &Path) -> Result<Vec<Project>> {
        let path = text(path)?;
        self.database.read_together(|connection| {
            let mut found = Vec::new();
            for kind in ProjectKind::ALL {
                found.extend(by_place(connection, &path, kind)?);
            }
            Ok(found)
        })
    }

    /// Removes a project from the registry. Its history and waiting runs stay, and come back when it is added again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Running`] while a run of it is queued or running.
    pub fn remove_project(&self, id: &ProjectId) -> Result<()> {
        let (id, outside) = (id.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            existing(connection, &id)?;
            refuse_running(connection, &id)?;
            connection
                .prepare_cached("UPDATE projects SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?
                .execute((id.as_str(), outside.clock.now()))?;
            noted(connection, &id, "project")
        })
    }

    /// Removes a project with its settings, relations and whole history, pinned and waiting runs too.
    ///
    /// # Errors
    ///
    /// [`StoreError::Running`] while a run of it is queued or running.
    pub fn purge_project(&self, id: &ProjectId) -> Result<()> {
        self.remove_project(id)?;
        while self.delete_some_of(id.as_str())? {}
        let id = id.clone();
        self.database.write(Durability::Process, move |connection| {
            refuse_running(connection, &id)?;
            connection.prepare_cached("DELETE FROM projects WHERE id = ?1")?.execute([id.as_str()])?;
            noted(connection, &id, "project")
        })
    }

    fn delete_some_of(&self, project: &str) -> Result<bool> {
        let project = project.to_owned();
        let deleted =
            self.database.write(Durability::Process, move |connection| retention::delete_any(connection, &project))?;
        self.forget_created(&deleted);
        Ok(!deleted.is_empty())
    }

    /// Sets settings of a project; `None` takes one away. The others stay.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchProject`]; [`StoreError::TooLarge`] over 1 MiB.
    pub fn set_settings(&self, id: &ProjectId, settings: &[(String, Option<Value>)]) -> Result<Map<String, Value>> {
        let (id, settings) = (id.clone(), settings.to_vec());
        self.database.write(Durability::Process, move |connection| {
            let mut now = existing(connection, &id)?.settings;
            for (key, value) in &settings {
                match value {
                    Some(value) => now.insert(key.clone(), value.clone()),
                    None => now.shift_remove(key),
                };
            }
            let text = Value::Object(now.clone()).to_string();
            if text.len() > SETTINGS_BYTES {
                let (size, most) = (text.len(), SETTINGS_BYTES);
                return Err(StoreError::TooLarge { what: "a project's settings", size, most }.into());
            }
            connection
                .prepare_cached("UPDATE projects SET settings = ?2 WHERE id = ?1")?
                .execute((id.as_str(), text))?;
            noted(connection, &id, "project")?;
            Ok(now)
        })
    }

    /// Remembers that a project was used now.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn touch_project(&self, id: &ProjectId) -> Result<()> {
        let (id, outside) = (id.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let changed = connection
                .prepare_cached("UPDATE projects SET used_at = max(used_at, ?2) WHERE id = ?1")?
                .execute((id.as_str(), outside.clock.now()))?;
            if changed == 1 { noted(connection, &id, "project") } else { Ok(()) }
        })
    }

    /// Confirms, for one side, that a project's `alias` is the project `other`.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchProject`].
    pub fn relate(&self, project: &ProjectId, alias: &str, other: &ProjectId) -> Result<()> {
        let (project, alias, other, outside) = (project.clone(), alias.to_owned(), other.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            existing(connection, &project)?;
            existing(connection, &other)?;
            connection
                .prepare_cached(
                    "INSERT INTO relations (project, alias, other, confirmed_at) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (project, alias) DO UPDATE SET other = ?3, confirmed_at = ?4",
                )?
                .execute((project.as_str(), &alias, other.as_str(), outside.clock.now()))?;
            noted(connection, &project, "relation")
        })
    }

    /// Takes a confirmation back. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn unrelate(&self, project: &ProjectId, alias: &str) -> Result<bool> {
        let (project, alias) = (project.clone(), alias.to_owned());
        self.database.write(Durability::Process, move |connection| {
            let deleted = connection
                .prepare_cached("DELETE FROM relations WHERE project = ?1 AND alias = ?2")?
                .execute((project.as_str(), &alias))?;
            noted(connection, &project, "relation")?;
            Ok(deleted == 1)
        })
    }

    /// Returns what a project says of related projects, and whether they say the same.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn relations(&self, project: &ProjectId) -> Result<Vec<Relation>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(RELATIONS)?;
            let mut rows = statement.query([project.as_str()])?;
            let mut relations = Vec::new();
            while let Some(row) = rows.next()? {
                let other: String = row.get(1)?;
                relations.push(Relation {
                    project: project.clone(),
                    alias: row.get(0)?,
                    other: other.parse().map_err(|_| Fault::Damaged(format!("`{other}` is no project id")))?,
                    both: row.get(2)?,
                });
            }
            Ok(relations)
        })
    }
}

pub(crate) const RELATIONS: &str = "SELECT here.alias, here.other, EXISTS (SELECT 1 FROM relations AS there \
     WHERE there.project = here.other AND there.other = here.project) \
     FROM relations AS here WHERE here.project = ?1 ORDER BY here.alias";

pub(crate) const RUNNING: &str = "SELECT run_id FROM runs INDEXED BY runs_by_project_status \
     WHERE project = ?1 AND status IN ('queued', 'running') LIMIT ?2";

fn refuse_running(connection: &Connection, id: &ProjectId) -> Outcome<()> {
    let mut statement = connection.prepare_cached(RUNNING)?;
    let mut rows = statement.query((id.as_str(), NAMED_RUNS))?;
    let mut running: Vec<RunId> = Vec::new();
    while let Some(row) = rows.next()? {
        running.push(runs::run_id(row.get(0)?)?);
    }
    if running.is_empty() { Ok(()) } else { Err(StoreError::Running { project: id.to_string(), runs: running }.into()) }
}

fn carry_out(
    connection: &Connection,
    outside: &StoreOptions,
    new: &NewProject,
    path: &str,
    plan: &Plan,
) -> Outcome<Added> {
    let now = outside.clock.now();
    let (id, how) = match plan {
        Plan::Insert => {
            let mut insert = connection.prepare_cached(
                "INSERT INTO projects (id, kind, uuid, path, title, added_at, used_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (id) DO NOTHING",
            )?;
            let id = loop {
                let id = ProjectId::generate(outside.ids.as_ref());
                if insert.execute((id.as_str(), new.kind.as_str(), &new.uuid, path, &new.title, now))? == 1 {
                    break id;
                }
            };
            (id, AddedHow::New)
        }
        Plan::Same(known) | Plan::Move(known) => {
            connection
                .prepare_cached(
                    "UPDATE projects SET uuid = ?2, path = ?3, title = ?4, removed_at = NULL, \
                     used_at = CASE WHEN removed_at IS NULL THEN used_at ELSE ?5 END WHERE id = ?1",
                )?
                .execute((known.id.as_str(), &new.uuid, path, &new.title, now))?;
            let how = match plan {
                Plan::Move(_) => AddedHow::Moved,
                Plan::Insert | Plan::Same(_) if known.removed => AddedHow::Restored,
                Plan::Insert | Plan::Same(_) => AddedHow::Known,
            };
            (known.id.clone(), how)
        }
    };
    noted(connection, &id, "project")?;
    Ok(Added { project: existing(connection, &id)?, how })
}
