//! The registry.

use ::model::RunStatus;
use serde_json::json;
use std::path::Path;

use super::runs::ends;
use super::{Fixture, START, run};
use crate::{AddedHow, NewProject, Project, ProjectKind, RunFilter, StoreError};

const UUID: &str = "11111111-1111-4111-8111-111111111111";

fn project(path: &str, kind: ProjectKind, uuid: Option<&str>) -> NewProject {
    NewProject { kind, uuid: uuid.map(str::to_owned), path: path.into(), title: "Weekly".into() }
}

fn gone(_: &Project) -> bool {
    false
}

fn there(_: &Project) -> bool {
    true
}

#[test]
fn one_row_for_a_folder_and_kind() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let workflow = store.add_project(&project("/w", ProjectKind::Workflow, Some(UUID)), there).unwrap();
    assert_eq!(workflow.how, AddedHow::New);
    let board = store.add_project(&project("/w", ProjectKind::Board, None), there).unwrap();
    assert_ne!(workflow.project.id, board.project.id);
    fixture.clock.advance(10);
    let renamed = NewProject { title: "Renamed".into(), ..project("/w", ProjectKind::Workflow, Some(UUID)) };
    let again = store.add_project(&renamed, there).unwrap();
    assert_eq!((again.how, again.project.title.as_str()), (AddedHow::Known, "Renamed"));
    assert_eq!((&again.project.id, again.project.added_at), (&workflow.project.id, START));

    assert_eq!(store.projects_at(Path::new("/w")).unwrap().len(), 2);
    assert_eq!(store.project(workflow.project.id.as_str()).unwrap(), again.project);
    assert_eq!(store.project(UUID).unwrap(), again.project);
    assert_eq!(store.project(&UUID.to_uppercase()).unwrap(), again.project);
    let none = store.project("'; DROP TABLE projects; --");
    assert!(matches!(none, Err(StoreError::NoSuchProject { .. })));

    store.touch_project(&board.project.id).unwrap();
    let ids: Vec<_> = store.projects().unwrap().into_iter().map(|project| project.id).collect();
    assert_eq!(ids, [board.project.id, workflow.project.id]);
}

#[test]
fn a_project_that_moved_keeps_its_id_and_a_copy_is_refused() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let old = store.add_project(&project("/old", ProjectKind::Workflow, Some(UUID)), there).unwrap().project;
    let copy = store.add_project(&project("/new", ProjectKind::Workflow, Some(UUID)), there);
    let Err(StoreError::Copy { registered, project: id, .. }) = copy else { panic!("{copy:?}") };
    assert_eq!((registered.as_path(), id), (Path::new("/old"), old.id.to_string()));

    let moved = store.add_project(&project("/new", ProjectKind::Workflow, Some(UUID)), gone).unwrap();
    assert_eq!((moved.how, &moved.project.id), (AddedHow::Moved, &old.id));
    assert_eq!(moved.project.path, Path::new("/new"));
    assert_eq!(store.projects().unwrap().len(), 1);
    // The same UUID as another kind of project is another row.
    assert_eq!(store.add_project(&project("/new", ProjectKind::Folder, Some(UUID)), there).unwrap().how, AddedHow::New);
    assert_eq!(store.project(UUID).unwrap().kind, ProjectKind::Workflow);
}

#[test]
fn removing_waits_for_runs_and_history_comes_back() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let id = store.add_project(&project("/w", ProjectKind::Workflow, Some(UUID)), there).unwrap().project.id;
    let mut new = run();
    new.project.id = Some(id.clone());
    let lease = store.create_run(&new).unwrap();
    let refused = store.remove_project(&id);
    let Err(StoreError::Running { runs, .. }) = &refused else { panic!("{refused:?}") };
    assert_eq!(runs, std::slice::from_ref(lease.run()));
    assert!(refused.unwrap_err().to_string().contains("1 unfinished run,"));
    store.finish(&lease, ends(RunStatus::Success, None)).unwrap();
    let waiting = store.create_run(&new).unwrap();
    store.transition(&waiting, RunStatus::WaitingForInput).unwrap();

    store.remove_project(&id).unwrap();
    assert_eq!(store.projects().unwrap(), []);
    assert!(store.project(UUID).unwrap().removed);
    let filter = RunFilter { project: Some(id.to_string()), ..RunFilter::default() };
    assert_eq!(store.list_runs(&filter, None, 9).unwrap().len(), 2);
    let back = store.add_project(&project("/w", ProjectKind::Workflow, Some(UUID)), there).unwrap();
    assert_eq!((back.how, &back.project.id), (AddedHow::Restored, &id));

    store.purge_project(&id).unwrap();
    assert!(matches!(store.project(UUID), Err(StoreError::NoSuchProject { .. })));
    assert_eq!(store.list_runs(&filter, None, 9).unwrap(), []);
    assert_eq!(store.usage(id.as_str()).unwrap(), (0, 0));
    assert!(matches!(store.remove_project(&id), Err(StoreError::NoSuchProject { .. })));
}

#[test]
fn a_relation_needs_both_sides() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let add = |path| store.add_project(&project(path, ProjectKind::Workflow, None), there).unwrap().project.id;
    let (one, two) = (add("/one"), add("/two"));
    store.relate(&one, "style", &two).unwrap();
    store.relate(&one, "style", &two).unwrap();
    assert!(!store.relations(&one).unwrap()[0].both);
    store.relate(&two, "main", &one).unwrap();
    let relation = store.relations(&one).unwrap().remove(0);
    assert_eq!((relation.alias.as_str(), &relation.other, relation.both), ("style", &two, true));
    assert!(store.unrelate(&two, "main").unwrap());
    assert!(!store.unrelate(&two, "main").unwrap());
    assert!(!store.relations(&one).unwrap()[0].both);
    store.purge_project(&two).unwrap();
    assert_eq!(store.relations(&one).unwrap(), []);
    assert!(matches!(store.relate(&one, "style", &two), Err(StoreError::NoSuchProject { .. })));
}

#[test]
fn settings_are_changed_one_by_one() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let id = store.add_project(&project("/w", ProjectKind::Workflow, None), there).unwrap().project.id;
    let set = |key: &str, value| store.set_settings(&id, &[(key.to_owned(), value)]).unwrap();
    set("dataDir", Some(json!("/data")));
    set("allowExec", Some(json!(["git status*"])));
    let now = set("dataDir", None);
    assert_eq!(serde_json::Value::Object(now.clone()), json!({ "allowExec": ["git status*"] }));
    assert_eq!(store.project(id.as_str()).unwrap().settings, now);
    let huge = store.set_settings(&id, &[("x".into(), Some(json!("y".repeat(2_000_000))))]);
    assert!(matches!(huge, Err(StoreError::TooLarge { .. })));
}
