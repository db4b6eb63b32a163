/** A question: who asks, where, how deep, and the same at another depth beside it. */

import { useState } from "preact/hooks";

import { send } from "../data/api.ts";
import type { Question } from "../data/api.ts";
import { address } from "../data/routes.ts";
import { asked, draft, keepAsked, keepDraft, prefer, preference } from "../data/session.ts";
import { time } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

const DEPTHS = ["D0", "D1", "D2", "D3", "D4"];
const NOTHING = "none";

export function Ask({ query }: { query: URLSearchParams }) {
  const { say, locale } = useSpeech();
  const [question, setQuestion] = useState(query.get("q") ?? draft());
  const [user, setUser] = useState(preference("user") ?? "");
  const [conversation, setConversation] = useState(query.get("conversation") ?? "");
  const [client, setClient] = useState(preference("client") ?? "console");
  const [depth, setDepth] = useState("");
  const [beside, setBeside] = useState(query.has("not") ? (query.get("not") === "D3" ? "D1" : "D3") : NOTHING);
  const [deep, setDeep] = useState(preference("deep") === "true");
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const ask = async (): Promise<void> => {
    if (sending || question.trim() === "") return;
    setSending(true);
    setProblem(null);
    prefer("user", user);
    prefer("client", client);
    prefer("deep", `${deep}`);
    const one: Question = { question, user: user.trim(), conversation: conversation.trim() || fresh(), client, deep, depth };
    try {
      const id = await send(one);
      keepAsked({ id, question, at: new Date().toISOString() });
      keepDraft("");
      if (beside === NOTHING) {
        location.hash = address("message", [id]);
        return;
      }
      const second = { ...one, conversation: conversation.trim() || fresh(), depth: beside };
      location.hash = address("compare", [id, await send(second)]);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : `${error}`);
      setSending(false);
    }
  };

  return (
    <div class="ask">
      <h1>{say("ask.title")}</h1>
      <form onSubmit={(event) => { event.preventDefault(); void ask(); }}>
        <label class="wide">
          {say("ask.question")}
          <textarea
            name="question"
            rows={3}
            required
            value={question}
            onInput={(event) => { setQuestion(event.currentTarget.value); keepDraft(event.currentTarget.value); }}
            onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void ask(); }}
          />
        </label>
        <Text name="user" label={say("ask.user")} hint={say("ask.user.hint")} value={user} set={setUser} />
        <Text name="conversation" label={say("ask.conversation")} hint={say("ask.conversation.hint")} value={conversation} set={setConversation} />
        <Text name="client" label={say("ask.client")} hint="" value={client} set={setClient} />
        <Choice name="depth" label={say("ask.depth")} first={["", say("ask.auto")]} value={depth} set={setDepth} />
        <Choice name="beside" label={say("ask.beside")} first={[NOTHING, say("ask.beside.none")]} value={beside} set={setBeside} />
        <div class="switch">
          <input
            id="ask-deep" type="checkbox" role="switch" name="deep" checked={deep} aria-describedby="hint-deep"
            onChange={(event) => setDeep(event.currentTarget.checked)}
          />
          <span><label for="ask-deep">{say("ask.deep")}</label><small id="hint-deep">{say("ask.deep.hint")}</small></span>
        </div>
        <p class="wide actions">
          <button type="submit" class="main" disabled={sending}>{say(sending ? "ask.sending" : "ask.send")}</button>
          <small>{say("ask.beside")}: {say("ask.beside.hint")}</small>
        </p>
        {problem ? <p class="problem wide" role="alert">{problem}</p> : null}
      </form>
      {asked().length > 0 ? (
        <section class="block">
          <h2>{say("ask.asked")}</h2>
          <ul class="lines links">
            {asked().map((each) => (
              <li key={each.id}>
                <a href={address("message", [each.id])}>{each.question}</a> <span class="quiet">{time(each.at, locale)}</span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}

function Text(given: { name: string; label: string; hint: string; value: string; set: (text: string) => void }) {
  return (
    <div>
      <label for={`ask-${given.name}`}>{given.label}</label>
      <input
        id={`ask-${given.name}`} name={given.name} value={given.value} autocomplete="off"
        aria-describedby={given.hint ? `hint-${given.name}` : undefined}
        onInput={(event) => given.set(event.currentTarget.value)}
      />
      {given.hint ? <small id={`hint-${given.name}`}>{given.hint}</small> : null}
    </div>
  );
}

interface ChoiceProps {
  name: string;
  label: string;
  first: readonly [string, string];
  value: string;
  set: (value: string) => void;
}

function Choice({ name, label, first, value, set }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value={first[0]}>{first[1]}</option>
        {DEPTHS.map((depth) => <option key={depth} value={depth}>{depth}</option>)}
      </select>
    </label>
  );
}

function fresh(): string {
  return crypto.randomUUID?.() ?? `console-${Date.now()}-${Math.random().toString(36).slice(2)}`;
}
