/** A question: who asks, where, how deep, and the same at another depth beside it. */

import { useRef, useState } from "preact/hooks";

import { conversations, decisions, documents, send } from "../data/api.ts";
import type { Question } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { asked, draft, keepAsked, keepDraft, prefer, preference } from "../data/session.ts";
import { ago, whyOf } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

const DEPTHS = ["D0", "D1", "D2", "D3", "D4"];
const NOTHING = "none";
const EXAMPLES = 3;
const LAST = 10;

export function Ask({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech();
  const [question, setQuestion] = useState(query.get("q") ?? draft());
  const [user, setUser] = useState(preference("user") ?? "");
  const [conversation, setConversation] = useState(query.get("conversation") ?? "");
  const [client, setClient] = useState(query.get("client") ?? preference("client") ?? "console");
  const [depth, setDepth] = useState("");
  const [beside, setBeside] = useState(query.has("not") ? (query.get("not") === "D3" ? "D1" : "D3") : NOTHING);
  const [deep, setDeep] = useState(preference("deep") === "true");
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const write = (text: string): void => { setQuestion(text); keepDraft(text); };

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
      const second = beside === NOTHING ? null : await send({ ...one, conversation: conversation.trim() || fresh(), depth: beside });
      keepDraft("");
      location.hash = second === null ? address("message", [id]) : address("compare", [id, second]);
    } catch (error) {
      setProblem(whyOf(error));
      setSending(false);
    }
  };

  return (
    <div class="ask">
      <h1>{say("ask.title")}</h1>
      <form onSubmit={(event) => { event.preventDefault(); void ask(); }}>
        <textarea
          name="question" aria-label={say("ask.question")} placeholder={say("ask.placeholder")} rows={4} required ref={box} value={question}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void ask(); }}
        />
        {problem ? <p class="problem" role="alert">{problem} {say("ask.kept")}</p> : null}
        <div class="actions">
          <div class="switch">
            <input id="ask-deep" type="checkbox" role="switch" name="deep" checked={deep} aria-describedby="hint-deep" onChange={(event) => setDeep(event.currentTarget.checked)} />
            <span><label for="ask-deep">{say("ask.deep")}</label><small id="hint-deep">{say("ask.deep.hint")}</small></span>
          </div>
          <span class="spacer" />
          <span class="quiet"><kbd>{isApple() ? "⌘" : "Ctrl"}</kbd> <kbd>Enter</kbd></span>
          <button type="submit" class="main" disabled={sending}>{say(sending ? "ask.sending" : "ask.send")}</button>
        </div>
        <details open={beside !== NOTHING || conversation !== ""}>
          <summary>{say("ask.options")}</summary>
          <div class="options">
            <Text name="user" label={say("ask.user")} hint={say("ask.user.hint")} value={user} set={setUser} />
            <Text name="conversation" label={say("ask.conversation")} hint={say("ask.conversation.hint")} value={conversation} set={setConversation} />
            <Text name="client" label={say("ask.client")} hint="" value={client} set={setClient} />
            <Choice name="depth" label={say("ask.depth")} first={["", say("ask.auto")]} value={depth} set={setDepth} />
            <Choice name="beside" label={say("ask.beside")} first={[NOTHING, say("ask.beside.none")]} value={beside} set={setBeside} />
            <small class="wide">{say("ask.beside")}: {say("ask.beside.hint")}</small>
          </div>
        </details>
      </form>
      <Examples take={(text) => { write(text); box.current?.focus(); }} />
      <LastAsked />
    </div>
  );
}

/** Questions on what the tenant has: its documents, else its newest conversations. */
function Examples({ take }: { take: (text: string) => void }) {
  const { say } = useSpeech();
  const { value } = useLoaded((signal) => examples((title) => say("ask.example", { title }), signal), []);
  if (value === null || value.length === 0) return null;
  return (
    <section class="examples" aria-label={say("ask.examples")}>
      {value.map((each) => <button key={each} type="button" onClick={() => take(each)}>{each}</button>)}
    </section>
  );
}

async function examples(worded: (title: string) => string, signal: AbortSignal): Promise<string[]> {
  const known = await documents({ q: "", offset: 0, limit: EXAMPLES }, signal).catch(() => null);
  const titles = (known?.documents ?? []).map((each) => worded(each.title));
  if (titles.length === EXAMPLES) return titles;
  const talks = await conversations({ q: "", days: 90, offset: 0, limit: EXAMPLES }, signal).catch(() => null);
  return [...titles, ...(talks?.conversations ?? []).flatMap((each) => each.title ?? [])].slice(0, EXAMPLES);
}

/** The last questions: those of this tab, then those that the server has decided on. */
function LastAsked() {
  const { say, locale } = useSpeech();
  const { value } = useLoaded((signal) => decisions({ days: 30, limit: LAST }, signal).catch(() => null), []);
  const ours = asked();
  const theirs = (value?.latest ?? []).filter((each) => each.question && !ours.some((one) => one.id === each.message_id));
  const all = [...ours, ...theirs.map((each) => ({ id: each.message_id, question: each.question!, at: each.at }))].slice(0, LAST);
  if (all.length === 0) return null;
  return (
    <section class="block">
      <h2>{say("ask.asked")}</h2>
      <ul class="asked">
        {all.map((each) => <li key={each.id}><a href={address("message", [each.id])}>{each.question}</a> <span class="quiet nowrap">{ago(each.at, locale)}</span></li>)}
      </ul>
    </section>
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

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

function fresh(): string {
  return crypto.randomUUID?.() ?? `console-${Date.now()}-${Math.random().toString(36).slice(2)}`;
}
