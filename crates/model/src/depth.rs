//! How deep JSON is nested, told without parsing it: a parser that recurses must not see what would overflow it.

/// Tells whether the brackets of `text` go at most `most` levels deep, strings left out.
#[must_use]
pub fn within_depth(text: &[u8], most: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > most {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::within_depth;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(within_depth(br#"["[[[\"[[[",{}]"#, 2));
        assert!(!within_depth(b"[[[]]]", 2));
        assert!(!within_depth(&[b'['; 100_000], 100));
    }
}
