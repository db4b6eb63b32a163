/** A fact with its history, and what can be done with it; a conflict shows both values. */

import { useState } from "preact/hooks";

import { changeMemory, memory, pause, takeBack } from "../data/api.ts";
import { Refused } from "../data/follow.ts";
import type { Fact, MemoryShown } from "../data/listed.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { time, whyOf } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Block, Fields, State, Waiting } from "./small.tsx";

/** How a status looks. */
export const LOOKS: Readonly<Record<string, string>> = {
  holds: "ok", confirmed: "verified", contested: "warn", replaced: "skipped", taken_back: "failed",
};

interface RememberedProps {
  id: string;
  user: string;
  changed: (text: string) => void;
  to: (id: string) => string;
  close: string;
}

export function Remembered({ id, user, changed, to, close }: RememberedProps) {
  const { say, word, locale } = useSpeech();
  const { value, why } = useLoaded((signal) => memory(id, signal), [id]);
  if (value === null) return <section class="details"><Waiting why={why} /></section>;
  return (
    <section class="details" aria-label={say("memories.fact")}>
      <p class="item-head"><span class="quiet">{say("memories.fact")}</span><span class="spacer" /><a href={close}>{say("close")}</a></p>
      <h2>{value.text}</h2>
      <p class="lead"><State of={LOOKS[value.status]} says={word("memory.", value.status)} /></p>
      <Fields of={[
        [say("memories.subject"), value.subject],
        [say("memories.value"), <b>{value.value}</b>],
        [say("memories.author"), word("role.", value.author)],
        [say("memories.said"), time(value.said_at, locale)],
        [say("source"), <a href={address("conversation", [value.conversation_id], { client: value.client_id })}>{say("conversation.title")}</a>],
      ]} />
      <Edit of={value} user={user} changed={changed} to={to} />
      <History of={value} to={to} />
    </section>
  );
}

function History({ of, to }: { of: MemoryShown; to: (id: string) => string }) {
  const { say, word, locale } = useSpeech();
  return (
    <>
      {of.history.length === 0 ? null : (
        <Block title={say("memories.others")}>
          <ul class="timeline">
            {of.history.map((each) => (
              <li key={each.memory_id}>
                <a href={to(each.memory_id)}>{each.value}</a> <State of={LOOKS[each.status]} says={word("memory.", each.status)} />
                <span class="quiet"> {word("role.", each.author)} · {time(each.said_at, locale)}</span>
              </li>
            ))}
          </ul>
        </Block>
      )}
      {of.edits.length === 0 ? null : (
        <Block title={say("memories.edits")}>
          <ul class="timeline">
            {of.edits.map((each, at) => (
              <li key={at}>{word("edit.", each.kind)}{each.new_value ? <b> {each.new_value}</b> : null} <span class="quiet">{each.text} · {each.user_id} · {time(each.at, locale)}</span></li>
            ))}
          </ul>
        </Block>
      )}
    </>
  );
}

function Edit({ of, user, changed, to }: { of: MemoryShown; user: string; changed: (text: string) => void; to: (id: string) => string }) {
  const { say } = useSpeech();
  const [value, setValue] = useState("");
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [newer, setNewer] = useState<Fact | null>(null);
  const [busy, setBusy] = useState(false);
  const edit = async (send: () => Promise<void>, said: string): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await send();
      await seen(of);
      changed(said);
    } catch (error) {
      setProblem(whyOf(error));
      if (error instanceof Refused && error.status === 409) setNewer(await current(of));
      setBusy(false);
    }
  };
  const over = of.status === "replaced" || of.status === "taken_back";
  return (
    <form class="edit" onSubmit={(event) => { event.preventDefault(); void edit(() => changeMemory(of.memory_id, { value: value.trim() }, reason.trim(), user), say("memories.corrected")); }}>
      {over ? <p class="quiet">{say("memories.over")}</p> : (
        <>
          <label>{say("memories.right")} <input name="value" required value={value} onInput={(event) => setValue(event.currentTarget.value)} /></label>
          <label>{say("memories.reason")} <input name="reason" value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
          <p class="actions">
            <button type="submit" class="main" disabled={busy}>{say("memories.correct")}</button>
            <button type="button" disabled={busy} onClick={() => void edit(() => changeMemory(of.memory_id, { confirm: true }, reason.trim(), user), say("memories.confirmed"))}>{say("memories.confirm")}</button>
            <button type="button" disabled={busy} class="danger" onClick={() => void edit(() => takeBack(of.memory_id, reason.trim(), user), say("memories.takenBack"))}>{say("memories.takeBack")}</button>
          </p>
        </>
      )}
      {problem === null ? null : <p class="problem" role="alert">{problem}</p>}
      {newer === null ? null : (
        <div class="conflict" role="group" aria-label={say("memories.conflict")}>
          <b>{say("memories.conflict")}</b>
          <Fields of={[[say("memories.yours"), <b>{value || of.value}</b>], [say("memories.theirs"), <b>{newer.value}</b>]]} />
          <a href={to(newer.memory_id)}>{say("memories.openCurrent")}</a>
        </div>
      )}
    </form>
  );
}

const TRIES = 12;
const TRY_MS = 250;

/** Wait until an edit can be read, or for three seconds. */
async function seen(before: MemoryShown): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    await pause(TRY_MS, new AbortController().signal);
    const now = await memory(before.memory_id).catch(() => null);
    if (now === null || now.status !== before.status || now.edits.length !== before.edits.length) return;
  }
}

/** The fact that took the place of one; that one itself where none did. */
async function current(of: MemoryShown): Promise<Fact> {
  const now = await memory(of.memory_id).catch(() => of);
  return now.history.find((each) => now.by?.includes(each.memory_id)) ?? now;
}
