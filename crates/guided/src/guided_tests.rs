//! Whole calls on a project in a folder: starting, finishing, going back, giving up, agents, and the gate.

use super::*;
use crate::answers::ActiveStepInfo;
use crate::state::Given;
use model::{ManualClock, SeededIds};
use process::Spec;
use serde_json::{Value, json};
use std::fs;

const REPORT: &str = "\
name: report
summary: s
step_arguments:
  - {name: topic, description: The topic, type: string}
  - {name: sources, description: Files to read, type: file_path}
  - {name: draft, description: The draft, type: file_path}
workflows:
  full:
    summary: s
    common_job_info_provided_to_all_steps_at_runtime: Plain words.
    post_workflow_instructions: Tell the user.
    steps:
      - name: gather
        instructions: Gather.
        inputs: {topic: {}, sources: {required: false}}
        outputs: {topic: {}, draft: {required: false}}
      - name: write
        instructions: Write.
        inputs: {topic: {}}
        outputs: {draft: {}}
      - name: polish
        instructions: Polish.
        inputs: {draft: {}}
        outputs: {topic: {}, draft: {}}
  quick:
    summary: s
    agent: helper
    steps:
      - {name: only, instructions: Do., outputs: {topic: {}}}
  bare:
    summary: s
    steps:
      - {name: nothing, instructions: Do.}
  sub:
    summary: s
    steps:
      - {name: delegate, sub_workflow: {workflow_name: quick}}
";

const SOLO: &str = "name: inside\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n";

struct Ground {
    folder: tempfile::TempDir,
    guided: Guided,
}

impl Ground {
    fn new() -> Self {
        Self::on(None)
    }

    fn on(platform: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let above = folder.path().parent().expect("a parent").to_string_lossy().into_owned();
        let environment: Environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CEILING_DIRECTORIES", above.as_str()),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
        let settings = Settings {
            platform: platform.map(str::to_owned),
            environment,
            commands: true,
            keeper: None,
            clock: Arc::new(ManualClock::new(1_796_000_000_000)),
            ids: Arc::new(SeededIds::new(7)),
        };
        let ground = Self { folder, guided: Guided::new(settings) };
        ground.put(".deepwork/jobs/report/job.yml", REPORT);
        ground.put(".deepwork/jobs/solo/job.yml", SOLO);
        ground
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }

    fn put(&self, name: &str, text: &str) {
        files::write(&self.root().join(name), text.as_bytes()).expect("written");
    }

    fn project(&self) -> Project<'_> {
        self.guided.project(self.folder.path()).expect("a project")
    }

    fn git(&self, arguments: &str) {
        let spec = Spec::new("git")
            .arguments(arguments.split(' '))
            .folder(self.root())
            .environment(self.guided.settings.environment.clone());
        let finished = crate::command::run(spec, std::time::Duration::from_secs(60), 1 << 20, &Stop::default())
            .expect("git starts");
        assert!(finished.succeeded(), "git {arguments}: {}", finished.error_text());
    }

    fn start_with(&self, job: &str, workflow: &str, agent: Option<&str>, inputs: Value) -> Result<Started, String> {
        self.project()
            .start_workflow(StartArguments {
                goal: "g".into(),
                job_name: job.into(),
                workflow_name: workflow.into(),
                session_id: Some("s".into()),
                inputs: serde_json::from_value(inputs).expect("values"),
                agent_id: agent.map(str::to_owned),
            })
            .map(|done| done.answer)
            .map_err(|error| error.to_string())
    }

    fn start(&self, job: &str, workflow: &str) -> Started {
        self.start_with(job, workflow, None, json!({})).expect("started")
    }

    fn finish_with(&self, outputs: Value, more: impl FnOnce(&mut FinishArguments)) -> Result<Finished, String> {
        let mut arguments = FinishArguments {
            outputs: serde_json::from_value(outputs).expect("values"),
            session_id: "s".into(),
            ..FinishArguments::default()
        };
        more(&mut arguments);
        self.project().finished_step(arguments).map(|done| done.answer).map_err(|error| model::with_causes(&error))
    }

    fn finish(&self, outputs: Value) -> Result<Finished, String> {
        self.finish_with(outputs, |_| {})
    }

    fn go(&self, step: &str) -> Result<WentTo, String> {
        self.project().go_to_step(step, "s", None).map(|done| done.answer).map_err(|error| error.to_string())
    }

    fn abort(&self, agent: Option<&str>) -> Result<Aborted, String> {
        self.project()
            .abort_workflow("why".into(), "s", agent)
            .map(|done| done.answer)
            .map_err(|error| error.to_string())
    }

    fn state(&self, file: &str) -> Value {
        let path = self.root().join(".deepwork/tmp/sessions/claude/session-s").join(file);
        serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON")
    }

    fn write_state(&self, file: &str, text: &str) {
        self.put(&format!(".deepwork/tmp/sessions/claude/session-s/{file}"), text);
    }
}

fn value<'a>(step: &'a ActiveStepInfo, name: &str) -> Option<&'a Given> {
    step.step_inputs.iter().find(|input| input.name == name).and_then(|input| input.value.as_ref())
}

fn titles(stack: &[StackEntry]) -> Vec<String> {
    stack.iter().map(|entry| format!("{}:{}", entry.workflow, entry.step)).collect()
}

// Starting

#[test]
fn unknown_jobs_and_workflows_are_named_with_what_there_is() {
    let ground = Ground::new();
    let error = ground.start_with("ghost", "x", None, json!({})).expect_err("refused");
    assert!(error.contains("`ghost`") && error.contains("`report`"), "{error}");
    let error = ground.start_with("report", "ghost", None, json!({})).expect_err("refused");
    assert!(error.contains("`ghost`") && error.contains("`full`") && error.contains("`quick`"), "{error}");
    for job in ["../solo", "", "a/b"] {
        assert!(ground.start_with(job, "main", None, json!({})).is_err(), "{job}");
    }
}

#[test]
fn the_only_workflow_is_taken_and_shown_by_its_real_name() {
    let ground = Ground::new();
    assert_eq!(titles(&ground.start("solo", "whatever").stack), ["solo/main:think"]);
    assert_eq!(titles(&ground.start("inside", "main").stack), ["solo/main:think", "solo/main:think"]);
}

