//! Every way in which a job file can be wrong, and what is right at the edge.

use super::*;
use std::fs;

/// A job with one step; `change` replaces parts of it.
fn job(changes: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "name: solo\nsummary: one line\nstep_arguments:\n  - name: answer\n    description: d\n    type: string\n\
         workflows:\n  main:\n    summary: s\n    steps:\n      - name: think\n        instructions: Think.\n        \
         inputs: {}\n        outputs:\n          answer: {}\n",
    );
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn read(text: &str) -> Result<Job, LoadError> {
    parse(text, Path::new("/p/job.yml"))
}

fn good(changes: &[(&str, &str)]) -> Job {
    read(&job(changes)).expect("it is a job")
}

fn message(text: &str) -> String {
    read(text).expect_err("it is refused").to_string()
}

fn wrong(changes: &[(&str, &str)]) -> String {
    message(&job(changes))
}

fn loaded(content: &[u8]) -> Result<Job, LoadError> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(JOB_FILE), content).expect("written");
    load(folder.path())
}

#[test]
fn a_missing_folder_a_file_and_a_folder_without_a_job() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(load(&folder.path().join("none")), Err(LoadError::NoFolder(_))));
    let file = folder.path().join("file");
    fs::write(&file, "x").expect("written");
    assert!(matches!(load(&file), Err(LoadError::NotAFolder(_))));
    assert!(matches!(load(folder.path()), Err(LoadError::NoFile(_))));
}

#[test]
fn empty_files_and_other_types_at_the_top() {
    assert!(matches!(loaded(b""), Err(LoadError::Empty(_))));
    assert!(matches!(loaded(b"# only this\n"), Err(LoadError::Empty(_))));
    assert!(message("- a\n- b\n").contains("list"));
    assert!(message("just words").contains("string"));
    let broken = message("name: [unclosed\n");
    assert!(broken.contains("/p/job.yml") && broken.contains("line"), "{broken}");
}

#[test]
fn bytes_that_are_no_text_are_an_error_and_no_crash() {
    for bytes in [&b"name: caf\xe9"[..], b"\xff\xfe\x00\x01", b"name: \xe2\x82", b"name: a\0b"] {
        assert!(loaded(bytes).is_err(), "{bytes:?}");
    }
    let long = vec![b'#'; usize::try_from(JOB_BYTES).expect("fits") + 1];
    assert!(loaded(&long).expect_err("too large").to_string().contains("larger"));
}

#[test]
fn a_missing_key_is_named() {
    for key in ["name", "summary", "step_arguments", "workflows"] {
        let lines: Vec<String> = vec![
            "name: solo".into(),
            "summary: s".into(),
            "step_arguments: []".into(),
            "workflows: {main: {summary: s, steps: [{name: a, instructions: b}]}}".into(),
        ];
        let text: String =
            lines.iter().filter(|line| !line.starts_with(&format!("{key}:"))).map(|line| format!("{line}\n")).collect();
        assert!(message(&text).contains(&format!("`{key}` is missing")), "{key}");
    }
}

#[test]
fn keys_of_older_formats_are_named_with_what_replaced_them() {
    let text = format!("{}version: 1.0.0\nsteps: []\n", job(&[]));
    let message = message(&text);
    assert!(message.contains("version") && message.contains("inside a workflow"), "{message}");
    assert!(wrong(&[("answer: {}", "answer: {}\n        quality_criteria: [x]")]).contains("process_requirements"));
    assert!(wrong(&[("inputs: {}", "inputs: {answer: {from_step: a}}")]).contains("argument's name"));
}

