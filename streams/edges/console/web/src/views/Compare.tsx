/** Two packs as a difference: what only one of them has first, what both have folded. */

import { packToCome } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { SECTIONS, isShown, sections, textOf } from "../data/pack.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number, said } from "../data/text.ts";
import type { ContextPack, PackItem } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Speaker } from "../language/say.ts";
import { evidenceOf } from "../parts/inspected.tsx";
import { Grid } from "../parts/lists.tsx";
import { Depth, Memory } from "../parts/marks.tsx";
import { State, Waiting } from "../parts/small.tsx";

interface Held {
  memory: string;
  item: PackItem;
}

export function Compare({ ids }: { ids: readonly string[] }) {
  const { say } = useSpeech();
  const [first = "", second = ""] = ids;
  const left = useLoaded((signal) => packToCome(first, signal), [first]);
  const right = useLoaded((signal) => packToCome(second, signal), [second]);
  if (left.value === null || right.value === null) return <><h1>{say("compare.title")}</h1><Waiting why={left.why ?? right.why} /></>;
  const [a, b] = [left.value, right.value];
  const same = a.query === b.query;
  const [mine, theirs] = [heldOf(a), heldOf(b)];
  const both = mine.filter(({ item }) => theirs.some((each) => each.item.id === item.id));
  const only = (of: readonly Held[]): Held[] => of.filter(({ item }) => !both.some((each) => each.item.id === item.id));
  return (
    <div class="compare">
      <p class="crumbs">{say("compare.title")}</p>
      <h1>{same ? a.query : `${a.query} / ${b.query}`}</h1>
      <div class="pair">
        <Only pack={a} of={only(mine)} />
        <Only pack={b} of={only(theirs)} />
      </div>
      <details class="both">
        <summary>{say("compare.both", { n: both.length })}</summary>
        <Items of={both} />
      </details>
      <Facts a={a} b={b} />
    </div>
  );
}

function heldOf(pack: ContextPack): Held[] {
  return sections(pack).flatMap((section) => section.items.filter(isShown).map((item) => ({ memory: SECTIONS[section.name] ?? section.name, item })));
}

function Only({ pack, of }: { pack: ContextPack; of: readonly Held[] }) {
  const { say } = useSpeech();
  return (
    <section>
      <h2><Depth of={pack.depth_level} /> {say("compare.only", { n: of.length, depth: pack.depth_level })}</h2>
      {of.length === 0 ? <p class="quiet">{say("compare.nothing")}</p> : <Items of={of} />}
    </section>
  );
}

function Items({ of }: { of: readonly Held[] }) {
  const { say } = useSpeech();
  return (
    <ul class="left-out">
      {of.map(({ memory, item }) => (
        <li key={item.id} class={`tinted m-${memory}`}>
          <span class="name clamp">{textOf(item)}</span>
          <Memory of={memory} />
          <span class="n quiet">{item.tokens ? say("pack.tokens", { n: item.tokens }) : ""}</span>
        </li>
      ))}
    </ul>
  );
}

/** What was decided on each, and how each class of memory answered. */
function Facts({ a, b }: { a: ContextPack; b: ContextPack }) {
  const speech = useSpeech();
  const { say, word, locale } = speech;
  const both = [a, b] as const;
  const classes = [...new Set(Object.values(SECTIONS))].filter((name) => both.some((pack) => (pack.parts ?? []).some((part) => part.memory_class === name)));
  const rows = [
    [say("tokens"), ...both.map((pack) => number(pack.total_tokens_estimated, locale))],
    [say("pack.latency"), ...both.map((pack) => milliseconds(pack.latency_ms, locale))],
    [say("inspect.strategy"), ...both.map((pack) => pack.strategy.replaceAll("_", " "))],
    [say("inspect.evidence"), ...both.map((pack) => word("inspect.evidence.", evidenceOf(pack)) || "–")],
  ] as const;
  return (
    <Grid name={say("inspect.decided")} heads={["", ...both.map((pack) => `${pack.depth_level}`)].map((name, at) => ({ name: at === 2 && a.depth_level === b.depth_level ? `${name} (2)` : name }))}>
      <tr>
        <th scope="row" class="quiet">{say("inspect.message")}</th>
        {both.map((pack) => <td key={pack.message_id}><a href={address("message", [pack.message_id])}>{pack.message_id}</a></td>)}
      </tr>
      {rows.map(([name, left, right]) => (
        <tr key={name} class={left === right ? "" : "differs"}><th scope="row" class="quiet">{name}</th><td>{left}</td><td>{right}</td></tr>
      ))}
      {classes.map((name) => (
        <tr key={name}><th scope="row"><Memory of={name} /></th>{both.map((pack) => <td key={pack.message_id}><Part pack={pack} name={name} speech={speech} /></td>)}</tr>
      ))}
    </Grid>
  );
}

function Part({ pack, name, speech }: { pack: ContextPack; name: string; speech: Speaker }) {
  const { say } = speech;
  const part = (pack.parts ?? []).find((each) => each.memory_class === name);
  if (part === undefined) return <span class="quiet">{say("part.unasked")}</span>;
  if (part.status === "timeout" || part.status === "missing") return <State of="late" says={say("part.late")} />;
  if (part.status === "error") return <State of="failed" says={said(part.error) || say("state.failed")} />;
  if (part.status === "skipped") return <span class="quiet">{say("part.unasked")}{part.error ? `: ${part.error}` : ""}</span>;
  const kept = heldOf(pack).filter((each) => each.memory === name);
  return <span>{kept.length === 0 ? say("part.nothing") : say("part.kept", { n: kept.length, tokens: kept.reduce((sum, { item }) => sum + (item.tokens ?? 0), 0) })}</span>;
}
