// Settings: applied at once, there is no Save. The search box jumps to a setting and marks it.
import { useEffect, useRef, useState } from "react";
import { Bell, Bot, Database, Globe, Info, KeyRound, Keyboard, Layers, SlidersHorizontal, Wrench, type LucideIcon } from "lucide-react";
import { useActions } from "../../app/actions";
import { Bar } from "../../app/Bar";
import { useAddress, useParam } from "../../app/router";
import { SETTINGS_SECTIONS as SECTIONS, type SettingsSection as SectionName } from "../../app/settingsSections";
import { useTitle } from "../../app/title";
import { useRoving } from "../../app/useRoving";
import { useI18n } from "../../i18n";
import { announce, Icon, SearchField, SelectField } from "../../kit";
import { Appearance, LanguageSection } from "./Appearance";
import { ConnectionSection } from "./Connection";
import { AboutSection, AgentsSection, HealthSection, KeyboardSection, NotificationsSection, ProfilesSection } from "./Others";
import { SpaceSection } from "./Space";
import "./settings.css";

const ICONS: Record<SectionName, LucideIcon> = {
  appearance: SlidersHorizontal,
  language: Globe,
  connection: KeyRound,
  notifications: Bell,
  agents: Bot,
  space: Database,
  profiles: Layers,
  keyboard: Keyboard,
  health: Wrench,
  about: Info,
};

/** How far below the top the section begins that is being read, in pixels. */
const READING_LINE = 96;

/** Scrolls the list itself and nothing around it. */
function scrollTo(scroller: HTMLElement | null, target: Element | null | undefined, block: "start" | "center"): void {
  if (!scroller || !target) return;
  const offset = target.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  const room = block === "center" ? (scroller.clientHeight - target.clientHeight) / 2 : 0;
  scroller.scrollTop += offset - room;
}

export default function Settings() {
  const { t } = useI18n();
  const { segments } = useAddress();
  const [param, setSection] = useParam("section");
  // A link may name the section in the path; choosing one here stays in the parameter, so that the view isn't made anew.
  const section = param ?? segments[1] ?? null;
  useTitle(t("settings.title"));
  const [find, setFind] = useState("");
  const [found, setFound] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const nav = useRef<HTMLElement>(null);
  const onNavKey = useRoving(nav);
  // What was chosen, until the person scrolls on: the last sections can't come to the top.
  const aimed = useRef<number | null>(null);
  const [seen, setSeen] = useState<SectionName>();
  const current: SectionName = seen ?? SECTIONS.find((name) => name === section) ?? "appearance";
  const onScroll = () => {
    const top = scroller.current?.getBoundingClientRect().top;
    if (top === undefined || aimed.current === scroller.current?.scrollTop) return;
    aimed.current = null;
    const above = SECTIONS.filter((name) => {
      const place = scroller.current?.querySelector(`[data-section="${name}"]`)?.getBoundingClientRect();
      return place !== undefined && place.top - top < READING_LINE;
    });
    setSeen(above.at(-1) ?? SECTIONS[0]);
  };

  const go = (name: SectionName) => {
    setSection(name);
    setSeen(name);
    scrollTo(scroller.current, scroller.current?.querySelector(`[data-section="${name}"]`), "start");
    aimed.current = scroller.current?.scrollTop ?? null;
  };

  useActions([
    {
      id: "settings.search",
      title: t("settings.find"),
      group: "view",
      keys: "/",
      run: () => document.querySelector<HTMLInputElement>(".st-find input")?.focus(),
    },
  ]);

  // A link to a section (palette) leads there once its content is drawn.
  const first = useRef(section);
  useEffect(() => {
    if (first.current) scrollTo(scroller.current, scroller.current?.querySelector(`[data-section="${CSS.escape(first.current)}"]`), "start");
    aimed.current = scroller.current?.scrollTop ?? null;
  }, []);

  // The rows are marked where they are; filtering them away would hide what stands beside them.
  useEffect(() => {
    const needle = find.trim().toLowerCase();
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>("[data-setting]") ?? [])];
    const hits = rows.filter(
      (row) => needle !== "" && `${row.textContent} ${row.closest("section")?.querySelector("h2")?.textContent}`.toLowerCase().includes(needle),
    );
    for (const row of rows) row.toggleAttribute("data-found", hits.includes(row));
    setFound(hits.length);
    scrollTo(scroller.current, hits[0], "center");
    if (needle !== "") announce(t("settings.found", { count: hits.length }));
  }, [find, t]);

  return (
    <>
      <Bar title={t("settings.title")}>
        {find.trim() !== "" && <span className="k-sub k-num">{t("settings.found", { count: found })}</span>}
        <span className="st-find">
          <SearchField
            value={find}
            onChange={setFind}
            label={t("settings.find")}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              scroller.current?.querySelector<HTMLElement>("[data-found] :is(input, button, a, [role=switch], [tabindex='0'])")?.focus();
            }}
          />
        </span>
      </Bar>
      <div className="st">
        <div className="st-pick">
          <SelectField
            small
            label={t("settings.sections")}
            value={current}
            options={SECTIONS.map((name) => ({ value: name, label: t(`settings.${name}`) }))}
            onChange={(name) => name && go(name)}
          />
        </div>
        <nav ref={nav} className="st-nav" aria-label={t("settings.sections")} onKeyDown={onNavKey}>
          {SECTIONS.map((name) => (
            <button
              key={name}
              type="button"
              data-roving
              className="st-link"
              aria-current={name === current ? "true" : undefined}
              onClick={() => go(name)}
            >
              <Icon of={ICONS[name]} size={16} />
              {t(`settings.${name}`)}
            </button>
          ))}
        </nav>
        <div ref={scroller} className="app-scroll st-scroll" onScroll={onScroll}>
          <div className="st-body">
            <Appearance />
            <LanguageSection />
            <ConnectionSection />
            <NotificationsSection />
            <AgentsSection />
            <SpaceSection />
            <ProfilesSection />
            <KeyboardSection />
            <HealthSection />
            <AboutSection />
          </div>
        </div>
      </div>
    </>
  );
}
