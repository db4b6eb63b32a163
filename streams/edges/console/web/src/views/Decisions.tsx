/** Decisions by day: depths, budgets, latencies, corrections; as charts and as a table. */

import { decisions } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { everyDay } from "../data/days.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number, time } from "../data/text.ts";
import type { DecisionDay, DecisionsShown } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Speaker } from "../language/say.ts";
import { Bars, Curves } from "../parts/charts.tsx";
import type { Series } from "../parts/charts.tsx";
import { Badge } from "../parts/small.tsx";
import { Waiting } from "./Pack.tsx";

const SPANS = [7, 30, 90];
const LEVELS = ["D0", "D1", "D2", "D3", "D4"];

export function Decisions({ days }: { days: number }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded(() => decisions(days), [days]);
  return (
    <div class="decisions">
      <h1>{say("decisions.title")}</h1>
      <nav class="chips" aria-label={say("decisions.days")}>
        {say("decisions.days")}
        {SPANS.map((each) => (
          <a key={each} href={address("decisions", [], { days: `${each}` })} aria-current={each === days ? "true" : undefined}>{each}</a>
        ))}
      </nav>
      {value === null ? <Waiting why={why} /> : value.days.length === 0 ? <p class="quiet">{say("decisions.none")}</p> : <Shown of={{ ...value, days: everyDay(value.days) }} />}
    </div>
  );
}

function Shown({ of }: { of: DecisionsShown }) {
  const { say } = useSpeech();
  const levels: Series[] = LEVELS.map((name, at) => ({ name, kind: `depth${at}`, of: (day) => day.depths[name] ?? 0 }));
  return (
    <>
      <div class="charts">
        <Bars title={say("decisions.depths")} days={of.days} series={levels} />
        <Curves title={say("decisions.tokens")} days={of.days} series={[
          { name: say("decisions.median"), kind: "one", of: (day) => day.tokens.p50 },
          { name: say("decisions.mean"), kind: "two", of: (day) => day.tokens.mean },
        ]} />
        <Curves title={say("decisions.latency")} days={of.days} series={[
          { name: say("decisions.median"), kind: "one", of: (day) => day.latency_ms.p50 },
          { name: say("decisions.p95"), kind: "two", of: (day) => day.latency_ms.p95 },
        ]} />
        <Bars title={say("decisions.faults")} days={of.days} series={[
          { name: say("decisions.corrections"), kind: "one", of: (day) => day.corrections },
          { name: say("decisions.degraded"), kind: "two", of: (day) => day.degraded },
        ]} />
      </div>
      <details>
        <summary>{say("decisions.table")}</summary>
        <DayTable days={of.days} />
      </details>
      <Latest of={of.latest} />
    </>
  );
}

function DayTable({ days }: { days: readonly DecisionDay[] }) {
  const speech = useSpeech();
  const { say, locale } = speech;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say("decisions.table")}>
      <table>
        <thead><tr>{columns(speech).map((name) => <th key={name} scope="col" class="n">{name}</th>)}</tr></thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              {[
                day.messages, ...LEVELS.map((level) => day.depths[level] ?? 0), day.tokens.p50, day.tokens.mean,
                day.latency_ms.p50, day.latency_ms.p95, day.corrections, day.degraded,
              ].map((value, at) => <td key={at} class="n">{number(value, locale)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function columns({ say }: Speaker): string[] {
  return [
    say("decisions.day"), say("decisions.messages"), ...LEVELS,
    `${say("tokens")}, ${say("decisions.median")}`, `${say("tokens")}, ${say("decisions.mean")}`,
    `ms, ${say("decisions.median")}`, `ms, ${say("decisions.p95")}`,
    say("decisions.corrections"), say("decisions.degraded"),
  ];
}

function Latest({ of }: { of: DecisionsShown["latest"] }) {
  const { say, locale } = useSpeech();
  return (
    <section class="block">
      <h2>{say("decisions.latest")}</h2>
      <table>
        <thead><tr>
          <th scope="col">{say("decisions.at")}</th><th scope="col">{say("pack.level")}</th><th scope="col">{say("ask.question")}</th>
          <th scope="col" class="n">{say("tokens")}</th><th scope="col" class="n">{say("pack.latency")}</th>
          <th scope="col">{say("conversation.title")}</th>
        </tr></thead>
        <tbody>
          {of.map((each) => (
            <tr key={each.message_id}>
              <td class="nowrap">{time(each.at, locale)}</td>
              <td><Badge kind="level">{each.level}</Badge>{each.degraded ? <span class="quiet"> {say("pack.status.degraded")}</span> : null}</td>
              <td><a href={address("message", [each.message_id])}>{each.question ?? each.message_id}</a></td>
              <td class="n">{number(each.tokens, locale)}</td>
              <td class="n nowrap">{milliseconds(each.latency_ms, locale)}</td>
              <td><a href={address("conversation", [each.conversation_id], { client: each.client_id ?? "" })}>{each.conversation_id}</a></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
