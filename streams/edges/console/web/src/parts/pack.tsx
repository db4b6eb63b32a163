/** The details of a pack, its classes of memory and its items: as far as progress tells them, then with the pack's own text. */

import { SECTIONS, sections, textOf } from "../data/pack.ts";
import { milliseconds, number, said } from "../data/text.ts";
import type { ContextPack, DroppedItem, KeptItem, PackNode, PackState } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Memory, Score } from "./marks.tsx";
import { LeftOut, Prompt } from "./prompt.tsx";
import type { Left } from "./prompt.tsx";
import { Block, Fields, State, placeOf } from "./small.tsx";
import { Waterfall } from "./waterfall.tsx";

export function PackShown({ pack, whole }: { pack: PackState; whole: ContextPack | null }) {
  const { say } = useSpeech();
  const nodes = Object.values(pack.nodes ?? {});
  const conflicts = Object.values(pack.conflicts ?? {});
  return (
    <>
      {whole === null ? <p class="quiet">{say("message.unpacked")}</p> : <Prompt pack={whole} />}
      {conflicts.length > 0 ? (
        <Block title={say("conflicts")}>
          {conflicts.map((each, at) => <article key={at} class="conflict"><p class="prose">{said(each["explanation"] ?? each)}</p></article>)}
        </Block>
      ) : null}
      {isOver(pack) ? <Block title={say("dropped.title")}><LeftOut of={leftOut(Object.values(pack.dropped ?? {}))} kept={keptOf(pack)} /></Block> : null}
      {nodes.length > 0 ? (
        <Block title={say("waterfall")}>
          <Waterfall of={nodes.map((node) => ({ memory: node.node_id, state: node.state, why: node.why, ms: node.latency_ms }))}
            done={pack.budget?.latency_ms || null} known deadline={pack.budget?.deadline_ms} />
        </Block>
      ) : null}
    </>
  );
}

export function isOver(pack: PackState | null): boolean {
  return pack?.status === "complete" || pack?.status === "degraded";
}

function leftOut(items: Iterable<DroppedItem>): Left[] {
  return [...items].map((each) => ({
    id: each.item_id, memory: SECTIONS[each.section] ?? each.section, reason: each.reason, title: each.title, tokens: each.tokens, score: each.score,
  }));
}

function keptOf(pack: PackState): { memory: string; score: number | undefined }[] {
  return Object.values(pack.kept ?? {}).map((each) => ({ memory: SECTIONS[each.section] ?? each.section, score: each.score }));
}

export function ClassShown({ node, pack, whole }: { node: PackNode; pack: PackState; whole: ContextPack | null }) {
  const { say, word, locale } = useSpeech();
  const left = leftOut(Object.values(pack.dropped ?? {})).filter((each) => each.memory === node.node_id);
  return (
    <>
      <p class="lead"><Memory of={node.node_id} /><State of={node.state} says={word("state.", node.state)} />{node.why ? <span class="quiet">{said(node.why)}</span> : null}</p>
      <Fields
        of={[
          [say("class.searched"), node.label?.replaceAll("_", " ")],
          [say("items"), number(node.items ?? 0, locale)],
          [say("tokens"), number(node.tokens ?? 0, locale)],
          [say("waterfall.answered"), milliseconds(node.latency_ms, locale)],
        ]}
      />
      {whole === null ? null : <Prompt pack={whole} only={node.node_id} />}
      {left.length === 0 ? null : <Block title={say("dropped.title")}><LeftOut of={left} kept={keptOf(pack)} /></Block>}
    </>
  );
}

export function MoreShown({ items, pack }: { items: readonly DroppedItem[]; pack: PackState }) {
  return <LeftOut of={leftOut(items)} kept={keptOf(pack)} />;
}

export function ItemShown({ item, kept, whole }: { item: KeptItem | DroppedItem; kept: boolean; whole: ContextPack | null }) {
  const { say, word, locale } = useSpeech();
  const named = item as Partial<KeptItem> & DroppedItem;
  const memory = SECTIONS[item.section] ?? item.section;
  const found = whole === null ? undefined : sections(whole).flatMap((each) => each.items).find((each) => each.id === item.item_id);
  return (
    <>
      <p class="lead"><Memory of={memory} /><State of={kept ? "ok" : "skipped"} says={say(kept ? "kept" : "dropped")} /></p>
      <p class="prose">{found === undefined ? item.title : textOf(found)}</p>
      <Fields
        of={[
          [say("why"), kept ? said(item.reason) : word("dropped.", said(item.reason))],
          [say("tokens"), item.tokens ? number(item.tokens, locale) : null],
          [say("score"), item.score ? <Score of={item.score} /> : null],
          [say("source"), placeOf(named.source) ? <code>{placeOf(named.source)}</code> : null],
          [say("item"), <code>{item.item_id}</code>],
        ]}
      />
    </>
  );
}
