/** A message: the live tree of its pack and its deep answer, with the details of what is chosen. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { pack as packOf, titlesOfDropped } from "../data/api.ts";
import { useMessage } from "../data/following.ts";
import { useLoaded } from "../data/loading.ts";
import type { Touched } from "../data/following.ts";
import { isUnnamed, named } from "../data/pack.ts";
import type { MessageReducer } from "../data/reducer.ts";
import { address } from "../data/routes.ts";
import { milliseconds } from "../data/text.ts";
import type { ContextPack, Picture } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Speaker } from "../language/say.ts";
import { Details } from "../parts/details.tsx";
import { Depth } from "../parts/marks.tsx";
import { isOver } from "../parts/pack.tsx";
import { Budget } from "../parts/prompt.tsx";
import { Slider } from "../parts/slider.tsx";
import { State } from "../parts/small.tsx";
import { Tree } from "../tree/Tree.tsx";
import { describe, line, statusOf } from "../tree/line.tsx";
import { rowsOf } from "../tree/rows.ts";
import type { Row } from "../tree/rows.ts";

const MOST_SAID = 3;

export function Message({ id, chosen, announce }: { id: string; chosen: string; announce: (text: string) => void }) {
  const speech = useSpeech();
  const { say } = speech;
  const followed = useMessage(id, (touched, reducer) => announce(inWords(touched, reducer, speech)));
  const [at, setAt] = useState<number | null>(null);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [active, setActive] = useState<string | null>(chosen || null);
  const details = useRef<HTMLDivElement>(null);
  const { reducer, version } = followed;
  const told = useMemo(() => (at === null ? reducer.picture : reducer.after(at)), [reducer, version, at]);
  const over = isOver(told.pack);
  const unnamed = over && isUnnamed(told.pack);
  const titles = useLoaded(async (signal) => (unnamed ? titlesOfDropped(id, signal) : null), [id, unnamed]).value;
  const picture = useMemo(() => named(told, titles), [told, titles, version]);
  const rows = useMemo(() => rowsOf(picture, opened), [picture, version, opened]);
  const whole = useLoaded<ContextPack | null>(async (signal) => (over ? packOf(id, signal) : null), [id, over]).value;
  const shown = rows.find((row) => row.id === active) ?? rows.find((row) => row.id === "answer") ?? rows[0];

  useEffect(() => setAt(null), [id]);
  const select = (row: string): void => {
    setActive(row);
    // The address names what is chosen, without a step in the history for each key.
    history.replaceState(null, "", address("message", [id], { row }));
  };
  const open = (changed: readonly (readonly [string, boolean])[]): void => setOpened(new Map([...opened, ...changed]));
  const openBeside = (parent: string | null): void =>
    open(rows.filter((row) => row.parent === parent && row.expanded === false).map((row) => [row.id, true]));
  const closeAll = (expanded: boolean): void => {
    setOpened(new Map());
    const every = rowsOf(picture, new EveryRow(true)).filter((row) => row.expanded !== undefined && row.level > 1);
    open(every.map((row) => [row.id, expanded]));
  };

  return (
    <div class="message">
      <Head id={id} picture={picture} connection={followed.connection} why={followed.why} reducer={reducer} announce={announce} whole={over ? whole : null} />
      <Slider at={at} of={reducer.history.length} set={setAt} id={id} />
      <div class="split">
        <section class="side" aria-labelledby="tree-title">
          <div class="side-head">
            <h2 id="tree-title">{say("message.tree")}</h2>
            <span class="spacer" />
            <button type="button" class="small" onClick={() => closeAll(true)}>{say("message.openAll")}</button>
            <button type="button" class="small" onClick={() => closeAll(false)}>{say("message.closeAll")}</button>
          </div>
          <Tree
            label={say("message.tree")}
            rows={rows}
            active={shown?.id ?? null}
            describe={(row) => describe(row, speech)}
            draw={(row) => line(row, speech)}
            select={select}
            open={(row, expanded) => open([[row, expanded]])}
            openBeside={openBeside}
            enter={() => details.current?.focus()}
          />
          <p class="hint">{say("message.keys")}</p>
        </section>
        <div
          class="details"
          ref={details}
          tabIndex={-1}
          role="region"
          aria-label={say("message.details")}
          onKeyDown={(event) => event.key === "Escape" && focusTree()}
        >
          <Details row={shown as Row | undefined} picture={picture} whole={over ? whole : null} unknown={followed.connection === "unknown"} />
        </div>
      </div>
    </div>
  );
}

interface HeadProps {
  id: string;
  picture: Picture;
  connection: string;
  why: string | null;
  reducer: MessageReducer;
  announce: (text: string) => void;
  whole: ContextPack | null;
}

function Head({ id, picture, connection, why, reducer, announce, whole }: HeadProps) {
  const speech = useSpeech();
  const { say, word } = speech;
  const { pack, cognition } = picture;
  const question = pack?.question ?? cognition?.question ?? "";
  const save = async (): Promise<void> => {
    const pack = await packOf(id).catch(() => null);
    saved(`${id}.json`, { message_id: id, states: picture, events: reducer.history, pack });
    announce(say("message.exported"));
  };
  return (
    <header class="head">
      <h1>{question || `${say("message.title")} ${id}`}</h1>
      <p class="facts">
        <span class={`link ${connection}`} role="status">{word("connection.", connection)}</span>
        {pack?.level ? <Depth of={pack.level} /> : null}
        {pack ? <span>{say("pack")} <State of={pack.status} says={word("pack.status.", pack.status)} /></span> : null}
        {pack?.budget?.latency_ms ? <span>{milliseconds(pack.budget.latency_ms, speech.locale)}</span> : null}
        {cognition ? <span>{say("answer")} <State of={cognition.failed ? "failed" : cognition.status} says={statusOf(cognition, speech)} /></span> : null}
        <span class="spacer" />
        <a href={address("pack", [id])}>{say("message.inspect")}</a>
        <a href={address("ask", [], { q: question, not: pack?.level ?? "" })}>{say("message.again")}</a>
        <button type="button" class="small" onClick={() => void save()}>{say("message.export")}</button>
      </p>
      {why ? <p class="problem" role="alert">{why}</p> : null}
      {whole ? <Budget pack={whole} /> : null}
    </header>
  );
}

/** Opens, or closes, every row there is. */
class EveryRow extends Map<string, boolean> {
  constructor(private readonly expanded: boolean) {
    super();
  }

  override get(): boolean {
    return this.expanded;
  }
}

function focusTree(): void {
  document.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus();
}

function saved(name: string, content: unknown): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function inWords(touched: Touched, reducer: MessageReducer, speech: Speaker): string {
  const { pack, cognition } = reducer.picture;
  const said: string[] = [];
  for (const each of touched.nodes) {
    const [stage = "", id = ""] = [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1)];
    const node = stage === "pack" ? pack?.nodes?.[id] : cognition?.nodes?.[id];
    if (!node) continue;
    const question = "question" in node ? (node.question ?? id) : speech.word("class.", id);
    said.push(speech.say("said.node", { question, state: speech.word("state.", node.state) }));
  }
  const nodes = said.length > MOST_SAID ? [speech.say("said.many", { n: said.length })] : said;
  const stages: string[] = [];
  if (touched.stages.has("pack")) stages.push(speech.say("said.pack", { state: speech.word("pack.status.", pack?.status) }));
  if (touched.stages.has("cognition")) stages.push(speech.say("said.answer", { state: statusOf(cognition ?? {}, speech) }));
  return [...nodes, ...stages].join(". ");
}
