import type { AppSettings } from "../../api/contract";
import { useSettings } from "../../app/settings";
import { useI18n } from "../../i18n";
import { Segmented } from "../../kit";
import { Section, Setting } from "./parts";

const SIZES = [90, 100, 125, 150, 200] as const;

/** A small drawing of the window in its colours; not the live theme, since it shows the others too. */
function Preview({ dark }: { dark: boolean }) {
  return (
    <svg viewBox="0 0 132 78" data-theme={dark ? "dark" : "light"} aria-hidden="true" className="st-preview">
      <rect width="132" height="78" rx="6" fill="var(--bg)" />
      <path d="M6 0h34v78H6a6 6 0 0 1-6-6V6a6 6 0 0 1 6-6z" fill="var(--bg-app)" />
      <rect x="7" y="9" width="18" height="4" rx="2" fill="var(--ink)" />
      <rect x="7" y="22" width="26" height="4" rx="2" fill="var(--bg-selected)" />
      <rect x="7" y="31" width="20" height="4" rx="2" fill="var(--life-run)" />
      <rect x="7" y="40" width="20" height="4" rx="2" fill="var(--life-run)" />
      <rect x="49" y="10" width="30" height="5" rx="2.5" fill="var(--ink)" />
      {[28, 40, 52, 64].map((y, index) => (
        <g key={y}>
          <circle cx="52" cy={y} r="2.6" fill="none" stroke={index === 1 ? "var(--fail-solid)" : "var(--life-run)"} strokeWidth="1.4" />
          <rect x="60" y={y - 2} width={[34, 26, 40, 22][index]} height="4" rx="2" fill="var(--life-run)" />
        </g>
      ))}
    </svg>
  );
}

const THEMES: readonly AppSettings["theme"][] = ["light", "dark", "system"];

export function Appearance() {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  return (
    <Section id="appearance" title={t("settings.appearance")}>
      <fieldset className="st-row st-themes" data-setting>
        <legend className="k-visually-hidden">{t("settings.theme")}</legend>
        {THEMES.map((theme) => (
          <label key={theme} className="st-theme" data-on={settings.theme === theme || undefined}>
            <span className="st-frame">
              <Preview dark={theme === "dark"} />
              {theme === "system" && (
                <span className="st-half">
                  <Preview dark />
                </span>
              )}
            </span>
            <span className="k-r">
              <input type="radio" name="theme" className="k-radio st-radio" checked={settings.theme === theme} onChange={() => update({ theme })} />
              {t(`settings.theme_${theme}`)}
            </span>
          </label>
        ))}
      </fieldset>
      <Setting id="st-size" title={t("settings.textSize")} hint={t("settings.textSizeHint")}>
        <Segmented
          labelledBy="st-size"
          value={SIZES.find((size) => size === settings.textSize)}
          items={SIZES.map((size) => ({ value: size, label: t("settings.percent", { n: size }) }))}
          onChange={(textSize) => update({ textSize })}
        />
      </Setting>
    </Section>
  );
}

export function LanguageSection() {
  const { t } = useI18n();
  const [settings, update] = useSettings();
  return (
    <Section id="language" title={t("settings.language")}>
      <Setting id="st-language" title={t("settings.window")} hint={t("settings.atOnce")}>
        <Segmented<AppSettings["language"]>
          labelledBy="st-language"
          value={settings.language}
          items={[
            { value: "system", label: t("settings.asSystem") },
            { value: "en", label: <span lang="en">{t("settings.english")}</span> },
            { value: "zh-CN", label: <span lang="zh-CN">{t("settings.chinese")}</span> },
          ]}
          onChange={(language) => update({ language })}
        />
      </Setting>
    </Section>
  );
}
