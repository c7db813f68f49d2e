//! What a body's Markdown says: headings, sections, checklists, links. Code never counts.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// The section with one line for every real change.
pub(crate) const ACTIVITY: &str = "## Activity";
/// The section with what people and agents noted.
pub(crate) const NOTES: &str = "## Notes";

/// One line of a body.
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    /// Where it begins.
    start: usize,
    /// Inside a fenced block, or one of its fences.
    pub(crate) code: bool,
}

impl Line<'_> {
    /// A heading of the body itself begins its line: further in it belongs to a list's item, as a note's second line does.
    pub(crate) fn heading(&self) -> Option<(usize, &str)> {
        if self.code {
            return None;
        }
        let text = self.text.trim_end();
        let level = text.len() - text.trim_start_matches('#').len();
        let rest = &text[level..];
        ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))).then(|| (level, rest.trim()))
    }

    pub(crate) fn is(&self, heading: &str) -> bool {
        !self.code && self.text.trim_end() == heading
    }
}

/// How many list items are looked at inside each other.
const MOST_ITEMS: usize = 32;

/// How far in a text begins that stands after `from` columns, and the text.
fn indented(text: &str, from: usize) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    let space = &text[..text.len() - rest.len()];
    (space.bytes().fold(from, |at, byte| if byte == b'\t' { (at / 4 + 1) * 4 } else { at + 1 }), rest)
}

/// How long a list item's marker is, with the space after it.
fn marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match (digits, text.as_bytes().get(digits)) {
        (0, Some(b'-' | b'*' | b'+')) => 1,
        (1..=9, Some(b'.' | b')')) => digits + 1,
        _ => return None,
    };
    matches!(text.as_bytes().get(mark), Some(b' ' | b'\t')).then_some(mark + 1)
}

/// A fenced block that is open.
struct Fence {
    mark: char,
    length: usize,
    /// How far in the item lies that it is in; the item's end is its end too.
    within: usize,
}

/// Whether a line without its indent opens or closes a fence: its mark, its length and what stands after.
fn fence_of(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|one| matches!(one, '`' | '~'))?;
    let length = text.chars().take_while(|one| *one == mark).count();
    (length >= 3).then(|| (mark, length, text.get(length..).unwrap_or("").trim()))
}

pub(crate) fn lines(body: &str) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut open: Option<Fence> = None;
    // How far in the texts of the list items lie that are open, the outermost first.
    let mut items: Vec<usize> = Vec::new();
    for text in body.split_inclusive('\n') {
        let (mut indent, mut rest) = indented(text, 0);
        if !rest.trim().is_empty() {
            items.retain(|within| indent >= *within);
            if open.as_ref().is_some_and(|fence| indent < fence.within) {
                open = None;
            }
        }
        while open.is_none()
            && items.len() < MOST_ITEMS
            && let Some(length) = marker(rest)
        {
            (indent, rest) = indented(&rest[length..], indent + length);
            items.push(indent);
        }
        let within = items.last().copied().unwrap_or(0);
        let mark = fence_of(rest).filter(|_| indent < open.as_ref().map_or(within, |fence| fence.within) + 4);
        let mut code = open.is_some();
        match (&open, mark) {
            (Some(fence), Some((mark, length, ""))) if mark == fence.mark && length >= fence.length => open = None,
            (None, Some((mark, length, after))) if !(mark == '`' && after.contains('`')) => {
                open = Some(Fence { mark, length, within });
                code = true;
            }
            _ => {}
        }
        found.push(Line { text, start, code });
        start += text.len();
    }
    found
}

/// Where a section lies: its heading's line, and the first line that is not its own any more.
fn section(lines: &[Line<'_>], heading: &str, from: usize) -> Option<(usize, usize)> {
    let begin = (from..lines.len()).find(|at| lines[*at].is(heading))?;
    let level = lines[begin].heading().map_or(2, |(level, _)| level);
    let end = (begin + 1..lines.len())
        .find(|at| lines[*at].heading().is_some_and(|(other, _)| other <= level))
        .unwrap_or(lines.len());
    Some((begin, end))
}

/// The items of a section, each with the lines that belong to it, without their dash.
pub(crate) fn items<'a>(body: &'a str, heading: &str) -> Vec<&'a str> {
    let found = lines(body);
    let Some((begin, end)) = section(&found, heading, 0) else { return Vec::new() };
    let starts: Vec<usize> =
        (begin + 1..end).filter(|at| !found[*at].code && found[*at].text.starts_with("- ")).collect();
    let ends = starts.iter().skip(1).copied().chain([end]);
    let place = |at: usize| found.get(at).map_or(body.len(), |line| line.start);
    starts.iter().zip(ends).map(|(start, end)| body[place(*start) + 2..place(end)].trim_end()).collect()
}

