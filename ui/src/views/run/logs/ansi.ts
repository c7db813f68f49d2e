// Turns one line of terminal output into spans: colours, weight, underline. Everything else a terminal would do
// (cursor movement, links, titles, bells) is dropped or shown as an escape; nothing here makes markup.
import Anser from "anser";

export type ThemeName = "light" | "dark";
export interface Rgb {
  r: number;
  g: number;
  b: number;
}
/** A colour of the 16 (a token's name) or any other colour, to be made readable per theme. */
export type Colour = { token: string } | { rgb: Rgb };
export interface AnsiSpan {
  text: string;
  colour?: Colour;
  background?: Colour;
  bold?: boolean;
  dim?: boolean;
  underline?: boolean;
  strike?: boolean;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const ESC = "\u001b";
// Operating system commands (titles, links) end with BEL or ST; other string sequences (DCS, PM, APC, SOS) alike.
// eslint-disable-next-line no-control-regex
const STRINGS = /\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|$)/g;
// Control sequences other than colours, two-character escapes, and a sequence cut off at the end.
// eslint-disable-next-line no-control-regex
const OTHER = /\u001b\[[0-?]*[ -/]*[@-ln-~]|\u001b\[[0-?]*[ -/]*$|\u001b[()][0-9A-Za-z]|\u001b[ -Z\\-~]|\u001b$/g;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Shows control, bidi and zero-width characters as escapes, so that a text can't look like what it is not. */
export function showControls(text: string): string {
  return text.replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** Text without any terminal sequence, for copying and searching. */
export function plain(text: string): string {
  return text.replace(STRINGS, "").replace(OTHER, "").replace(COLOURS, "");
}

function palette(index: number): Colour {
  if (index < 16) return { token: `--a-${NAMES[index % 8] ?? "white"}` };
  if (index < 232) {
    const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
    const cube = index - 16;
    return { rgb: { r: level(Math.floor(cube / 36)), g: level(Math.floor(cube / 6) % 6), b: level(cube % 6) } };
  }
  const grey = 8 + (Math.min(index, 255) - 232) * 10;
  return { rgb: { r: grey, g: grey, b: grey } };
}

function colour(name: string | null | undefined, truecolour: string | null | undefined): Colour | undefined {
  if (!name) return undefined;
  if (name === "ansi-truecolor") {
    const [r, g, b] = (truecolour ?? "").split(",").map((part) => Math.min(255, Math.max(0, Number.parseInt(part, 10) || 0)));
    return { rgb: { r: r ?? 0, g: g ?? 0, b: b ?? 0 } };
  }
  const number = /^ansi-palette-(\d+)$/.exec(name);
  if (number) return palette(Number(number[1]));
  const base = /^ansi-(?:bright-)?([a-z]+)$/.exec(name)?.[1];
  return base && (NAMES as readonly string[]).includes(base) ? { token: `--a-${base}` } : undefined;
}

/** The spans of one line. A line without escapes is one span and costs no parser. */
export function ansiSpans(line: string): AnsiSpan[] {
  if (!line.includes(ESC)) return line === "" ? [] : [{ text: showControls(line) }];
  const cleaned = line.replace(STRINGS, "").replace(OTHER, "");
  const spans: AnsiSpan[] = [];
  for (const part of Anser.ansiToJson(cleaned, { json: true, remove_empty: true, use_classes: true })) {
    if (part.content === "") continue;
    const decorations = new Set<string>(part.decorations ?? (part.decoration ? [part.decoration] : []));
    const span: AnsiSpan = { text: showControls(part.content.replaceAll(ESC, "")) };
    const reverse = decorations.has("reverse");
    const front = colour(part.fg, part.fg_truecolor);
    const back = colour(part.bg, part.bg_truecolor);
    const [fg, bg] = reverse ? [back, front ?? { token: "--ink-2" }] : [front, back];
    if (fg) span.colour = fg;
    if (bg) span.background = bg;
    if (decorations.has("bold") || part.fg?.startsWith("ansi-bright-")) span.bold = true;
    if (decorations.has("dim")) span.dim = true;
    if (decorations.has("underline")) span.underline = true;
    if (decorations.has("strikethrough")) span.strike = true;
    spans.push(span);
  }
  return spans;
}

// ---- contrast ----

const GROUND: Record<ThemeName, Rgb> = { light: { r: 0xfa, g: 0xf9, b: 0xf6 }, dark: { r: 0x13, g: 0x12, b: 0x11 } };
const linear = (channel: number) => {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};
const luminance = ({ r, g, b }: Rgb) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/** WCAG 2 contrast of two colours. */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const readableCache = new Map<string, string>();

/** The colour moved towards ink until it has 4.5 on the log's ground, as a CSS colour. */
export function readable(rgb: Rgb, theme: ThemeName): string {
  const key = `${theme}${rgb.r},${rgb.g},${rgb.b}`;
  const known = readableCache.get(key);
  if (known) return known;
  const target = theme === "light" ? 0 : 255;
  let found = rgb;
  for (let step = 0; step <= 20 && contrast(found, GROUND[theme]) < 4.5; step += 1) {
    const mix = (channel: number) => Math.round(channel + ((target - channel) * step) / 20);
    found = { r: mix(rgb.r), g: mix(rgb.g), b: mix(rgb.b) };
  }
  const css = `rgb(${found.r} ${found.g} ${found.b})`;
  if (readableCache.size > 4096) readableCache.clear();
  readableCache.set(key, css);
  return css;
}

/** The CSS of a span's colours. Backgrounds are drawn at a quarter of their strength. */
export function spanStyle(span: AnsiSpan, theme: ThemeName): { color?: string; background?: string } | undefined {
  const style: { color?: string; background?: string } = {};
  if (span.colour) style.color = "token" in span.colour ? `var(${span.colour.token})` : readable(span.colour.rgb, theme);
  if (span.background) {
    const css =
      "token" in span.background
        ? `var(${span.background.token})`
        : `rgb(${span.background.rgb.r} ${span.background.rgb.g} ${span.background.rgb.b})`;
    style.background = `color-mix(in srgb, ${css} 25%, transparent)`;
  }
  return style.color || style.background ? style : undefined;
}
