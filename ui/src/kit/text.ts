// Text from outside made safe to look at: invisible and direction-changing characters as escapes, endless lines cut.

// Bidi controls, zero-width characters, other format characters that draw nothing, and control characters but tab and line feed.
const INVISIBLE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDFFF]/g;

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
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), escape: false });
    const code = match[0].codePointAt(0)!;
    const escape = code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
    pieces.push({ text: escape, escape: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), escape: false });
  return pieces;
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
