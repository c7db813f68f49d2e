//! Paths inside a workspace, as text with `/`; slugs; globs.

use unicode_normalization::UnicodeNormalization as _;

/// Cleans a path that must stay inside the workspace; `None` when it does not. The workspace itself is `""`.
pub(crate) fn inside(path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a path, `""` for one at the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Joins two clean paths.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Tells whether `path` is `folder` or lies in it.
pub(crate) fn lies_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Lower case with accents folded: decomposed, marks dropped.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd()
        .filter(|one| !unicode_normalization::char::is_combining_mark(*one))
        .flat_map(char::to_lowercase)
        .collect()
}

/// A title as part of a file name, at most `most` characters; `fallback` when nothing is left.
pub(crate) fn slug(title: &str, most: usize, fallback: &str) -> String {
    let mut slug = String::new();
    for one in folded(title).chars() {
        if one.is_ascii_lowercase() || one.is_ascii_digit() {
            slug.push(one);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = &slug[..slug.len().min(most)];
    if slug.is_empty() { fallback.to_owned() } else { slug.to_owned() }
}

/// A path as a claim's scope compares it: `/`, no `.` and `..`, no trailing `/`. The whole workspace is `""`.
pub(crate) fn scope(path: &str) -> String {
    inside(path).unwrap_or_else(|| path.replace('\\', "/").trim_end_matches('/').to_owned())
}

/// Tells whether two scope entries overlap: equal, or one a folder of the other.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (scope(one), scope(other));
    lies_in(&one, &other) || lies_in(&other, &one)
}

/// Tells whether a scope entry covers a path: a prefix in whole parts, where `*` is any text without `/`.
pub(crate) fn covers(entry: &str, path: &str) -> bool {
    let entry = scope(entry);
    if !entry.contains('*') {
        return lies_in(path, &entry);
    }
    let patterns: Vec<&str> = entry.split('/').collect();
    let parts: Vec<&str> = path.split('/').collect();
    parts.len() >= patterns.len() && patterns.iter().zip(&parts).all(|(pattern, part)| matches_part(pattern, part))
}

/// Matches one path against a glob: `**` is any folders, `*` any text in one part, `?` one character.
pub(crate) fn glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    // Which pattern parts may come next, for every path part: linear in their product.
    let mut states = vec![false; pattern.len() + 1];
    states[0] = true;
    let close = |states: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            if states[at] && pattern[at] == "**" {
                states[at + 1] = true;
            }
        }
    };
    close(&mut states);
    for part in path {
        let mut next = vec![false; pattern.len() + 1];
        for at in 0..pattern.len() {
            if states[at] {
                if pattern[at] == "**" {
                    next[at] = true;
                } else if matches_part(pattern[at], part) {
                    next[at + 1] = true;
                }
            }
        }
        states = next;
        close(&mut states);
    }
    states[pattern.len()]
}

fn matches_part(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut from, mut star, mut retry) = (0, 0, None, 0);
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some(at);
                retry = from;
                at += 1;
            }
            Some(one) if *one == '?' || *one == text[from] => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some(star) => {
                    retry += 1;
                    from = retry;
                    at = star + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|one| *one == '*')
}

/// Where an id's prefix ends, and its number; a text without a number is its own prefix.
pub(crate) fn id_parts(id: &str) -> (usize, u64) {
    let number = id.rsplit_once('-').and_then(|(prefix, number)| Some((prefix.len(), number.parse::<u64>().ok()?)));
    number.unwrap_or((id.len(), 0))
}

/// Compares ids so that `T-9999` comes before `T-10000`: by what stands before the number, then by the number.
pub(crate) fn compare_ids(one: &str, other: &str) -> std::cmp::Ordering {
    let ((end, number), (other_end, other_number)) = (id_parts(one), id_parts(other));
    (&one[..end], number, one).cmp(&(&other[..other_end], other_number, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("ops/night/", Some("ops/night"))]
    #[case("", Some(""))]
    #[case(".", Some(""))]
    #[case("../out", None)]
    #[case("a/../../b", None)]
    #[case("a\\..\\..\\b", None)]
    #[case("/etc", None)]
    #[case("C:x", None)]
    fn paths_stay_inside(#[case] path: &str, #[case] clean: Option<&str>) {
        assert_eq!(inside(path).as_deref(), clean);
    }

    #[test]
    fn a_folder_of_slashes_is_answered_quickly() {
        assert_eq!(inside(&format!("a{}", "/".repeat(1_000_000))).as_deref(), Some("a"));
    }

    #[rstest]
    #[case("Scan: a \"barcode\" [fast]", "scan-a-barcode-fast")]
    #[case("???", "card")]
    #[case(
        "Ünïcode & Über-title that is much longer than fifty characters wide",
        "unicode-uber-title-that-is-much-longer-than-fifty-"
    )]
    #[case("日本語", "card")]
    fn slugs(#[case] title: &str, #[case] wanted: &str) {
        assert_eq!(slug(title, 50, "card"), wanted);
    }

    #[rstest]
    #[case("src/web/", "./src/web/page.html", true)]
    #[case("src/web", "src/webby", false)]
    #[case("src", "src\\web", true)]
    #[case(".", "src", true)]
    #[case("./", "src", true)]
    #[case("src/x/../web", "src/web/a", true)]
    #[case("src//web", "src/web", true)]
    #[case("../src", "src", false)]
    fn overlaps(#[case] one: &str, #[case] other: &str, #[case] wanted: bool) {
        assert_eq!(overlap(one, other), wanted);
        assert_eq!(overlap(other, one), wanted);
    }

    #[rstest]
    #[case("lib/*.rs", "lib/x.rs", true)]
    #[case("lib/*.rs", "lib/deep/x.rs", false)]
    #[case("src/*", "src/a/b.rs", true)]
    #[case("src/api", "src/apiary.rs", false)]
    fn scopes_cover(#[case] entry: &str, #[case] path: &str, #[case] wanted: bool) {
        assert_eq!(covers(entry, path), wanted);
    }

    #[rstest]
    #[case("docs/**/*.md", "docs/a.md", true)]
    #[case("docs/**/*.md", "docs/a/b/c.md", true)]
    #[case("docs/**/*.md", "docs/a.txt", false)]
    #[case("**/node_modules/**", "a/node_modules/b/c.md", true)]
    #[case("README.md", "README.md", true)]
    #[case("?.md", "ab.md", false)]
    #[case("**/**/**/**/**/x", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/y", false)]
    fn globs(#[case] pattern: &str, #[case] path: &str, #[case] wanted: bool) {
        assert_eq!(glob(pattern, path), wanted);
    }

    #[test]
    fn ids_are_ordered_by_number() {
        let mut ids = vec!["T-10000", "DOC-0001", "T-9999", "PATH-A8AC134F4A94", "X1"];
        ids.sort_by(|one, other| compare_ids(one, other));
        assert_eq!(ids, ["DOC-0001", "PATH-A8AC134F4A94", "T-9999", "T-10000", "X1"]);
    }
}
