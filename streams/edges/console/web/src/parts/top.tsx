/** What stands on every page: the mark, a search of memory, the views, and how the page looks. */

import { useEffect, useRef, useState } from "preact/hooks";

import { address } from "../data/routes.ts";
import type { Route } from "../data/routes.ts";
import { useSpeech } from "../language/say.ts";
import type { Language } from "../language/say.ts";

export const SCHEMES = ["auto", "light", "dark"] as const;
export type Scheme = (typeof SCHEMES)[number];

interface BarProps {
  route: Route;
  scheme: Scheme;
  token: boolean;
  setScheme: (value: Scheme) => void;
  setLanguage: (value: Language) => void;
  forget: () => void;
}

const VIEWS = [
  ["nav.chat", [
    ["conversations", "nav.conversations", "M2 3h12v8H7l-3 3v-3H2z"],
    ["ask", "nav.ask", "M8 2v12M2 8h12"],
    ["search", "nav.search", "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M10.5 10.5 14 14"],
  ]],
  ["nav.memory", [
    ["memories", "nav.memories", "M4 2h8v12l-4-3-4 3z"],
    ["documents", "nav.documents", "M4 1.5h5.5L12.5 5v9.5H4zM9 2v3.5h3.5"],
    ["users", "nav.users", "M8 2.5a2.7 2.7 0 1 1 0 5.4a2.7 2.7 0 1 1 0-5.4M2.5 14c.6-3 2.8-4.3 5.5-4.3s4.9 1.3 5.5 4.3"],
  ]],
  ["nav.operations", [
    ["decisions", "nav.decisions", "M2.5 13.500V8M6.2 13.500V3M9.9 13.500V6M13.5 13.500V9.5"],
    ["lag", "nav.lag", "M1.5 9h3l2-5 3 8 2-3h3"],
    ["replays", "nav.replays", "M3 8a5 5 0 1 0 1.6-3.700M3 2.500v3h3"],
  ]],
] as const;
/** The page of the bar below which another one stands. */
export const BELOW: Readonly<Record<string, string>> = { conversation: "conversations", message: "conversations", pack: "conversations", compare: "ask", replay: "replays" };

export function Top(given: BarProps) {
  const { say } = useSpeech();
  return (
    <>
      <header class="top">
        <a class="logo" href={address("conversations")}><Mark /><span>Fathom</span></a>
        {given.token ? <SearchBox key={given.route.view === "search" ? (given.route.query.get("q") ?? "") : ""} text={given.route.view === "search" ? (given.route.query.get("q") ?? "") : ""} /> : null}
        <span class="spacer" />
        <Looks {...given} />
      </header>
      {given.token ? (
        <nav class="rail" aria-label={say("nav")}>
          {VIEWS.map(([group, views]) => (
            <ul key={group} aria-label={say(group)}>
              <li class="group" aria-hidden="true">{say(group)}</li>
              {views.map(([view, label, path]) => (
                <li key={view}>
                  <a href={address(view)} aria-current={(BELOW[given.route.view] ?? given.route.view) === view ? "page" : undefined}>
                    <svg viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg>{say(label)}
                  </a>
                </li>
              ))}
            </ul>
          ))}
        </nav>
      ) : null}
    </>
  );
}

/** A lead line on its way down from the surface. */
export function Mark() {
  return (
    <svg class="mark-of-fathom" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path class="water" d="M5 9.500q2.75-3.2 5.5 0t5.5 0 5.5 0 5.5 0" />
      <path class="line" d="M16 10v8" />
      <path class="bob" d="M16 17l4.2 5L16 27.5 11.8 22z" />
    </svg>
  );
}

function SearchBox({ text }: { text: string }) {
  const { say } = useSpeech();
  const [typed, setTyped] = useState(text);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select, [role=tree]") !== null;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <form class="everywhere" role="search" onSubmit={(event) => { event.preventDefault(); if (typed.trim()) location.hash = address("search", [], { q: typed.trim() }); }}>
      <input type="search" name="everywhere" ref={box} aria-keyshortcuts="/" aria-label={say("search.everywhere")} placeholder={`${say("search.everywhere")}  /`} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </form>
  );
}

function Looks(given: BarProps) {
  const { say, language } = useSpeech();
  return (
    <div class="looks">
      <select name="language" aria-label={say("language")} value={language} onChange={(event) => given.setLanguage(event.currentTarget.value as Language)}>
        <option value="en">English</option><option value="pt">Português</option>
      </select>
      <select name="scheme" aria-label={say("scheme")} value={given.scheme} onChange={(event) => given.setScheme(event.currentTarget.value as Scheme)}>
        {SCHEMES.map((each) => <option key={each} value={each}>{say(`scheme.${each}`)}</option>)}
      </select>
      {given.token ? <button type="button" onClick={given.forget}>{say("token.forget")}</button> : null}
    </div>
  );
}
