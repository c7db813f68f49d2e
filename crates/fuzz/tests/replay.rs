//! What was found by fuzzing stays found: every input of every corpus, and a little more by chance.

use std::path::Path;
use std::time::Duration;

use workflow_fuzz::soak::{self, Options};
use workflow_fuzz::{TARGETS, corpus};

/// Inputs that are made for each target beside its corpus: enough to notice a target that fails at once.
const MORE: u64 = 300;

#[test]
fn every_input_of_every_corpus_goes_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut failed = Vec::new();
    for target in TARGETS {
        let known = corpus(target.name).unwrap_or_else(|error| panic!("the corpus of `{}`: {error}", target.name));
        assert!(!known.is_empty(), "`{}` has an empty corpus", target.name);
        for (path, input) in &known {
            let options = Options { seed: 0, most: 0, time: Duration::MAX };
            let outcome = soak::run(target, std::slice::from_ref(input), folder.path(), options).expect("it runs");
            failed.extend(outcome.failures.into_iter().map(|(_, problem)| format!("{}: {problem}", path.display())));
            // And with its end missing, wherever that is.
            (0..input.len()).step_by(input.len() / 40 + 1).for_each(|length| (target.run)(&input[..length]));
        }
        let inputs: Vec<Vec<u8>> = known.into_iter().map(|(_, input)| input).collect();
        let options = Options { seed: 1, most: MORE, time: Duration::from_secs(20) };
        let outcome = soak::run(target, &inputs, folder.path(), options).expect("it runs");
        failed.extend(outcome.failures.into_iter().map(|(_, problem)| format!("{} by chance: {problem}", target.name)));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_can_be_fuzzed_with_coverage() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("readable");
    let mut files: Vec<String> = std::fs::read_dir(folder.join("fuzz_targets"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    files.sort();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(files, names, "the files in `fuzz/fuzz_targets` are those of `TARGETS`, sorted");
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "`fuzz/Cargo.toml` has `{name}`");
    }
}
