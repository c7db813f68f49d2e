// Colours for the snippets: strings, keys, numbers, comments of JSON and TOML. Pure; a text that is neither stays plain.

export type Colour = "key" | "str" | "num" | "lit" | "com" | "plain";
export interface Painted {
  text: string;
  colour: Colour;
}

const JSON_TOKENS = /("(?:[^"\\\n]|\\.)*")(\s*:)?|(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;
const TOML_TOKENS = /(#[^\n]*)|("(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(^\s*\[[^\]\n]*\]|^[\w."-]+(?=\s*=))|\b(true|false)\b|(-?\b\d[\d_.]*\b)/gm;

function paintWith(text: string, tokens: RegExp, colourOf: (match: RegExpExecArray) => Colour): Painted[] {
  const out: Painted[] = [];
  let at = 0;
  for (const found of text.matchAll(tokens)) {
    const match = found as RegExpExecArray;
    // A key's colon is punctuation.
    const length = match[2] !== undefined && tokens === JSON_TOKENS ? match[1]!.length : match[0].length;
    if (match.index > at) out.push({ text: text.slice(at, match.index), colour: "plain" });
    out.push({ text: text.slice(match.index, match.index + length), colour: colourOf(match) });
    at = match.index + length;
  }
  if (at < text.length) out.push({ text: text.slice(at), colour: "plain" });
  return out;
}

export function paint(text: string, language: string): Painted[] {
  if (!["json", "jsonc", "toml"].includes(language)) return [{ text, colour: "plain" }];
  if (language === "toml")
    return paintWith(text, TOML_TOKENS, (match) => (match[1] ? "com" : match[2] ? "str" : match[3] ? "key" : match[4] ? "lit" : "num"));
  return paintWith(text, JSON_TOKENS, (match) => (match[1] ? (match[2] === undefined ? "str" : "key") : match[3] ? "com" : match[4] ? "lit" : "num"));
}