/// Appends `line` to a section, which is made at the end when there is none. `body` is without its outer empty lines.
pub(crate) fn append(body: &str, heading: &str, line: &str, newline: &str) -> String {
    let found = lines(body);
    let Some((begin, end)) = section(&found, heading, 0) else {
        let lead = if body.is_empty() { String::new() } else { format!("{}{newline}{newline}", body.trim_end()) };
        return format!("{lead}{heading}{newline}{newline}{line}");
    };
    let last = (begin..end).rev().find(|at| !found[*at].text.trim().is_empty()).unwrap_or(begin);
    let at = found[last].start + found[last].text.trim_end().len();
    let gap = if last == begin { newline } else { "" };
    format!("{}{newline}{gap}{line}{}", &body[..at], &body[at..])
}

/// Puts a new body in the place of `old` and keeps what the protocol's sections hold. Returns the body and the
/// headings whose sent text was not taken.
pub(crate) fn replace_body(old: &str, new: &str, newline: &str) -> (String, Vec<String>) {
    let stored = lines(old);
    // In the order they stand in.
    let mut kept: Vec<(&str, String, usize)> = [ACTIVITY, NOTES]
        .into_iter()
        .filter_map(|heading| {
            let (begin, end) = section(&stored, heading, 0)?;
            let text: String = stored[begin + 1..end].iter().map(|line| line.text).collect();
            Some((heading, crate::front_matter::trimmed(&text).to_owned(), begin))
        })
        .collect();
    kept.sort_by_key(|(_, _, begin)| *begin);

    let sent = lines(new);
    let mut result = String::new();
    let mut used: Vec<&str> = Vec::new();
    let mut ignored: Vec<String> = Vec::new();
    let mut at = 0;
    while at < sent.len() {
        let Some(heading) = [ACTIVITY, NOTES].into_iter().find(|heading| sent[at].is(heading)) else {
            result.push_str(sent[at].text);
            at += 1;
            continue;
        };
        let (begin, end) = section(&sent, heading, at).unwrap_or((at, at + 1));
        let text: String = sent[begin + 1..end].iter().map(|line| line.text).collect();
        let text = crate::front_matter::trimmed(&text).replace("\r\n", "\n");
        let own = kept.iter().find(|(name, _, _)| *name == heading).filter(|_| !used.contains(&heading));
        if own.is_none_or(|(_, stored, _)| !text.is_empty() && stored.replace("\r\n", "\n") != text)
            && !ignored.iter().any(|name| name == heading)
        {
            ignored.push(heading.to_owned());
        }
        if let Some((_, stored, _)) = own {
            used.push(heading);
            result.push_str(&format!("{heading}{newline}{newline}{stored}{newline}"));
            if end < sent.len() {
                result.push_str(newline);
            }
        }
        at = end;
    }
    for (heading, stored, _) in kept {
        if !used.contains(&heading) {
            let lead = result.trim_end();
            let gap = if lead.is_empty() { String::new() } else { format!("{lead}{newline}{newline}") };
            result = format!("{gap}{heading}{newline}{newline}{stored}{newline}");
        }
    }
    (crate::front_matter::trimmed(&result).to_owned(), ignored)
}

/// One box of a checklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// From 1, in the order they stand in.
    pub(crate) index: usize,
    /// Its text.
    pub(crate) text: String,
    /// Whether the box is ticked.
    pub(crate) checked: bool,
    /// Its line in the body, from 0.
    pub(crate) line: usize,
}

impl Item {
    /// `{index, text, checked, line}`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "index": self.index, "text": self.text, "checked": self.checked, "line": self.line })
    }
}

/// The acceptance criteria of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Acceptance {
    /// Whether a heading opens them.
    pub(crate) present: bool,
    /// The criteria.
    pub(crate) items: Vec<Item>,
    /// Unticked boxes under no such heading, numbered for themselves.
    pub(crate) orphans: Vec<Item>,
}

const OPENINGS: [&str; 4] = ["acceptance", "definition of done", "success criteria", "exit criteria"];

