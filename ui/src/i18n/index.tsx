// The window's language as React sees it: `const { t, rich, format } = useI18n()`.
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import { type Format, formatOf } from "./format";
import { type Language, type MessageKey, type MessageValues, translate, translateRich } from "./translate";

export type { Format } from "./format";
export { formatOf } from "./format";
export { type Language, type MessageKey, type MessageValues, translate } from "./translate";

/** The language, and everything that speaks it. */
export interface I18n {
  language: Language;
  /** A message with its holes filled: `t("home.title")`, `t("common.runsCount", { count: 3 })`. */
  t(key: MessageKey, values?: MessageValues): string;
  /** The same with elements in the holes. */
  rich(key: MessageKey, values: Record<string, ReactNode>): ReactNode;
  format: Format;
}

function build(language: Language): I18n {
  return {
    language,
    t: (key, values) => translate(language, key, values),
    rich: (key, values) => translateRich(language, key, values),
    format: formatOf(language),
  };
}

const Context = createContext<I18n>(build("en"));

/** The language that a setting and the system's locale give. */
export function chooseLanguage(setting: "system" | Language, locale: string): Language {
  if (setting !== "system") return setting;
  return locale.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

/** Gives a language to everything below, and to the document. */
export function I18nProvider({ language, children }: { language: Language; children: ReactNode }) {
  const value = useMemo(() => build(language), [language]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return <Context value={value}>{children}</Context>;
}

/** The window's language. */
export function useI18n(): I18n {
  return useContext(Context);
}
