import { Fragment } from "react";
import { revealText } from "../../kit";

/** A command that breaks between its words, not after the hyphens of an option. Copied text stays the same. */
export function CommandWords({ text }: { text: string }) {
  return text.split(" ").map((word, index) => (
    <Fragment key={index}>
      {index > 0 && " "}
      <span className="dk-word">{revealText(word)}</span>
    </Fragment>
  ));
}
