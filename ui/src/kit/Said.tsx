// A sentence from the backend or a project, which sets names and commands between backticks: those become code, the rest stays text.
import { Reveal } from "./Reveal";
import { LINE_LIMIT } from "./text";

/** Cuts at `…`; those at odd places are the code. A backtick that nothing closes is a character like others. */
export function saidPieces(text: string): string[] {
  return text.split(/(?<!`)`([^`\n]+)`(?!`)/);
}

export interface SaidProps {
  text: string;
  /** Most characters at once; a longer text is shown as it is, to be cut like others. */
  limit?: number;
  className?: string;
}

export function Said({ text, limit = LINE_LIMIT, className }: SaidProps) {
  const pieces = text.length <= limit ? saidPieces(text) : [text];
  if (pieces.length === 1) return <Reveal text={text} limit={limit} className={className} />;
  return (
    <span className={className} dir="auto">
      {pieces.map((piece, index) =>
        index % 2 === 1 ? (
          <code key={index}>
            <Reveal text={piece} />
          </code>
        ) : (
          piece && <Reveal key={index} text={piece} />
        ),
      )}
    </span>
  );
}
