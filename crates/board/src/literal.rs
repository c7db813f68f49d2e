//! Reading a configuration module as data: the literal it exports, never its code.
//!
//! `export default {...};` with JavaScript's object notation: comments, bare keys, both kinds of quotes, trailing
//! commas. Parentheses, a call around the literal such as `defineConfig({...})` or `Object.freeze({...})`, `as const`
//! and `satisfies X` are looked through, and so is a constant of the file that is exported by its name. Other constants
//! and exports are passed over unread. Anything computed in the configuration itself is refused.

use serde_json::{Map, Number, Value};

/// How deep a literal may nest.
const MAX_DEPTH: usize = 32;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// Reads the literal that a module exports.
///
/// # Errors
///
/// A sentence that says where the text stops being data.
pub(crate) fn exported(source: &str) -> Result<Value, String> {
    let mut reader = Reader { text: source.as_bytes(), at: 0 };
    // Where the values of names begin; they are read when the module exports one of them.
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut found: Option<Exported> = None;
    loop {
        reader.space()?;
        if reader.take(b';') {
            continue;
        }
        if reader.at >= reader.text.len() {
            break;
        }
        if reader.word("import") {
            reader.statement()?;
        } else if reader.word("const") || reader.word("let") || reader.word("var") {
            names.extend(reader.declaration()?);
        } else if reader.word("export") {
            reader.space()?;
            let one = if reader.word("default") {
                Some(reader.default_export()?)
            } else if reader.peek() == Some(b'{') {
                reader.named_default()?.map(Exported::Name)
            } else {
                // Another export is no part of the configuration.
                if reader.word("const") || reader.word("let") || reader.word("var") {
                    names.extend(reader.declaration()?);
                } else {
                    reader.statement()?;
                }
                None
            };
            if let Some(one) = one
                && found.replace(one).is_some()
            {
                return Err(reader.problem("a module has one default export"));
            }
        } else {
            return Err(reader.problem("only `export default` with plain data is read; move computed values out"));
        }
    }
    match found {
        None => Err(reader.problem("there is no `export default`")),
        Some(Exported::Value(value)) => Ok(value),
        Some(Exported::Name(name)) => {
            let place = names.iter().find(|(known, _)| *known == name).map(|(_, at)| *at);
            reader.at = place.ok_or_else(|| reader.problem(&format!("`{name}` is no data of this file")))?;
            let value = reader.wrapped(0)?;
            reader.ended()?;
            Ok(value)
        }
    }
}

