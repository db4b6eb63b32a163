/** A whole pack: its text, what was left out, when memory answered, what was decided, and where each item comes from. */

import { titlesOfDropped } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { SECTIONS, isShown, sections, textOf, titleOf } from "../data/pack.ts";
import { floorOf } from "../data/prompt.ts";
import { address } from "../data/routes.ts";
import { number } from "../data/text.ts";
import type { ContextPack } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Grid } from "./lists.tsx";
import { Depth, Memory, Score } from "./marks.tsx";
import { Budget, LeftOut, Prompt } from "./prompt.tsx";
import { Block, Fields, State, Waiting, placeOf } from "./small.tsx";
import { Waterfall } from "./waterfall.tsx";

const WAITS: Readonly<Record<string, string>> = { timeout: "late", missing: "late", error: "failed" };

export function Inspected({ pack }: { pack: ContextPack }) {
  const { say } = useSpeech();
  return (
    <>
      <Budget pack={pack} />
      <div class="sheet">
        <Prompt pack={pack} />
        <div>
          <Block title={say("inspect.decided")}><Facts pack={pack} /></Block>
          <Block title={say("dropped.title")}><Omitted pack={pack} /></Block>
          <Block title={say("waterfall")}>
            <Waterfall of={(pack.parts ?? []).map((part) => ({
              memory: part.memory_class, state: WAITS[part.status] ?? part.status, why: part.error, ms: part.latency_ms,
            }))} done={pack.latency_ms} />
          </Block>
        </div>
      </div>
      <Items pack={pack} />
    </>
  );
}

/** Whether memory was looked through, and held anything that helps; "" where the pack does not say. */
export function evidenceOf(pack: ContextPack): string {
  if (pack.evidence) return pack.evidence;
  const searched = (pack.parts ?? []).filter((part) => !["working_set", "persona"].includes(part.memory_class) && part.status !== "skipped");
  if (searched.some((part) => WAITS[part.status] !== undefined)) return "late";
  if (searched.length === 0) return "unsearched";
  return searched.some((part) => part.items > 0) ? "" : "unneeded";
}

function Facts({ pack }: { pack: ContextPack }) {
  const { say, word, locale } = useSpeech();
  const evidence = evidenceOf(pack);
  return (
    <Fields
      of={[
        [say("pack.level"), <Depth of={pack.depth_level} />],
        [say("inspect.strategy"), pack.strategy.replaceAll("_", " ")],
        [say("inspect.evidence"), evidence === "" ? null : <State of={evidence === "found" ? "ok" : evidence} says={word("inspect.evidence.", evidence)} />],
        [say("inspect.degraded"), (pack.degraded_reasons ?? []).join(", ")],
        [say("inspect.confidence"), number(pack.confidence, locale, 2)],
        [say("inspect.signals"), (pack.signals ?? []).map((each) => `${each.name.replaceAll("_", " ")} «${each.evidence}»`).join(" · ")],
        [say("inspect.user"), pack.user_id],
        [say("inspect.conversation"), (
          <a href={address("conversation", [pack.conversation_id], { client: pack.client_id })}>{pack.conversation_id}</a>
        )],
      ]}
    />
  );
}

function Omitted({ pack }: { pack: ContextPack }) {
  const dropped = pack.dropped ?? [];
  const loaded = useLoaded(async (signal) => (dropped.length === 0 ? new Map<string, string>() : titlesOfDropped(pack.message_id, signal)), [pack.message_id]);
  if (loaded.value === null && loaded.why === null) return <Waiting why={null} />;
  const kept = sections(pack).flatMap((section) => section.items.map((item) => ({ memory: SECTIONS[section.name] ?? section.name, score: item.score })));
  return (
    <LeftOut kept={kept} of={dropped.map((each) => ({
      id: each.id, memory: each.memory_class, reason: each.reason, tokens: each.tokens, score: each.score, title: loaded.value?.get(each.id),
    }))} />
  );
}

/** Where each item comes from and why it is there; its text is above. */
function Items({ pack }: { pack: ContextPack }) {
  const { say, locale } = useSpeech();
  const heads = [say("item"), say("section"), { name: say("tokens"), n: true }, say("score"), say("why"), say("source")];
  return (
    <section class="block items">
      <h3>{say("inspect.items")}</h3>
      <Grid name={say("inspect.items")} heads={heads}>
        {sections(pack).flatMap((section) => {
          const memory = SECTIONS[section.name] ?? section.name;
          const [floor, most] = [floorOf(section.items), Math.max(...section.items.map((each) => each.score ?? 0))];
          return section.items.filter(isShown).map((item) => (
            <tr key={item.id} class="item">
              <th scope="row"><span class="clamp">{item.type === "chunk" ? titleOf(item) : textOf(item)}</span></th>
              <td><Memory of={memory} /></td>
              <td class="n">{item.tokens ? number(item.tokens, locale) : <span class="quiet">–</span>}</td>
              <td class={`m-${memory}`}><Score of={item.score} floor={floor} most={most} /></td>
              <td class="quiet">{item.reason}</td>
              <td><code>{placeOf(item.provenance)}</code></td>
            </tr>
          ));
        })}
      </Grid>
    </section>
  );
}