#[test]
fn a_session_is_asked_for_on_claude_and_made_elsewhere() {
    let start = |ground: &Ground, session: Option<&str>| {
        let arguments = StartArguments {
            goal: "g".into(),
            job_name: "solo".into(),
            workflow_name: "main".into(),
            session_id: session.map(str::to_owned),
            ..StartArguments::default()
        };
        ground.project().start_workflow(arguments).map(|done| done.answer.begin_step.session_id)
    };
    let claude = Ground::on(Some("claude"));
    assert!(matches!(start(&claude, None), Err(GuidedError::SessionRequired)));
    assert!(matches!(start(&claude, Some("")), Err(GuidedError::SessionRequired)));
    let gemini = Ground::on(Some("gemini"));
    let (one, other) = (start(&gemini, None).expect("made"), start(&gemini, None).expect("made"));
    assert_ne!(one, other);
    assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()));
    assert_eq!(start(&gemini, Some("mine")).expect("used"), "mine");
    assert!(start(&gemini, Some("../../x")).is_err());
    // A job that is not there is told before a session that is missing.
    let arguments = StartArguments { job_name: "ghost".into(), ..StartArguments::default() };
    assert!(matches!(claude.project().start_workflow(arguments), Err(GuidedError::NoSuchJob { .. })));
}

#[test]
fn inputs_are_shown_missing_ones_noted_and_undeclared_ones_ignored() {
    let ground = Ground::new();
    let inputs = json!({ "topic": "Tea", "sources": ["a.md", "none.md"], "undeclared": "x" });
    let step = ground.start_with("report", "full", None, inputs).expect("started").begin_step;
    assert_eq!(value(&step, "sources"), Some(&Given::Many(vec!["a.md".into(), "none.md".into()])));
    assert!(step.step_instructions.contains("**topic** (required): Tea"), "{}", step.step_instructions);
    assert!(step.step_instructions.contains("`a.md`, `none.md`") && step.step_instructions.ends_with("Gather."));
    assert_eq!(step.step_inputs.len(), 2);
    assert_eq!(step.common_job_info, "Plain words.");
    assert!(!step.step_instructions.contains("Plain words"));
    let bare = ground.start("report", "full").begin_step;
    assert_eq!(value(&bare, "topic"), None);
    assert!(bare.step_instructions.contains("The topic (not available yet)"));
}

#[test]
fn a_start_while_another_runs_goes_on_top_and_is_noted_below() {
    let ground = Ground::new();
    ground.start("report", "full");
    ground.start("report", "full");
    let started = ground.start("solo", "main");
    assert_eq!(started.stack.len(), 3);
    let state = ground.state("state.json");
    let ids: Vec<&str> =
        (0..3).map(|at| state["workflow_stack"][at]["workflow_instance_id"].as_str().expect("an id")).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    assert_eq!(state["workflow_stack"][1]["step_progress"]["gather"]["sub_workflow_instance_ids"], json!([ids[2]]));
    assert_eq!(state["workflow_stack"][1]["step_history"][0]["sub_workflow_instance_ids"], json!([ids[2]]));
}

#[test]
fn a_broken_job_is_started_with_its_load_error() {
    let ground = Ground::new();
    ground.put(".deepwork/jobs/bad/job.yml", "name: bad\nsummary: s\n");
    let error = ground.start_with("bad", "x", None, json!({})).expect_err("refused");
    assert!(error.contains("`bad`") && error.contains("step_arguments"), "{error}");
}

#[test]
fn a_sub_workflow_step_says_what_to_start() {
    let ground = Ground::new();
    let step = ground.start("report", "sub").begin_step;
    assert!(step.step_instructions.contains("`report`") && step.step_instructions.contains("`quick`"));
    assert!(ground.finish(json!({})).is_ok());
}

#[test]
fn a_built_in_job_is_laid_out_where_its_folder_is_said_to_be() {
    let ground = Ground::new();
    let started = ground.start("deepplan", "create_deep_plan");
    assert!(Path::new(&started.begin_step.job_dir).join("job.yml").is_file());
}

// Finishing

#[test]
fn outputs_are_checked_names_first() {
    let ground = Ground::new();
    ground.put("a.md", "x");
    fs::create_dir(ground.root().join("folder")).expect("made");
    ground.start("report", "full");
    assert!(ground.finish(json!({})).expect_err("refused").contains("`topic`"));
    let both = ground.finish(json!({ "zeta": "x", "alpha": "y" })).expect_err("refused");
    assert!(both.contains("`alpha`, `zeta`") && both.contains("`draft`") && !both.contains("missing"), "{both}");
    assert!(ground.finish(json!({ "topic": ["a"] })).expect_err("refused").contains("no list"));
    let gone = ground.finish(json!({ "topic": "x", "draft": "gone.md" })).expect_err("refused");
    assert!(gone.contains("`draft`") && gone.contains("`gone.md`"));
    let gone = ground.finish(json!({ "topic": "x", "draft": ["a.md", "gone.md"] })).expect_err("refused");
    assert!(gone.contains("gone.md"));
    assert!(ground.finish_with(json!({}), |one| one.override_reason = Some("why".into())).is_err());
    let state = ground.state("state.json");
    assert_eq!(state["workflow_stack"][0]["step_progress"]["gather"]["quality_attempts"], json!(0));
    assert_eq!(state["workflow_stack"][0]["current_step_id"], json!("gather"));
    assert!(ground.finish(json!({ "topic": "", "draft": [] })).is_ok());
    assert!(ground.finish(json!({ "draft": ground.root().join("a.md") })).is_ok());
    let missing = ground.finish(json!({})).expect_err("refused");
    assert!(missing.contains("`draft`, `topic`"), "{missing}");
    assert!(ground.finish(json!({ "topic": "t", "draft": "folder" })).is_ok());
}

#[test]
fn a_workflow_goes_to_its_end_and_later_steps_win() {
    let ground = Ground::new();
    ground.put("a.md", "x");
    ground.put("b.md", "x");
    ground.start("report", "full");
    let next = ground.finish(json!({ "topic": "first" })).expect("finished");
    assert_eq!(next.status, StepStatus::NextStep);
    assert_eq!(value(next.begin_step.as_ref().expect("a step"), "topic"), Some(&Given::One("first".into())));
    ground.finish(json!({ "draft": "a.md" })).expect("finished");
    let end = ground.finish(json!({ "topic": "last", "draft": "b.md" })).expect("finished");
    assert_eq!(end.status, StepStatus::WorkflowComplete);
    let all = end.all_outputs.expect("outputs");
    assert_eq!((&all["topic"], &all["draft"]), (&Given::One("last".into()), &Given::One("b.md".into())));
    assert_eq!(end.post_workflow_instructions.as_deref(), Some("Tell the user."));
    assert!(end.stack.is_empty() && end.summary.is_some_and(|summary| summary.contains("report/full")));
    assert!(ground.finish(json!({})).expect_err("refused").contains("start_workflow"));
    ground.start("report", "bare");
    assert_eq!(ground.finish(json!({})).expect("finished").post_workflow_instructions, None);
}

#[test]
fn without_a_run_it_says_how_to_go_on() {
    let ground = Ground::new();
    for outcome in [ground.finish(json!({})).err(), ground.go("x").err(), ground.abort(None).err()] {
        assert!(outcome.is_some_and(|error| error.contains("`s`") && error.contains("start_workflow")));
    }
    assert!(!ground.root().join(".deepwork/tmp/sessions/claude/session-s").exists());
}

