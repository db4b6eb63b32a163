/** The page: its head, the view that the address names, and the token without which there is none. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { isKnown, onRefusedToken } from "./data/api.ts";
import { address, routeOf } from "./data/routes.ts";
import type { Route } from "./data/routes.ts";
import { forgetToken, keepToken, prefer, preference, token, tokenFromAddress } from "./data/session.ts";
import { Speech, languageOf, speaker, useSpeech } from "./language/say.ts";
import type { Language } from "./language/say.ts";
import { Ask } from "./views/Ask.tsx";
import { Conversation } from "./views/Conversation.tsx";
import { Decisions } from "./views/Decisions.tsx";
import { Lag } from "./views/Lag.tsx";
import { Message } from "./views/Message.tsx";
import { Compare, Pack } from "./views/Pack.tsx";
import { Replay, Replays } from "./views/Replays.tsx";

const SCHEMES = ["auto", "light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

export function App() {
  const [language, setLanguage] = useState<Language>(() => chosen("language", ["en", "pt"]) ?? languageOf(navigator.languages));
  const [scheme, setScheme] = useState<Scheme>(() => chosen("scheme", SCHEMES) ?? "auto");
  const [route, setRoute] = useState<Route>(() => routeOf(location.hash));
  const [held, setHeld] = useState(token());
  const [refused, setRefused] = useState(false);
  const [live, setLive] = useState("");
  const speech = useMemo(() => speaker(language, navigator.languages), [language]);
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    const changed = (): void => {
      tokenFromAddress();
      setHeld(token());
      setRoute(routeOf(location.hash));
    };
    addEventListener("hashchange", changed);
    onRefusedToken(() => { setHeld(null); setRefused(true); });
    return () => removeEventListener("hashchange", changed);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = speech.say("title");
  }, [language]);
  useEffect(() => { document.documentElement.dataset["scheme"] = scheme; }, [scheme]);

  return (
    <Speech.Provider value={speech}>
      <a class="skip" href={location.hash} onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>{speech.say("skip")}</a>
      <Bar
        route={route} scheme={scheme} token={held !== null}
        setScheme={(value) => { prefer("scheme", value); setScheme(value); }}
        setLanguage={(value) => { prefer("language", value); setLanguage(value); }}
        forget={() => { forgetToken(); setHeld(null); }}
      />
      <main ref={main} tabIndex={-1}>
        {held === null
          ? <TokenForm refused={refused} setRefused={setRefused} keep={(text) => { keepToken(text); setHeld(token()); }} />
          : <View route={route} announce={setLive} />}
      </main>
      <div class="unseen" role="status" aria-live="polite" id="said">{live}</div>
    </Speech.Provider>
  );
}

function View({ route, announce }: { route: Route; announce: (text: string) => void }) {
  const { say } = useSpeech();
  const { view, ids, query } = route;
  const [id = ""] = ids;
  switch (view) {
    case "ask":
      return <Ask key={location.hash} query={query} />;
    case "message":
      return <Message key={id} id={id} chosen={query.get("row") ?? ""} announce={announce} />;
    case "pack":
      return <Pack id={id} />;
    case "compare":
      return <Compare ids={ids} />;
    case "conversation":
      return <Conversation key={id} id={id} client={query.get("client") ?? ""} />;
    case "decisions":
      return <Decisions days={Number(query.get("days") ?? 30)} />;
    case "lag":
      return <Lag announce={announce} />;
    case "replays":
      return <Replays />;
    case "replay":
      return <Replay id={id} against={query.get("against") ?? ""} />;
    default:
      return <p class="problem">{say("unknown")} <a href={address("ask")}>{say("nav.ask")}</a></p>;
  }
}

interface BarProps {
  route: Route;
  scheme: Scheme;
  token: boolean;
  setScheme: (value: Scheme) => void;
  setLanguage: (value: Language) => void;
  forget: () => void;
}

function Bar(given: BarProps) {
  const { say, language } = useSpeech();
  const views = [
    ["ask", "nav.ask"], ["decisions", "nav.decisions"], ["conversation", "nav.conversations"],
    ["lag", "nav.lag"], ["replays", "nav.replays"],
  ] as const;
  return (
    <header class="top">
      <span class="logo"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5 3v10M5 4h7M5 8h5M5 12h3" /></svg>Fathom</span>
      <nav aria-label={say("nav")}>
        {views.map(([view, label]) => (
          <a key={view} href={address(view)} aria-current={given.route.view === view ? "page" : undefined}>{say(label)}</a>
        ))}
      </nav>
      <span class="spacer" />
      {given.token ? <button type="button" class="small" onClick={given.forget}>{say("token.forget")}</button> : null}
      <label>{say("language")}
        <select name="language" value={language} onChange={(event) => given.setLanguage(event.currentTarget.value as Language)}>
          <option value="en">English</option><option value="pt">Português</option>
        </select>
      </label>
      <label>{say("scheme")}
        <select name="scheme" value={given.scheme} onChange={(event) => given.setScheme(event.currentTarget.value as Scheme)}>
          {SCHEMES.map((each) => <option key={each} value={each}>{say(`scheme.${each}`)}</option>)}
        </select>
      </label>
    </header>
  );
}

interface TokenFormProps {
  refused: boolean;
  setRefused: (value: boolean) => void;
  keep: (text: string) => void;
}

function TokenForm({ refused, setRefused, keep }: TokenFormProps) {
  const { say } = useSpeech();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const check = async (): Promise<void> => {
    try {
      const known = await isKnown(text.trim());
      setRefused(!known);
      if (known) keep(text);
    } catch {
      setProblem(say("token.unchecked"));
    }
  };
  return (
    <form class="token" onSubmit={(event) => { event.preventDefault(); setProblem(null); if (text.trim()) void check(); }}>
      <h1>{say("token.title")}</h1>
      <p>{say("token.why")}</p>
      {refused ? <p class="problem" role="alert">{say("token.refused")}</p> : null}
      {problem ? <p class="problem" role="alert">{problem}</p> : null}
      <label>{say("token.label")}
        <input type="password" name="token" autocomplete="off" required value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="main">{say("token.keep")}</button>
    </form>
  );
}

function chosen<T extends string>(name: string, known: readonly T[]): T | null {
  const held = preference(name);
  return known.find((each) => each === held) ?? null;
}
