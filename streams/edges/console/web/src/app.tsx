/** The page: its head, the view that the address names, and the token without which there is none. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { isKnown, onRefusedToken } from "./data/api.ts";
import { address, routeOf } from "./data/routes.ts";
import type { Route } from "./data/routes.ts";
import { forgetToken, keepToken, prefer, preference, token, tokenFromAddress } from "./data/session.ts";
import { Speech, languageOf, speaker, useSpeech } from "./language/say.ts";
import type { Language } from "./language/say.ts";
import { Empty } from "./parts/lists.tsx";
import { BELOW, Mark, SCHEMES, Top } from "./parts/top.tsx";
import type { Scheme } from "./parts/top.tsx";
import { Ask } from "./views/Ask.tsx";
import { Compare } from "./views/Compare.tsx";
import { Conversation } from "./views/Conversation.tsx";
import { Conversations } from "./views/Conversations.tsx";
import { Decisions } from "./views/Decisions.tsx";
import { Documents } from "./views/Documents.tsx";
import { Lag } from "./views/Lag.tsx";
import { Memories } from "./views/Memories.tsx";
import { Message } from "./views/Message.tsx";
import { Pack } from "./views/Pack.tsx";
import { Replay, Replays } from "./views/Replays.tsx";
import { Search } from "./views/Search.tsx";
import { Users } from "./views/Users.tsx";

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
  const name = speech.word("nav.", BELOW[route.view] ?? route.view) || speech.say("unknown");
  const first = useRef(true);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = `${name} · ${speech.say("title")}`;
    if (!first.current) setLive(name);
    first.current = false;
  }, [language, name]);
  useEffect(() => { document.documentElement.dataset["scheme"] = scheme; }, [scheme]);

  return (
    <Speech.Provider value={speech}>
      <a class="skip" href={location.hash} onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>{speech.say("skip")}</a>
      <Top
        route={route} scheme={scheme} token={held !== null}
        setScheme={(value) => { prefer("scheme", value); setScheme(value); }}
        setLanguage={(value) => { prefer("language", value); setLanguage(value); }}
        forget={() => { forgetToken(); setHeld(null); }}
      />
      <main ref={main} tabIndex={-1} class={held === null ? "alone" : ""}>
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
    case "conversations":
      return <Conversations query={query} />;
    case "search":
      return <Search query={query} />;
    case "memories":
      return <Memories ids={ids} query={query} announce={announce} />;
    case "documents":
      return <Documents ids={ids} query={query} />;
    case "users":
      return <Users query={query} />;
    case "conversation":
      return <Conversation key={id} id={id} client={query.get("client") ?? ""} />;
    case "decisions":
      return <Decisions query={query} />;
    case "lag":
      return <Lag announce={announce} />;
    case "replays":
      return <Replays />;
    case "replay":
      return <Replay id={id} against={query.get("against") ?? ""} />;
    default:
      return <Empty title={say("unknown")}><p><a href={address("conversations")}>{say("unknown.home")}</a></p></Empty>;
  }
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
      <Mark />
      <h1>{say("token.title")}</h1>
      <p class="lede">{say("token.what")}</p>
      <p>{say("token.why")}</p>
      <pre class="text">cat .fathom/token</pre>
      <p class="quiet">{say("token.served")}</p>
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
