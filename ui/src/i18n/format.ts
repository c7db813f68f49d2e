// Durations, times, sizes and numbers in the window's language (design, "Words").
import { type Language, translate } from "./translate";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats of one language. Times are milliseconds since the epoch, durations milliseconds. */
export interface Format {
  /** 1,204,318 */
  number(value: number): string;
  /** `12 ms`, `0.4 s`, `38 s`, `3 m 40 s`, `1 h 04 m` */
  duration(ms: number): string;
  /** A running clock: `2:12`, `1:04:09` */
  clock(ms: number): string;
  /** `2 min ago`, `yesterday`, then the date */
  relative(at: number, now: number): string;
  /** The time of day, `13:51` */
  time(at: number): string;
  /** The time of day with seconds, `14:32:07` */
  timeSeconds(at: number): string;
  /** `28 Sep` */
  shortDate(at: number): string;
  /** `30 November` */
  longDate(at: number): string;
  weekday(at: number): string;
  /** `Monday 30 November`; Chinese has the weekday behind */
  weekdayDate(at: number): string;
  /** `2026-11-30`, local time; for addresses and search, the same in every language */
  isoDate(at: number): string;
  /** Date and time with zone, for tooltips */
  absolute(at: number): string;
  /** `14.2 MB`; steps of 1,000 */
  bytes(value: number): string;
}

const two = (value: number) => String(value).padStart(2, "0");

/** The start of the day, local time. */
export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** Dates as the design writes them: three letters for a short month, a space between digits and Chinese. */
function joined(format: Intl.DateTimeFormat, language: Language): { format: (at: number) => string } {
  const isShort = format.resolvedOptions().month === "short";
  return {
    format(at) {
      const parts = format.formatToParts(at);
      if (language === "en") return parts.map(({ type, value }) => (type === "month" && isShort ? value.slice(0, 3) : value)).join("");
      return parts
        .map(({ value }) => value)
        .join("")
        .replaceAll(/(\d)(?=[年月日])/g, "$1 ")
        .replaceAll(/([年月])(?=\d)/g, "$1 ");
    },
  };
}

/** `2026-11-30`, local time. */
export function isoDate(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function build(language: Language): Format {
  const locale = language === "en" ? "en-GB" : "zh-CN";
  const t = (key: Parameters<typeof translate>[1], values?: Parameters<typeof translate>[2]) => translate(language, key, values);
  const number = new Intl.NumberFormat(language);
  const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const upToTenths = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const timeSeconds = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const shortDate = joined(new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }), language);
  const yearDate = joined(new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" }), language);
  const longDate = joined(new Intl.DateTimeFormat(locale, { day: "numeric", month: "long" }), language);
  const weekday = new Intl.DateTimeFormat(locale, { weekday: "long" });
  const absolute = new Intl.DateTimeFormat(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });

  function duration(ms: number): string {
    if (!Number.isFinite(ms) || ms < 0) return "–";
    if (ms < 100) return t("common.millisecondsShort", { n: Math.round(ms) });
    if (ms < 9_950) return t("common.secondsShort", { n: tenths.format(ms / SECOND) });
    const seconds = Math.round(ms / SECOND);
    if (seconds < 60) return t("common.secondsShort", { n: seconds });
    if (seconds < 3600) return t("common.minutesShort", { m: Math.floor(seconds / 60), s: two(seconds % 60) });
    const minutes = Math.floor(seconds / 60);
    if (minutes < 1440) return t("common.hoursShort", { h: Math.floor(minutes / 60), m: two(minutes % 60) });
    return t("common.daysShort", { d: Math.floor(minutes / 1440), h: Math.floor((minutes % 1440) / 60) });
  }

  return {
    number: (value) => number.format(value),
    duration,
    clock(ms) {
      const seconds = Math.max(0, Math.floor(ms / SECOND));
      const minutes = Math.floor(seconds / 60);
      return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
    },
    relative(at, now) {
      const age = now - at;
      if (age < MINUTE) return t("common.now");
      if (age < HOUR) return t("common.minutesAgo", { n: Math.floor(age / MINUTE) });
      const today = startOfDay(now);
      if (age < DAY && (at >= today || age < 20 * HOUR)) return t("common.hoursAgo", { n: Math.floor(age / HOUR) });
      if (at >= startOfDay(today - HOUR)) return t("common.yesterday");
      return new Date(at).getFullYear() === new Date(now).getFullYear() ? shortDate.format(at) : yearDate.format(at);
    },
    time: (at) => time.format(at),
    timeSeconds: (at) => timeSeconds.format(at),
    shortDate: (at) => shortDate.format(at),
    longDate: (at) => longDate.format(at),
    weekdayDate: (at) => (language === "en" ? `${weekday.format(at)} ${longDate.format(at)}` : `${longDate.format(at)} ${weekday.format(at)}`),
    weekday: (at) => weekday.format(at),
    isoDate,
    absolute: (at) => absolute.format(at),
    bytes(value) {
      if (value < 1000) return t("common.bytes", { n: value });
      const units = ["kB", "MB", "GB", "TB"];
      let amount = value;
      let unit = -1;
      do {
        amount /= 1000;
        unit++;
      } while (amount >= 999.5 && unit < units.length - 1);
      return `${amount < 10 ? upToTenths.format(amount) : number.format(Math.round(amount))} ${units[unit]}`;
    },
  };
}

const formats: Partial<Record<Language, Format>> = {};

/** The formats of a language, built once. */
export function formatOf(language: Language): Format {
  return (formats[language] ??= build(language));
}
