//! The list of commands. It is declared here and nowhere else: a command without a function does not compile, and the
//! page's declarations are made from the same list.

mod act;
mod board;
mod dock;
mod home;
mod probe;
mod project;
mod projects;
mod run;
mod runs;
mod settings;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ts_rs::TS;

pub(crate) use self::probe::Tests;
use crate::wire::Nothing;
use crate::wire::board::{
    BoardAnswer, BoardCall, BoardCardDetail, BoardMended, BoardRefusal, BoardView, MendBoard, OfCard, TickCriterion,
};
use crate::wire::dock::{
    Dock, DockPlan, DockPlanRequest, DockRequest, DockTestRequest, DockTested, DockTestedRequest, DockTesting,
    DockUndo, DockWrite, DockWritten,
};
use crate::wire::home::{AppInfo, Home, StoreChanged};
use crate::wire::project::{
    Findings, MendFinding, OfProject, ProjectAdd, ProjectAdded, ProjectKey, ProjectMake, ProjectOverview,
    ProjectRemove, ProjectRow, ProjectSettings, Relate, SamplePlace, SetProjectSettings, Unrelate,
};
use crate::wire::run::{
    AnswerRequest, CheckInput, CheckedInput, ContinuePreview, CopiedText, CopyAs, DayCount, ExportRun, Exported,
    LogPage, LogSearch, NodeRow, OfRun, OfRuns, PinRun, RunDetail, RunFile, RunFileContent, RunLogHits, RunLogs,
    RunOutput, RunOutputContent, RunRow, RunsPage, RunsPerDay, RunsRequest, SaveAs, StartRun, StartedRun,
};
use crate::wire::settings::{
    AppSettings, ConnectionLogin, ConnectionStatus, ProviderRow, Prune, Pruned, SetSettings, Since, Storage,
};
use crate::{Answer, Api, ApiError};

/// Is told of every command: its name, its request, its answer.
pub trait Describe {
    /// Takes one in.
    fn command<Request: TS + 'static, Response: TS + 'static>(&mut self, name: &str);
}

macro_rules! commands {
    ($($(#[$doc:meta])* $room:ident::$name:ident($request:ty) -> $response:ty;)*) => {
        /// The names of all commands.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Api {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// See [`crate::ApiErrorCode`].
                pub fn $name(&self, request: $request) -> Answer<$response> {
                    $room::$name(self, request)
                }
            )*
        }

        /// Calls a command by its name.
        pub(crate) fn dispatch(api: &Api, name: &str, request: Value) -> Answer<Value> {
            match name {
                $(stringify!($name) => through(request, |request: $request| api.$name(request)),)*
                other => {
                    let name: String = other.chars().take(80).collect();
                    Err(ApiError::not_found(format!("there is no command `{name}`")))
                }
            }
        }

        /// Tells of every command.
        pub fn describe(to: &mut impl Describe) {
            $(to.command::<$request, $response>(stringify!($name));)*
        }
    };
}

/// Reads a request, calls, and writes the answer.
fn through<Request: DeserializeOwned, Response: Serialize>(
    request: Value,
    call: impl FnOnce(Request) -> Answer<Response>,
) -> Answer<Value> {
    let request = if request.is_null() { Value::Object(serde_json::Map::new()) } else { request };
    let request = serde_json::from_value(request)
        .map_err(|error| ApiError::invalid(format!("the request has another shape: {error}")))?;
    serde_json::to_value(call(request)?).map_err(|error| ApiError::internal(format!("the answer: {error}")))
}

