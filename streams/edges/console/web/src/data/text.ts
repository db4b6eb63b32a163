/** Texts and numbers for people. */

/** A text before, in and behind a span that is counted in characters (code points), as the server counts. */
export function split(text: string, start: number, end: number): [string, string, string] {
  const characters = Array.from(text);
  const from = Math.min(Math.max(start, 0), characters.length);
  const to = Math.min(Math.max(end, from), characters.length);
  return [
    characters.slice(0, from).join(""),
    characters.slice(from, to).join(""),
    characters.slice(to).join(""),
  ];
}

/** Any value as text. */
export function said(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return `${value}`;
  if (Array.isArray(value)) return value.map(said).filter((text) => text !== "").join(", ");
  const held = value as Record<string, unknown>;
  for (const name of ["text", "name", "label", "cite"]) if (typeof held[name] === "string") return held[name];
  return JSON.stringify(value);
}

/** A whole number with separators, or one with so many decimals. */
export function number(value: number | null | undefined, locale: string, decimals = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return value.toLocaleString(locale, { maximumFractionDigits: decimals });
}

export function milliseconds(value: number | null | undefined, locale: string): string {
  return value === null || value === undefined ? "–" : `${number(value, locale, value < 10 ? 1 : 0)} ms`;
}

export function time(iso: string, locale: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime())
    ? iso
    : at.toLocaleString(locale, { dateStyle: "short", timeStyle: "medium" });
}

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60]] as const;
const LONG_AGO_S = 7 * 86_400;

/** How long ago something was; its date where that is more than a week. */
export function ago(iso: string, locale: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return iso;
  if (Math.abs(seconds) >= LONG_AGO_S) return new Date(iso).toLocaleDateString(locale, { dateStyle: "medium" });
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(0, "second");
}

/** What an error says. */
export function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
