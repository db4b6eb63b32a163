/** A search of memory, which says nothing in any conversation. */

import { useState } from "preact/hooks";

import { search } from "../data/api.ts";
import type { SearchMade, SearchResult } from "../data/listed.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { prefer, preference } from "../data/session.ts";
import { milliseconds, number, time } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Empty, Find } from "../parts/lists.tsx";
import { Memory, Score } from "../parts/marks.tsx";
import { Waiting } from "../parts/small.tsx";

const KINDS = ["document", "turn", "summary", "claim", "event", "process"];
const MOST = 20;

export function Search({ query }: { query: URLSearchParams }) {
  const { say, word } = useSpeech();
  const [q, kind] = [query.get("q") ?? "", query.get("kind") ?? ""];
  const [user, setUser] = useState(preference("user") ?? "");
  const to = (changed: Record<string, string>): string => address("search", [], { q, kind, ...changed });
  return (
    <div class="search">
      <div class="page-head">
        <h1>{say("search.title")}</h1>
        <Find key={q} label={say("search.find")} text={q} go={(text) => { location.hash = to({ q: text }); }} />
        <label class="beside">{say("search.kind")}
          <select name="kind" value={kind} onChange={(event) => { location.hash = to({ kind: event.currentTarget.value }); }}>
            <option value="">{say("search.every")}</option>
            {KINDS.map((each) => <option key={each} value={each}>{word("kind.", each)}</option>)}
          </select>
        </label>
        <label class="beside">{say("search.user")}
          <input name="user" value={user} onChange={(event) => { prefer("user", event.currentTarget.value.trim()); setUser(event.currentTarget.value.trim()); }} />
        </label>
      </div>
      {q === "" ? <Empty title={say("search.empty")}><p class="quiet">{say("search.how")}</p></Empty> : <Found key={`${q} ${kind} ${user}`} q={q} kind={kind} user={user} />}
    </div>
  );
}

function Found({ q, kind, user }: { q: string; kind: string; user: string }) {
  const { say, word, locale } = useSpeech();
  const { value, why } = useLoaded<SearchMade>((signal) => search({ query: q, kind, user, limit: MOST }, signal), []);
  if (value === null) return <Waiting why={why} />;
  const most = Math.max(...value.results.map((each) => each.score), 0);
  const missing = value.missing ?? [];
  return (
    <>
      <p class="facts quiet" role="status">
        <span>{say("search.found", { n: value.results.length })}</span>
        <span>{say("pack.tokens", { n: number(value.total_tokens, locale) })}</span>
        <span>{milliseconds(value.latency_ms, locale)}</span>
        {missing.length > 0 ? <span class="state warn">{say("search.missing", { classes: missing.map((each) => word("class.", each)).join(", ") })}</span> : null}
      </p>
      {value.results.length === 0 ? <Empty title={say("search.nothing", { q })} /> : (
        <ol class="results">{value.results.map((each) => <Result key={each.id} of={each} most={most} />)}</ol>
      )}
    </>
  );
}

function Result({ of, most }: { of: SearchResult; most: number }) {
  const { say, word, locale } = useSpeech();
  return (
    <li class={`result tinted m-${of.memory_class}`}>
      <div>
        <p class="item-head"><Memory of={of.memory_class} /><b>{of.title}</b><span class="quiet">{word("kind.", of.kind)}{of.page === undefined ? "" : ` · ${say("search.page", { n: of.page })}`}</span></p>
        <p class="prose">{of.text}</p>
        <p class="quiet">{of.reason} · {time(of.recorded_at, locale)}</p>
      </div>
      <div class="margin">
        <Score of={of.score} most={most} />
        <span>{say("pack.tokens", { n: of.tokens })}</span>
        {of.message_id ? <a href={address("message", [of.message_id])}>{say("inspect.message")}</a> : null}
        {of.conversation_id ? <a href={address("conversation", [of.conversation_id], { client: of.client_id ?? "" })}>{say("conversation.title")}</a> : null}
        {of.document_id ? <a href={address("documents", [of.document_id])}>{say("documents.document")}</a> : null}
      </div>
    </li>
  );
}
