/** The text of a prompt, each source in the colour of its class with its tokens in the margin; what was left out. */

import { useState } from "preact/hooks";

import { floorOf, piecesOf, tokensByClass } from "../data/prompt.ts";
import { number } from "../data/text.ts";
import type { ContextPack } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Memory, Score } from "./marks.tsx";

/** `only`: of this class alone. */
export function Prompt({ pack, only }: { pack: ContextPack; only?: string }) {
  const { say, locale } = useSpeech();
  const pieces = piecesOf(pack).filter((piece) => only === undefined || piece.of === only);
  if (pieces.length === 0) return null;
  return (
    <div class="copied">
      {only === undefined ? <Copy text={pack.text ?? ""} /> : null}
      <div class="prompt" tabIndex={0} role="region" aria-label={say("inspect.text")}>
        {pieces.map((piece, at) => (
          <div key={at} class={`piece m-${piece.of}${piece.text.startsWith("## ") ? " heading" : ""}`}>
            <pre>{piece.text}</pre>
            <span class="margin">{piece.tokens === null ? "" : number(piece.tokens, locale)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** A browser copies for a page of this machine or behind TLS only. */
function Copy({ text }: { text: string }) {
  const { say } = useSpeech();
  const [done, setDone] = useState(false);
  if (!isSecureContext) return null;
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false));
  return <button type="button" class="small" onClick={copy}>{say(done ? "prompt.copied" : "prompt.copy")}</button>;
}

/** What of the budget each class takes: the one place that says the tokens of a pack. */
export function Budget({ pack }: { pack: ContextPack }) {
  const { say, word, locale } = useSpeech();
  const shares = tokensByClass(pack);
  const most = Math.max(pack.max_tokens, pack.total_tokens_estimated, 1);
  const used = say("pack.used", { used: number(pack.total_tokens_estimated, locale), max: number(pack.max_tokens, locale) });
  return (
    <div class="budget">
      <div class="budget-bar" role="meter" aria-label={say("tokens")} aria-valuemin={0} aria-valuemax={pack.max_tokens} aria-valuenow={pack.total_tokens_estimated} aria-valuetext={used}>
        {shares.map(([of, tokens]) => <span key={of} class={`m-${of}`} style={{ width: `${(tokens / most) * 100}%` }} title={`${word("class.", of)}: ${tokens}`} />)}
      </div>
      <ul class="legend">
        <li><b>{used}</b></li>
        {shares.map(([of, tokens]) => <li key={of}><Memory of={of} /> {number(tokens, locale)}</li>)}
      </ul>
    </div>
  );
}

export interface Left {
  id: string;
  memory: string;
  reason: string;
  title: string | undefined;
  tokens: number | undefined;
  score: number | undefined;
}

interface LeftOutProps {
  of: readonly Left[];
  /** What was kept, whose lowest score of each class is the floor. */
  kept: readonly { memory: string; score?: number | undefined }[];
}

/** What was found and left out; what its memory did not send on has no title, and is counted. */
export function LeftOut({ of, kept }: LeftOutProps) {
  const { say, word, locale } = useSpeech();
  if (of.length === 0) return <p class="quiet">{say("inspect.nothing")}</p>;
  const floors = new Map([...new Set(of.map((each) => each.memory))].map((memory) => [memory, floorOf(kept.filter((each) => each.memory === memory))]));
  const most = Math.max(...of.map((each) => each.score ?? 0), ...[...floors.values()].map((each) => each ?? 0));
  const named = of.filter((each) => each.title !== undefined).sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  return (
    <ul class="left-out">
      {named.map((each) => (
        <li key={each.id} class={`m-${each.memory}`}>
          <span class={`dot m-${each.memory}`} title={word("class.", each.memory)} />
          <span class="name">{each.title}</span>
          <span class="quiet">{word("dropped.", each.reason)}</span>
          <Score of={each.score} floor={floors.get(each.memory)} most={most} />
          <span class="n">{each.tokens ? number(each.tokens, locale) : ""}</span>
        </li>
      ))}
      {unnamed(of).map(([memory, reason, some]) => (
        <li key={`${memory} ${reason}`} class={`m-${memory}`}>
          <span class={`dot m-${memory}`} title={word("class.", memory)} />
          <span class="name">{say("dropped.more", { n: some.length, memory: word("class.", memory) })}</span>
          <span class="quiet">{word("dropped.", reason)}</span>
          <Score of={Math.max(...some.map((each) => each.score ?? 0))} floor={floors.get(memory)} most={most} />
          <span class="n" />
        </li>
      ))}
    </ul>
  );
}

function unnamed(of: readonly Left[]): [string, string, Left[]][] {
  const groups = new Map<string, Left[]>();
  for (const each of of) {
    if (each.title !== undefined) continue;
    const key = `${each.memory} ${each.reason}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((some) => [some[0]!.memory, some[0]!.reason, some]);
}
