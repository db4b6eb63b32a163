/** The conversations of the last days: where the page begins. */

import { conversations } from "../data/api.ts";
import type { Talk } from "../data/listed.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { ago, number, time } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Empty, Find, Grid, Pages } from "../parts/lists.tsx";
import { Depth, Spark } from "../parts/marks.tsx";
import { Days, Waiting } from "../parts/small.tsx";

const PAGE = 50;
// Those that were imported are as old as they are.
const DAYS = [7, 30, 90, 3650];

export function Conversations({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech();
  const [q, days, offset] = [query.get("q") ?? "", Number(query.get("days") ?? 30), Number(query.get("offset") ?? 0)];
  const { value, why } = useLoaded((signal) => conversations({ q, days, offset, limit: PAGE }, signal), [q, days, offset], true);
  const to = (changed: Record<string, string>): string => address("conversations", [], { q, days: `${days}`, ...changed });
  return (
    <div class="conversations">
      <div class="page-head">
        <h1>{say("conversations.title")}</h1>
        <Find key={q} label={say("conversations.find")} text={q} go={(text) => { location.hash = to({ q: text }); }} />
        <Days of={days} spans={DAYS} to={(each) => to({ days: `${each}` })} />
        <span class="spacer" />
        <a class="button main" href={address("ask")}>{say("conversations.ask")}</a>
      </div>
      {value === null ? <Waiting why={why} /> : value.total === 0 ? <Nothing q={q} all={to({ q: "" })} /> : (
        <>
          <Table of={value.conversations} />
          <Pages offset={offset} limit={PAGE} shown={value.conversations.length} total={value.total} to={(at) => to({ offset: `${at}` })} />
          {value.complete ? null : <p class="quiet">{say("conversations.incomplete")}</p>}
        </>
      )}
    </div>
  );
}

function Table({ of }: { of: readonly Talk[] }) {
  const { say, locale } = useSpeech();
  const heads = [
    say("conversations.conversation"), { name: say("conversations.questions"), n: true }, say("conversations.depth"),
    { name: say("conversations.degraded"), n: true }, say("conversations.tokens"), say("ask.client"), say("conversations.last"),
  ];
  return (
    <Grid name={say("conversations.title")} heads={heads}>
      {of.map((each) => (
        <tr key={`${each.client_id} ${each.conversation_id}`}>
          <th scope="row" class="title">
            <a href={address("conversation", [each.conversation_id], { client: each.client_id ?? "" })}>{each.title ?? each.conversation_id}</a>
          </th>
          <td class="n">{number(each.questions, locale)}</td>
          <td>{each.last_level === undefined ? <span class="quiet">{say("conversations.imported")}</span> : <Depth of={each.last_level} />}</td>
          <td class="n">{each.degraded > 0 ? <span class="badge clash">{number(each.degraded, locale)}</span> : <span class="quiet">–</span>}</td>
          <td class="nowrap"><Spark of={each.tokens} /> <span class="quiet">{number(each.tokens.at(-1), locale)}</span></td>
          <td class="quiet">{each.client_id}</td>
          <td class="nowrap" title={time(each.last_at, locale)}>{ago(each.last_at, locale)}</td>
        </tr>
      ))}
    </Grid>
  );
}

function Nothing({ q, all }: { q: string; all: string }) {
  const { say } = useSpeech();
  if (q !== "") return <Empty title={say("conversations.notFound", { q })}><p><a href={all}>{say("conversations.all")}</a></p></Empty>;
  return (
    <Empty title={say("conversations.none")}>
      <p>{say("conversations.begin")}</p>
      <p><a class="button main" href={address("ask")}>{say("conversations.ask")}</a></p>
      <p class="quiet">{say("conversations.elsewhere")}</p>
      <pre class="text">fathom ingest docs/{"\n"}fathom import chats.json{"\n"}fathom ask "…"</pre>
    </Empty>
  );
}
