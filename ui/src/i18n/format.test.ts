import { describe, expect, test } from "vitest";
import { formatOf } from "./format";

const en = formatOf("en");
const zh = formatOf("zh-CN");
const at = (hour: number, minute = 0, date = 30) => new Date(2026, 10, date, hour, minute, 7).getTime();

test("durations as the design writes them", () => {
  expect([12, 400, 2600, 38_000, 220_000, 3_840_000].map(en.duration)).toEqual(["12 ms", "0.4 s", "2.6 s", "38 s", "3 m 40 s", "1 h 04 m"]);
  expect([12, 38_000, 220_000, 3_840_000].map(zh.duration)).toEqual(["12 毫秒", "38 秒", "3 分 40 秒", "1 小时 04 分"]);
  expect(en.duration(59_600)).toBe("1 m 00 s");
  expect(en.duration(-5)).toBe("–");
});

test("a running clock", () => {
  expect([132_000, 3_849_000, 0, -5].map(en.clock)).toEqual(["2:12", "1:04:09", "0:00", "0:00"]);
});

describe("relative times", () => {
  const now = at(14, 32);
  test("minutes, hours, yesterday, then the date", () => {
    expect(en.relative(now - 20_000, now)).toBe("now");
    expect(en.relative(now - 125_000, now)).toBe("2 min ago");
    expect(en.relative(at(11), now)).toBe("3 h ago");
    expect(en.relative(at(9, 0, 29), now)).toBe("yesterday");
    expect(en.relative(at(9, 0, 26), now)).toBe("26 Nov");
    expect(zh.relative(at(9, 0, 26), now)).toBe("11 月 26 日");
  });
});

test("sizes in steps of a thousand", () => {
  expect([999, 1000, 14_200_000, 999_950].map(en.bytes)).toEqual(["999 bytes", "1 kB", "14 MB", "1 MB"]);
});

test("dates", () => {
  expect(en.weekdayDate(at(14))).toBe("Monday 30 November");
  expect(zh.weekdayDate(at(14))).toBe("11 月 30 日 星期一");
  expect(en.isoDate(at(0))).toBe("2026-11-30");
  expect(en.timeSeconds(at(14, 32))).toBe("14:32:07");
  expect(en.shortDate(new Date(2026, 8, 28).getTime())).toBe("28 Sep");
});
