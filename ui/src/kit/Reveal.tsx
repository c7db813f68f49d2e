// Commands, paths and other text from outside: text nodes only, invisible characters shown, long values cut with "show all".
import { useState } from "react";
import { useI18n } from "../i18n";
import { cutText, drawnPieces, LINE_LIMIT } from "./text";

export interface RevealProps {
  text: string;
  /** Most characters at once. */
  limit?: number;
  className?: string;
  title?: string;
}

export function Reveal({ text, limit = LINE_LIMIT, className, title }: RevealProps) {
  const { t } = useI18n();
  const [all, setAll] = useState(false);
  const { text: shown, cut } = all ? { text, cut: false } : cutText(text, limit);
  return (
    <span className={className} dir="auto" title={title}>
      {drawnPieces(shown).map((piece, index) =>
        piece.escape ? (
          <span key={index} className="k-escape">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
      {cut && (
        <>
          {"… "}
          <button type="button" className="k-link" onClick={() => setAll(true)}>
            {t("kit.showAll", { n: text.length })}
          </button>
        </>
      )}
    </span>
  );
}