#[test]
fn a_job_is_read_anew_at_each_call() {
    let ground = Ground::new();
    ground.start("report", "full");
    ground.put(".deepwork/jobs/report/job.yml", &REPORT.replace("name: gather", "name: collect"));
    let gone = ground.finish(json!({ "topic": "x" })).expect_err("refused");
    assert!(gone.contains("`gather`") && gone.contains("`collect`"), "{gone}");
    ground.put(".deepwork/jobs/report/job.yml", &REPORT.replace("Write.", "Write it well."));
    let next = ground.finish(json!({ "topic": "x" })).expect("finished");
    assert!(next.begin_step.expect("a step").step_instructions.contains("Write it well."));
    fs::remove_dir_all(ground.root().join(".deepwork/jobs/report")).expect("removed");
    assert!(ground.finish(json!({})).expect_err("refused").contains("`report`"));
}

#[test]
fn an_override_is_kept_with_the_step() {
    let ground = Ground::new();
    ground.start("report", "full");
    ground.finish_with(json!({ "topic": "x" }), |one| one.override_reason = Some("no time".into())).expect("finished");
    let state = ground.state("state.json");
    assert_eq!(
        state["workflow_stack"][0]["step_progress"]["gather"]["quality_review_override_reason"],
        json!("no time")
    );
}

// Going back and giving up

#[test]
fn going_back_drops_later_progress_and_keeps_history() {
    let ground = Ground::new();
    ground.put("a.md", "x");
    let inputs = json!({ "topic": "Tea" });
    ground.start_with("report", "full", None, inputs).expect("started");
    ground.finish(json!({ "topic": "x" })).expect("finished");
    ground.finish(json!({ "draft": "a.md" })).expect("finished");
    let forward = ground.go("write").expect("back");
    assert_eq!(forward.invalidated_steps, ["write", "polish"]);
    let state = ground.state("state.json");
    let run = &state["workflow_stack"][0];
    assert_eq!(
        run["step_progress"].as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["gather".into(), "write".into()])
    );
    let history: Vec<&str> =
        run["step_history"].as_array().expect("a list").iter().filter_map(|entry| entry["step_id"].as_str()).collect();
    assert_eq!(history, ["gather", "write", "polish", "write"]);
    let refused = ground.go("polish").expect_err("forward");
    assert!(refused.contains("`polish`") && refused.contains("`gather`, `write`"), "{refused}");
    assert!(ground.go("ghost").expect_err("unknown").contains("`gather`, `write`, `polish`"));
    // To the current step: what is known of it is dropped, and it begins again.
    ground.write_state("state.json", &{
        let mut state = ground.state("state.json");
        let step = &mut state["workflow_stack"][0]["step_progress"]["write"];
        (step["work_summary"], step["outputs"]) = (json!("half done"), json!({ "draft": "a.md" }));
        state.to_string()
    });
    assert_eq!(ground.go("write").expect("again").invalidated_steps, ["write", "polish"]);
    let step = &ground.state("state.json")["workflow_stack"][0]["step_progress"]["write"];
    assert_eq!(
        (&step["work_summary"], &step["outputs"], &step["completed_at"]),
        (&Value::Null, &json!({}), &Value::Null)
    );
    assert!(step["started_at"].is_string());
    let first = ground.go("gather").expect("back");
    // The value is given anew; what the run was started with is told.
    assert_eq!(value(&first.begin_step, "topic"), None);
    assert!(first.begin_step.step_instructions.contains("started with Tea"));
    assert_eq!(first.invalidated_steps.len(), 3);
}

#[test]
fn attempts_are_counted_anew_after_going_back() {
    let ground = Ground::gated("both");
    let attempts =
        || ground.state("state.json")["workflow_stack"][0]["step_progress"]["compose"]["quality_attempts"].clone();
    for _ in 0..2 {
        assert!(!ground.due(json!({ "pages": "a.md" })).is_empty());
    }
    assert_eq!(attempts(), json!(2));
    ground.go("compose").expect("again");
    assert_eq!(attempts(), json!(0));
}

#[test]
fn giving_up_returns_to_what_is_below() {
    let ground = Ground::new();
    ground.start("report", "full");
    ground.start("solo", "main");
    let aborted = ground.abort(None).expect("given up");
    assert_eq!((aborted.aborted_workflow.as_str(), aborted.aborted_step.as_str()), ("solo/main", "think"));
    assert_eq!(aborted.resumed_workflow.as_deref(), Some("report/full"));
    assert_eq!(aborted.resumed_step.as_deref(), Some("gather"));
    let last = ground.abort(None).expect("given up");
    assert!(last.stack.is_empty() && last.resumed_workflow.is_none() && last.resumed_step.is_none());
    let state = ground.state("state.json");
    assert_eq!(state["completed_workflows"][0]["abort_reason"], json!("why"));
    assert_eq!(state["completed_workflows"][1]["status"], json!("aborted"));
    assert!(ground.abort(None).is_err());
}

// Agents and state

#[test]
fn agents_have_stacks_of_their_own() {
    let ground = Ground::new();
    ground.start("report", "full");
    assert!(ground.finish_with(json!({}), |one| one.agent_id = Some("a".into())).expect_err("none").contains("`a`"));
    let started = ground.start_with("solo", "main", Some("a"), json!({})).expect("started");
    assert_eq!(titles(&started.stack), ["report/full:gather", "solo/main:think"]);
    ground.start_with("solo", "main", Some("b"), json!({})).expect("started");
    let main = ground.start("solo", "main");
    assert_eq!(titles(&main.stack), ["report/full:gather", "solo/main:think"]);
    let state = ground.state("state.json");
    let noted =
        state["workflow_stack"][0]["step_progress"]["gather"]["sub_workflow_instance_ids"].as_array().map(Vec::len);
    assert_eq!(noted, Some(3));
    let end = ground.finish_with(json!({ "answer": "x" }), |one| one.agent_id = Some("a".into())).expect("finished");
    assert_eq!(end.stack.len(), 2);
    let aborted = ground.abort(Some("b")).expect("given up");
    assert_eq!(aborted.resumed_workflow, None);
    assert!(ground.start_with("solo", "main", Some("../x"), json!({})).is_err());
}

#[test]
fn damaged_state_counts_as_none_and_is_written_again() {
    let ground = Ground::new();
    for text in ["{oops", "[]", "", "{\"workflow_stack\": 7}", "{}"] {
        ground.write_state("state.json", text);
        assert!(ground.finish(json!({})).is_err(), "{text}");
    }
    ground.start("solo", "main");
    assert_eq!(ground.state("state.json")["workflow_stack"].as_array().map(Vec::len), Some(1));
    ground.write_state("agent_a.json", "{oops");
    let started = ground.start_with("solo", "main", Some("a"), json!({})).expect("started");
    assert_eq!(started.stack.len(), 2);
}

