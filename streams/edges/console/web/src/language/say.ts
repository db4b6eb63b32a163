/** The page's language: that of the browser, or the one that was chosen. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { en } from "./en.ts";
import type { Key } from "./en.ts";
import { pt } from "./pt.ts";

export type Language = "en" | "pt";

export interface Speaker {
  language: Language;
  /** How numbers and times are written: as the browser does, where it speaks the language. */
  locale: string;
  say(key: Key, with_?: Record<string, string | number>): string;
  /** The word for a value of the server; the value itself for one that has no word. */
  word(prefix: string, value: string | undefined): string;
}

/** The language of a browser that prefers these, the best first; English where it prefers neither. */
export function languageOf(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const language = tag.toLowerCase().split("-")[0];
    if (language === "pt" || language === "en") return language;
  }
  return "en";
}

export function speaker(language: Language, preferred: readonly string[] = []): Speaker {
  const labels: Readonly<Record<Key, string>> = language === "pt" ? pt : en;
  const say = (key: Key, with_: Record<string, string | number> = {}): string =>
    counted(labels, key, with_["n"]).replace(/\{(\w+)\}/g, (all, name: string) => `${with_[name] ?? all}`);
  const locale = preferred.find((tag) => tag.toLowerCase().split("-")[0] === language) ?? language;
  return {
    language,
    locale,
    say,
    word: (prefix, value = "") => {
      const key = `${prefix}${value}`;
      return Object.hasOwn(labels, key) ? labels[key as Key] : value;
    },
  };
}

/** The label, in the singular where there is one of what is counted. */
function counted(labels: Readonly<Record<Key, string>>, key: Key, n: string | number | undefined): string {
  const one = `${key}.one`;
  return `${n}` === "1" && Object.hasOwn(labels, one) ? labels[one as Key] : labels[key];
}

export const Speech = createContext<Speaker>(speaker("en"));

export function useSpeech(): Speaker {
  return useContext(Speech);
}
