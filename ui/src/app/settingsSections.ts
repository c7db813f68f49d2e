// The sections of the settings, and the way to one: a section that isn't there doesn't compile.
export const SETTINGS_SECTIONS = [
  "appearance",
  "language",
  "connection",
  "notifications",
  "agents",
  "space",
  "profiles",
  "keyboard",
  "health",
  "about",
] as const;
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

export const settingsAddress = (section: SettingsSection): string => `/settings/${section}`;
