//! Names of stored files: one component of a path, whatever came.

/// The longest name that every file system takes, in bytes.
pub const MOST_NAME_BYTES: usize = 255;

/// Makes any text the name of a file in a folder: no separator, no control or reordering character, not `.` or `..`, at
/// most 255 bytes with its extension kept. A name that is already one stays as it is.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let mut safe: String = name
        .chars()
        .map(|letter| match letter {
            '/' | '\\' => '_',
            letter if letter.is_control() || crate::words::is_unsafe(letter) => '_',
            // Streams, wildcards and quotes of another world; there they would name something else.
            ':' | '*' | '?' | '"' | '<' | '>' | '|' if cfg!(windows) => '_',
            letter => letter,
        })
        .collect();
    if cfg!(windows) {
        safe.truncate(safe.trim_end_matches(['.', ' ']).len());
        let stem = safe.split('.').next().unwrap_or_default().to_ascii_uppercase();
        let numbered = (stem.starts_with("COM") || stem.starts_with("LPT")) && stem.len() == 4;
        if numbered || matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") {
            safe.insert(0, '_');
        }
    }
    if safe.len() > MOST_NAME_BYTES {
        safe = shortened(&safe);
    }
    if safe.is_empty() || safe == "." || safe == ".." { "file".into() } else { safe }
}

/// Tells whether a text is the name of a file in a folder as [`safe_name`] makes them.
#[must_use]
pub fn is_safe_name(name: &str) -> bool {
    safe_name(name) == name
}

/// Puts a number before a name's extension: `report.pdf`, 2 → `report (2).pdf`.
#[must_use]
pub(crate) fn numbered(name: &str, number: usize) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => safe_name(&format!("{stem} ({number}).{extension}")),
        Some(_) | None => safe_name(&format!("{name} ({number})")),
    }
}

fn shortened(name: &str) -> String {
    // An extension of more than 16 bytes is none.
    let extension = name.rfind('.').map(|at| &name[at..]).filter(|extension| extension.len() <= 16).unwrap_or_default();
    let mut end = MOST_NAME_BYTES - extension.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("report.pdf", "report.pdf")]
    #[case("../../etc/passwd", ".._.._etc_passwd")]
    #[case("..", "file")]
    #[case(".", "file")]
    #[case("", "file")]
    #[case("a\0b\n", "a_b_")]
    #[case("in\u{202e}fdp.exe", "in_fdp.exe")]
    #[case("日本.txt", "日本.txt")]
    #[case("-rf", "-rf")]
    #[case(".hidden", ".hidden")]
    fn names(#[case] name: &str, #[case] wanted: &str) {
        assert_eq!(safe_name(name), wanted);
    }

    #[test]
    fn a_long_name_keeps_its_extension() {
        let name = safe_name(&format!("{}.pdf", "é".repeat(300)));
        assert!(name.len() <= 255 && name.ends_with("é.pdf"), "{name}");
    }

    #[test]
    fn numbers_stand_before_the_extension() {
        assert_eq!(numbered("a.tar.gz", 2), "a.tar (2).gz");
        assert_eq!(numbered(".env", 3), ".env (3)");
    }

    proptest! {
        #[test]
        fn every_text_becomes_one_component(name in any::<String>()) {
            let safe = safe_name(&name);
            prop_assert!(is_safe_name(&safe));
            prop_assert!(safe.len() <= MOST_NAME_BYTES);
            let path = std::path::Path::new(&safe);
            prop_assert_eq!(path.components().count(), 1);
            prop_assert_eq!(path.file_name().and_then(|name| name.to_str()), Some(safe.as_str()));
        }
    }
}
