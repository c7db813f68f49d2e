import { expect, test } from "vitest";
import { keysOf, type Language, messageOf, translate } from "./translate";

const forms = (language: Language, key: string): string[] => {
  const message = messageOf(language, key);
  return typeof message === "string" ? [message] : [message.one, message.other].filter((form) => form !== undefined);
};
const holes = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))];

test("both languages have the same keys", () => {
  expect(keysOf("zh-CN").sort()).toEqual(keysOf("en").sort());
});

test("no message is empty", () => {
  for (const language of ["en", "zh-CN"] as const)
    expect(keysOf(language).filter((key) => forms(language, key).some((form) => form.trim() === ""))).toEqual([]);
});

test("Chinese fills no hole that English doesn't have", () => {
  const faults = keysOf("en").filter((key) => {
    const known = new Set(forms("en", key).flatMap(holes));
    return forms("zh-CN", key)
      .flatMap(holes)
      .some((hole) => !known.has(hole));
  });
  expect(faults).toEqual([]);
});

test("Chinese addresses the person with 你 and raises no voice", () => {
  expect(keysOf("zh-CN").filter((key) => forms("zh-CN", key).some((form) => /[您！]/u.test(form)))).toEqual([]);
  expect(keysOf("en").filter((key) => forms("en", key).some((form) => /!|\b(?:please|successfully|oops)\b/i.test(form)))).toEqual([]);
});

test("a space stands between Chinese and Latin or digits", () => {
  const faults = keysOf("zh-CN").filter((key) =>
    forms("zh-CN", key).some((form) => /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/u.test(form)),
  );
  expect(faults).toEqual([]);
});

test("plural forms follow the count, numbers are separated", () => {
  expect(translate("en", "runs.newRuns", { count: 1, n: 1 })).toBe("1 new");
  expect(translate("en", "runs.footerMore", { count: 1_204_318, n: 1_204_318 })).toBe("1,204,318 runs");
});
