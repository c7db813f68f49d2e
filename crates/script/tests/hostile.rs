//! Sources and scripts made to hurt: each costs itself, with an error that says what is wrong.

mod common;

use common::Project;
use workflow_script::{SourceErrorCode, analyze};

/// Analyses one source.
fn look(file: &str, source: &str) -> Result<workflow_script::Analysis, workflow_script::SourceError> {
    let project = Project::new(&[(file, source)]);
    analyze(project.folder.path(), file)
}

const LONGEST: usize = 19_000;

#[test]
fn the_longest_chains_allowed_do_not_overflow_a_stack() {
    // What each repeats is a tree as deep as the chain is long, in one way or another.
    let mut deepest = 0;
    for (before, link, after) in [
        ("x = 1", "+1", ""),
        ("x = 1", " && 1", ""),
        ("x = ", "!", "1"),
        ("x = ", "-+", "1"),
        ("x = ", "typeof ", "1"),
        ("x = a", ".a", ""),
        ("x = a", "?.a", ""),
        ("x = a", "()", ""),
        ("x = a", "[0]", ""),
        ("x = a", "``", ""),
        ("x = a", "!", ""),
        ("x = 1", " as any", ""),
        ("x = ", "1?1:", "1"),
        ("x = ", "1?", ""),
        ("x = ", "a=>", "1"),
        ("x = ", "a=", "1"),
        ("x = ", "1**", "1"),
        ("x = ", "new ", "A"),
        ("x = ", "await ", "1"),
        ("x = ", "async a=>", "1"),
        ("", "if(1)", "x = 1"),
        ("", "for(;;)", "x = 1"),
        ("", "while(1)", "x = 1"),
        ("", "do ", "x = 1"),
        ("", "a:", "x = 1"),
        ("if(1){}", "else if(1){}", ""),
        ("let x: ", "A<", "1"),
        ("type X = ", "A|", "B"),
        ("type X = ", "keyof ", "B"),
        ("type X = B", "[]", ""),
        ("type X = ", "()=>", "B"),
        ("type X = ", "A extends B ? C : ", "D"),
        ("x = ", "<any>", "1"),
        ("x = ", "a,", "1"),
        ("x = 1;", "x;", ""),
        ("x = ", "/a/", ""),
    ] {
        for file in ["a.ts", "a.js"] {
            // A link may count more than once: take the longest chain that passes.
            for count in [LONGEST, LONGEST / 2, LONGEST / 3, LONGEST / 4, LONGEST / 5] {
                let source = format!("let x; export default async () => {{\n{before}{}{after}\n}}", link.repeat(count));
                // Any answer will do; a stack that overflows takes the test with it.
                match look(file, &source) {
                    Err(error) if error.code == SourceErrorCode::TooDeep => {}
                    found => {
                        deepest += usize::from(found.is_ok());
                        break;
                    }
                }
            }
        }
    }
    // Not all of them fit the engine's own stack, but parsers took many.
    assert!(deepest > 10, "{deepest}");
}

#[test]
fn deep_brackets_are_an_error_and_no_crash() {
    for levels in [1_001, 20_000, 1_000_000] {
        let error = look("bomb.ts", &format!("export default () => {}", "(".repeat(levels))).expect_err("too deep");
        assert_eq!(error.code, SourceErrorCode::TooDeep);
        assert_eq!((error.line, error.column), (Some(1), Some(22 + 1_000)));
    }
}

#[test]
fn the_deepest_brackets_allowed_do_not_overflow_a_stack() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "", "}"),
        ("({a:", "1", "})"),
        ("(()=>{", "", "})"),
        ("(class{a=", "1", "})"),
        ("`${", "1", "}`"),
        ("f(", "1", ")"),
        ("(a=", "1", ")=>1"),
        ("function f(){", "", "}"),
        ("async(x=", "1", ")"),
    ] {
        let count = 990 / open.bytes().filter(|byte| b"([{".contains(byte)).count();
        for file in ["a.ts", "a.js"] {
            let source =
                format!("export default () => {{ let x =\n{}{middle}{}\n}}", open.repeat(count), close.repeat(count));
            if let Err(error) = look(file, &source) {
                assert!(error.message.len() < 1_000, "{open}: {error}");
            }
        }
    }
}
