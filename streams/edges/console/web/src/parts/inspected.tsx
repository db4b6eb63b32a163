/** A whole pack: what was decided, its items by section with their sources, what was left out, its text. */

import { sections, textOf, titleOf } from "../data/pack.ts";
import type { Section } from "../data/pack.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number } from "../data/text.ts";
import type { ContextPack, PackItem } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Badge, Block, Fields, Meter, State, placeOf } from "./small.tsx";

/** `other`: the ids of another pack's items, beside which this one stands. */
export function Inspected({ pack, other }: { pack: ContextPack; other?: ReadonlySet<string> }) {
  const { say, locale } = useSpeech();
  return (
    <>
      <Meter
        label={say("tokens")}
        used={pack.total_tokens_estimated}
        most={pack.max_tokens}
        says={say("pack.used", { used: number(pack.total_tokens_estimated, locale), max: number(pack.max_tokens, locale) })}
      />
      <Facts pack={pack} />
      {sections(pack).map((section) => <SectionShown key={section.name} section={section} other={other} />)}
      <LeftOut pack={pack} />
      <Block title={say("inspect.text")}><pre class="text" tabIndex={0}>{pack.text ?? ""}</pre></Block>
    </>
  );
}

function Facts({ pack }: { pack: ContextPack }) {
  const { say, word, locale } = useSpeech();
  const lacking = pack.degraded_reasons ?? [];
  const evidence = pack.evidence ?? (lacking.length > 0 ? "late" : "unsearched");
  return (
    <Fields
      of={[
        [say("pack.level"), <b>{pack.depth_level}</b>],
        [say("inspect.strategy"), pack.strategy],
        [say("inspect.evidence"), <State of={evidence === "found" ? "ok" : evidence} says={word("inspect.evidence.", evidence)} />],
        [say("inspect.degraded"), lacking.join(", ")],
        [say("inspect.confidence"), number(pack.confidence, locale, 2)],
        [say("pack.latency"), milliseconds(pack.latency_ms, locale)],
        [say("inspect.signals"), (pack.signals ?? []).map((each) => `${each.name} «${each.evidence}»`).join(" · ")],
        [say("inspect.user"), pack.user_id],
        [say("inspect.conversation"), (
          <a href={address("conversation", [pack.conversation_id], { client: pack.client_id })}>{pack.conversation_id}</a>
        )],
      ]}
    />
  );
}

function SectionShown({ section, other }: { section: Section; other?: ReadonlySet<string> | undefined }) {
  const { say, word } = useSpeech();
  return (
    <Block title={word("section.", section.name)}>
      <p class="quiet">{say("pack.items", { n: section.items.length })} · {say("pack.tokens", { n: section.tokens })}</p>
      {section.items.map((item) => <Item key={item.id} item={item} other={other} />)}
    </Block>
  );
}

function Item({ item, other }: { item: PackItem; other?: ReadonlySet<string> | undefined }) {
  const { say, locale } = useSpeech();
  const place = placeOf(item.provenance);
  return (
    <article class="item">
      <p class="item-head">
        <b>{titleOf(item)}</b>
        <Badge>{say("pack.tokens", { n: item.tokens ?? 0 })}</Badge>
        {item.score ? <span class="quiet">{say("score")} {number(item.score, locale, 3)}</span> : null}
        {other ? <Badge kind={other.has(item.id) ? "" : "only"}>{say(other.has(item.id) ? "compare.both" : "compare.only")}</Badge> : null}
      </p>
      <p class="prose">{textOf(item)}</p>
      <p class="quiet">{item.reason}{place ? <> · <code>{place}</code></> : null}</p>
    </article>
  );
}

function LeftOut({ pack }: { pack: ContextPack }) {
  const { say, word, locale } = useSpeech();
  const dropped = pack.dropped ?? [];
  const parts = pack.parts ?? [];
  return (
    <>
      <Block title={say("dropped")}>
        {dropped.length === 0 ? <p class="quiet">{say("inspect.nothing")}</p> : (
          <table>
            <thead><tr>
              <th scope="col">{say("section")}</th><th scope="col">{say("why")}</th>
              <th scope="col" class="n">{say("tokens")}</th><th scope="col" class="n">{say("score")}</th><th scope="col">{say("item")}</th>
            </tr></thead>
            <tbody>
              {dropped.map((each) => (
                <tr key={each.id}>
                  <td>{word("class.", each.memory_class)}</td><td>{word("dropped.", each.reason)}</td><td class="n">{number(each.tokens, locale)}</td>
                  <td class="n">{number(each.score, locale, 3)}</td><td><code>{each.id}</code></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Block>
      <Block title={say("inspect.parts")}>
        <ul class="chips">
          {parts.map((part) => (
            <li key={part.memory_class}>
              <State of={part.status} says={word("class.", part.memory_class)} />
              <span class="quiet"> {part.status} · {part.items} · {milliseconds(part.latency_ms, locale)} {part.error ?? ""}</span>
            </li>
          ))}
        </ul>
      </Block>
    </>
  );
}

/** The ids of a pack's items. */
export function idsOf(pack: ContextPack | null): ReadonlySet<string> {
  return new Set(pack === null ? [] : sections(pack).flatMap((each) => each.items.map((item) => item.id)));
}
