/** The documents that are remembered, and the messages whose packs had them. */

import { documents, usesOf } from "../data/api.ts";
import type { DocumentUse } from "../data/listed.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { ago, number, time } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Empty, Find, Grid, Pages } from "../parts/lists.tsx";
import { Waiting } from "../parts/small.tsx";

const PAGE = 50;

export function Documents({ ids, query }: { ids: readonly string[]; query: URLSearchParams }) {
  const { say, locale } = useSpeech();
  const [chosen = ""] = ids;
  const [q, offset] = [query.get("q") ?? "", Number(query.get("offset") ?? 0)];
  const { value, why } = useLoaded((signal) => documents({ q, offset, limit: PAGE }, signal), [q, offset], true);
  const heads = [
    say("documents.document"), { name: say("documents.passages"), n: true }, say("documents.source"), say("documents.added"),
  ];
  return (
    <div class="documents">
      <div class="page-head">
        <h1>{say("nav.documents")}</h1>
        <Find key={q} label={say("documents.find")} text={q} go={(text) => { location.hash = address("documents", [], { q: text }); }} />
      </div>
      {chosen === "" ? null : <Uses key={chosen} id={chosen} />}
      {value === null ? <Waiting why={why} /> : value.total === 0 ? (
        <Empty title={say(q === "" ? "documents.none" : "documents.notFound")}><p>{say("documents.how")}</p><pre class="text">fathom ingest docs/</pre></Empty>
      ) : (
        <>
          <Grid name={say("nav.documents")} heads={heads}>
            {value.documents.map((each) => (
              <tr key={each.document_id} aria-current={each.document_id === chosen ? "true" : undefined}>
                <th scope="row" class="title"><a href={address("documents", [each.document_id], { q, offset: offset === 0 ? "" : `${offset}` })}>{each.title}</a></th>
                <td class="n">{number(each.passages, locale)}{each.quarantined ? <> <span class="badge clash">{say("documents.quarantined")}</span></> : null}</td>
                <td class="quiet">{each.uri ?? each.document_id}</td>
                <td class="nowrap" title={time(each.recorded_at, locale)}>{ago(each.recorded_at, locale)}</td>
              </tr>
            ))}
          </Grid>
          <Pages offset={offset} limit={PAGE} shown={value.documents.length} total={value.total} to={(at) => address("documents", [], { q, offset: `${at}` })} />
        </>
      )}
    </div>
  );
}

function Uses({ id }: { id: string }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded((signal) => usesOf(id, signal), [id]);
  return (
    <section class="panel" aria-label={say("documents.uses")}>
      <h2>{say("documents.uses")} <code class="quiet">{id}</code></h2>
      {value === null ? <Waiting why={why} /> : value.uses.length === 0 ? <p class="quiet">{say("documents.unused")}</p> : <UseTable of={value.uses} />}
    </section>
  );
}

function UseTable({ of }: { of: readonly DocumentUse[] }) {
  const { say, locale } = useSpeech();
  const heads = [say("inspect.message"), say("conversation.title"), { name: say("documents.passages"), n: true }, { name: say("tokens"), n: true }, say("decisions.at")];
  return (
    <Grid name={say("documents.uses")} heads={heads}>
      {of.map((each) => (
        <tr key={each.message_id}>
          <th scope="row"><a href={address("message", [each.message_id])}><code>{each.message_id}</code></a></th>
          <td><a href={address("conversation", [each.conversation_id], { client: each.client_id })}>{each.conversation_id}</a></td>
          <td class="n">{number(each.passages, locale)}</td>
          <td class="n">{number(each.tokens, locale)}</td>
          <td class="nowrap">{time(each.at, locale)}</td>
        </tr>
      ))}
    </Grid>
  );
}
