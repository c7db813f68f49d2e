//! A view's address: what stands after `#` in the page, and after `--show` on the command line.

/// The longest address taken.
const MOST: usize = 512;

/// The views there are, by the first part of their address.
const VIEWS: [&str; 7] = ["", "runs", "run", "compare", "project", "dock", "settings"];

/// Checks an address that came from outside, and brings it into the page's form (`/run/ID`).
///
/// Returns `None` for what names no view or has other characters than addresses have.
pub(crate) fn checked(given: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~%?=&+,:@".contains(&byte);
    if given.len() > MOST || !given.bytes().all(plain) {
        return None;
    }
    let address = given.trim_start_matches('/');
    let view = address.split(['/', '?']).next().unwrap_or_default();
    VIEWS.contains(&view).then(|| format!("/{address}"))
}

/// Finds the address that a command line asks for.
pub(crate) fn asked(arguments: &[String]) -> Option<String> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--show" {
            return checked(arguments.next()?);
        }
        if let Some(given) = argument.strip_prefix("--show=") {
            return checked(given);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn views_are_taken_with_and_without_a_slash() {
        assert_eq!(checked("run/0123").as_deref(), Some("/run/0123"));
        assert_eq!(checked("/runs?status=failed&q=a%20b").as_deref(), Some("/runs?status=failed&q=a%20b"));
        assert_eq!(checked("").as_deref(), Some("/"));
    }

    #[test]
    fn what_names_no_view_is_refused() {
        for bad in
            ["javascript:alert(1)", "//evil.example/", "https://evil.example", "run/<img>", "elsewhere", "run/\n"]
        {
            assert_eq!(checked(bad), None, "{bad}");
        }
        assert_eq!(checked(&format!("run/{}", "a".repeat(600))), None);
    }

    #[test]
    fn the_command_line_may_ask_for_one() {
        assert_eq!(asked(&words("workflow-code-desktop --profile work --show run/1")).as_deref(), Some("/run/1"));
        assert_eq!(asked(&words("workflow-code-desktop --show=settings")).as_deref(), Some("/settings"));
        assert_eq!(asked(&words("workflow-code-desktop --show")), None);
        assert_eq!(asked(&words("workflow-code-desktop")), None);
    }
}
