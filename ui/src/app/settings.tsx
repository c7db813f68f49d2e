// What the person chose for the window: language, theme, text size, keys. Applied at once; kept by the host.
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import type { AppInfo, AppSettings } from "../api/contract";
import { useFeed } from "../api/feed";
import { useAct, useData } from "../api/queries";
import { chooseLanguage, I18nProvider, translate } from "../i18n";
import { toastError } from "../kit/toast";

/** What holds until the host has said otherwise. */
const DEFAULTS: AppSettings = {
  theme: "system",
  language: "system",
  textSize: 100,
  singleKeys: true,
  notify: { waits: true, failed: true, interrupted: true, finished: false },
  retention: {},
  waitDays: 30,
  dismissed: [],
};

interface Value {
  info: AppInfo | undefined;
  settings: AppSettings;
  update: (change: Partial<AppSettings>) => void;
}

const Context = createContext<Value>({ info: undefined, settings: DEFAULTS, update: () => {} });

/** The smallest and largest text, in percent. */
export const TEXT_SIZES = { least: 90, most: 200 } as const;

function useTheme(theme: AppSettings["theme"]): void {
  useEffect(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
}

export function SettingsProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const feed = useFeed();
  const { data: info, isPending, error } = useData("app_info", {});
  const { mutate } = useAct("set_settings");
  const settings = useMemo(() => ({ ...DEFAULTS, ...info?.settings }), [info]);
  const language = chooseLanguage(settings.language, info?.locale ?? navigator.language);

  useTheme(settings.theme);
  useEffect(() => {
    const percent = Math.min(TEXT_SIZES.most, Math.max(TEXT_SIZES.least, settings.textSize));
    document.documentElement.style.fontSize = `${(16 * percent) / 100}px`;
    document.documentElement.dataset.platform = info?.platform ?? "linux";
  }, [settings.textSize, info?.platform]);
  useEffect(() => {
    if (info) feed.startAt(info.seq);
  }, [feed, info]);

  const update = useCallback(
    (change: Partial<AppSettings>) => {
      const put = (next: Partial<AppSettings>) =>
        client.setQueryData<AppInfo>(["app_info", {}], (old) => old && { ...old, settings: { ...old.settings, ...next } });
      const before = client.getQueryData<AppInfo>(["app_info", {}])?.settings;
      put(change);
      mutate(
        { settings: change },
        {
          onSuccess: put,
          onError: (thrown) => {
            if (before) put(before);
            toastError(
              thrown,
              (key, values) => translate(language, key, values),
              (why) => translate(language, "shell.settingNotKept", { why }),
            );
          },
        },
      );
    },
    [client, mutate, language],
  );

  const value = useMemo(() => ({ info, settings, update }), [info, settings, update]);
  // One short moment of nothing instead of a frame in the wrong language.
  if (isPending && !error) return null;
  return (
    <Context value={value}>
      <I18nProvider language={language}>{children}</I18nProvider>
    </Context>
  );
}

/** The settings and how to change them. */
export function useSettings(): [AppSettings, (change: Partial<AppSettings>) => void] {
  const { settings, update } = useContext(Context);
  return [settings, update];
}

/** Version, folders, platform; undefined while unknown. */
export function useAppInfo(): AppInfo | undefined {
  return useContext(Context).info;
}
