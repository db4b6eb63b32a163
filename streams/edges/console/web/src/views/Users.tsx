/** The users who asked, with the way to what is remembered of each. */

import { users } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { ago, number, time } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Empty, Find, Grid, Pages } from "../parts/lists.tsx";
import { Waiting } from "../parts/small.tsx";

const PAGE = 50;

export function Users({ query }: { query: URLSearchParams }) {
  const { say, locale } = useSpeech();
  const [q, offset] = [query.get("q") ?? "", Number(query.get("offset") ?? 0)];
  const { value, why } = useLoaded((signal) => users({ q, offset, limit: PAGE }, signal), [q, offset], true);
  const heads = [say("ask.user"), { name: say("nav.conversations"), n: true }, { name: say("conversations.questions"), n: true }, say("conversations.last"), say("nav.memories")];
  return (
    <div class="users">
      <div class="page-head">
        <h1>{say("nav.users")}</h1>
        <Find key={q} label={say("users.find")} text={q} go={(text) => { location.hash = address("users", [], { q: text }); }} />
      </div>
      {value === null ? <Waiting why={why} /> : value.total === 0 ? <Empty title={say("users.none")} /> : (
        <>
          <Grid name={say("nav.users")} heads={heads}>
            {value.users.map((each) => (
              <tr key={each.user_id}>
                <th scope="row">{each.user_id}</th>
                <td class="n">{number(each.conversations, locale)}</td>
                <td class="n">{number(each.questions, locale)}</td>
                <td class="nowrap" title={time(each.last_at, locale)}>{ago(each.last_at, locale)}</td>
                <td><a href={address("memories", [], { user: each.user_id })}>{say("users.memories")}</a> · <a href={address("decisions", [], { user: each.user_id })}>{say("nav.decisions")}</a></td>
              </tr>
            ))}
          </Grid>
          <Pages offset={offset} limit={PAGE} shown={value.users.length} total={value.total} to={(at) => address("users", [], { q, offset: `${at}` })} />
        </>
      )}
    </div>
  );
}
