/** A conversation: its turns, and what was decided on each. */

import { useState } from "preact/hooks";

import { conversation } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { preference } from "../data/session.ts";
import { milliseconds, number, time } from "../data/text.ts";
import type { PackDecision, Turn } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Badge } from "../parts/small.tsx";
import { Waiting } from "./Pack.tsx";

export function Conversation({ id, client }: { id: string; client: string }) {
  const { say } = useSpeech();
  const [wanted, setWanted] = useState(id);
  const [of, setOf] = useState(client || (preference("client") ?? "console"));
  return (
    <div class="conversation">
      <h1>{say("conversation.title")}</h1>
      <form class="inline" onSubmit={(event) => { event.preventDefault(); location.hash = address("conversation", [wanted], { client: of }); }}>
        <label>{say("ask.conversation")} <input name="conversation" required value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} /></label>
        <label>{say("ask.client")} <input name="client" value={of} onInput={(event) => setOf(event.currentTarget.value)} /></label>
        <button type="submit" class="main">{say("conversation.find")}</button>
      </form>
      {id === "" ? <p class="quiet">{say("conversation.none")}</p> : <Turns id={id} client={client} />}
    </div>
  );
}

function Turns({ id, client }: { id: string; client: string }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded(() => conversation(id, client), [id, client]);
  if (value === null) return <Waiting why={why} />;
  const decisions = new Map(value.decisions.map((each) => [each.message_id, each]));
  return (
    <>
      {value.complete ? null : <p class="quiet">{say("conversation.incomplete")}</p>}
      <ol class="turns">
        {value.turns.map((turn) => <TurnShown key={turn.message_id} turn={turn} decision={decisions.get(turn.message_id)} />)}
      </ol>
    </>
  );
}

function TurnShown({ turn, decision }: { turn: Turn; decision: PackDecision | undefined }) {
  const { say, word, locale } = useSpeech();
  return (
    <li class={`turn ${turn.role}`}>
      <p class="item-head"><b>{word("role.", turn.role)}</b> <span class="quiet">{turn.user_id} · {time(turn.created_at, locale)}</span></p>
      <p class="prose">{turn.content}</p>
      {decision ? (
        <p class="item-head">
          <Badge kind="level">{decision.depth_level}</Badge>
          <span class="quiet">
            {say("pack.tokens", { n: number(decision.tokens_used, locale) })} · {milliseconds(decision.latency_ms, locale)} · {decision.strategy}
            {decision.degraded ? ` · ${say("pack.status.degraded")}` : ""} · {decision.detected_signals.join(", ")}
          </span>
          <a href={address("message", [turn.message_id])}>{say("inspect.message")}</a>
          <a href={address("pack", [turn.message_id])}>{say("inspect.title")}</a>
        </p>
      ) : null}
    </li>
  );
}