#[test]
fn another_server_goes_on_where_one_stopped() {
    let ground = Ground::new();
    ground.start("report", "full");
    let other = Guided::new(ground.guided.settings.clone());
    let project = other.project(ground.folder.path()).expect("a project");
    let arguments = FinishArguments {
        outputs: serde_json::from_value(json!({ "topic": "x" })).expect("values"),
        session_id: "s".into(),
        ..FinishArguments::default()
    };
    assert_eq!(project.finished_step(arguments).expect("finished").answer.status, StepStatus::NextStep);
    assert_eq!(ground.go("gather").expect("back").stack.len(), 1);
}

// Listing, start and status

#[test]
fn how_to_invoke_is_always_filled() {
    let ground = Ground::new();
    let list = ground.project().get_workflows();
    let report = list.jobs.iter().find(|job| job.name == "report").expect("there");
    let how = |name: &str| {
        report.workflows.iter().find(|one| one.name == name).map(|one| one.how_to_invoke.clone()).expect("there")
    };
    assert!(how("full").contains("`report`") && how("full").contains("`full`"));
    assert!(how("quick").contains("`helper`"));
    assert!(list.errors.is_empty());
}

#[test]
fn the_start_prepares_the_folder_and_leaves_an_own_ignore_file_alone() {
    let ground = Ground::new();
    ground.put(".deepwork/job.schema.json", "old");
    let startup = ground.project().start_up();
    assert!(startup.issue.is_none());
    assert_eq!(fs::read_to_string(ground.root().join(".deepwork/job.schema.json")).expect("read"), builtin::JOB_SCHEMA);
    assert!(ground.root().join(".deepwork/tmp/.gitignore").is_file());
    ground.put(".deepwork/tmp/.gitignore", "mine");
    let _ = ground.project().start_up();
    assert_eq!(fs::read_to_string(ground.root().join(".deepwork/tmp/.gitignore")).expect("read"), "mine");
    assert!(startup.instructions.starts_with("Jobs here:") && startup.instructions.contains("report [full, quick"));
}

#[test]
fn a_folder_that_cannot_be_written_fails_no_listing() {
    let ground = Ground::new();
    fs::remove_dir_all(ground.root().join(".deepwork/tmp")).ok();
    // A file where the folder should be.
    ground.put(".deepwork/tmp", "in the way");
    fs::create_dir_all(ground.root().join(".deepwork/job.schema.json/x")).expect("made");
    let _ = ground.project().start_up();
    assert_eq!(ground.project().get_workflows().jobs.len(), 3);
}

#[test]
fn the_text_for_clients_is_short_whatever_there_is() {
    let ground = Ground::new();
    for at in 0..120 {
        ground.put(
            &format!(".deepwork/jobs/job_{at}/job.yml"),
            &SOLO.replace("summary: s\nstep", &format!("summary: {}\nstep", "x".repeat(200))),
        );
    }
    let text = ground.project().start_up().instructions;
    assert!(text.chars().count() <= INSTRUCTIONS && text.contains("get_workflows") && !text.contains("job_1"));
    for at in 0..60 {
        ground.put(&format!(".deepwork/jobs/bad_{at}/job.yml"), "name: [");
    }
    let startup = ground.project().start_up();
    assert!(startup.instructions.chars().count() <= INSTRUCTIONS);
    assert!(startup.instructions.starts_with("# Warning") && startup.instructions.contains("finished_step"));
    assert!(startup.issue.is_some_and(|issue| issue.contains("bad_59") && issue.contains("repair")));
}

#[test]
fn other_programs_can_read_the_status() {
    let ground = Ground::new();
    ground.put("a.md", "x");
    ground.start("report", "full");
    ground.finish(json!({ "topic": "x" })).expect("finished");
    ground.start_with("solo", "main", Some("a"), json!({})).expect("started");
    let read = |name: &str| {
        let text = fs::read_to_string(ground.root().join(".deepwork/tmp/status/v1").join(name)).expect("read");
        crate::yaml::parse(&text).expect("YAML").expect("content").to_json()
    };
    let session = read("sessions/s.yml");
    assert_eq!(session["workflows"][0]["steps"][0]["step_name"], json!("gather"));
    assert_eq!(session["workflows"][0]["workflow"]["display_name"], json!("Full"));
    assert_eq!(session["workflows"][1]["agent_id"], json!("a"));
    assert_eq!(session["active_workflow"], session["workflows"][0]["workflow_instance_id"]);
    let _ = ground.project().get_workflows();
    let manifest = read("job_manifest.yml");
    let names: Vec<&str> =
        manifest["jobs"].as_array().expect("a list").iter().filter_map(|job| job["name"].as_str()).collect();
    assert_eq!(names, ["deepplan", "inside", "report"]);
    assert_eq!(manifest["jobs"][2]["workflows"][1]["name"], json!("full"));
}

#[test]
fn where_sessions_stand_is_told_also_for_agents_and_jobs_that_are_gone() {
    let ground = Ground::new();
    assert_eq!(ground.project().active_sessions(), json!({ "active_sessions": [] }));
    ground.start("report", "full");
    ground.finish(json!({ "topic": "x" })).expect("finished");
    ground.start_with("solo", "main", Some("a"), json!({})).expect("started");
    let told = ground.project().active_sessions();
    let main = &told["active_sessions"][0];
    assert_eq!((&main["step_number"], &main["total_steps"]), (&json!(2), &json!(3)));
    assert_eq!(main["completed_steps"], json!(["gather"]));
    assert_eq!(main["current_step_instructions"], json!("Write."));
    assert_eq!(told["active_sessions"][1]["agent_id"], json!("a"));
    fs::remove_dir_all(ground.root().join(".deepwork/jobs/report")).expect("removed");
    let told = ground.project().active_sessions();
    assert_eq!(told["active_sessions"][0]["common_job_info"], Value::Null);
    assert!(told["active_sessions"][0].get("total_steps").is_none());
    ground.write_state("state.json", "{oops");
    assert_eq!(ground.project().active_sessions()["active_sessions"].as_array().map(Vec::len), Some(1));
}

// Session jobs

