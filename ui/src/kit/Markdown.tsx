// Markdown from a run, without HTML: the lexer's tokens become elements, HTML in it stays text, links show where they lead before they open.
import { Fragment, useMemo, useState, type ReactNode } from "react";
import { Lexer, type Token, type Tokens } from "marked";
import { useI18n } from "../i18n";
import { Confirm } from "./Popover";
import { revealText } from "./text";
import { toast } from "./toast";
import { toApiError, useHost } from "../host";
import "./states.css";

/** Texts above this many characters are shown plain. */
export const MARKDOWN_LIMIT = 200_000;
const DEPTH_LIMIT = 40;

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
        host.openLink(url.href).catch((thrown: unknown) => toast(toApiError(thrown).message, { kind: "error" }));
      }}
    />
  );
}

/** The lexer escapes some signs for HTML; React does that itself. */
function plain(text: string): string {
  return revealText(text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
}

function inline(tokens: Token[] | undefined, depth: number): ReactNode {
  if (!tokens) return null;
  if (depth > DEPTH_LIMIT) return tokens.map((token) => plain(token.raw)).join("");
  return tokens.map((token, index) => {
    const inner = "tokens" in token ? () => inline(token.tokens, depth + 1) : () => null;
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
        return <code key={index}>{revealText((token as Tokens.Codespan).text)}</code>;
      case "br":
        return <br key={index} />;
      case "link":
        return (
          <SafeLink key={index} href={(token as Tokens.Link).href}>
            {inner()}
          </SafeLink>
        );
      // Nothing is loaded from elsewhere: an image is its description and its address.
      case "image":
        return (
          <span key={index} className="k-dim">
            {plain((token as Tokens.Image).text)} ({revealText((token as Tokens.Image).href)})
          </span>
        );
      case "text":
        return <Fragment key={index}>{"tokens" in token && token.tokens ? inner() : plain((token as Tokens.Text).text)}</Fragment>;
      case "escape":
        return <Fragment key={index}>{plain((token as Tokens.Escape).text)}</Fragment>;
      default:
        return <Fragment key={index}>{revealText(token.raw)}</Fragment>;
    }
  });
}

function blocks(tokens: Token[], depth: number): ReactNode {
  if (depth > DEPTH_LIMIT) return tokens.map((token) => token.raw).join("");
  return tokens.map((token, index) => {
    switch (token.type) {
      case "space":
      case "def":
        return null;
      case "heading": {
        const { depth: level, tokens: words } = token as Tokens.Heading;
        const Heading = `h${level}` as "h1";
        return <Heading key={index}>{inline(words, depth + 1)}</Heading>;
      }
      case "paragraph":
        return <p key={index}>{inline((token as Tokens.Paragraph).tokens, depth + 1)}</p>;
      case "text":
        return <span key={index}>{"tokens" in token && token.tokens ? inline(token.tokens, depth + 1) : plain((token as Tokens.Text).text)}</span>;
      case "blockquote":
        return <blockquote key={index}>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>;
      case "code":
        return (
          <pre key={index}>
            <code>{revealText((token as Tokens.Code).text)}</code>
          </pre>
        );
      case "hr":
        return <hr key={index} />;
      case "list": {
        const list = token as Tokens.List;
        const items = list.items.map((item, at) => (
          <li key={at}>
            {item.task && (item.checked ? "☑ " : "☐ ")}
            {blocks(item.tokens, depth + 1)}
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
                {table.header.map((cell, at) => (
                  <th key={at}>{inline(cell.tokens, depth + 1)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>{inline(cell.tokens, depth + 1)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        );
      }
      default:
        return <p key={index}>{revealText(token.raw)}</p>;
    }
  });
}

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => {
    if (text.length > MARKDOWN_LIMIT) return null;
    try {
      return new Lexer({ gfm: true }).lex(text);
    } catch {
      // Nested deeper than the lexer can go.
      return null;
    }
  }, [text]);
  return (
    <div className="k-md" dir="auto">
      {tokens ? blocks(tokens, 0) : <pre className="k-code">{revealText(text)}</pre>}
    </div>
  );
}
