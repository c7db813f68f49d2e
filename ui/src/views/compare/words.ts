// The words by which two texts differ.
import { diffArrays } from "diff";

export interface Piece {
  text: string;
  changed: boolean;
}

/** Longest text whose words are compared; longer ones are marked as a whole. */
const MOST = 20_000;
/** Words of Latin scripts, single characters of Chinese, Japanese and Korean, spaces, and every other sign alone. */
const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

export const tokens = (text: string): string[] => text.match(WORDS) ?? [];

function push(pieces: Piece[], text: string, changed: boolean): void {
  if (text === "") return;
  const last = pieces.at(-1);
  if (last && last.changed === changed) last.text += text;
  else pieces.push({ text, changed });
}

/** Spaces at the edges of a changed piece belong to what is beside it: a mark around nothing says nothing. */
function trimmed(pieces: Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const words = piece.text.trim();
    if (!piece.changed || words === "") {
      push(out, piece.text, piece.changed);
      continue;
    }
    const from = piece.text.indexOf(words);
    push(out, piece.text.slice(0, from), false);
    push(out, words, true);
    push(out, piece.text.slice(from + words.length), false);
  }
  return out;
}

/** Both texts in pieces. When hardly a word is common the texts count as different as a whole. */
export function diffWords(left: string, right: string): { left: Piece[]; right: Piece[] } {
  const whole = { left: left === "" ? [] : [{ text: left, changed: true }], right: right === "" ? [] : [{ text: right, changed: true }] };
  if (left === right) return { left: [{ text: left, changed: false }], right: [{ text: right, changed: false }] };
  if (left.length > MOST || right.length > MOST) return whole;
  const parts = diffArrays(tokens(left), tokens(right), { maxEditLength: 1_500, timeout: 100 });
  if (!parts) return whole;
  const out: { left: Piece[]; right: Piece[] } = { left: [], right: [] };
  let common = 0;
  parts.forEach((part, index) => {
    const text = part.value.join("");
    if (part.removed) push(out.left, text, true);
    else if (part.added) push(out.right, text, true);
    else {
      // A space alone between two changes is not worth a break.
      const between = /^\s*$/.test(text) && index > 0 && index < parts.length - 1;
      if (!between) common += text.trim().length;
      const [leftChanged, rightChanged] = [between && out.left.at(-1)?.changed === true, between && out.right.at(-1)?.changed === true];
      push(out.left, text, leftChanged);
      push(out.right, text, rightChanged);
    }
  });
  out.left = trimmed(out.left);
  out.right = trimmed(out.right);
  return common * 5 < Math.max(left.trim().length, right.trim().length) ? whole : out;
}
