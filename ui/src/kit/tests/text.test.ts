import { describe, expect, test } from "vitest";
import { saidPieces } from "../Said";
import { cutText, drawnPieces, revealText, shortenMiddle } from "../text";

describe("what cannot be seen is shown", () => {
  test.each([
    ["right-to-left override", "invoice\u202Egnp.exe", "invoice\\u202egnp.exe"],
    ["isolates", "a\u2066b\u2069", "a\\u2066b\\u2069"],
    ["zero-width space", "rm\u200B -rf", "rm\\u200b -rf"],
    ["zero-width joiner between Latin letters", "ab\u200Dcd", "ab\\u200dcd"],
    ["byte order mark", "\uFEFFname", "\\ufeffname"],
    ["tag characters beyond the first plane", "a\u{E0041}", "a\\u{e0041}"],
    ["escape sequences", "\u001b[31mred", "\\u001b[31mred"],
    ["line separator", "one\u2028two", "one\\u2028two"],
    ["a carriage return that hides a line", "safe\rrm", "safe\\u000drm"],
    ["soft hyphen", "pass\u00ADword", "pass\\u00adword"],
  ])("%s", (_, text, shown) => {
    expect(revealText(text)).toBe(shown);
  });

  test.each([
    ["emoji with a variation selector", "done ❤️"],
    ["a family of emoji", "👩‍👩‍👧‍👦"],
    ["skin tones", "👍🏽"],
    ["Persian with its joiner", "می‌خواهم"],
    ["Chinese", "等你处理：第 1 步"],
    ["tabs and line ends", "a\tb\nc\r\nd"],
  ])("%s stays as it is", (_, text) => {
    expect(revealText(text)).toBe(text);
  });
});

describe("what is drawn", () => {
  const whole = (text: string) =>
    drawnPieces(text)
      .map((piece) => piece.text)
      .join("");
  test("long words are many nodes, never cut through a pair", () => {
    const text = `a${"😀".repeat(5_000)}`;
    const pieces = drawnPieces(text);
    expect(whole(text)).toBe(text);
    expect(pieces.every((piece) => piece.text.length <= 1_000 && !/^[\uDC00-\uDFFF]/.test(piece.text))).toBe(true);
  });
  test.each([
    ["one after the other", "\u200b".repeat(100_000)],
    ["between letters", "a\u202e".repeat(100_000)],
  ])("escapes %s don't each make an element", (_, text) => {
    expect(drawnPieces(text).filter((piece) => piece.escape).length).toBeLessThan(3_000);
    expect(whole(text)).toBe(revealText(text));
  });
});

test("names between backticks are code, and nothing else is", () => {
  expect(saidPieces("`a` is no `b c`.")).toEqual(["", "a", " is no ", "b c", "."]);
  expect(saidPieces("it`s one")).toEqual(["it`s one"]);
  expect(saidPieces("`` and ```")).toEqual(["`` and ```"]);
});

describe("cutting", () => {
  test("never through a surrogate pair", () => {
    expect(cutText("ab😀", 3)).toEqual({ text: "ab", cut: true });
    expect(cutText("ab😀", 4)).toEqual({ text: "ab😀", cut: false });
  });

  test("in the middle, keeping both ends", () => {
    expect(shortenMiddle("workflow-11111111-1111", 12)).toBe("workfl…-1111");
    expect(shortenMiddle("short", 12)).toBe("short");
  });
});