commands! {
    /// Returns the installation and the settings.
    home::app_info(Nothing) -> AppInfo;
    /// Changes some of the window's settings.
    settings::set_settings(SetSettings) -> AppSettings;
    /// Returns what the first view shows.
    home::home(Nothing) -> Home;
    /// Lists the registered folders, the last used first.
    projects::projects(Nothing) -> Vec<ProjectRow>;
    /// Returns a project, whole.
    project::project_overview(OfProject) -> ProjectOverview;
    /// Registers a folder, once for every kind of project in it.
    projects::project_add(ProjectAdd) -> ProjectAdded;
    /// Makes an ordinary folder a workflow project, and registers it.
    projects::project_make(ProjectMake) -> ProjectAdded;
    /// Says where the sample project is, and whether it is registered.
    projects::project_sample(Nothing) -> SamplePlace;
    /// Writes the sample project and registers it.
    projects::project_add_sample(Nothing) -> ProjectKey;
    /// Takes a folder out of the registry.
    projects::project_remove(ProjectRemove) -> Nothing;
    /// Returns a project's settings.
    project::project_settings(OfProject) -> ProjectSettings;
    /// Changes a project's settings.
    project::set_project_settings(SetProjectSettings) -> ProjectSettings;
    /// Confirms a related project.
    projects::relate(Relate) -> Nothing;
    /// Takes a confirmation back.
    projects::unrelate(Unrelate) -> Nothing;
    /// Mends a finding, and examines the project again.
    project::mend_finding(MendFinding) -> Findings;
    /// Returns a page of runs.
    runs::runs(RunsRequest) -> RunsPage;
    /// Counts the runs of each day.
    runs::runs_per_day(RunsPerDay) -> Vec<DayCount>;
    /// Returns a run.
    run::run(OfRun) -> RunDetail;
    /// Returns some runs as lists show them; those that are gone are left out.
    runs::run_row(OfRuns) -> Vec<RunRow>;
    /// Returns a run's output.
    run::run_output(RunOutput) -> RunOutputContent;
    /// Returns a run's nodes, as they are now.
    run::run_nodes(OfRun) -> Vec<NodeRow>;
    /// Returns a page of a run's log.
    run::run_logs(RunLogs) -> LogPage;
    /// Finds a text in a run's log.
    run::run_log_search(LogSearch) -> RunLogHits;
    /// Returns a file that a run created.
    run::run_file(RunFile) -> RunFileContent;
    /// Says what is wrong with an input.
    act::check_input(CheckInput) -> CheckedInput;
    /// Starts a run.
    act::start_run(StartRun) -> StartedRun;
    /// Answers a question, and has the run go on.
    act::answer(AnswerRequest) -> Nothing;
    /// Says what continuing a run means.
    act::continue_preview(OfRun) -> ContinuePreview;
    /// Continues a run that was interrupted.
    act::continue_run(OfRun) -> Nothing;
    /// Asks a run to end.
    act::cancel_run(OfRun) -> Nothing;
    /// Keeps a run whatever is pruned, or no longer.
    act::pin_run(PinRun) -> Nothing;
    /// Deletes a run with all its records.
    act::delete_run(OfRun) -> Nothing;
    /// Writes a run into a file.
    run::export_run(ExportRun) -> Exported;
    /// Saves a part of a run where a person has chosen.
    run::save_as(SaveAs) -> Exported;
    /// Returns a text that starts a run like this one.
    run::copy_as(CopyAs) -> CopiedText;
    /// Returns a server's Dock.
    dock::dock(DockRequest) -> Dock;
    /// Says what writing a server into a client's file would change.
    dock::dock_plan(DockPlanRequest) -> DockPlan;
    /// Makes a change that was shown.
    dock::dock_write(DockWrite) -> DockWritten;
    /// Takes a change back.
    dock::dock_undo(DockUndo) -> Nothing;
    /// Starts the very command that clients start; `dock_tested` says how it goes.
    probe::dock_test(DockTestRequest) -> DockTesting;
    /// Waits until a test has come further, and tells how far.
    probe::dock_tested(DockTestedRequest) -> DockTested;
    /// Looks how the connection is.
    settings::connection(Nothing) -> ConnectionStatus;
    /// Logs in.
    settings::connection_login(ConnectionLogin) -> ConnectionStatus;
    /// Logs out.
    settings::connection_logout(Nothing) -> ConnectionStatus;
    /// Lists who can start agents.
    settings::providers(Nothing) -> Vec<ProviderRow>;
    /// Says what is kept, and what need not be.
    settings::storage(Nothing) -> Storage;
    /// Deletes what need not be kept.
    settings::prune(Prune) -> Pruned;
    /// Returns a project's board, whole.
    board::board_view(OfProject) -> BoardView;
    /// Returns a card, whole.
    board::board_card(OfCard) -> BoardCardDetail;
    /// Tells for every status what would refuse a card.
    board::board_refusals(OfCard) -> Vec<BoardRefusal>;
    /// Calls a tool of the board.
    board::board_call(BoardCall) -> BoardAnswer;
    /// Mends what can be mended of the board's findings with a code; returns how many of that code are left.
    board::board_mend(MendBoard) -> BoardMended;
    /// Ticks or unticks a criterion.
    board::board_acceptance(TickCriterion) -> BoardCardDetail;
    /// Says what has changed since a place in the change feed.
    home::changes_since(Since) -> StoreChanged;
}
