//! Patterns of review rules and schemas.
//!
//! | part | meaning |
//! | --- | --- |
//! | `**/` | any number of leading folders, also none |
//! | `**` | anything, `/` included |
//! | `*` | any run of characters except `/`, also none |
//! | `?` | one character except `/` |
//! | anything else | itself |
//!
//! Matching takes time in proportion to pattern times path, whatever they hold.

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    parts: Vec<Part>,
    /// What every match begins with.
    beginning: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Folders,
    Anything,
    Run,
    One,
    Literal(char),
}

impl Glob {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (part, length) = if rest.starts_with("**/") {
                (Part::Folders, 3)
            } else if rest.starts_with("**") {
                (Part::Anything, 2)
            } else {
                match first {
                    '*' => (Part::Run, 1),
                    '?' => (Part::One, 1),
                    other => (Part::Literal(other), other.len_utf8()),
                }
            };
            parts.push(part);
            rest = &rest[length..];
        }
        let beginning = parts
            .iter()
            .map_while(|part| match part {
                Part::Literal(one) => Some(*one),
                Part::Folders | Part::Anything | Part::Run | Part::One => None,
            })
            .collect();
        Self { text: text.to_owned(), parts, beginning }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether it is made of `*` and `/` only and so takes every file.
    #[must_use]
    pub fn is_catch_all(&self) -> bool {
        !self.text.is_empty() && self.text.chars().all(|one| matches!(one, '*' | '/'))
    }

    /// Tells whether it matches a whole relative path.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        if !path.starts_with(&self.beginning) {
            return false;
        }
        let path: Vec<char> = path.chars().collect();
        let end = path.len();
        // `row[i]`: the parts from here on match the path from character `i` on.
        let mut next = vec![false; end + 1];
        next[end] = true;
        let mut row = vec![false; end + 1];
        for part in self.parts.iter().rev() {
            let mut folder_follows = false;
            for at in (0..=end).rev() {
                let here = path.get(at).copied();
                let after = at < end && next[at + 1];
                row[at] = match part {
                    Part::Literal(one) => after && here == Some(*one),
                    Part::One => after && here != Some('/'),
                    Part::Run => next[at] || (at < end && here != Some('/') && row[at + 1]),
                    Part::Anything => next[at] || (at < end && row[at + 1]),
                    Part::Folders => {
                        folder_follows |= here == Some('/') && after;
                        next[at] || folder_follows
                    }
                };
            }
            std::mem::swap(&mut row, &mut next);
        }
        next[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = Glob::new(pattern);
        for path in yes {
            assert!(glob.matches(path), "{pattern} {path}");
        }
        for path in no {
            assert!(!glob.matches(path), "{pattern} {path}");
        }
    }

    #[test]
    fn each_part_means_what_the_table_says() {
        check("*.txt", &["a.txt", ".txt"], &["a/b.txt", "a.txt.x"]);
        check("**/*.txt", &["a.txt", "a/b/c.txt", ".hid/x.txt"], &["a.md"]);
        check("docs/**", &["docs/a", "docs/a/b", "docs/"], &["docs", "docs2/a"]);
        check("a/**/z.txt", &["a/z.txt", "a/b/c/z.txt"], &["az.txt", "a/bz.txt"]);
        check("**.cfg", &["x.cfg", "a/b/x.cfg"], &["x.cf"]);
        check("f?.txt", &["fa.txt", "fü.txt"], &["f.txt", "f/.txt", "fab.txt"]);
        check("docs", &["docs"], &["docs/a"]);
        check("[ab].{c,d}", &["[ab].{c,d}"], &["a.c"]);
        check("./x", &["./x"], &["x"]);
        check("!x", &["!x"], &["y"]);
        check("A", &["A"], &["a", "A\n"]);
        check("", &[""], &["a"]);
        check("***", &["a/b"], &[]);
    }

    #[test]
    fn only_stars_and_slashes_are_a_catch_all() {
        for text in ["**/*", "*", "**", "**/**/*", "*/*"] {
            assert!(Glob::new(text).is_catch_all(), "{text}");
        }
        for text in ["", "*.py", "**/?", "a/**"] {
            assert!(!Glob::new(text).is_catch_all(), "{text}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_longer_than_its_length() {
        let glob = Glob::new(&"*a".repeat(500));
        let started = std::time::Instant::now();
        assert!(!glob.matches(&"a".repeat(400)));
        assert!(!Glob::new(&"**/".repeat(300)).matches(&"a/".repeat(1000).replace("a/", "aa")));
        assert!(started.elapsed() < std::time::Duration::from_secs(5));
    }

    proptest! {
        #[test]
        fn a_text_without_signs_matches_itself_only(text in "[a-z./\\[\\]{}]{0,20}", other in "[a-z./]{0,20}") {
            let glob = Glob::new(&text);
            prop_assert!(glob.matches(&text));
            prop_assert_eq!(glob.matches(&other), text == other);
        }

        #[test]
        fn two_stars_before_a_slash_take_any_depth(folders in proptest::collection::vec("[a-z]{1,5}", 0..6)) {
            let mut path = folders.join("/");
            if !path.is_empty() { path.push('/'); }
            path.push_str("x.md");
            prop_assert!(Glob::new("**/*.md").matches(&path));
        }
    }
}
