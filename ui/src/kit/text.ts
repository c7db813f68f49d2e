// Text from outside made safe to look at: invisible and direction-changing characters as escapes, endless lines cut.

// First what looks invisible but belongs: an emoji with its variation selectors and joiners, joiners between letters of scripts that need
// them, and a carriage return before a line feed. Then everything that cannot be seen: bidi controls, zero-width and other ignorable
// characters, line separators, control characters but tab and line feed.
const EMOJI =
  "\\p{Extended_Pictographic}[\\uFE0E\\uFE0F]?(?:\\p{Emoji_Modifier})?(?:\\u200D\\p{Extended_Pictographic}[\\uFE0E\\uFE0F]?(?:\\p{Emoji_Modifier})?)*";
const JOINING = "[\\p{Script=Arabic}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Tamil}\\p{Script=Malayalam}\\p{Script=Sinhala}]";
const BELONGS = `${EMOJI}|${JOINING}[\\u200C\\u200D](?=${JOINING})|\\r(?=\\n)`;
const INVISIBLE = new RegExp(`(?:${BELONGS})|([^\\P{Cc}\\t\\n]|[\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}])`, "gu");

export interface TextPiece {
  text: string;
  /** Stands for a character that cannot be seen. */
  escape: boolean;
}

/** Cuts a text into what can be shown as it is and escapes like `\u202e`. */
export function revealPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match[1] === undefined) continue;
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), escape: false });
    const code = match[0].codePointAt(0)!;
    const escape = code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
    pieces.push({ text: escape, escape: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), escape: false });
  return pieces;
}

/** Characters of one text node. Browsers lay out a word without a gap again from every line's beginning to its end, so its length counts double. */
const NODE = 1_000;
/** Escapes of one text that have an element of their own. */
const MOST_ESCAPES = 2_000;

/** Pieces as they are drawn: neighbours of a kind together, none too long for a browser, and not an element for each of a million escapes. */
export function drawnPieces(text: string): TextPiece[] {
  const out: TextPiece[] = [];
  let escapes = 0;
  for (const piece of revealPieces(text)) {
    const last = out.at(-1);
    const escape = piece.escape && (last?.escape === true || (escapes += 1) <= MOST_ESCAPES);
    if (last && last.escape === escape && last.text.length + piece.text.length <= NODE) last.text += piece.text;
    else
      for (let rest = piece.text; rest !== "";) {
        const { text: part } = cutText(rest, NODE);
        out.push({ text: part, escape });
        rest = rest.slice(part.length);
      }
  }
  return out;
}

/** The same as one string, for titles and labels. */
export function revealText(text: string): string {
  return revealPieces(text)
    .map((piece) => piece.text)
    .join("");
}

/** The longest one-line value shown at once. */
export const LINE_LIMIT = 2000;

/** Cuts at `limit` characters, never through a surrogate pair. */
export function cutText(text: string, limit = LINE_LIMIT): { text: string; cut: boolean } {
  if (text.length <= limit) return { text, cut: false };
  const end = /[\uD800-\uDBFF]/.test(text[limit - 1]!) ? limit - 1 : limit;
  return { text: text.slice(0, end), cut: true };
}

/** Shortens in the middle, keeping both ends. */
export function shortenMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}
