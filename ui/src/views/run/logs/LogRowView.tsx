// One row of a log: number, time, stream, text in spans.
import { type MouseEvent, memo, useState } from "react";
import { ChevronDown, ChevronRight } from "lucide-react";
import type { LogLine } from "../../../api/contract";
import { useI18n } from "../../../i18n";
import { Icon } from "../../../kit/Icon";
import { ansiSpans, type AnsiSpan, plain, showControls, spanStyle, type ThemeName } from "./ansi";
import { cutLine, entryLines, hits, LINE_LIMIT, LINE_LIMIT_ALL, type Needle, saysError, splitAtMarks } from "./lines";
import type { PhaseRange } from "./rows";

/** Lines of one entry that are drawn whole; longer ones draw what is in sight. */
export const WHOLE_ENTRY = 60;

export interface EntryProps {
  line: LogLine | undefined;
  position: number;
  time: string;
  search: Needle;
  current: boolean;
  target: boolean;
  wrap: boolean;
  theme: ThemeName;
  rowHeight: number;
  clipFrom: number;
  clipTo: number;
  onNumber: (position: number, event: MouseEvent) => void;
}

export const EntryRow = memo(function EntryRow({
  line,
  position,
  time,
  search,
  current,
  target,
  wrap,
  theme,
  rowHeight,
  clipFrom,
  clipTo,
  onNumber,
}: EntryProps) {
  const { t, format } = useI18n();
  if (!line)
    return (
      <div className="lg-row lg-row-empty" style={{ height: rowHeight }} aria-hidden="true">
        <span className="lg-number">{format.number(position + 1)}</span>
        <span className="lg-bone" style={{ width: `${30 + ((position * 29) % 40)}%` }} />
      </div>
    );
  const lines = entryLines(line.text);
  const isLong = lines.length > WHOLE_ENTRY;
  const from = isLong ? Math.max(0, Math.floor(clipFrom / rowHeight)) : 0;
  const to = isLong ? Math.min(lines.length, Math.ceil(clipTo / rowHeight)) : lines.length;
  const bad = saysError(lines[0] ?? "");
  const classes = [
    "lg-row",
    `lg-${line.stream}`,
    bad && "lg-bad",
    current && lines.length === 1 && "lg-current",
    target && "lg-target",
    wrap && !isLong && "lg-wrap",
  ]
    .filter(Boolean)
    .join(" ");
  return (
    <div className={classes} style={isLong ? { height: lines.length * rowHeight } : undefined} data-position={position}>
      <span className="lg-number">
        <button type="button" tabIndex={-1} aria-label={t("run.copyLineLink", { n: position + 1 })} onClick={(event) => onNumber(position, event)}>
          {format.number(position + 1)}
        </button>
      </span>
      <span className="lg-time">{time}</span>
      <span className="lg-stream">{t(`run.stream_${line.stream}`)}</span>
      <span className="lg-text" style={isLong ? { paddingTop: from * rowHeight } : undefined} dir="ltr">
        {lines.slice(from, to).map((text, index) => (
          <Text key={from + index} index={from + index} text={text} search={search} current={current} theme={theme} flow={line.stream === "flow"} />
        ))}
      </span>
    </div>
  );
});

/** The element of a line in the element of its entry, when it is drawn. */
export const lineElement = (row: Element, index: number): Element | null => row.querySelector(`.lg-line[data-line="${index}"]`);

interface TextProps {
  index: number;
  text: string;
  search: Needle;
  current: boolean;
  theme: ThemeName;
  flow: boolean;
}

function Text({ index, text, search, current, theme, flow }: TextProps) {
  const { t } = useI18n();
  const [all, setAll] = useState(false);
  const { text: shown, left } = cutLine(text, all ? LINE_LIMIT_ALL : LINE_LIMIT);
  let spans: AnsiSpan[] = ansiSpans(shown);
  const said = flow ? /^(phase\s+|step\s+|tool call\s+|fail:\s+)(.*)$/s.exec(shown) : null;
  if (said && spans.length === 1) {
    const rest = showControls(said[2] ?? "");
    const name = said[1]?.startsWith("phase") ? rest : (/^[^\s,]+(?:\s[^\s,]+)*(?=,)|^\S+/.exec(rest)?.[0] ?? "");
    spans = [{ text: said[1] ?? "" }, { text: name, bold: true }, { text: rest.slice(name.length) }].filter((span) => span.text !== "");
  }
  const marks = search.text ? hits(showControls(plain(shown)), search) : [];
  const pieces = splitAtMarks(spans, marks);
  return (
    <span className={current && marks.length > 0 ? "lg-line lg-line-current" : "lg-line"} data-line={index}>
      {pieces.map((span, piece) => {
        const hit = "hit" in span && span.hit !== undefined;
        const style = spanStyle(span, theme);
        const classes = [hit && "k-hit", span.bold && "lg-bold", span.dim && "lg-dim", span.underline && "lg-under", span.strike && "lg-strike"]
          .filter(Boolean)
          .join(" ");
        if (hit)
          return (
            <mark key={piece} className={classes} data-now={current || undefined}>
              {span.text}
            </mark>
          );
        return style || classes ? (
          <span key={piece} className={classes || undefined} style={style}>
            {span.text}
          </span>
        ) : (
          span.text
        );
      })}
      {left > 0 && (
        <>
          {"… "}
          {all ? (
            <span className="k-dim">{t("run.lineLeft", { n: left })}</span>
          ) : (
            <button type="button" className="k-link" onClick={() => setAll(true)}>
              {t("run.lineShowAll", { n: text.length })}
            </button>
          )}
        </>
      )}
      {shown === "" && "\u200a"}
    </span>
  );
}

export function HeadRow({
  phase,
  folded,
  lines,
  onToggle,
  rowHeight,
}: {
  phase: PhaseRange;
  folded: boolean;
  lines: number;
  onToggle: () => void;
  rowHeight: number;
}) {
  const { t, format } = useI18n();
  return (
    <button type="button" className="lg-head" style={{ height: rowHeight * 1.4 }} aria-expanded={!folded} onClick={onToggle} tabIndex={-1}>
      <Icon of={folded ? ChevronRight : ChevronDown} size={13} />
      <span className="k-med">{showControls(phase.title) || t("run.emptyPhase")}</span>
      <span className="k-dim">
        {[t("run.phaseLines", { count: lines }), phase.ms === undefined ? undefined : format.duration(phase.ms)]
          .filter(Boolean)
          .join(t("run.listJoin"))}
      </span>
    </button>
  );
}