#[test]
fn a_session_job_is_there_for_its_session_only() {
    let ground = Ground::new();
    let project = ground.project();
    for name in ["Bad-Name", "1a", "", "../x"] {
        assert!(project.register_session_job(name, SOLO, "s").is_err(), "{name}");
    }
    assert!(project.register_session_job("j", "a: [1", "s").expect_err("refused").contains("nothing was kept"));
    assert!(project.get_session_job("j", "s").is_err());
    assert!(project.register_session_job("j", "", "s").expect_err("refused").contains("empty"));
    assert!(project.register_session_job("j", "name: j\n", "s").expect_err("refused").contains("was left in"));
    assert_eq!(project.get_session_job("j", "s").expect("kept").job_definition_yaml, "name: j\n");
    assert!(ground.start_with("j", "main", None, json!({})).is_err());
    let text = format!("# mine\n{SOLO}");
    project.register_session_job("j", &text, "s").expect("registered");
    assert_eq!(project.get_session_job("j", "s").expect("kept").job_definition_yaml, text);
    let missing = project.get_session_job("j", "other").expect_err("refused");
    assert!(missing.contains("`j`") && missing.contains("`other`"));
    assert!(project.register_session_job("j", SOLO, "../x").is_err());
    let elsewhere = StartArguments {
        goal: "g".into(),
        job_name: "j".into(),
        workflow_name: "main".into(),
        session_id: Some("other".into()),
        ..StartArguments::default()
    };
    assert!(matches!(project.start_workflow(elsewhere), Err(GuidedError::NoSuchJob { job, .. }) if job == "j"));
    assert!(ground.start("j", "main").begin_step.job_dir.ends_with("session-s/jobs/j"));
    assert!(ground.finish(json!({ "answer": "x" })).is_ok());
    assert!(project.get_workflows().jobs.iter().all(|job| job.name != "j"));
    // It hides a project's job of the same name.
    project.register_session_job("report", SOLO, "s").expect("registered");
    assert_eq!(titles(&ground.start("report", "main").stack), ["report/main:think"]);
}

#[test]
fn a_sub_workflow_of_a_missing_job_fails_when_it_is_started() {
    let ground = Ground::new();
    ground.put(
        ".deepwork/jobs/lost/job.yml",
        &SOLO
            .replace("name: inside", "name: lost")
            .replace("instructions: Think.,", "sub_workflow: {workflow_name: main, workflow_job: gone},"),
    );
    let step = ground.start("lost", "main").begin_step;
    assert!(step.step_instructions.contains("`gone`"), "{}", step.step_instructions);
    assert!(ground.start_with("gone", "main", None, json!({})).expect_err("refused").contains("`gone`"));
    assert_eq!(titles(&ground.start("solo", "main").stack), ["lost/main:think", "solo/main:think"]);
}

#[test]
fn an_empty_agent_id_is_refused_and_touches_nothing() {
    let ground = Ground::new();
    ground.start("solo", "main");
    let before = ground.state("state.json");
    assert!(ground.start_with("solo", "main", Some(""), json!({})).is_err());
    assert!(ground.finish_with(json!({ "answer": "x" }), |call| call.agent_id = Some(String::new())).is_err());
    assert!(ground.abort(Some("")).expect_err("refused").contains("agent_id"));
    assert!(ground.project().go_to_step("think", "s", Some("")).is_err());
    assert_eq!(ground.state("state.json"), before);
}

#[test]
fn a_session_of_agents_only_is_among_those_that_are_told() {
    let ground = Ground::new();
    ground.start_with("solo", "main", Some("helper"), json!({})).expect("started");
    let told = ground.project().active_sessions();
    assert_eq!(told["active_sessions"][0]["agent_id"], json!("helper"), "{told}");
}

/// Wherever a repository puts a link among our files, nothing is made or changed where it leads.
#[cfg(unix)]
#[test]
fn nothing_of_ours_is_written_through_a_link() {
    for place in [
        "",
        "tmp",
        "tmp/status",
        "tmp/status/v1",
        "tmp/standard_jobs",
        "tmp/sessions",
        "tmp/review_instructions",
        "tmp/history",
    ] {
        let ground = Ground::new();
        let outside = tempfile::tempdir().expect("a folder");
        let link: PathBuf = ground.root().join(".deepwork").join(place).components().collect();
        if place.is_empty() {
            fs::rename(&link, outside.path().join("kept")).expect("moved");
            fs::rename(outside.path().join("kept/jobs"), outside.path().join("jobs")).expect("moved");
            fs::remove_dir(outside.path().join("kept")).expect("removed");
        }
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        std::os::unix::fs::symlink(outside.path(), &link).expect("linked");
        let seen = || {
            let mut seen: Vec<_> =
                fs::read_dir(outside.path()).expect("listed").map(|entry| entry.expect("one").file_name()).collect();
            seen.sort();
            seen
        };
        let before = seen();
        let project = ground.project();
        let _ = project.start_up();
        project.tell_jobs();
        let _ = project.get_workflows();
        let _ = ground.start_with("deepplan", "create_deep_plan", None, json!({}));
        let _ = ground.start_with("solo", "main", None, json!({}));
        let _ = ground.finish(json!({ "answer": "x" }));
        let _ = project.mark_passed("r--a--0123456789ab");
        let _ = project.register_session_job("j", SOLO, "s");
        let places = project.places();
        assert!(place != "tmp/history" || places.write(&places.temporary().join("history/x"), b"x").is_err());
        assert_eq!(seen(), before, "{place:?}");
    }
}

#[test]
fn whatever_root_a_call_is_about_keeps_its_own_files_out_of_git() {
    let ground = Ground::new();
    ground.start("solo", "main");
    let ignore = fs::read_to_string(ground.root().join(".deepwork/tmp/.gitignore")).expect("written");
    assert!(ignore.starts_with("*\n"));
    ground.put(".deepwork/tmp/.gitignore", "mine\n");
    ground.start("solo", "main");
    assert_eq!(fs::read_to_string(ground.root().join(".deepwork/tmp/.gitignore")).expect("there"), "mine\n");
}

// The gate

const GATED: &str = "\
name: gated
summary: s
step_arguments:
  - name: pages
    description: d
    type: file_path
    review: {strategy: individual, instructions: Check each.}
  - name: title
    description: d
    type: string
    review: {strategy: individual, instructions: Check it., agent: {other: nobody}}
  - name: data
    description: d
    type: file_path
    json_schema: {type: object, required: [rows]}
  - {name: plain, description: d, type: file_path}
  - name: remark
    description: d
    type: string
    json_schema: {type: integer}
workflows:
  both:
    summary: s
    common_job_info_provided_to_all_steps_at_runtime: House style.
    steps:
      - name: compose
        instructions: i
        inputs: {plain: {}}
        outputs: {pages: {required: false, review: {strategy: matches_together, instructions: Check all., agent: {claude: editor}}}}
  title:
    summary: s
    steps: [{name: pick, instructions: i, outputs: {title: {}}}]
  data:
    summary: s
    steps: [{name: make, instructions: i, outputs: {data: {}, pages: {required: false}, remark: {required: false}}}]
  process:
    summary: s
    steps: [{name: act, instructions: i, outputs: {plain: {required: false}, remark: {required: false}}, process_requirements: {asked: The user MUST be asked.}}]
  plain:
    summary: s
    steps: [{name: make, instructions: i, outputs: {plain: {}}}]
  own:
    summary: s
    steps: [{name: make, instructions: i, outputs: {plain: {review: {strategy: individual, instructions: Check own.}}}}]
