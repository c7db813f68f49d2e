// Markdown from a run, without HTML: the lexer's tokens become elements, HTML in it stays text, links show where they lead before they open.
import { Fragment, useMemo, useState, type ReactNode } from "react";
import { Lexer, type Token, type Tokens } from "marked";
import { useI18n } from "../i18n";
import { Confirm } from "./Popover";
import { Button } from "./Button";
import { Reveal } from "./Reveal";
import { drawnPieces, revealText } from "./text";
import { useHost } from "../host";
import "./states.css";
import { toastError } from "./toast";

/** Texts above this many characters are shown plain. */
export const MARKDOWN_LIMIT = 200_000;
const DEPTH_LIMIT = 40;
/** Elements that are drawn at first; each "show more" draws as many times more. */
const AT_FIRST = 3_000;
const TIMES_MORE = 4;
/** What a link, with the question before it, costs of them. */
const LINK_COST = 8;

/** Characters of a text that is shown plain. */
const PLAIN_AT_FIRST = 20_000;

/** How many more elements may be drawn. */
interface Pen {
  left: number;
  /** Something was left out. */
  isCut?: boolean;
}

/** Draws one after the other until nothing is left. */
function each<T>(items: readonly T[], pen: Pen, draw: (item: T, index: number) => ReactNode): ReactNode[] {
  const out: ReactNode[] = [];
  for (const [index, item] of items.entries()) {
    if (pen.left <= 0) {
      pen.isCut = true;
      break;
    }
    pen.left -= 1;
    out.push(draw(item, index));
  }
  return out;
}

function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  const { t } = useI18n();
  const host = useHost();
  const [url] = useState(() => {
    try {
      const parsed = new URL(href);
      return parsed.protocol === "https:" ? parsed : null;
    } catch {
      return null;
    }
  });
  if (!url)
    return (
      <>
        {children} <span className="k-dim">({revealText(href)})</span>
      </>
    );
  return (
    <Confirm
      align="start"
      trigger={
        <button type="button" className="k-md-link" title={revealText(url.href)}>
          {children}
        </button>
      }
      title={t("kit.openLink", { host: url.host })}
      text={revealText(url.href)}
      confirm={t("kit.openInBrowser")}
      keep={t("common.cancel")}
      onConfirm={() => {
        host.openLink(url.href).catch((thrown: unknown) => toastError(thrown, t));
      }}
    />
  );
}

/** Text as nodes that a browser can lay out, whatever its length. */
const shown = (text: string): ReactNode[] => drawnPieces(text).map((piece) => piece.text);

/** The lexer escapes some signs for HTML; React does that itself. */
function plain(text: string): ReactNode[] {
  return shown(text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
}

function inline(tokens: Token[] | undefined, depth: number, pen: Pen): ReactNode {
  if (!tokens) return null;
  if (depth > DEPTH_LIMIT) return plain(tokens.map((token) => token.raw).join(""));
  return each(tokens, pen, (token, index) => {
    const inner = "tokens" in token ? () => inline(token.tokens, depth + 1, pen) : () => null;
    switch (token.type) {
      case "strong":
        return <strong key={index}>{inner()}</strong>;
      // The design has no italics (Chinese has none), so emphasis is weight.
      case "em":
        return (
          <span key={index} className="k-med">
            {inner()}
          </span>
        );
      case "del":
        return <del key={index}>{inner()}</del>;
      case "codespan":
        return <code key={index}>{shown((token as Tokens.Codespan).text)}</code>;
      case "br":
        return <br key={index} />;
      case "link":
        pen.left -= LINK_COST;
        return (
          <SafeLink key={index} href={(token as Tokens.Link).href}>
            {inner()}
          </SafeLink>
        );
      // Nothing is loaded from elsewhere: an image is its description and its address.
      case "image":
        return (
          <span key={index} className="k-dim">
            {plain((token as Tokens.Image).text)} ({shown((token as Tokens.Image).href)})
          </span>
        );
      case "text":
        return <Fragment key={index}>{"tokens" in token && token.tokens ? inner() : plain((token as Tokens.Text).text)}</Fragment>;
      case "escape":
        return <Fragment key={index}>{plain((token as Tokens.Escape).text)}</Fragment>;
      default:
        return <Fragment key={index}>{shown(token.raw)}</Fragment>;
    }
  });
}

function blocks(tokens: Token[], depth: number, pen: Pen): ReactNode {
  if (depth > DEPTH_LIMIT) return shown(tokens.map((token) => token.raw).join(""));
  return each(tokens, pen, (token, index) => {
    switch (token.type) {
      case "space":
      case "def":
        return null;
      case "heading": {
        const { depth: level, tokens: words } = token as Tokens.Heading;
        const Heading = `h${level}` as "h1";
        return <Heading key={index}>{inline(words, depth + 1, pen)}</Heading>;
      }
      case "paragraph":
        return <p key={index}>{inline((token as Tokens.Paragraph).tokens, depth + 1, pen)}</p>;
      case "text":
        return (
          <span key={index}>{"tokens" in token && token.tokens ? inline(token.tokens, depth + 1, pen) : plain((token as Tokens.Text).text)}</span>
        );
      case "blockquote":
        return <blockquote key={index}>{blocks((token as Tokens.Blockquote).tokens, depth + 1, pen)}</blockquote>;
      case "code":
        return (
          <pre key={index}>
            <code>{shown((token as Tokens.Code).text)}</code>
          </pre>
        );
      case "hr":
        return <hr key={index} />;
      case "list": {
        const list = token as Tokens.List;
        const items = each(list.items, pen, (item, at) => (
          <li key={at}>
            {item.task && (item.checked ? "☑ " : "☐ ")}
            {blocks(item.tokens, depth + 1, pen)}
          </li>
        ));
        return list.ordered ? (
          <ol key={index} start={typeof list.start === "number" ? list.start : 1}>
            {items}
          </ol>
        ) : (
          <ul key={index}>{items}</ul>
        );
      }
      case "table": {
        const table = token as Tokens.Table;
        return (
          <table key={index}>
            <thead>
              <tr>
                {each(table.header, pen, (cell, at) => (
                  <th key={at}>{inline(cell.tokens, depth + 1, pen)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {each(table.rows, pen, (row, at) => (
                <tr key={at}>
                  {each(row, pen, (cell, column) => (
                    <td key={column}>{inline(cell.tokens, depth + 1, pen)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        );
      }
      default:
        return <p key={index}>{shown(token.raw)}</p>;
    }
  });
}

export function Markdown({ text }: { text: string }) {
  const { t } = useI18n();
  const [most, setMost] = useState(AT_FIRST);
  const tokens = useMemo(() => {
    if (text.length > MARKDOWN_LIMIT) return null;
    try {
      return new Lexer({ gfm: true }).lex(text);
    } catch {
      // Nested deeper than the lexer can go.
      return null;
    }
  }, [text]);
  // A page of lists and tables is tens of thousands of elements; nobody sees them at once.
  const { drawn, isCut } = useMemo(() => {
    const pen: Pen = { left: most };
    return { drawn: tokens && blocks(tokens, 0, pen), isCut: pen.isCut };
  }, [tokens, most]);
  return (
    <div className="k-md" dir="auto">
      {tokens ? (
        drawn
      ) : (
        <pre className="k-code">
          <Reveal text={text} limit={PLAIN_AT_FIRST} />
        </pre>
      )}
      {isCut && (
        <Button look="quiet" size="small" className="k-md-more" onClick={() => setMost(most * TIMES_MORE)}>
          {t("kit.showMoreText")}
        </Button>
      )}
    </div>
  );
}
