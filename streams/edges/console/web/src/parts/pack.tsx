/** The details of a pack, its classes of memory and its items, as far as progress tells them. */

import { SECTIONS } from "../data/pack.ts";
import { milliseconds, number, said } from "../data/text.ts";
import type { DroppedItem, KeptItem, PackNode, PackState } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Block, Fields, Meter, State, placeOf } from "./small.tsx";

export function PackShown({ pack }: { pack: PackState }) {
  const { say, word, locale } = useSpeech();
  const nodes = Object.values(pack.nodes ?? {});
  const dropped = Object.values(pack.dropped ?? {});
  const conflicts = Object.values(pack.conflicts ?? {});
  return (
    <>
      <p class="lead">
        <State of={pack.status} says={word("pack.status.", pack.status)} />
        {pack.level ? <span>{say("pack.level")} <b>{pack.level}</b></span> : null}
      </p>
      <PackBudget pack={pack} />
      {nodes.length > 0 ? (
        <Block title={say("inspect.parts")}>
          <table>
            <thead><tr>
              <th scope="col">{say("item")}</th><th scope="col">{say("state")}</th><th scope="col">{say("why")}</th>
              <th scope="col" class="n">{say("items")}</th><th scope="col" class="n">{say("tokens")}</th>
              <th scope="col" class="n">{say("pack.latency")}</th>
            </tr></thead>
            <tbody>
              {nodes.map((node) => (
                <tr key={node.node_id}>
                  <th scope="row">{word("class.", node.node_id)}</th>
                  <td><State of={node.state} says={word("state.", node.state)} /></td>
                  <td>{said(node.why)}</td>
                  <td class="n">{number(node.items ?? 0, locale)}</td>
                  <td class="n">{number(node.tokens ?? 0, locale)}</td>
                  <td class="n">{milliseconds(node.latency_ms, locale)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Block>
      ) : null}
      {conflicts.length > 0 ? (
        <Block title={say("conflicts")}>
          {conflicts.map((each, at) => <article key={at} class="conflict"><p class="prose">{said(each["explanation"] ?? each)}</p></article>)}
        </Block>
      ) : null}
      {dropped.length > 0 ? (
        <Block title={say("dropped")}>
          <ul class="lines">
            {dropped.map((item) => <li key={item.item_id}><span class="struck">{item.title ?? item.item_id}</span> <span class="quiet">{word("dropped.", item.reason)}</span></li>)}
          </ul>
        </Block>
      ) : null}
    </>
  );
}

export function PackBudget({ pack }: { pack: PackState }) {
  const { say, locale } = useSpeech();
  const budget = pack.budget ?? {};
  const tokens = number(budget.used_tokens ?? 0, locale);
  return (
    <div class="meters">
      {budget.max_tokens ? (
        <Meter label={say("tokens")} used={budget.used_tokens ?? 0} most={budget.max_tokens}
          says={say("pack.used", { used: tokens, max: number(budget.max_tokens, locale) })} />
      ) : null}
      {budget.latency_ms !== undefined && budget.deadline_ms ? (
        <Meter label={say("pack.latency")} used={budget.latency_ms} most={budget.deadline_ms}
          says={`${milliseconds(budget.latency_ms, locale)} ${say("pack.deadline", { ms: milliseconds(budget.deadline_ms, locale) })}`} />
      ) : budget.latency_ms !== undefined ? (
        <p>{say("pack.latency")} <b>{milliseconds(budget.latency_ms, locale)}</b></p>
      ) : null}
    </div>
  );
}

export function ClassShown({ node }: { node: PackNode }) {
  const { say, word, locale } = useSpeech();
  return (
    <>
      <p class="lead"><State of={node.state} says={word("state.", node.state)} /></p>
      <Fields
        of={[
          [say("class.searched"), node.label],
          [say("why"), said(node.why)],
          [say("items"), number(node.items ?? 0, locale)],
          [say("tokens"), number(node.tokens ?? 0, locale)],
          [say("pack.latency"), milliseconds(node.latency_ms, locale)],
        ]}
      />
    </>
  );
}

export function ItemShown({ item, kept }: { item: KeptItem | DroppedItem; kept: boolean }) {
  const { say, word, locale } = useSpeech();
  const whole = item as Partial<KeptItem> & DroppedItem;
  return (
    <>
      <p class="prose">{item.title ?? item.item_id}</p>
      <p class="lead"><State of={kept ? "ok" : "skipped"} says={say(kept ? "kept" : "dropped")} /></p>
      <Fields
        of={[
          [say("section"), word("class.", SECTIONS[item.section] ?? item.section)],
          [say("why"), kept ? said(item.reason) : word("dropped.", said(item.reason))],
          [say("tokens"), number(item.tokens, locale)],
          [say("score"), number(whole.score, locale, 3)],
          [say("source"), placeOf(whole.source) ? <code>{placeOf(whole.source)}</code> : null],
          [say("item"), <code>{item.item_id}</code>],
        ]}
      />
    </>
  );
}
