/** What is remembered of a user: found, added, corrected, confirmed, taken back. */

import { useState } from "preact/hooks";

import { memories, pause, remember } from "../data/api.ts";
import type { Fact } from "../data/listed.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { prefer, preference } from "../data/session.ts";
import { ago, time, whyOf } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { LOOKS, Remembered } from "../parts/fact.tsx";
import { Empty, Find, Grid } from "../parts/lists.tsx";
import { State, Waiting } from "../parts/small.tsx";

const PAGE = 50;
const TRIES = 16;
const TRY_MS = 250;

export function Memories({ ids, query, announce }: { ids: readonly string[]; query: URLSearchParams; announce: (text: string) => void }) {
  const { say } = useSpeech();
  const [chosen = ""] = ids;
  const user = query.get("user") ?? preference("user") ?? "";
  const [q, status, after] = [query.get("q") ?? "", query.get("status") ?? "current", query.get("after") ?? ""];
  const [version, setVersion] = useState(0);
  const { value, why } = useLoaded((signal) => memories({ user, q, status, after, limit: PAGE }, signal), [user, q, status, after, version], true);
  const to = (changed: Record<string, string>, id: readonly string[] = []): string => address("memories", id, { user, q, status, ...changed });
  const changed = (text: string): void => { announce(text); setVersion((count) => count + 1); };
  return (
    <div class="memories">
      <div class="page-head">
        <h1>{say("memories.title")}</h1>
        <label class="beside">{say("ask.user")}
          <input name="user" value={user} placeholder={say("memories.own")}
            onChange={(event) => { prefer("user", event.currentTarget.value.trim()); location.hash = to({ user: event.currentTarget.value.trim() }); }} />
        </label>
        <Find key={q} label={say("memories.find")} text={q} go={(text) => { location.hash = to({ q: text }); }} />
        <label class="beside">
          <input type="checkbox" checked={status === "all"} onChange={(event) => { location.hash = to({ status: event.currentTarget.checked ? "all" : "current" }); }} />
          {say("memories.past")}
        </label>
      </div>
      <Add user={user} done={() => changed(say("memories.added"))} />
      <div class={chosen === "" ? "" : "split"}>
        <div>
          {value === null && why === null ? <Waiting why={null} /> : null}
          {why === null ? null : <Empty title={say("memories.whose")}><p>{why}</p><p><a href={address("users")}>{say("nav.users")}</a></p></Empty>}
          {value === null ? null : value.memories.length === 0 ? <Empty title={say(q === "" ? "memories.none" : "memories.notFound")}><p class="quiet">{say("memories.how")}</p></Empty> : (
            <Facts of={value.memories} chosen={chosen} to={(id) => to({ after }, [id])} />
          )}
          {value?.next ? <p class="pages"><a class="button" href={to({ after: value.next })}>{say("pages.behind")}</a></p> : null}
        </div>
        {chosen === "" ? null : <Remembered key={`${chosen} ${version}`} id={chosen} user={user} changed={changed} to={(id) => to({}, [id])} close={to({})} />}
      </div>
    </div>
  );
}

function Facts({ of, chosen, to }: { of: readonly Fact[]; chosen: string; to: (id: string) => string }) {
  const { say, word, locale } = useSpeech();
  const heads = [say("memories.fact"), say("memories.value"), say("state"), say("memories.author"), say("memories.said")];
  return (
    <Grid name={say("memories.title")} heads={heads}>
      {of.map((each) => (
        <tr key={each.memory_id} aria-current={each.memory_id === chosen ? "true" : undefined} data-memory={each.memory_id}>
          <th scope="row" class="title"><a href={to(each.memory_id)}>{each.text}</a></th>
          <td>{each.value}<span class="quiet"> {each.subject}</span></td>
          <td><State of={LOOKS[each.status]} says={word("memory.", each.status)} /></td>
          <td>{word("role.", each.author)}</td>
          <td class="nowrap" title={time(each.said_at, locale)}>{ago(each.said_at, locale)}</td>
        </tr>
      ))}
    </Grid>
  );
}

function Add({ user, done }: { user: string; done: () => void }) {
  const { say } = useSpeech();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const add = async (): Promise<void> => {
    setProblem(null);
    setBusy(true);
    try {
      const before = await newestOf(user);
      await remember(text.trim(), user);
      setText("");
      await seen(user, before);
      done();
    } catch (error) {
      setProblem(whyOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="add" onSubmit={(event) => { event.preventDefault(); void add(); }}>
      <input name="fact" required aria-label={say("memories.add.label")} placeholder={say("memories.add.example")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" disabled={busy}>{say("memories.add")}</button>
      {problem === null ? null : <p class="problem" role="alert">{problem}</p>}
    </form>
  );
}

const NEVER = new AbortController().signal;

async function newestOf(user: string): Promise<string | undefined> {
  return (await memories({ user, q: "", status: "current", after: "", limit: 1 }, NEVER)).memories[0]?.memory_id;
}

/** Wait until a fact is in the graph, where it is read; for four seconds at most. */
async function seen(user: string, before: string | undefined): Promise<void> {
  for (let tries = 0; tries < TRIES && (await newestOf(user)) === before; tries += 1) await pause(TRY_MS, NEVER);
}
