//! Options of `run` count wherever they stand: `run DIR main --name Ada --provider codex` is how people write it, while
//! everything behind the entrypoint goes to the entrypoint's own parameters. So our own options are moved to the front
//! before the command line is read. Behind `--` everything is a parameter, also what has the name of an option.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::cli::Cli;

/// Returns the command line with the options of `run` before what it runs.
pub(crate) fn in_order(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut before: Vec<OsString> = Vec::new();
    let mut rest = arguments.into_iter();
    // The program, options for all commands with their values, and the command.
    before.extend(rest.next());
    let command = loop {
        let Some(argument) = rest.next() else { return before };
        let text = argument.to_string_lossy().into_owned();
        before.push(argument);
        match text.as_str() {
            "--profile" => before.extend(rest.next()),
            _ if text.starts_with('-') => {}
            _ => break text,
        }
    };
    if command != "run" {
        before.extend(rest);
        return before;
    }
    let ours = options();
    let mut parameters = Vec::new();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        if text == "--" {
            // The reader takes away a `--` that stands before the list of words, which would then not be known to be there.
            if parameters.len() == 1 {
                parameters.push(argument.clone());
            }
            parameters.push(argument);
            parameters.extend(rest);
            break;
        }
        let (name, value) = text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
        match name.strip_prefix("--").filter(|name| ours.iter().any(|own| own == name)) {
            Some(_) if value.is_some() => before.push(argument),
            Some(_) => match rest.next() {
                Some(value) => before.extend([argument, value]),
                // Without a value it is no option of ours, and says so where it stands.
                None => parameters.push(argument),
            },
            None => parameters.push(argument),
        }
    }
    before.extend(parameters);
    before
}

/// The options of `run` that take a value, as all of them do but `--help`.
fn options() -> Vec<String> {
    let cli = Cli::command();
    let all = cli.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments).chain(cli.get_arguments());
    all.filter(|argument| argument.get_action().takes_values())
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .filter(|name| name != "workflow-mcp")
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("w run DIR main --name Ada --provider codex", "w run --provider codex DIR main --name Ada")]
    #[case("w run DIR --args={} main x --data-dir /d", "w run --args={} --data-dir /d DIR main x")]
    #[case("w --profile dev run DIR main --flag --profile test", "w --profile dev run --profile test DIR main --flag")]
    #[case("w run DIR main -- --provider codex", "w run DIR main -- --provider codex")]
    #[case("w run DIR -- a.csv", "w run DIR -- -- a.csv")]
    #[case("w run DIR --n 4 -- -x", "w run DIR --n 4 -- -x")]
    #[case("w run DIR main --data-dir", "w run DIR main --data-dir")]
    #[case("w mcp DIR --data-dir /d", "w mcp DIR --data-dir /d")]
    #[case("w runs list --json", "w runs list --json")]
    #[case("w --workflow-mcp ID", "w --workflow-mcp ID")]
    #[case("w", "w")]
    fn options_come_first(#[case] given: &str, #[case] read: &str) {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(in_order(words(given)), words(read));
    }

    #[rstest]
    #[case("DIR", None, "")]
    #[case("DIR main", Some("main"), "")]
    #[case("DIR main --n 4", Some("main"), "--n 4")]
    #[case("DIR --n 4", None, "--n 4")]
    #[case("DIR --n=4 --provider codex x", None, "--n=4 x")]
    #[case("DIR -n 4", None, "-n 4")]
    #[case("DIR -- --n 4", None, "--n 4")]
    #[case("DIR main -- --provider x", Some("main"), "--provider x")]
    #[case("DIR main --n 4 -- -x", Some("main"), "--n 4 -- -x")]
    #[case("DIR a.csv", Some("a.csv"), "")]
    #[case("DIR -- a.csv", None, "a.csv")]
    fn what_stands_behind_the_target(#[case] given: &str, #[case] entrypoint: Option<&str>, #[case] rest: &str) {
        let words = ["w", "run"].into_iter().chain(given.split(' ')).map(OsString::from);
        let cli = Cli::try_parse_from(in_order(words)).expect("a command line");
        let Some(crate::cli::Command::Run(run)) = cli.command else { panic!("another command") };
        assert_eq!(run.target, "DIR");
        assert_eq!(run.entrypoint(), entrypoint);
        assert_eq!(run.parameters().join(" "), rest);
    }

    #[test]
    fn every_option_of_run_takes_a_value() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("a command");
        let flags: Vec<&str> = run
            .get_arguments()
            .filter(|argument| !argument.get_action().takes_values())
            .filter_map(clap::Arg::get_long)
            .collect();
        assert!(flags.is_empty(), "{flags:?} would have to be moved without a value");
    }
}
