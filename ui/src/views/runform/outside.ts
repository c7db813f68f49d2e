// The same run from outside: as a command of the terminal and as a call of the protocol. Pure.
import type { JsonValue, Param } from "../../api/contract";

/** A piece of a command: the program and options plain, values in colour. */
export interface Piece {
  text: string;
  value: boolean;
}

/** Quotes for a POSIX shell; plain words stay plain. */
export function shellWord(text: string): string {
  if (text !== "" && /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith("~")) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const plain = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Option and value of one parameter, by the rules of the command line: options in declared order, positionals last. */
function option(field: Param, value: JsonValue): Piece[][] {
  if (field.type === "boolean" && typeof value === "boolean") return [[{ text: value ? `--${field.name}` : `--no-${field.name}`, value: false }]];
  const values = Array.isArray(value) && field.type !== "json" ? (value as JsonValue[]) : [value];
  return values.map((one): Piece[] => {
    const text = field.type === "secret" ? "•••" : plain(one);
    const name: Piece = { text: `--${field.name}${text.startsWith("-") ? "=" : " "}`, value: false };
    return [name, { text: shellWord(text), value: true }];
  });
}

/** The command, one line per few options, each line but the last ended by a backslash. */
export function commandPieces(project: string, entrypoint: string, fields: readonly Param[], input: Record<string, JsonValue>): Piece[] {
  const given = fields.filter((field) => Object.hasOwn(input, field.name));
  const options = given.filter((field) => field.type !== "positional").flatMap((field) => option(field, input[field.name]));
  const bare = given
    .filter((field) => field.type === "positional")
    .flatMap((field) => {
      const value = input[field.name];
      return (Array.isArray(value) ? (value as JsonValue[]) : [value]).map(plain);
    });
  const words: Piece[][] = [...options];
  if (bare.some((text) => text.startsWith("-"))) words.push([{ text: "--", value: false }]);
  for (const text of bare) words.push([{ text: shellWord(text), value: true }]);

  const pieces: Piece[] = [{ text: `workflow-code run ${shellWord(project)} ${shellWord(entrypoint)}`, value: false }];
  let width = 0;
  for (const word of words) {
    const length = word.reduce((sum, piece) => sum + piece.text.length, 0) + 1;
    if (width === 0 || width + length > 64) {
      pieces.push({ text: " \\\n  ", value: false });
      width = length;
    } else {
      pieces.push({ text: " ", value: false });
      width += length;
    }
    pieces.push(...word);
  }
  return pieces;
}

export function commandText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.text).join("");
}

/** The call that an AI client would make. */
export function callText(entrypoint: string, fields: readonly Param[], input: Record<string, JsonValue>): string {
  const secret = new Set(fields.filter((field) => field.type === "secret").map((field) => field.name));
  const args = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, secret.has(name) ? "•••" : value]));
  return JSON.stringify({ method: "tools/call", params: { name: entrypoint, arguments: args } }, null, 2);
}
