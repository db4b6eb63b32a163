/** Decisions by day or by hour: depths, budgets, latencies, corrections; as charts and as a table; and the latest. */

import { conversations, decisions } from "../data/api.ts";
import { slotsOf } from "../data/days.ts";
import type { Slot } from "../data/days.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number, time } from "../data/text.ts";
import type { DecisionsShown } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Speaker } from "../language/say.ts";
import { Bars, Curves } from "../parts/charts.tsx";
import type { Series } from "../parts/charts.tsx";
import { Empty, Find, Grid } from "../parts/lists.tsx";
import { Depth } from "../parts/marks.tsx";
import { Days, State, Waiting } from "../parts/small.tsx";

const LEVELS = ["D0", "D1", "D2", "D3", "D4"];
const EVIDENCE = ["found", "none"] as const;
const MOST = 200;

export function Decisions({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech();
  const days = Number(query.get("days") ?? 30);
  const [level, user, degraded, evidence] = ["level", "user", "degraded", "evidence"].map((each) => query.get(each) ?? "") as [string, string, string, string];
  const { value, why } = useLoaded((signal) => decisions({ days, level, user, degraded, evidence, limit: MOST }, signal), [days, level, user, degraded, evidence], true);
  const to = (changed: Record<string, string>): string => address("decisions", [], { days: `${days}`, level, user, degraded, evidence, ...changed });
  return (
    <div class="decisions">
      <div class="page-head">
        <h1>{say("decisions.title")}</h1>
        <Days of={days} to={(each) => to({ days: `${each}` })} />
        <label class="beside">{say("pack.level")}
          <select name="level" value={level} onChange={(event) => { location.hash = to({ level: event.currentTarget.value }); }}>
            <option value="">{say("decisions.every")}</option>
            {LEVELS.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
        <label class="beside">{say("decisions.evidence")}
          <select name="evidence" value={evidence} onChange={(event) => { location.hash = to({ evidence: event.currentTarget.value }); }}>
            <option value="">{say("decisions.every")}</option>
            {EVIDENCE.map((each) => <option key={each} value={each}>{say(`decisions.evidence.${each}`)}</option>)}
          </select>
        </label>
        <label class="beside">
          <input type="checkbox" checked={degraded === "true"} onChange={(event) => { location.hash = to({ degraded: event.currentTarget.checked ? "true" : "" }); }} />
          {say("decisions.lacking")}
        </label>
        <Find key={user} label={say("decisions.user")} text={user} go={(text) => { location.hash = to({ user: text }); }} />
      </div>
      {value === null ? <Waiting why={why} /> : value.days.length === 0 ? (
        <Empty title={say("decisions.none")}><p><a class="button main" href={address("ask")}>{say("conversations.ask")}</a></p></Empty>
      ) : <Shown of={value} days={days} />}
    </div>
  );
}

function Shown({ of, days }: { of: DecisionsShown; days: number }) {
  const { say } = useSpeech();
  const slots = slotsOf(of);
  const levels: Series[] = LEVELS.map((name, at) => ({ name, kind: `depth${at}`, of: (slot) => slot.depths[name] ?? 0 }));
  return (
    <>
      <div class="charts">
        <Bars title={say("decisions.depths")} slots={slots} series={levels} />
        <Curves title={say("decisions.tokens")} slots={slots} series={[
          { name: say("decisions.median"), kind: "one", of: (slot) => slot.tokens.p50 },
          { name: say("decisions.mean"), kind: "two", of: (slot) => slot.tokens.mean },
        ]} />
        <Curves title={say("decisions.latency")} slots={slots} series={[
          { name: say("decisions.median"), kind: "one", of: (slot) => slot.latency_ms.p50 },
          { name: say("decisions.p95"), kind: "two", of: (slot) => slot.latency_ms.p95 },
        ]} />
        <Bars title={say("decisions.faults")} slots={slots} series={[
          { name: say("decisions.corrections"), kind: "one", of: (slot) => slot.corrections },
          { name: say("decisions.degraded"), kind: "two", of: (slot) => slot.degraded },
        ]} />
      </div>
      <details>
        <summary>{say("decisions.table")}</summary>
        <SlotTable slots={slots} hourly={of.hours !== undefined} />
      </details>
      <Latest of={of.latest} days={days} />
    </>
  );
}

function SlotTable({ slots, hourly }: { slots: readonly Slot[]; hourly: boolean }) {
  const speech = useSpeech();
  const { say, locale } = speech;
  return (
    <Grid name={say("decisions.table")} heads={[say(hourly ? "decisions.hour" : "decisions.day"), ...columns(speech).map((name) => ({ name, n: true }))]}>
      {slots.map((slot) => (
        <tr key={slot.at}>
          <th scope="row" class="nowrap">{slot.at}</th>
          {[
            slot.messages, ...LEVELS.map((level) => slot.depths[level] ?? 0), slot.tokens.p50, slot.tokens.mean,
            slot.latency_ms.p50, slot.latency_ms.p95, slot.corrections, slot.degraded,
          ].map((value, at) => <td key={at} class="n">{number(value, locale)}</td>)}
        </tr>
      ))}
    </Grid>
  );
}

function columns({ say }: Speaker): string[] {
  return [
    say("decisions.messages"), ...LEVELS,
    `${say("tokens")}, ${say("decisions.median")}`, `${say("tokens")}, ${say("decisions.mean")}`,
    `ms, ${say("decisions.median")}`, `ms, ${say("decisions.p95")}`,
    say("decisions.corrections"), say("decisions.degraded"),
  ];
}

function Latest({ of, days }: { of: DecisionsShown["latest"]; days: number }) {
  const { say, locale } = useSpeech();
  const talks = useLoaded((signal) => conversations({ q: "", days, offset: 0, limit: MOST }, signal).catch(() => null), [days]).value;
  const titles = new Map((talks?.conversations ?? []).map((each) => [`${each.client_id} ${each.conversation_id}`, each.title]));
  const heads = [
    say("decisions.at"), say("pack.level"), say("ask.question"), { name: say("tokens"), n: true }, { name: say("pack.latency"), n: true },
    say("state"), say("conversation.title"),
  ];
  return (
    <section class="block">
      <h2>{say("decisions.latest")}</h2>
      <Grid name={say("decisions.latest")} heads={heads}>
        {of.map((each) => (
          <tr key={`${each.conversation_id} ${each.message_id}`}>
            <td class="nowrap">{time(each.at, locale)}</td>
            <td><Depth of={each.level} /></td>
            <th scope="row" class="title"><a href={address("message", [each.message_id])}>{each.question ?? each.message_id}</a></th>
            <td class="n">{number(each.tokens, locale)}</td>
            <td class="n nowrap">{milliseconds(each.latency_ms, locale)}</td>
            <td>{each.degraded ? <State of="degraded" says={say("pack.status.degraded")} /> : <State of="complete" says={say("pack.status.complete")} />}</td>
            <td class="title"><a href={address("conversation", [each.conversation_id], { client: each.client_id ?? "" })}>{titles.get(`${each.client_id} ${each.conversation_id}`) ?? each.conversation_id}</a></td>
          </tr>
        ))}
      </Grid>
    </section>
  );
}
