//! Refuses sources that are nested too deeply, before a parser sees them.
//!
//! Parsers and everything that walks a syntax tree recurse; a source of nothing but parentheses would overflow their
//! stack and take the process with it. One pass over the text, without recursion, counts what can nest. It knows
//! strings, comments, templates and regular expressions well enough for that, and is no parser: where it guesses wrong
//! it loses or adds a level, and finds its way back at the next closing brace.

use model::Limits;

/// How long a chain without brackets (`a + b + …`, `!!!…`, `else if …`, `f()()…`) may become in one expression or
/// statement. Trees of such chains are as deep as the chain is long, so the engine's thread must have stack for them.
pub(crate) const CHAIN_LIMIT: u32 = 20_000;

/// What nests too deeply, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep {
    /// Byte offset of the bracket or operator that is one too many.
    pub offset: usize,
    /// Whether it is a chain rather than brackets.
    pub chain: bool,
}

impl TooDeep {
    /// Says what is wrong, for a person.
    pub(crate) fn message(self) -> String {
        if self.chain {
            format!("one expression chains more than {CHAIN_LIMIT} operators: split it, or move data into a .json file")
        } else {
            format!(
                "the source is nested more than {} levels deep: flatten it, or move data into a .json file",
                Limits::SOURCE_DEPTH
            )
        }
    }
}

/// One open bracket.
#[derive(Clone, Copy)]
struct Level {
    /// What closes it. A template's `${` is closed by `}` and goes on as a template.
    closer: u8,
    /// Whether it is a template's `${`.
    template: bool,
    /// The chain's length where it was opened.
    chain: u32,
}

/// Checks `text` in one pass.
pub(crate) fn check(text: &str) -> Result<(), TooDeep> {
    Scan { bytes: text.as_bytes(), at: 0, levels: Vec::new(), chain: 0, operand: false, line_start: true }.run()
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    chain: u32,
    /// Whether the last token ends an operand, so that `/` divides.
    operand: bool,
    /// Whether only blanks stand before this place in its line.
    line_start: bool,
}

