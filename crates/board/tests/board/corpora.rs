//! Every input that fuzzing began with or found, once.

use std::path::Path;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 4] = [
    ("front_matter", board::fuzz::front_matter),
    ("configuration", board::fuzz::configuration),
    ("queries", board::fuzz::queries),
    ("index_records", board::fuzz::index_records),
];

#[test]
fn every_input_of_every_corpus_goes_well() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(name);
        let files: Vec<_> = std::fs::read_dir(&folder).expect(name).flatten().map(|entry| entry.path()).collect();
        assert!(files.len() > 1, "`{name}` has a corpus");
        for file in files {
            let bytes = std::fs::read(&file).expect("read");
            target(&bytes);
            // And with its end missing, wherever that is.
            for length in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
                target(&bytes[..length]);
            }
        }
    }
}
