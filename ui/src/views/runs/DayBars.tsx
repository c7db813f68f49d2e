// Runs per day, failures on top. Dragging sets the time; the "Time" chip does the same from the keyboard.
import { type PointerEvent, useMemo, useRef, useState } from "react";
import { useData } from "../../api/queries";
import { useNow } from "../../app/clock";
import { useI18n } from "../../i18n";
import { isoDate, startOfDay } from "../../i18n/format";
import { type Filters, resolveAfter, timeRange, toQuery, without } from "./query";
import { timeWords } from "./words";

/** Days shown. */
const DAYS = 64;

interface Bar {
  day: string;
  at: number;
  runs: number;
  failed: number;
}

const localDay = (day: string) => {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).getTime();
};

export function DayBars({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const i18n = useI18n();
  const { t, format } = i18n;
  const today = startOfDay(useNow(60_000));
  // Failures show among all runs, also while only they are listed.
  const query = useMemo(() => toQuery({ ...filters, status: [] }, today, "time"), [filters, today]);
  const { data } = useData("runs_per_day", { query, days: DAYS }, { keepPrevious: true });
  const root = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);

  const bars: Bar[] = useMemo(() => (data ?? []).map((bar) => ({ ...bar, at: localDay(bar.day) })), [data]);
  const most = Math.max(1, ...bars.map(({ runs }) => runs));
  const after = filters.after ? resolveAfter(filters.after, today) : null;
  const first = after === null ? 0 : bars.findIndex(({ at }) => at >= after);
  const lastIndex = filters.before ? bars.findLastIndex(({ day }) => day <= (filters.before ?? "")) : bars.length - 1;
  const isRange = Boolean(filters.after ?? filters.before);
  const range = drag
    ? { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }
    : isRange && first >= 0 && lastIndex >= first
      ? { from: first, to: lastIndex }
      : null;

  const indexOf = (event: PointerEvent) => {
    const box = root.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - box.left) / box.width) * bars.length)));
  };
  const end = () => {
    if (!drag) return;
    const from = bars[Math.min(drag.from, drag.to)];
    const to = bars[Math.max(drag.from, drag.to)];
    setDrag(null);
    if (from && to) onChange({ ...without(filters, "time"), ...timeRange(from.day, to.day, Date.now()) });
  };
  const share = (index: number) => `${(index / Math.max(1, bars.length)) * 100}%`;
  const marks = bars.filter((_, index) => index % 14 === 0 && index < DAYS - 8);

  return (
    <div className="runs-bars-frame" role="img" aria-label={t("runs.bars", { n: DAYS })}>
      <div
        ref={root}
        className="runs-bars"
        onPointerDown={(event) => {
          if (event.button !== 0 || bars.length === 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: indexOf(event), to: indexOf(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: indexOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
      >
        {bars.map(({ day, at, runs, failed }) => (
          <i key={day} title={t("runs.barTitle", { day: format.weekdayDate(at), runs, failed })}>
            {failed > 0 && <s style={{ height: `${Math.max(8, (failed / most) * 92)}%` }} />}
            {runs > failed && <u style={{ height: `${Math.max(4, ((runs - failed) / most) * 92)}%` }} />}
          </i>
        ))}
        {range && <span className="runs-range" style={{ left: share(range.from), right: `calc(100% - ${share(range.to + 1)})` }} />}
      </div>
      <div className="runs-axis k-num">
        {marks.map(({ day, at }) => (
          <span key={day} style={{ left: share(bars.findIndex((bar) => bar.day === day)) }}>
            {format.shortDate(at)}
          </span>
        ))}
        <span className="runs-axis-end">
          {isRange ? timeWords(i18n, filters) : bars.length > 0 ? (bars.at(-1)?.day === isoDate(today) ? t("common.today") : "") : ""}
        </span>
      </div>
    </div>
  );
}