#[test]
fn all_violations_are_told_with_their_lines() {
    let message =
        wrong(&[("summary: one line", "summary: ''"), ("type: string", "type: number"), ("name: think", "name: T")]);
    for part in ["line 2", "line 6", "line 11", "number", "steps -> 0 -> name"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn names_hold_to_their_letters() {
    for name in ["Solo", "1a", "bad-name", "''", "a b"] {
        assert!(read(&job(&[("name: solo", &format!("name: {name}"))])).is_err(), "{name}");
    }
    assert!(wrong(&[("name: solo", "name: Bad-Name")]).contains("Bad-Name"));
    assert!(read(&job(&[("main:", "Main:")])).is_err());
}

#[test]
fn a_summary_has_1_to_200_characters() {
    assert!(wrong(&[("one line", "''")]).contains("summary"));
    assert!(wrong(&[("one line", &"é".repeat(201))]).contains("201"));
    good(&[("one line", &"é".repeat(200))]);
}

#[test]
fn argument_names_begin_with_a_letter() {
    for name in ["job.yml", "a/b-c", "Abc_1"] {
        good(&[("name: answer", &format!("name: {name}")), ("answer: {}", &format!("{name}: {{}}"))]);
    }
    assert!(read(&job(&[("name: answer", "name: .x"), ("answer: {}", ".x: {}")])).is_err());
}

#[test]
fn a_job_without_arguments_is_one() {
    let text =
        "name: a\nsummary: s\nstep_arguments: []\nworkflows: {m: {summary: s, steps: [{name: x, instructions: y}]}}";
    assert!(read(text).is_ok());
}

#[test]
fn workflows_and_steps_need_one_entry() {
    let base = "name: a\nsummary: s\nstep_arguments: []\n";
    assert!(message(&format!("{base}workflows: {{}}")).contains("at least one workflow"));
    assert!(message(&format!("{base}workflows: {{m: {{summary: s, steps: []}}}}")).contains("at least one step"));
}

#[test]
fn a_step_takes_exactly_one_task() {
    let both = wrong(&[("instructions: Think.", "instructions: Think.\n        sub_workflow: {workflow_name: main}")]);
    assert!(both.contains("both") && both.contains("main") && both.contains("think"), "{both}");
    let neither = wrong(&[("        instructions: Think.\n", "")]);
    assert!(neither.contains("neither") && neither.contains("main") && neither.contains("think"), "{neither}");
}

#[test]
fn a_step_name_is_used_once_in_a_workflow() {
    let twice = wrong(&[("answer: {}\n", "answer: {}\n      - name: think\n        instructions: Again.\n")]);
    assert!(twice.contains("main") && twice.contains("think") && twice.contains("twice"), "{twice}");
    let two =
        format!("{}  other:\n    summary: s\n    steps:\n      - name: think\n        instructions: t\n", job(&[]));
    assert!(read(&two).is_ok());
}

#[test]
fn names_that_refer_to_nothing_are_told_with_their_place() {
    let input = wrong(&[("inputs: {}", "inputs: {ghost: {}}")]);
    for part in ["main", "think", "ghost", "inputs", "line 11"] {
        assert!(input.contains(part), "{part}: {input}");
    }
    let output = wrong(&[("answer: {}", "ghost: {}")]);
    for part in ["main", "think", "ghost", "outputs", "line 11"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    let sub = wrong(&[("instructions: Think.", "sub_workflow: {workflow_name: gone}")]);
    assert!(sub.contains("gone") && sub.contains("`main`"), "{sub}");
    good(&[("instructions: Think.", "sub_workflow: {workflow_name: gone, workflow_job: elsewhere}")]);
    good(&[("instructions: Think.", "sub_workflow: {workflow_name: main}")]);
}

#[test]
fn process_requirements_are_texts() {
    let with = |text: &str| job(&[("inputs: {}", &format!("process_requirements: {text}"))]);
    assert!(message(&with("{}")).contains("at least one"));
    assert!(message(&with("{a: ''}")).contains("empty"));
    assert!(message(&with("{a: 1}")).contains("string"));
    assert!(read(&with("{a: The user MUST be asked.}")).is_ok());
}

#[test]
fn an_empty_mapping_has_to_be_written() {
    let message = wrong(&[("answer: {}", "answer:")]);
    assert!(message.contains("null") && message.contains("`{}`"), "{message}");
}

#[test]
fn review_blocks_are_checked() {
    let with = |text: &str| read(&job(&[("answer: {}", &format!("answer: {{review: {text}}}"))]));
    let refused = |text: &str| with(text).expect_err("it is refused").to_string();
    let strategy = refused("{strategy: all_changed_files, instructions: x}");
    assert!(strategy.contains("strategy") && strategy.contains("matches_together"), "{strategy}");
    let instructions = refused("{strategy: individual, instructions: {file: x}}");
    assert!(instructions.contains("instructions") && instructions.contains("string"), "{instructions}");
    for text in [
        "{strategy: individual}",
        "{instructions: x}",
        "{strategy: individual, instructions: x, additional_context: {other: true}}",
        "{strategy: individual, instructions: x, additional_context: {all_changed_filenames: 1}}",
        "{strategy: individual, instructions: x, agent: {claude: 1}}",
    ] {
        assert!(with(text).is_err(), "{text}");
    }
    let job =
        with("{strategy: individual, instructions: x, agent: {claude: a, type: b, 'no platform': 7}}").expect("a job");
    let review = job.workflows["main"].steps[0].outputs["answer"].review.clone().expect("a review");
    assert_eq!((review.agents.choose("claude"), review.agents.choose("gemini")), ("a", "b"));
}

#[test]
fn what_is_left_out_is_required() {
    let job = good(&[("inputs: {}", "inputs: {answer: {}}")]);
    let step = &job.workflows["main"].steps[0];
    assert!(step.inputs["answer"] && step.outputs["answer"].required);
    let job = good(&[("answer: {}", "answer: {required: no}")]);
    assert!(!job.workflows["main"].steps[0].outputs["answer"].required);
}

#[test]
fn an_empty_agent_is_refused() {
    assert!(read(&job(&[("    steps:", "    agent: ''\n    steps:")])).is_err());
    assert_eq!(
        good(&[("    steps:", "    agent: helper\n    steps:")]).workflows["main"].agent.as_deref(),
        Some("helper")
    );
}

#[test]
fn an_argument_schema_has_to_be_one() {
    let message = wrong(&[("type: string", "type: file_path\n    json_schema: {type: 7}")]);
    assert!(message.contains("json_schema"), "{message}");
}

#[test]
fn of_two_arguments_with_one_name_the_first_counts() {
    let job = good(&[("workflows:", "  - {name: answer, description: second, type: file_path}\nworkflows:")]);
    assert_eq!(job.argument("answer").map(|argument| argument.kind), Some(ArgumentKind::Text));
}

/// The schema that editors get and our own reading agree on what the format is.
#[test]
fn the_schema_for_editors_says_the_same() {
    let schema = serde_json::from_str(crate::builtin::JOB_SCHEMA).expect("JSON");
    let validator = crate::json_check::compile(&schema).expect("a schema");
    let cases = [
        job(&[]),
        job(&[("name: solo", "name: Solo")]),
        job(&[("one line", "''")]),
        job(&[("type: string", "type: number")]),
        job(&[("answer: {}", "answer:")]),
        job(&[("answer: {}", "answer: {review: {strategy: all_changed_files, instructions: x}}")]),
        job(&[("answer: {}", "answer: {review: {strategy: individual, instructions: x}}")]),
        job(&[("inputs: {}", "process_requirements: {}")]),
        job(&[("        instructions: Think.\n", "")]),
        job(&[("instructions: Think.", "sub_workflow: {workflow_name: main}")]),
        job(&[("instructions: Think.", "instructions: ''")]),
        job(&[("summary: s", "summary: s\n    surplus: 1")]),
    ];
    for text in cases {
        let value = yaml::parse(&text).expect("YAML").expect("content").to_json();
        assert_eq!(validator.is_valid(&value), read(&text).is_ok(), "{text}");
    }
}