";

impl Ground {
    fn gated(workflow: &str) -> Self {
        let ground = Self::new();
        ground.put(".deepwork/jobs/gated/job.yml", GATED);
        ground.put("a.md", "a");
        ground.put("b.md", "b");
        ground.start("gated", workflow);
        ground
    }

    /// Finishes the step and returns the ids of the reviews that are due; empty when it passed.
    fn due(&self, outputs: Value) -> Vec<String> {
        due(&self.finish(outputs).expect("an answer"))
    }

    fn pass(&self, ids: &[String]) {
        for id in ids {
            assert!(self.project().mark_passed(id).contains(id.as_str()));
        }
    }

    fn instructions(&self, id: &str) -> String {
        let path = self.root().join(".deepwork/tmp/review_instructions").join(format!("{id}.md"));
        fs::read_to_string(path).expect("read")
    }
}

fn due(answer: &Finished) -> Vec<String> {
    let text = answer.feedback.clone().unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            line.trim().strip_prefix("prompt: \"@.deepwork/tmp/review_instructions/")?.strip_suffix(".md\"")
        })
        .map(str::to_owned)
        .collect()
}

fn rules(ids: &[String]) -> Vec<&str> {
    ids.iter().map(|id| id.split("--").next().unwrap_or_default()).collect()
}

