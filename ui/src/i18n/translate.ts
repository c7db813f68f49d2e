// Messages by key, numbers and times by `Intl`; no React here.
import { createElement, Fragment, type ReactNode } from "react";
import en from "./en";
import type { Message } from "./types";
import zh from "./zh-CN";

/** The languages of the window. */
export type Language = "en" | "zh-CN";

type Catalogue = typeof en;
/** Every message's key: `area.name`. */
export type MessageKey = { [A in keyof Catalogue]: `${A & string}.${keyof Catalogue[A] & string}` }[keyof Catalogue];
/** What fills the holes of a message. `count` also chooses the plural form. */
export type MessageValues = Record<string, string | number>;

const catalogues: Record<Language, Record<string, Record<string, Message>>> = { en, "zh-CN": zh };

/** All keys of a language, for the tests. */
export function keysOf(language: Language): string[] {
  return Object.entries(catalogues[language]).flatMap(([area, messages]) => Object.keys(messages).map((key) => `${area}.${key}`));
}

/** The message itself, before holes are filled; the key where there is none. */
export function messageOf(language: Language, key: string): Message {
  const dot = key.indexOf(".");
  return catalogues[language][key.slice(0, dot)]?.[key.slice(dot + 1)] ?? key;
}

const plurals: Record<Language, Intl.PluralRules> = { en: new Intl.PluralRules("en"), "zh-CN": new Intl.PluralRules("zh-CN") };
const numbers: Record<Language, Intl.NumberFormat> = { en: new Intl.NumberFormat("en"), "zh-CN": new Intl.NumberFormat("zh-CN") };

function form(language: Language, key: string, count: unknown): string {
  const message = messageOf(language, key);
  if (typeof message === "string") return message;
  return typeof count === "number" && plurals[language].select(count) === "one" ? (message.one ?? message.other) : message.other;
}

/** The message with its holes filled. Numbers get thousands separators. */
export function translate(language: Language, key: MessageKey, values: MessageValues = {}): string {
  return form(language, key, values.count).replaceAll(/\{(\w+)\}/g, (hole, name: string) => {
    const value = values[name];
    if (value === undefined) return hole;
    return typeof value === "number" ? numbers[language].format(value) : value;
  });
}

/** Like `translate`, with elements in the holes. */
export function translateRich(language: Language, key: MessageKey, values: Record<string, ReactNode>): ReactNode {
  const parts = form(language, key, values.count).split(/\{(\w+)\}/);
  return createElement(
    Fragment,
    null,
    ...parts.map((part, index) => {
      if (index % 2 === 0) return part;
      const value = values[part];
      return typeof value === "number" ? numbers[language].format(value) : value;
    }),
  );
}