/// What a module exports.
enum Exported {
    Value(Value),
    /// A name of this file.
    Name(String),
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn problem(&self, what: &str) -> String {
        let line = self.text[..self.at.min(self.text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: {what}")
    }

    fn space(&mut self) -> Result<(), String> {
        loop {
            match self.peek() {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                // A byte order mark.
                Some(0xEF) if self.text[self.at..].starts_with(b"\xEF\xBB\xBF") => self.at += 3,
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'/') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'*') => {
                    let rest = &self.text[self.at + 2..];
                    let Some(end) = rest.windows(2).position(|two| two == b"*/") else {
                        return Err(self.problem("a comment is not closed"));
                    };
                    self.at += end + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn name(&mut self) -> &str {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or("")
    }

    fn word(&mut self, word: &str) -> bool {
        let start = self.at;
        if self.name() == word {
            return true;
        }
        self.at = start;
        false
    }

    /// The value after `export default`, to its end.
    fn default_export(&mut self) -> Result<Exported, String> {
        self.space()?;
        let start = self.at;
        let name = self.name().to_owned();
        let is_name = name.starts_with(|one: char| !one.is_ascii_digit());
        if is_name && !matches!(name.as_str(), "true" | "false" | "null" | "undefined") {
            self.types()?;
            if self.ended().is_ok() {
                return Ok(Exported::Name(name));
            }
        }
        self.at = start;
        let value = self.wrapped(0)?;
        self.ended()?;
        Ok(Exported::Value(value))
    }

    /// `{ a, b as default }`: the name that is the default.
    fn named_default(&mut self) -> Result<Option<String>, String> {
        self.at += 1;
        let mut found = None;
        loop {
            self.space()?;
            if self.take(b'}') {
                return Ok(found);
            }
            let name = self.name().to_owned();
            if name.is_empty() {
                return Err(self.problem("a name is expected"));
            }
            self.space()?;
            if self.word("as") {
                self.space()?;
                if self.name() == "default" {
                    found = Some(name);
                }
                self.space()?;
            }
            self.take(b',');
        }
    }

    /// `name = value`, after `const`: where each value begins. Nothing of it is read, and nothing of it has to be data.
    fn declaration(&mut self) -> Result<Option<(String, usize)>, String> {
        self.space()?;
        let name = self.name().to_owned();
        self.space()?;
        // A type, as TypeScript has it.
        if self.take(b':') {
            while self.peek().is_some_and(|byte| !matches!(byte, b'=' | b';' | b'\n')) {
                self.at += 1;
            }
        }
        let found = (!name.is_empty() && self.take(b'=')).then_some((name, self.at));
        self.statement()?;
        Ok(found)
    }

    /// Passes over the rest of a statement: to its `;`, or to the end of a line at which nothing is open.
    fn statement(&mut self) -> Result<(), String> {
        let mut open = 0usize;
        let mut before = b'\n';
        loop {
            match self.peek() {
                None => return if open == 0 { Ok(()) } else { Err(self.problem("something is not closed")) },
                Some(b'"' | b'\'' | b'`') => {
                    self.quoted()?;
                    before = b'"';
                    continue;
                }
                Some(b'/') => {
                    let start = self.at;
                    self.space()?;
                    if self.at > start {
                        if open == 0 && self.text[start..self.at].contains(&b'\n') && ends_statement(before) {
                            return Ok(());
                        }
                        continue;
                    }
                    // After a value it divides; anywhere else a regular expression begins.
                    if !before.is_ascii_alphanumeric() && !matches!(before, b')' | b']' | b'_' | b'$' | b'"') {
                        self.pattern()?;
                        before = b'"';
                        continue;
                    }
                }
                Some(b'{' | b'[' | b'(') => open += 1,
                Some(b'}' | b']' | b')') => {
                    open = open.checked_sub(1).ok_or_else(|| self.problem("something is closed that is not open"))?;
                }
                Some(b';') if open == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\n') if open == 0 && ends_statement(before) => return Ok(()),
                _ => {}
            }
            if let Some(byte) = self.peek().filter(|byte| !byte.is_ascii_whitespace()) {
                before = byte;
            }
            self.at += 1;
        }
    }

    /// Passes over a text, whatever it holds; a template's values are part of it.
    fn quoted(&mut self) -> Result<(), String> {
        let quote = self.peek();
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if Some(byte) == quote {
                return Ok(());
            }
        }
        Err(self.problem("a text is not closed"))
    }

    /// Passes over a regular expression.
    fn pattern(&mut self) -> Result<(), String> {
        self.at += 1;
        let mut class = false;
        while let Some(byte) = self.peek().filter(|byte| *byte != b'\n') {
            self.at += if byte == b'\\' { 2 } else { 1 };
            match byte {
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => return Ok(()),
                _ => {}
            }
        }
        Err(self.problem("a regular expression is not closed"))
    }

    /// Whether a statement ends here.
    fn ended(&mut self) -> Result<(), String> {
        let start = self.at;
        self.space()?;
        let new_line = self.text[start..self.at.min(self.text.len())].contains(&b'\n');
        // A line that begins so goes on with what stands before.
        let goes_on = self.peek().is_some_and(|byte| b".([`+-*/%&|^?=<>,:".contains(&byte));
        if new_line && !goes_on || self.at >= self.text.len() || self.peek() == Some(b';') {
            return Ok(());
        }
        Err(self.problem("nothing is read after the exported data"))
    }

    /// A literal, with what may stand around one without changing it: parentheses, a call of one argument such as
    /// `defineConfig({...})` or `Object.freeze({...})`, and what only a type checker reads (`as const`, `satisfies X`).
    fn wrapped(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(self.problem("the data is nested too deep"));
        }
        self.space()?;
        let start = self.at;
        while !self.name().is_empty() && self.take(b'.') {}
        let named = self.at > start;
        self.space()?;
        let value = if self.take(b'(') {
            let value = self.wrapped(depth + 1)?;
            self.space()?;
            if named {
                self.take(b',');
                self.space()?;
            }
            if !self.take(b')') {
                return Err(self.problem("`)` is expected"));
            }
            value
        } else {
            self.at = start;
            self.literal(depth)?
        };
        self.types()?;
        Ok(value)
    }

    /// Passes over `as const` and `satisfies X`, which change no value.
    fn types(&mut self) -> Result<(), String> {
        loop {
            let start = self.at;
            self.space()?;
            if !(self.word("as") || self.word("satisfies")) {
                self.at = start;
                return Ok(());
            }
            self.space()?;
            if self.name().is_empty() {
                return Err(self.problem("a type is expected"));
            }
            // `a.B`, `B<C>`, `B[]`.
            let mut open = 0usize;
            while let Some(byte) = self.peek() {
                match byte {
                    b'<' | b'[' => open += 1,
                    b'>' | b']' if open > 0 => open -= 1,
                    b'.' => {}
                    _ if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') => {}
                    b' ' | b',' | b'"' | b'\'' | b'|' if open > 0 => {}
                    _ => break,
                }
                self.at += 1;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.wrapped(depth)
    }

    fn literal(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(self.problem("the data is nested too deep"));
        }
        self.space()?;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"' | b'\'' | b'`') => self.string().map(Value::String),
            Some(byte) if byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.') => self.number(),
            Some(_) => match self.name() {
                "true" => Ok(true.into()),
                "false" => Ok(false.into()),
                "null" | "undefined" => Ok(Value::Null),
                _ => Err(self.problem("only plain data is read here")),
            },
            None => Err(self.problem("the data ends too early")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.space()?;
            if self.take(b'}') {
                return Ok(Value::Object(map));
            }
            let key = if matches!(self.peek(), Some(b'"' | b'\'')) { self.string()? } else { self.name().to_owned() };
            if key.is_empty() {
                return Err(self.problem("a key is expected"));
            }
            self.space()?;
            if !self.take(b':') {
                return Err(self.problem("`:` is expected after a key"));
            }
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            self.space()?;
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.problem("`,` or `}` is expected"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space()?;
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.space()?;
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(self.problem("`,` or `]` is expected"));
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.peek().unwrap_or(b'"');
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek() else { return Err(self.problem("a text is not closed")) };
            self.at += 1;
            match byte {
                _ if byte == quote => break,
                b'\n' if quote != b'`' => return Err(self.problem("a text is not closed")),
                b'$' if quote == b'`' && self.peek() == Some(b'{') => {
                    return Err(self.problem("a template with values in it is no plain data"));
                }
                b'\\' => {
                    let Some(escape) = self.peek() else { return Err(self.problem("a text is not closed")) };
                    self.at += 1;
                    match escape {
                        b'n' => bytes.push(b'\n'),
                        b't' => bytes.push(b'\t'),
                        b'r' => bytes.push(b'\r'),
                        b'b' => bytes.push(8),
                        b'f' => bytes.push(12),
                        b'0' => bytes.push(0),
                        b'v' => bytes.push(11),
                        b'\n' => {}
                        b'\r' => {
                            self.take(b'\n');
                        }
                        b'x' => {
                            let one = char::from_u32(self.hex(2)?).unwrap_or(char::REPLACEMENT_CHARACTER);
                            bytes.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        b'u' if self.take(b'{') => {
                            let length =
                                self.text[self.at..].iter().take(7).position(|byte| *byte == b'}').unwrap_or(0);
                            let one = char::from_u32(self.hex(length)?);
                            self.at += 1;
                            let one = one.ok_or_else(|| self.problem("`\\u{}` names no character"))?;
                            bytes.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        b'1'..=b'9' => return Err(self.problem("an escape by octal digits is no data")),
                        b'u' => {
                            let mut unit = self.hex(4)?;
                            if (0xD800..0xDC00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
                                self.at += 2;
                                let low = self.hex(4)?;
                                if (0xDC00..0xE000).contains(&low) {
                                    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                                }
                            }
                            let one = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                            bytes.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        other => bytes.push(other),
                    }
                }
                other => bytes.push(other),
            }
        }
        String::from_utf8(bytes).map_err(|_| self.problem("a text is not UTF-8"))
    }

    fn hex(&mut self, length: usize) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + length).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += length;
        unit.ok_or_else(|| self.problem("an escape needs its hexadecimal digits"))
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_'))
        {
            self.at += 1;
        }
        let text: String = String::from_utf8_lossy(&self.text[start..self.at]).replace('_', "");
        let radix = [("0x", 16), ("0o", 8), ("0b", 2)].iter().find_map(|(mark, radix)| {
            let digits = text.get(..2).filter(|start| start.eq_ignore_ascii_case(mark)).and(text.get(2..))?;
            digits.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| i64::from_str_radix(digits, *radix).ok())?
        });
        if let Some(whole) = radix {
            return Ok(whole.into());
        }
        if let Ok(whole) = text.parse::<i64>() {
            return Ok(whole.into());
        }
        text.parse::<f64>()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| self.problem("a number is not understood"))
    }
}

/// Whether a line can end a statement at which nothing is open: not after something that asks for more.
fn ends_statement(before: u8) -> bool {
    before.is_ascii_alphanumeric() || matches!(before, b'}' | b']' | b')' | b'"' | b'_' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn literals_are_read() {
        let source = "// c\nimport { defineConfig } from 'x';\nexport default defineConfig({ a: 'b', \"c\": [1, -2.5, true,], /* d */ e: `f`, g: null, h: '\\u00e9\\ud83d\\ude00', });\n";
        assert_eq!(exported(source), Ok(json!({"a": "b", "c": [1, -2.5, true], "e": "f", "g": null, "h": "é😀"})));
        assert_eq!(exported("export default {};"), Ok(json!({})));
    }

    #[test]
    fn what_changes_no_value_is_looked_through() {
        for source in [
            "export default ({ a: 'x' });",
            "export default Object.freeze({ a: 'x' });",
            "export default { a: 'x' } satisfies Config;\n",
            "export default { a: 'x' } as const satisfies import1.Config<'a', B[]>;",
            "export default { a: 'x' as const };",
            "const config = { a: 'x' };\nexport default config;\n",
            "const config: Config = defineConfig({ a: 'x' }) // it's;\nexport default config",
            "/** @type {X} */\nconst config = {\n a: 'x' }\n\nexport { config as default };",
            "export const integrations = [{ id: `x${1}`, f() { return '}'; } }];\nexport default { a: 'x' };",
            "export function f() { return 1 }\nexport default { a: 'x' };\nexport const other = 1;",
            "const r = /['\"]/;\nconst n = 4 / 2;\nexport default { a: 'x' };",
            "import { b } from 'c'\nimport {\n  d,\n} from 'e';\nexport default { a: 'x' };",
            "export default { a: '\\x78' };",
            "const config = { a: 'x' };\nexport default config satisfies Config",
            "export default { a: '\\u{78}' };",
        ] {
            assert_eq!(exported(source), Ok(json!({ "a": "x" })), "{source}");
        }
        assert_eq!(exported("export default { a: 0x10, b: 1_000 };"), Ok(json!({ "a": 16, "b": 1000 })));
    }

    #[test]
    fn code_is_refused() {
        for source in [
            "",
            "const a = 1;\nexport default { a };",
            "const a = 1;\nexport default { b: a };",
            "const a = f();\nexport default a;",
            "const a = { b: 1 } || c;\nexport default a;",
            "export default a;",
            "export default {}; export default {};",
            "export default f({}, {});",
            "const a = {}\n  .b;\nexport default a;",
            "export default {} as",
            "export default { a: '\\x4' };",
            "export default { a: '\\1' };",
            "export default { a: 1 } + 1;",
            "const a = /[/;\nexport default {};",
            "export default { a: process.env.X };",
            "export default { a: `${b}` };",
            "export default {} ; evil();",
            "export default {a",
            "export default {a: 'x",
            "module.exports = {}",
            "export const a = {};",
            "function f() {}\nexport default {};",
            "export default { ...b };",
            "export default { a() {} };",
            "/* x",
            "export default '\\u12",
        ] {
            assert!(exported(source).is_err(), "{source}");
        }
        for open in ["[", "(", "a(", "{a:"] {
            assert!(exported(&format!("export default {}", open.repeat(100_000))).is_err());
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(export default )?([{}\\[\\]:,'\"`\\\\u0-9a-z/*\n é.-]){0,80}") {
            let _ = exported(&text);
        }

        #[test]
        fn json_is_a_literal(text in "[ -~é]{0,20}", number in any::<i32>()) {
            let value = json!({"a": text, "b": [number, {"c": null}]});
            prop_assert_eq!(exported(&format!("export default {value};")), Ok(value));
        }
    }
}