fn checkbox(text: &str) -> Option<(bool, &str)> {
    let rest = text.trim_start();
    let rest = rest.strip_prefix("- [").or_else(|| rest.strip_prefix("* ["))?;
    let mut characters = rest.chars();
    let checked = match characters.next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let rest = characters.as_str().strip_prefix(']')?;
    rest.is_empty()
        .then_some((checked, ""))
        .or_else(|| rest.starts_with([' ', '\t', '\r', '\n']).then(|| (checked, rest.trim())))
}

/// Reads the criteria: from the first heading that opens them to the next one of its level or above.
pub(crate) fn acceptance(body: &str) -> Acceptance {
    let found = lines(body);
    let opening = (0..found.len()).find(|at| {
        found[*at].heading().is_some_and(|(_, text)| {
            let text = text.to_lowercase();
            OPENINGS.iter().any(|opening| text.starts_with(opening))
        })
    });
    let region = opening.map(|begin| {
        let level = found[begin].heading().map_or(6, |(level, _)| level);
        let end = (begin + 1..found.len())
            .find(|at| found[*at].heading().is_some_and(|(other, _)| other <= level))
            .unwrap_or(found.len());
        begin..end
    });
    let protected: Vec<std::ops::Range<usize>> = [ACTIVITY, NOTES]
        .iter()
        .filter_map(|heading| section(&found, heading, 0))
        .map(|(begin, end)| begin..end)
        .collect();
    let mut result = Acceptance { present: region.is_some(), ..Acceptance::default() };
    for (at, line) in found.iter().enumerate().filter(|(_, line)| !line.code) {
        let Some((checked, text)) = checkbox(line.text) else { continue };
        let item = |index: usize| Item { index, text: text.to_owned(), checked, line: at };
        if region.as_ref().is_some_and(|region| region.contains(&at)) {
            result.items.push(item(result.items.len() + 1));
        } else if !checked && !protected.iter().any(|range| range.contains(&at)) {
            result.orphans.push(item(result.orphans.len() + 1));
        }
    }
    result
}

impl Acceptance {
    /// The criteria that are not ticked.
    pub(crate) fn unchecked(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.checked)
    }

    /// Checklists that nobody can read as criteria.
    pub(crate) fn unreadable(&self) -> &[Item] {
        if self.present { &[] } else { &self.orphans }
    }

    /// `{present, items, unchecked, orphans}`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "present": self.present,
            "items": self.items.iter().map(Item::to_json).collect::<Vec<_>>(),
            "unchecked": self.unchecked().map(Item::to_json).collect::<Vec<_>>(),
            "orphans": self.orphans.iter().map(Item::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Ticks or unticks the box in line `line` of `body`.
pub(crate) fn tick(body: &str, line: usize, checked: bool) -> String {
    body.split_inclusive('\n')
        .enumerate()
        .map(|(at, text)| match text.find('[') {
            Some(open) if at == line && checkbox(text).is_some() => {
                format!("{}[{}{}", &text[..open], if checked { 'x' } else { ' ' }, &text[open + 2..])
            }
            _ => text.to_owned(),
        })
        .collect()
}

/// A criterion's text as it is compared: white space collapsed.
pub(crate) fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `sha256:` and the digest of `text` in hexadecimal.
pub(crate) fn sha256(text: &[u8]) -> String {
    let mut name = String::with_capacity(71);
    name.push_str("sha256:");
    for byte in Sha256::digest(text) {
        name.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
        name.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
    }
    name
}

/// What a body points to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pointers {
    /// Ids in `[[ID]]` or `[[ID|text]]`.
    pub(crate) wikilinks: Vec<String>,
    /// Bare ids, as `T-0002`.
    pub(crate) mentions: Vec<String>,
    /// Targets of `[text](target)`.
    pub(crate) links: Vec<String>,
}

/// Finds what a body points to, in linear time. Links in code do not count; a bare id in code does.
pub(crate) fn pointers(body: &str) -> Pointers {
    let mut found = Pointers::default();
    let mut block = String::new();
    for line in lines(body) {
        if line.code || line.text.trim().is_empty() {
            links_of(&block, &mut found);
            block.clear();
        } else {
            block.push_str(line.text);
        }
    }
    links_of(&block, &mut found);
    ids_of(body, &mut found.mentions);
    for list in [&mut found.wikilinks, &mut found.mentions, &mut found.links] {
        let mut seen = std::collections::HashSet::new();
        list.retain(|one| seen.insert(one.clone()));
    }
    found
}