#[test]
fn both_review_blocks_run_until_all_are_passed() {
    let ground = Ground::gated("both");
    let pages = json!({ "pages": ["a.md", "b.md"] });
    let ids = ground.due(pages.clone());
    assert_eq!(
        rules(&ids),
        ["step_compose_output_pages", "step_compose_output_pages_arg", "step_compose_output_pages_arg"]
    );
    let text = ground.instructions(&ids[0]);
    for part in
        ["House style.", "**plain**: not available", "Check all.", "@a.md", "@b.md", ".deepwork/jobs/gated/job.yml:0"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    ground.pass(&ids[..1]);
    assert_eq!(rules(&ground.due(pages.clone())).len(), 2);
    ground.pass(&ids[1..]);
    ground.put("b.md", "changed");
    let again = ground.due(pages.clone());
    assert_eq!(rules(&again).len(), 2);
    for _ in 0..10 {
        assert_eq!(ground.due(pages.clone()).len(), 2);
    }
    assert_eq!(
        ground.state("state.json")["workflow_stack"][0]["step_progress"]["compose"]["quality_attempts"],
        json!(13)
    );
    ground.pass(&again);
    assert_eq!(ground.finish(pages).expect("an answer").status, StepStatus::WorkflowComplete);
}

#[test]
fn an_output_that_is_left_out_is_not_reviewed_and_an_empty_reason_skips_nothing() {
    let ground = Ground::gated("both");
    let answer = ground.finish_with(json!({ "pages": "a.md" }), |one| one.override_reason = Some(String::new()));
    assert_eq!(answer.expect("an answer").status, StepStatus::NeedsWork);
    assert!(ground.due(json!({})).is_empty());
}

#[test]
fn a_review_on_the_output_alone_is_one_rule() {
    let ground = Ground::gated("own");
    assert_eq!(rules(&ground.due(json!({ "plain": "a.md" }))), ["step_make_output_plain"]);
}

#[test]
fn a_name_with_stars_is_that_name_only() {
    let ground = Ground::gated("both");
    ground.put("*.md", "star");
    let ids = ground.due(json!({ "pages": ["*.md", "a.md"] }));
    // One for both together, and one each.
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[test]
fn a_text_is_reviewed_inline_and_again_when_it_changes() {
    let ground = Ground::gated("title");
    let ids = ground.due(json!({ "title": "One" }));
    assert!(ids[0].starts_with("step_pick_output_title--inline--"), "{ids:?}");
    assert!(ground.instructions(&ids[0]).contains("One"));
    let feedback = ground.finish(json!({ "title": "One" })).expect("an answer").feedback.expect("feedback");
    assert!(feedback.contains("subagent_type: deepwork:reviewer"), "{feedback}");
    ground.pass(&ids);
    assert_eq!(ground.due(json!({ "title": "Two" })).len(), 1);
    assert!(ground.due(json!({ "title": "One" })).is_empty());
}

#[test]
fn schemas_come_first_and_every_bad_file_is_named() {
    let ground = Ground::gated("data");
    ground.put("good.json", "{\"rows\": 1}");
    ground.put("bad.json", "{}");
    ground.put("worse.yml", "{oops: [");
    ground.put("good.yml", "rows: 1");
    ground.put("latin.yml", "x");
    fs::write(ground.root().join("latin.yml"), b"rows: \xe9").expect("written");
    let answer = ground.finish(
        json!({ "data": ["good.json", "bad.json", "worse.yml", "latin.yml"], "pages": "a.md", "remark": "text" }),
    );
    let feedback = answer.expect("an answer").feedback.expect("feedback");
    for part in ["`data`", "`bad.json`", "rows", "`worse.yml`", "parsed", "`latin.yml`"] {
        assert!(feedback.contains(part), "{part}: {feedback}");
    }
    assert!(
        !feedback.contains("good.json") && !feedback.contains("review_instructions") && !feedback.contains("remark")
    );
    let skipped = ground.finish_with(json!({ "data": "bad.json" }), |one| one.override_reason = Some("known".into()));
    assert_eq!(skipped.expect("an answer").status, StepStatus::WorkflowComplete);
    ground.start("gated", "data");
    assert_eq!(
        ground.finish(json!({ "data": ["good.json", "good.yml"] })).expect("an answer").status,
        StepStatus::WorkflowComplete
    );
}

#[test]
fn process_requirements_need_a_summary_and_files_and_say_so() {
    let ground = Ground::gated("process");
    let with = |outputs: Value, summary: &str| {
        ground.finish_with(outputs, |one| one.work_summary = Some(summary.into())).expect("an answer")
    };
    let first = with(json!({ "plain": "a.md", "remark": "rem" }), "I asked.");
    let ids = due(&first);
    assert_eq!(rules(&ids), ["step_act_process_quality"]);
    let text = ground.instructions(&ids[0]);
    for part in ["The user MUST be asked.", "I asked.", "@a.md", "rem", "RFC 2119"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(due(&with(json!({ "plain": "a.md" }), "")), ids);
    ground.pass(&ids);
    let passed = with(json!({ "plain": "a.md" }), "Another summary.");
    assert_eq!(passed.status, StepStatus::WorkflowComplete);
    ground.start("gated", "process");
    let unchecked = ground.finish(json!({ "plain": "b.md" })).expect("an answer");
    assert!(unchecked.status == StepStatus::WorkflowComplete && unchecked.not_checked[0].contains("work_summary"));
    ground.start("gated", "process");
    let unchecked = with(json!({ "remark": "x" }), "s");
    assert!(unchecked.status == StepStatus::WorkflowComplete && unchecked.not_checked[0].contains("no files"));
}

const MD_RULE: &str =
    "md_rule:\n  description: d\n  match: {include: ['**/*']}\n  review: {strategy: individual, instructions: i}\n";

#[test]
fn configured_rules_are_for_changed_outputs_only() {
    let ground = Ground::new();
    ground.put(".deepwork/jobs/gated/job.yml", GATED);
    for name in ["a.md", "b.md", "c.md"] {
        ground.put(name, "x");
    }
    ground.put(".deepreview", MD_RULE);
    ground.start("gated", "plain");
    // Without git nothing is known to have changed, which is said, and reviews of the step itself still run.
    let answer = ground.finish(json!({ "plain": "a.md" })).expect("an answer");
    assert!(
        answer.status == StepStatus::WorkflowComplete && answer.not_checked.iter().any(|note| note.contains("git"))
    );
    ground.start("gated", "both");
    let feedback = ground.finish(json!({ "pages": "a.md" })).expect("an answer").feedback.expect("reviews");
    assert!(
        feedback.contains("step_") && feedback.contains("git cannot tell") && !feedback.contains("md_rule"),
        "{feedback}"
    );
    ground.abort(None).expect("given up");
    ground.git("init -q -b main");
    ground.git("add -A");
    ground.git("commit -qm base");
    ground.put("a.md", "changed");
    ground.put("c.md", "changed");
    ground.start("gated", "plain");
    let absolute = ground.root().join("a.md");
    for outputs in [json!({ "plain": ["a.md", "b.md"] }), json!({ "plain": absolute }), json!({ "plain": "./a.md" })] {
        let ids = ground.due(outputs);
        assert_eq!(ids.len(), 1, "{ids:?}");
        assert!(ids[0].starts_with("md_rule--a.md--"));
    }
    assert!(ground.due(json!({ "plain": "b.md" })).is_empty());
}

/// A rule is for a file, however a step spells its path.
#[cfg(unix)]
#[test]
fn no_spelling_of_a_path_passes_a_rule_by() {
    let ground = Ground::new();
    ground.put(".deepwork/jobs/gated/job.yml", GATED);
    for name in ["a.md", "sub/b.md", "other/c.md", "unchanged/d.md"] {
        ground.put(name, "x");
    }
    ground.put(".deepreview", &MD_RULE.replace("**/*", "**/*.md"));
    ground.git("init -q -b main");
    ground.git("add -A");
    ground.git("commit -qm base");
    for name in ["a.md", "sub/b.md", "other/c.md"] {
        ground.put(name, "changed");
    }
    let (root, around) = (ground.root(), tempfile::tempdir().expect("a folder"));
    let link = around.path().join("link");
    std::os::unix::fs::symlink(&root, &link).expect("linked");
    std::os::unix::fs::symlink("sub", root.join("ln")).expect("linked");
    std::os::unix::fs::symlink("sub/b.md", root.join("to_b")).expect("linked");
    let name = root.file_name().expect("a name").to_string_lossy().into_owned();
    let below = |path: &str| link.join(path).to_string_lossy().into_owned();
    ground.start("gated", "plain");
    for (spelled, file) in [
        (below("a.md"), "a.md"),
        ("sub/../a.md".into(), "a.md"),
        (format!("../{name}/a.md"), "a.md"),
        ("sub//b.md".into(), "sub-b.md"),
        ("ln/b.md".into(), "sub-b.md"),
        ("to_b".into(), "sub-b.md"),
        ("sub".into(), "sub-b.md"),
        ("ln/".into(), "sub-b.md"),
        ("ln/../sub/.".into(), "sub-b.md"),
    ] {
        let ids = ground.due(json!({ "plain": spelled }));
        assert!(ids.len() == 1 && ids[0].starts_with(&format!("md_rule--{file}--")), "{spelled}: {ids:?}");
    }
    for all in [".".to_owned(), link.to_string_lossy().into_owned(), "sub/..".into()] {
        assert_eq!(ground.due(json!({ "plain": all })).len(), 3, "{all}");
    }
    assert!(ground.due(json!({ "plain": "unchanged" })).is_empty());
    // What git cannot tell anything of is said to be so.
    fs::write(around.path().join("far.md"), "x").expect("written");
    ground.start("gated", "plain");
    let far = around.path().join("far.md");
    let answer = ground.finish(json!({ "plain": far })).expect("an answer");
    assert_eq!(answer.status, StepStatus::WorkflowComplete);
    assert!(answer.not_checked.iter().any(|note| note.contains("far.md") && note.contains("outside")), "{answer:?}");
}

#[test]
fn a_call_that_is_not_wanted_any_more_decides_nothing() {
    let ground = Ground::gated("both");
    let before = ground.state("state.json");
    let stop = Stop::default();
    stop.raise();
    let arguments = FinishArguments {
        outputs: serde_json::from_value(json!({ "pages": "a.md" })).expect("values"),
        session_id: "s".into(),
        ..FinishArguments::default()
    };
    let refused = ground.project().until(stop.clone()).finished_step(arguments).expect_err("cancelled");
    assert!(matches!(refused, GuidedError::Cancelled));
    assert_eq!(ground.state("state.json"), before);
    let asked = ground.project().until(stop).review(crate::reviews::Scope::Changed(None), crate::reviews::Sources::All);
    assert!(!asked.into_text().contains("No review tasks"));
}

#[test]
fn a_run_is_cancelled_from_outside_with_what_is_on_top_of_it() {
    let ground = Ground::on(Some("gemini"));
    ground.start("report", "full");
    ground.start("report", "full");
    ground.start("solo", "main");
    ground.start_with("solo", "main", Some("helper"), json!({})).expect("started");
    // From a project of another platform, as a command line has it.
    let outside = Guided::new(Settings { platform: None, ..ground.guided.settings.clone() });
    let project = outside.project(ground.folder.path()).expect("a project");
    let places = Places::new(&ground.root(), "gemini").expect("places");
    let stack = |agent: Option<&str>| Session::open(&places, "s").expect("opened").stack(agent).expect("read");
    let middle = stack(None).workflow_stack[1].workflow_instance_id.clone();
    let (runs, session) = project.cancel(&middle, "enough").expect("cancelled").expect("found");
    drop(session);
    assert_eq!(runs.iter().map(Run::title).collect::<Vec<_>>(), ["solo/main", "report/full"]);
    let left = stack(None);
    assert_eq!((left.workflow_stack.len(), left.completed_workflows.len()), (1, 2));
    assert!(
        left.completed_workflows
            .iter()
            .all(|run| run.status == RunStatus::Aborted && run.abort_reason.as_deref() == Some("enough"))
    );
    assert!(project.cancel(&middle, "enough").expect("looked").is_none());
    assert_eq!(project.ended(&std::iter::once(middle).collect()).len(), 1);
    let agents = stack(Some("helper")).workflow_stack[0].workflow_instance_id.clone();
    assert!(project.cancel(&agents, "enough").expect("cancelled").is_some());
    assert!(ground.abort(Some("helper")).is_err());
}

#[test]
fn a_run_knows_during_whose_step_it_was_started() {
    let ground = Ground::new();
    let start = |agent: Option<&str>| {
        let arguments = StartArguments {
            goal: "g".into(),
            job_name: "solo".into(),
            workflow_name: "main".into(),
            session_id: Some("s".into()),
            agent_id: agent.map(str::to_owned),
            ..StartArguments::default()
        };
        let done = ground.project().start_workflow(arguments).expect("started");
        (done.run.workflow_instance_id.clone(), done.parent.clone())
    };
    let (first, none) = start(None);
    let (second, above) = start(None);
    let (third, agents) = start(Some("a"));
    assert_eq!((none, above.as_ref(), agents.as_ref()), (None, Some(&first), Some(&second)));
    let aborted = ground.project().abort_workflow("x".into(), "s", Some("a")).expect("given up");
    assert_eq!((&aborted.run.workflow_instance_id, &aborted.parent), (&third, &agents));
}

#[test]
fn step_reviews_run_also_for_files_that_git_calls_unchanged() {
    let ground = Ground::gated("both");
    ground.git("init -q -b main");
    ground.git("add -A");
    ground.git("commit -qm base");
    assert_eq!(ground.due(json!({ "pages": "a.md" })).len(), 2);
}

#[test]
fn a_job_outside_the_root_is_shown_with_its_whole_path() {
    let ground = Ground::new();
    let outside = tempfile::tempdir().expect("a folder");
    let folder = outside.path().canonicalize().expect("there");
    files::write(&folder.join("far/job.yml"), GATED.as_bytes()).expect("written");
    let mut settings = ground.guided.settings.clone();
    settings.environment.insert("DEEPWORK_ADDITIONAL_JOBS_FOLDERS".into(), folder.clone().into());
    let ground = Ground { guided: Guided::new(settings), ..ground };
    ground.start("far", "title");
    let ids = ground.due(json!({ "title": "x" }));
    assert!(ground.instructions(&ids[0]).contains(&format!("{}/far/job.yml:0", folder.display())));
}

// Reviews outside workflows

#[test]
fn reviews_say_why_there_is_nothing_to_do() {
    let ground = Ground::new();
    let review = |files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        ground.project().review(crate::reviews::Scope::Named(files), crate::reviews::Sources::All).into_text()
    };
    assert!(review(&["a.md"]).contains("No reviews are configured"));
    ground.put("bad/.deepreview", "x: [");
    assert!(review(&["a.md"]).contains("bad/.deepreview"));
    ground.put(".deepreview", &format!("{MD_RULE}{}", MD_RULE.replace("md_rule", "py_rule").replace("**/*", "*.py")));
    ground.put("x.py", "x");
    assert!(review(&[]).contains("No changed files"));
    assert!(review(&["a.md"]).contains("No review rule matches"));
    let due = review(&["x.py", "x.py", "gone.py"]);
    assert!(due.contains("py_rule--x.py--") && due.contains("py_rule--gone.py--") && !due.contains("md_rule"));
    assert!(due.starts_with("Warning:") && due.contains("bad/.deepreview"));
    assert_eq!(due.matches("py_rule--x.py--").count(), 1);
    let git = ground.project().review(crate::reviews::Scope::Changed(None), crate::reviews::Sources::All);
    assert!(git.into_text().starts_with("Review error: Git error:"));
}

#[test]
fn configured_reviews_are_listed_with_their_places() {
    let ground = Ground::new();
    ground.put(
        ".deepreview",
        &format!("# top\n{MD_RULE}{}", MD_RULE.replace("md_rule", "py_rule").replace("**/*", "*.py")),
    );
    ground.put("bad/.deepreview", "x: [");
    ground.put(".deepwork/schemas/page/deepschema.yml", "matchers: ['*.md']\nrequirements: {a: x}");
    let list = |only: Option<&[String]>| -> Vec<String> {
        ground
            .project()
            .configured_reviews(only)
            .into_iter()
            .map(|info| format!("{} {}", info.name, info.defining_file))
            .collect()
    };
    let all = list(None);
    assert_eq!(
        all[..3],
        [
            "md_rule .deepreview:2",
            "py_rule .deepreview:6",
            "page DeepSchema Compliance .deepwork/schemas/page/deepschema.yml:0"
        ]
    );
    assert!(all[3].starts_with("PARSE_ERROR:/") && all[3].ends_with("bad/.deepreview"));
    assert_eq!(list(Some(&["none.py".into()])).len(), 2);
    assert_eq!(list(Some(&[])).len(), 1);
}

#[test]
fn a_pass_can_be_marked_any_time_and_only_under_an_id() {
    let ground = Ground::new();
    let project = ground.project();
    for id in ["", "  ", "../x", "/x", "a/b", "a\\b", "a\0b", "a..b", &"x".repeat(300)] {
        assert!(project.mark_passed(id).starts_with("Validation error:"), "{id:?}");
    }
    for _ in 0..2 {
        assert!(project.mark_passed("rule--a b.md--0123456789ab").contains("'rule--a b.md--0123456789ab'"));
    }
    assert!(ground.root().join(".deepwork/tmp/review_instructions/rule--a b.md--0123456789ab.passed").is_file());
}

#[test]
fn a_schema_that_cannot_be_used_is_listed_and_told_in_reviews() {
    let ground = Ground::new();
    ground.put(".deepwork/schemas/bad/deepschema.yml", "unknown: 1");
    ground.put("docs/.deepschema.plan.md.yml", "requirements: {a: x}");
    ground.put("docs/plan.md", "x");
    assert!(ground.project().schema_list()[0].summary.contains("cannot be used"));
    let scope = crate::reviews::Scope::Named(vec!["docs/plan.md".into()]);
    let text = ground.project().review(scope, crate::reviews::Sources::All).into_text();
    assert!(
        text.starts_with("Warning:") && text.contains("unknown") && text.contains("plan.md DeepSchema Compliance"),
        "{text}"
    );
}

#[test]
fn a_root_that_is_no_folder_is_refused() {
    let ground = Ground::new();
    assert!(ground.guided.project(Path::new("/no/such/folder")).is_err());
    assert!(ground.guided.project(&ground.root().join(".deepwork/jobs/solo/job.yml")).is_err());
}
