// Day, day and time, time. Typed as text, since a browser's own picker is not there in every engine; shown in the language's form when the
// person is elsewhere; a calendar beside it.
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { Calendar as CalendarIcon, ChevronLeft, ChevronRight, Clock } from "lucide-react";
import { Popover } from "@base-ui/react/popover";
import { useI18n } from "../../i18n";
import { Button, IconButton } from "../Button";
import { parseDate, parseDatetime, parseTime } from "../form/value";
import { Icon } from "../Icon";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";
import "../overlay.css";

const pad = (value: number) => String(value).padStart(2, "0");
const isoOf = (date: Date) => `${String(date.getFullYear()).padStart(4, "0")}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
/** Noon, so that no change of clocks moves the day. */
const dateOf = (iso: string) => new Date(`${iso}T12:00:00`);
const clockOf = (date: Date) => `${pad(date.getHours())}:${pad(date.getMinutes())}`;

interface CalendarProps {
  /** The chosen day in ISO form. */
  day?: string;
  onPick: (day: string) => void;
}

/** A month as a grid; arrows move by day and week, PageUp and PageDown by month. */
function Calendar({ day, onPick }: CalendarProps) {
  const { t, language } = useI18n();
  const locale = language === "en" ? "en-GB" : language;
  const [focus, setFocus] = useState(() => day ?? isoOf(new Date()));
  const grid = useRef<HTMLDivElement>(null);
  const follow = useRef(false);
  const at = dateOf(focus);
  // The focus goes with the day before the next key comes.
  useLayoutEffect(() => {
    if (follow.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    follow.current = false;
  }, [focus]);
  const title = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" }).format(at);
  const spoken = useMemo(() => new Intl.DateTimeFormat(locale, { dateStyle: "full" }), [locale]);
  const weekday = useMemo(() => new Intl.DateTimeFormat(locale, { weekday: "narrow" }), [locale]);

  const first = new Date(at.getFullYear(), at.getMonth(), 1, 12);
  const start = new Date(first);
  start.setDate(1 - ((first.getDay() + 6) % 7));
  const days = Array.from({ length: 42 }, (_, index) => {
    const date = new Date(start);
    date.setDate(start.getDate() + index);
    return date;
  });

  const move = (by: number, months = 0) => {
    const next = new Date(at);
    if (months) {
      next.setDate(1);
      next.setMonth(next.getMonth() + months);
      next.setDate(Math.min(at.getDate(), new Date(next.getFullYear(), next.getMonth() + 1, 0).getDate()));
    } else next.setDate(next.getDate() + by);
    setFocus(isoOf(next));
    follow.current = grid.current?.contains(document.activeElement) ?? false;
  };

  return (
    <div className="k-calendar">
      <div className="k-calendar-head">
        <IconButton icon={ChevronLeft} label={t("kit.previousMonth")} size="small" bare onClick={() => move(0, -1)} />
        <span className="k-calendar-title" aria-live="polite">
          {title}
        </span>
        <IconButton icon={ChevronRight} label={t("kit.nextMonth")} size="small" bare onClick={() => move(0, 1)} />
      </div>
      <div
        ref={grid}
        className="k-calendar-grid"
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
          if (by) move(by);
          else if (event.key === "PageUp") move(0, -1);
          else if (event.key === "PageDown") move(0, 1);
          else return;
          event.preventDefault();
        }}
      >
        {days.slice(0, 7).map((date) => (
          <span key={date.getDay()} aria-hidden="true">
            {weekday.format(date)}
          </span>
        ))}
        {days.map((date) => {
          const iso = isoOf(date);
          return (
            <button
              key={iso}
              type="button"
              className="k-day"
              tabIndex={iso === focus ? 0 : -1}
              aria-pressed={iso === day}
              aria-label={spoken.format(date)}
              data-other={date.getMonth() !== at.getMonth() || undefined}
              data-today={iso === isoOf(new Date()) || undefined}
              onClick={() => onPick(iso)}
            >
              {date.getDate()}
            </button>
          );
        })}
      </div>
    </div>
  );
}

export interface DateFieldProps extends ControlProps<string> {
  kind: "date" | "datetime" | "time";
}

export function DateField({ kind, value, onChange, onBlur, locked, ...rest }: DateFieldProps) {
  const { t, language } = useI18n();
  const [here, setHere] = useState(false);
  const [open, setOpen] = useState(false);
  const [box, setBox] = useState<HTMLElement | null>(null);
  const locale = language === "en" ? "en-GB" : language;

  const parsed = kind === "date" ? parseDate(value) : kind === "time" ? parseTime(value) : parseDatetime(value);
  const pretty = useMemo(() => {
    if (parsed === undefined || kind === "time") return parsed ?? value;
    const day = { day: "numeric", month: "short", year: "numeric" } as const;
    const format = new Intl.DateTimeFormat(locale, kind === "date" ? day : { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    // A moment with another offset than this computer's stays as typed; turning it would say another time than was meant.
    if (kind === "datetime" && /(?:Z|[+-]\d{2}:?\d{2})$/i.test(value.trim())) return value;
    return format.format(kind === "date" ? dateOf(parsed) : new Date(parsed));
  }, [parsed, kind, locale, value]);

  const day = kind === "date" ? parsed : parsed?.slice(0, 10);
  const clock = kind === "datetime" ? (parsed?.slice(11, 16) ?? "") : "";
  const set = (nextDay: string, nextClock: string) => onChange(kind === "date" ? nextDay : `${nextDay} ${nextClock}`);

  return (
    <span
      ref={setBox}
      className="k-input k-num"
      data-invalid={rest.invalid || undefined}
      data-disabled={locked || undefined}
      data-open={open || undefined}
    >
      {kind === "time" ? (
        <Icon of={Clock} size={16} />
      ) : (
        <Popover.Root open={open} onOpenChange={(next) => setOpen(next && !locked)}>
          <Popover.Trigger className="k-input-button" aria-label={t("kit.openCalendar")} disabled={locked}>
            <Icon of={CalendarIcon} size={16} />
          </Popover.Trigger>
          <Popover.Portal>
            <Popover.Positioner anchor={box} align="start" sideOffset={4} className="k-layer-top">
              <Popover.Popup
                className="k-popup"
                aria-label={t("kit.openCalendar")}
                initialFocus={() => document.querySelector<HTMLElement>('.k-calendar-grid [tabindex="0"]')}
              >
                <Calendar
                  day={day}
                  onPick={(next) => {
                    set(next, clock || clockOf(new Date()));
                    if (kind === "date") setOpen(false);
                  }}
                />
                <div className="k-calendar-foot k-calendar">
                  {kind === "datetime" && (
                    <span style={{ width: "6rem" }}>
                      <DateField kind="time" label={t("kit.time")} value={clock} onChange={(next) => set(day ?? isoOf(new Date()), next)} />
                    </span>
                  )}
                  <Button
                    size="small"
                    look="quiet"
                    onClick={() => {
                      set(isoOf(new Date()), clockOf(new Date()));
                      setOpen(false);
                    }}
                  >
                    {kind === "date" ? t("kit.today") : t("kit.now")}
                  </Button>
                </div>
              </Popover.Popup>
            </Popover.Positioner>
          </Popover.Portal>
        </Popover.Root>
      )}
      <input
        {...ariaOf(rest)}
        type="text"
        className="k-time"
        value={here ? value : pretty}
        placeholder={kind === "date" ? t("kit.dateForm") : kind === "time" ? t("kit.timeForm") : `${t("kit.dateForm")} ${t("kit.timeForm")}`}
        readOnly={locked}
        autoComplete="off"
        spellCheck={false}
        onFocus={() => setHere(true)}
        onChange={(event) => {
          setHere(true);
          onChange(event.target.value);
        }}
        onBlur={() => {
          setHere(false);
          onBlur?.();
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" && event.altKey && kind !== "time" && !locked) {
            event.preventDefault();
            setOpen(true);
          }
        }}
      />
    </span>
  );
}