impl Scan<'_> {
    fn run(mut self) -> Result<(), TooDeep> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let line_start = self.line_start;
            self.line_start = line_start && matches!(byte, b' ' | b'\t' | b'\r') || byte == b'\n';
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => self.skip_line(),
                b'/' if self.peek(1) == Some(b'*') => self.skip_comment(),
                b'/' if !self.operand => self.skip_regex(),
                b'"' | b'\'' => self.skip_string(byte),
                b'`' => {
                    self.at += 1;
                    self.template()?;
                }
                b'(' => self.open(b')', false)?,
                b'[' => self.open(b']', false)?,
                b'{' => self.open(b'}', false)?,
                b')' | b']' | b'}' => self.close(byte)?,
                b';' | b',' => {
                    self.chain = self.levels.last().map_or(0, |level| level.chain);
                    self.operand = false;
                    self.at += 1;
                }
                _ if is_word(byte) => self.word(line_start)?,
                _ => {
                    self.link()?;
                    // `++` and `--` may end an operand; reading a division as the start of a regular expression
                    // costs at most the rest of the line.
                    self.operand = false;
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Adds one link to the chain.
    fn link(&mut self) -> Result<(), TooDeep> {
        self.chain += 1;
        if self.chain > CHAIN_LIMIT { Err(TooDeep { offset: self.at, chain: true }) } else { Ok(()) }
    }

    fn open(&mut self, closer: u8, template: bool) -> Result<(), TooDeep> {
        if self.levels.len() >= Limits::SOURCE_DEPTH {
            return Err(TooDeep { offset: self.at, chain: false });
        }
        self.link()?;
        self.levels.push(Level { closer, template, chain: self.chain });
        self.operand = false;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), TooDeep> {
        self.at += 1;
        // `}` is as often the end of a block as of an object; after a block `/` begins a regular expression.
        self.operand = byte != b'}';
        let found = match self.levels.last() {
            Some(level) if level.closer == byte => Some(self.levels.len() - 1),
            // A bracket that does not fit was misread, or the source is broken: a brace closes what was left open in it.
            Some(_) if byte == b'}' => self.levels.iter().rposition(|level| level.closer == byte),
            _ => None,
        };
        let Some(index) = found else { return Ok(()) };
        let level = self.levels[index];
        self.levels.truncate(index);
        // The bracket pair stays as a link, since `f()()()` and `a[0][0]` nest to the left.
        self.chain = level.chain;
        if level.template { self.template() } else { Ok(()) }
    }

    fn skip_line(&mut self) {
        self.at = self.find(self.at, |byte| byte == b'\n').unwrap_or(self.bytes.len());
    }

    fn skip_comment(&mut self) {
        let mut at = self.at + 2;
        while at < self.bytes.len() && !(self.bytes[at] == b'*' && self.bytes.get(at + 1) == Some(&b'/')) {
            at += 1;
        }
        self.at = (at + 2).min(self.bytes.len());
    }

    fn skip_string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'\n' => break,
                _ if byte == quote => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.operand = true;
    }

    fn skip_regex(&mut self) {
        let mut at = self.at + 1;
        let mut class = false;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' => break,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                _ => {}
            }
            at += 1;
        }
        if self.bytes.get(at) == Some(&b'/') {
            self.at = at + 1;
            self.operand = true;
        } else {
            // No regular expression after all.
            self.at += 1;
            self.operand = false;
        }
    }

    /// Goes on in a template's text, up to its end or the next `${`.
    fn template(&mut self) -> Result<(), TooDeep> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.operand = true;
                    return Ok(());
                }
                b'$' if self.peek(1) == Some(b'{') => {
                    self.at += 1;
                    return self.open(b'}', true);
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn word(&mut self, line_start: bool) -> Result<(), TooDeep> {
        let start = self.at;
        self.at = self.find(start, |byte| !is_word(byte)).unwrap_or(self.bytes.len());
        let word = &self.bytes[start..self.at];
        match word {
            // These begin a statement that cannot be a part of the one before: chains end here, even without `;`.
            b"const" | b"let" | b"var" | b"function" | b"class" | b"return" | b"throw" | b"import" | b"export"
            | b"try" | b"switch"
                if line_start =>
            {
                self.chain = self.levels.last().map_or(0, |level| level.chain);
                self.operand = false;
            }
            b"typeof" | b"void" | b"delete" | b"await" | b"yield" | b"new" | b"in" | b"of" | b"instanceof"
            | b"else" | b"if" | b"for" | b"while" | b"do" | b"with" | b"case" | b"return" | b"throw" | b"extends"
            | b"keyof" | b"readonly" | b"unique" | b"infer" | b"asserts" | b"is" | b"as" | b"satisfies" | b"async" => {
                self.link()?;
                self.operand = false;
            }
            _ => self.operand = true,
        }
        Ok(())
    }

    fn find(&self, from: usize, wanted: impl Fn(u8) -> bool) -> Option<usize> {
        self.bytes[from.min(self.bytes.len())..].iter().position(|&byte| wanted(byte)).map(|offset| from + offset)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'@') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth_ok(text: &str) -> bool {
        check(text).is_ok()
    }

    #[test]
    fn a_thousand_levels_pass_and_one_more_does_not() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("`${", "}`"), ("f(", ")"), ("({a:", "})")] {
            let per_level = open.bytes().filter(|byte| b"([{".contains(byte)).count();
            let levels = Limits::SOURCE_DEPTH / per_level;
            assert!(depth_ok(&format!("x = {}1{}", open.repeat(levels), close.repeat(levels))), "{open}");
            let found = check(&format!("x = {}", open.repeat(levels + 1)));
            assert!(matches!(found, Err(TooDeep { chain: false, .. })), "{open}: {found:?}");
        }
    }

    #[test]
    fn brackets_in_text_do_not_count() {
        let many = "([{".repeat(2_000);
        for text in [
            format!("'{many}'"),
            format!("\"{many}\""),
            format!("`{many}`"),
            format!("// {many}\n1"),
            format!("/* {many} */ 1"),
            format!("x = /[{}]/", "([{".repeat(2_000).replace('[', "")),
            format!("'it\\'s {many}'"),
            format!("`\\` {many} \\${{ {many}`"),
        ] {
            assert!(depth_ok(&text), "{}", &text[..12]);
        }
    }

    #[test]
    fn side_by_side_is_not_nested() {
        for text in [
            "f(1, [2], {a: 3});\n",
            "if (a) { b() }\nconst x = (1 + 2) / 3 / (4)\n",
            "`a${b}c`;\n",
            "x = y / 2; z = /[(]/;\n",
        ] {
            assert!(depth_ok(&text.repeat(30_000)), "{text}");
        }
    }

    #[test]
    fn long_chains_are_refused() {
        for link in ["+1", "!", ".a", "()", "[0]", "?1:1", "=>a", "typeof ", "if(a)", "else if(a)b\n", "<A"] {
            let found = check(&format!("x {}", link.repeat(CHAIN_LIMIT as usize + 1)));
            assert!(matches!(found, Err(TooDeep { chain: true, .. })), "{link}: {found:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[(){}\\[\\]`$/*\\\\'\"a-c ;,\n\u{e9}]{0,80}") {
            let _ = check(&text);
        }
    }
}
