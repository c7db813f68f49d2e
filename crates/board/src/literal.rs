//! Reading a configuration module as data: the literal it exports, never its code.
//!
//! `export default {...};` with JavaScript's object notation: comments, bare keys, both kinds of quotes, trailing
//! commas. A call around the literal, as `defineConfig({...})`, is looked through. Anything computed is refused.

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
    // Imports of a helper before the export do nothing to the data.
    loop {
        reader.space()?;
        if reader.word("export") {
            reader.space()?;
            if reader.word("default") {
                break;
            }
            return Err(reader.problem("`default` is expected after `export`"));
        } else if reader.word("import") {
            while reader.peek().is_some_and(|byte| byte != b';' && byte != b'\n') {
                reader.at += 1;
            }
            reader.take(b';');
        } else {
            return Err(reader.problem("only `export default` with plain data is read; move computed values out"));
        }
    }
    reader.space()?;
    let start = reader.at;
    let named = !reader.name().is_empty();
    reader.space()?;
    let value = if named && reader.take(b'(') {
        let value = reader.value(0)?;
        reader.space()?;
        reader.take(b',');
        reader.space()?;
        if !reader.take(b')') {
            return Err(reader.problem("`)` is expected"));
        }
        value
    } else {
        reader.at = start;
        reader.value(0)?
    };
    reader.space()?;
    reader.take(b';');
    reader.space()?;
    if reader.at < reader.text.len() {
        return Err(reader.problem("nothing is read after the exported data"));
    }
    Ok(value)
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

    fn value(&mut self, depth: usize) -> Result<Value, String> {
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
                        b'\n' => {}
                        b'u' => {
                            let mut unit = self.hex4()?;
                            if (0xD800..0xDC00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
                                self.at += 2;
                                let low = self.hex4()?;
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

    fn hex4(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or_else(|| self.problem("`\\u` needs four hexadecimal digits"))
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_'))
        {
            self.at += 1;
        }
        let text: String = String::from_utf8_lossy(&self.text[start..self.at]).replace('_', "");
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
    fn code_is_refused() {
        for source in [
            "",
            "const a = 1;\nexport default { a };",
            "export default { a: process.env.X };",
            "export default { a: `${b}` };",
            "export default {} ; evil();",
            "export default {a",
            "export default {a: 'x",
            "module.exports = {}",
            "export const a = {};",
            "export default { ...b };",
            "export default { a() {} };",
            "/* x",
            "export default '\\u12",
        ] {
            assert!(exported(source).is_err(), "{source}");
        }
        assert!(exported(&format!("export default {}", "[".repeat(100_000))).is_err());
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