/// Makes code spans blank, so that nothing in them is found.
fn without_code_spans(block: &str) -> Vec<u8> {
    let bytes = block.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let length = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
            runs.push((at, length));
            at += length;
        } else {
            at += 1;
        }
    }
    let mut next: Vec<Option<usize>> = vec![None; runs.len()];
    let mut latest: HashMap<usize, usize> = HashMap::new();
    for (index, (_, length)) in runs.iter().enumerate().rev() {
        next[index] = latest.insert(*length, index);
    }
    let mut blank = bytes.to_vec();
    let mut index = 0;
    while index < runs.len() {
        match next[index] {
            Some(close) => {
                blank[runs[index].0..runs[close].0 + runs[close].1].fill(b' ');
                index = close + 1;
            }
            None => index += 1,
        }
    }
    blank
}

fn links_of(block: &str, found: &mut Pointers) {
    if !block.contains('[') {
        return;
    }
    let blank = without_code_spans(block);
    let mut opened = 0usize;
    let mut at = 0;
    while at < blank.len() {
        match blank[at] {
            b'[' => {
                if blank.get(at + 1) == Some(&b'[')
                    && let Some(length) = blank[at + 2..].iter().take(300).position(|byte| *byte == b']')
                    && blank.get(at + 3 + length) == Some(&b']')
                {
                    let inner = String::from_utf8_lossy(&blank[at + 2..at + 2 + length]).into_owned();
                    let id = inner.split('|').next().unwrap_or("").trim();
                    if is_id(id) {
                        found.wikilinks.push(id.to_owned());
                    }
                    at += length + 4;
                    continue;
                }
                opened += 1;
            }
            b']' if opened > 0 && blank.get(at + 1) == Some(&b'(') => {
                opened -= 1;
                let inner = &blank[at + 2..];
                let end = inner.iter().take(2048).position(|byte| matches!(byte, b')' | b'\n'));
                if let Some(end) = end.filter(|end| inner[*end] == b')') {
                    let text = String::from_utf8_lossy(&inner[..end]);
                    let target = text.trim();
                    let target = match target.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
                        Some((inner, _)) => inner,
                        None => target.split_whitespace().next().unwrap_or(""),
                    };
                    if !target.is_empty() {
                        found.links.push(target.to_owned());
                    }
                    at += end + 2;
                }
            }
            b']' => opened = opened.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
}

/// Tells whether `text` has the form of a record's id: up to twelve capitals and digits, `-`, four or more digits.
pub(crate) fn is_id(text: &str) -> bool {
    let Some((prefix, number)) = text.split_once('-') else { return false };
    prefix.len() <= 12
        && prefix.starts_with(|one: char| one.is_ascii_uppercase())
        && prefix.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && number.len() >= 4
        && number.bytes().all(|byte| byte.is_ascii_digit())
        || is_path_id(text)
}

/// Ids of documents that have none of their own.
fn is_path_id(text: &str) -> bool {
    text.strip_prefix("PATH-").is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn ids_of(body: &str, found: &mut Vec<String>) {
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && word(bytes[at]) {
            at += 1;
        }
        if at - start > 12 || bytes.get(at) != Some(&b'-') || start > 0 && bytes[start - 1] == b'-' {
            continue;
        }
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let after = bytes.get(at + 1 + digits).copied();
        if digits >= 4 && after.is_none_or(|byte| !word(byte)) {
            let text = &body[start..at + 1 + digits];
            if is_id(text) {
                found.push(text.to_owned());
            }
            at += 1 + digits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn criteria_are_found_under_every_opening_and_never_in_code() {
        let read = acceptance(
            "# Definition of Done\n\n* [ ] a\n- [X] b\n\n### More\n\n- [ ] c\n\n```\n- [ ] no\n```\n# Other\n\n- [ ] d\n",
        );
        assert!(read.present);
        assert_eq!(
            read.items.iter().map(|item| (item.text.as_str(), item.checked)).collect::<Vec<_>>(),
            [("a", false), ("b", true), ("c", false)]
        );
        assert_eq!(read.orphans.len(), 1);
        assert!(read.unreadable().is_empty());
        let loose = acceptance("## Steps\n\n- [ ] x\n\n## Notes\n\n- [ ] not this\n");
        assert_eq!(loose.unreadable().len(), 1);
        assert_eq!(acceptance("- [ ]text\n- [y] z\n"), Acceptance::default());
    }

    #[test]
    fn lines_are_appended_where_their_section_ends() {
        assert_eq!(items("## Activity\n\n- a\n  more\n- b\n\n## Notes\n\n- c", ACTIVITY), ["a\n  more", "b"]);
        assert!(items("## Notes\n", ACTIVITY).is_empty() && items("## Activity", ACTIVITY).is_empty());
        assert_eq!(append("", ACTIVITY, "- a", "\n"), "## Activity\n\n- a");
        assert_eq!(append("Text.", NOTES, "- a", "\n"), "Text.\n\n## Notes\n\n- a");
        assert_eq!(
            append("## Notes\n\n- a\n\n## Other\n\nx", NOTES, "- b", "\n"),
            "## Notes\n\n- a\n- b\n\n## Other\n\nx"
        );
        assert_eq!(append("## Notes\n\n## Other", NOTES, "- b", "\n"), "## Notes\n\n- b\n\n## Other");
        assert_eq!(append("```\n## Notes\n```", NOTES, "- b", "\n"), "```\n## Notes\n```\n\n## Notes\n\n- b");
    }

    #[test]
    fn what_stands_in_an_item_opens_no_section_and_no_criteria() {
        let noted =
            append("Text.", NOTES, "- one\n  ## Definition of done\n  - [ ] later\n  # Root\n  ```\n  open", "\n");
        let noted = append(&noted, NOTES, "- two", "\n");
        assert!(noted.ends_with("  ```\n  open\n- two"), "{noted}");
        let noted = append(&noted, ACTIVITY, "- a", "\n");
        assert_eq!(items(&noted, NOTES).len(), 2);
        assert_eq!(items(&noted, ACTIVITY), ["a"]);
        let read = acceptance(&noted);
        assert!(!read.present && read.unreadable().is_empty());
        let (body, ignored) = replace_body(&noted, "New.", "\n");
        assert_eq!(body, noted.replacen("Text.", "New.", 1));
        assert!(ignored.is_empty());
        // A fence inside an item is one, and one after a list is the body's own.
        let read = acceptance("## Acceptance\n\n- a\n\n  ```\n- [ ] x\n\n1. ```\n   - [ ] no\n   ```\n- [ ] y\n");
        assert_eq!(read.items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    }

    #[test]
    fn a_new_body_keeps_the_protocols_sections() {
        let old = "Old.\n\n## Notes\n\n- n\n\n## Activity\n\n- a";
        assert_eq!(replace_body(old, "New.", "\n"), ("New.\n\n## Notes\n\n- n\n\n## Activity\n\n- a".into(), vec![]));
        let (body, ignored) = replace_body(old, "N.\n\n## Notes\n\n- mine\n\n## Plan\n\np", "\n");
        assert_eq!(body, "N.\n\n## Notes\n\n- n\n\n## Plan\n\np\n\n## Activity\n\n- a");
        assert_eq!(ignored, [NOTES]);
        assert_eq!(replace_body("x", "A\n\n## Activity\n\n- made up\n", "\n"), ("A".into(), vec![ACTIVITY.to_owned()]));
        assert_eq!(replace_body(old, "", "\n").0, "## Notes\n\n- n\n\n## Activity\n\n- a");
    }

    #[test]
    fn pointers_are_found_outside_code() {
        let found = pointers(
            "See [a](b.md) and [[T-0001|x]], T-0002, `[c](d.md)` XT-00012a.\n\n```\n[e](f.md)\n```\n[g](<h i.md>) [j](k.md \"t\")",
        );
        assert_eq!(found.links, ["b.md", "h i.md", "k.md"]);
        assert_eq!(found.wikilinks, ["T-0001"]);
        assert_eq!(found.mentions, ["T-0001", "T-0002"]);
    }

    #[test]
    fn unclosed_links_and_ticks_cost_linear_time() {
        let started = std::time::Instant::now();
        for text in ["[a](".repeat(200_000), "[[".repeat(200_000), "` ``".repeat(100_000)] {
            pointers(&text);
        }
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn digests_are_those_of_the_format() {
        assert_eq!(
            sha256(normalised(" A refused  payment leaves the order open.").as_bytes()),
            "sha256:842dfefa6c12b1709c1ea05ef98f293b44ff9e4f4df303e037f1d0997fc99897"
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(body in "([#\\-*\\[\\]x`~ ()a-zT0-9\n]|é){0,200}", line in 0usize..20) {
            let read = acceptance(&body);
            for item in &read.items {
                prop_assert_eq!(acceptance(&tick(&body, item.line, !item.checked)).items.len(), read.items.len());
            }
            pointers(&body);
            tick(&body, line, true);
            replace_body(&body, &body, "\n");
            append(&body, NOTES, "- x", "\n");
        }
    }
}
