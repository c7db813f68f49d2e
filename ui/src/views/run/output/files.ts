// Kinds of files by their names, and tables from CSV.

export type FileKind = "markdown" | "text" | "json" | "table" | "image" | "archive" | "pdf" | "other";

const KINDS: Record<string, FileKind> = {
  md: "markdown",
  markdown: "markdown",
  txt: "text",
  log: "text",
  html: "text",
  css: "text",
  js: "text",
  ts: "text",
  py: "text",
  sh: "text",
  yaml: "text",
  yml: "text",
  toml: "text",
  xml: "text",
  svg: "text",
  json: "json",
  csv: "table",
  tsv: "table",
  png: "image",
  jpg: "image",
  jpeg: "image",
  gif: "image",
  webp: "image",
  avif: "image",
  bmp: "image",
  zip: "archive",
  gz: "archive",
  tar: "archive",
  xz: "archive",
  pdf: "pdf",
};

export const kindOfFile = (name: string): FileKind => KINDS[/\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? ""] ?? "other";

/** Most rows of a table that are read. */
const MOST_ROWS = 20_000;

/** Rows of RFC 4180 text, by the names in the first line. Undefined when it is no table. */
export function parseCsv(text: string, separator: string): Record<string, string>[] | undefined {
  const lines: string[][] = [];
  let [row, field, quoted, at]: [string[], string, boolean, number] = [[], "", false, text.charCodeAt(0) === 0xfeff ? 1 : 0];
  for (; at < text.length && lines.length <= MOST_ROWS; at += 1) {
    const character = text[at] ?? "";
    if (quoted) {
      if (character === '"' && text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else if (character === '"') quoted = false;
      else field += character;
    } else if (character === '"' && field === "") quoted = true;
    else if (character === separator) {
      row.push(field);
      field = "";
    } else if (character === "\n" || character === "\r") {
      if (character === "\r" && text[at + 1] === "\n") at += 1;
      row.push(field);
      lines.push(row);
      [row, field] = [[], ""];
    } else field += character;
  }
  if (field !== "" || row.length > 0) {
    row.push(field);
    lines.push(row);
  }
  const [head, ...rest] = lines;
  if (!head || head.length < 2 || rest.length === 0) return undefined;
  const names = head.map((name, index) => name.trim() || String(index + 1));
  return rest
    .filter((line) => line.length > 1 || line[0] !== "")
    .map((line) => Object.fromEntries(names.map((name, index) => [name, line[index] ?? ""])));
}
