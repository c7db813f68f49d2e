import { Fragment } from "react";
import { revealText } from "../../kit";
import { commandWords } from "./words";

/**
 * A command that breaks between its words, and in a quoted one behind a comma: not after a hyphen, not at a space between quotes. Copied text
 * stays the same.
 */
export function CommandWords({ text }: { text: string }) {
  return commandWords(text).map((word, index) => (
    <Fragment key={index}>
      {word.trim() === ""
        ? word
        : piecesOf(word).map((piece, at) => (
            <span key={at} className="dk-word">
              {revealText(piece)}
            </span>
          ))}
    </Fragment>
  ));
}

/** A text of JSON would be wider than any box. */
const piecesOf = (word: string): string[] => (/^['"]/.test(word) ? word.split(/(?<=,)/) : [word]);
