/** A conversation: its turns, and what was decided on each. */

import { conversation } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number, time } from "../data/text.ts";
import type { PackDecision, Turn } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Depth } from "../parts/marks.tsx";
import { State, Waiting } from "../parts/small.tsx";

export function Conversation({ id, client }: { id: string; client: string }) {
  const { say, locale } = useSpeech();
  const { value, why } = useLoaded(() => conversation(id, client), [id, client]);
  if (value === null) return <Waiting why={why} />;
  const decisions = new Map(value.decisions.map((each) => [each.message_id, each]));
  const title = value.turns.find((turn) => turn.role === "user")?.content ?? id;
  const tokens = value.decisions.reduce((sum, each) => sum + each.tokens_used, 0);
  return (
    <div class="conversation">
      <p class="crumbs"><a href={address("conversations")}>{say("nav.conversations")}</a></p>
      <h1>{title}</h1>
      <p class="facts">
        <span>{say("conversation.turns", { n: value.turns.length })}</span>
        <span>{say("conversation.tokens", { n: number(tokens, locale) })}</span>
        <span>{say("ask.client")} <b>{value.client_id}</b></span>
        <code class="quiet">{id}</code>
        <span class="spacer" />
        <a class="button" href={address("ask", [], { conversation: id, client: value.client_id })}>{say("conversation.ask")}</a>
      </p>
      {value.complete ? null : <p class="quiet">{say("conversation.incomplete")}</p>}
      <ol class="turns">
        {value.turns.map((turn) => <TurnShown key={turn.message_id} turn={turn} decision={decisions.get(turn.message_id)} />)}
      </ol>
    </div>
  );
}

function TurnShown({ turn, decision }: { turn: Turn; decision: PackDecision | undefined }) {
  const { say, word, locale } = useSpeech();
  // An assistant's turn names the user whom it answers.
  const who = turn.role === "user" ? turn.user_id : "";
  return (
    <li class={`turn ${turn.role}`}>
      <div class="bubble">
        <p class="item-head"><b>{word("role.", turn.role)}</b> {who === "" ? null : <span>{who}</span>} <span class="quiet">{time(turn.created_at, locale)}</span></p>
        <p class="prose">{turn.content}</p>
      </div>
      {decision === undefined ? null : (
        <div class="decided">
          <p class="item-head">
            <Depth of={decision.depth_level} />
            {decision.degraded ? <State of="degraded" says={say("pack.status.degraded")} /> : null}
            <span>{say("pack.tokens", { n: number(decision.tokens_used, locale) })} · {milliseconds(decision.latency_ms, locale)}</span>
          </p>
          <p class="quiet">{[decision.strategy, ...decision.detected_signals].join(" · ").replaceAll("_", " ")}</p>
          <p class="item-head">
            <a href={address("message", [turn.message_id])}>{say("inspect.message")}</a>
            <a href={address("pack", [turn.message_id])}>{say("inspect.title")}</a>
          </p>
        </div>
      )}
    </li>
  );
}
