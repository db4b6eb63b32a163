/** The replays, and what one made otherwise than the recorded run or than another: in sum and by message. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { replayDifference, replays, startReplay } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { milliseconds, number, whyOf } from "../data/text.ts";
import type { ReplayChange, ReplayDifference } from "../data/types.ts";
import type { Key } from "../language/en.ts";
import { useSpeech } from "../language/say.ts";
import { Empty, Grid } from "../parts/lists.tsx";
import type { Head } from "../parts/lists.tsx";
import { Depth } from "../parts/marks.tsx";
import { Block, Fields, Waiting } from "../parts/small.tsx";

const LOOK_MS = 1000;

export function Replays() {
  const { say, locale } = useSpeech();
  const [looked, setLooked] = useState(0);
  const { value, why } = useLoaded((signal) => replays(signal), [looked], true);
  const again = (): void => setLooked((count) => count + 1);
  const running = value?.replays.some((each) => each.state === "running") ?? false;
  useEffect(() => {
    if (!running) return undefined;
    const waiting = setTimeout(again, LOOK_MS);
    return () => clearTimeout(waiting);
  }, [running, looked]);
  return (
    <div class="replays">
      <h1>{say("replays.title")}</h1>
      <Start done={again} />
      {value === null ? <Waiting why={why} /> : value.replays.length === 0 ? <Nothing /> : (
        <Grid name={say("replays.title")} heads={[say("replays.replay"), say("replays.with"), say("replays.state"), say("replays.topics"), { name: say("lag.records"), n: true }]}>
          {value.replays.toReversed().map((each) => (
            <tr key={each.replay_id}>
              <th scope="row"><a href={address("replay", [each.replay_id])}>{each.replay_id}</a></th>
              <td><Settings of={each.settings} /></td>
              <td>{each.state === undefined ? "" : say(`replays.${each.state}`)}{each.why === undefined ? null : <small>{each.why}</small>}</td>
              <td>{Object.keys(each.topics).join(", ")}</td>
              <td class="n">{number(Object.values(each.topics).reduce((sum, records) => sum + records, 0), locale)}</td>
            </tr>
          ))}
        </Grid>
      )}
    </div>
  );
}

/** Which recorded messages to answer again, with which other settings. */
function Start({ done }: { done: () => void }) {
  const { say } = useSpeech();
  const [why, setWhy] = useState<string | null>(null);
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const said = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(said.get(name) ?? "").trim();
    const settings = settingsOf(text("settings"));
    if (settings === null) {
      setWhy(say("replays.malformed"));
      return;
    }
    const hours = text("hours") === "" ? {} : { hours: Number(text("hours")) };
    const conversation = text("conversation") === "" ? {} : { conversation_id: text("conversation") };
    setWhy(null);
    startReplay({ settings, ...hours, ...conversation }).then(done, (error: unknown) => setWhy(whyOf(error)));
  };
  return (
    <details class="panel">
      <summary>{say("replays.start")}</summary>
      <p class="quiet">{say("replays.what")}</p>
      <form class="start" onSubmit={send}>
        <label>{say("replays.settings")}<textarea name="settings" rows={3} placeholder={"FATHOM_MAX_TOKENS_D2=1000\nFATHOM_LOOK_UP=never"} /></label>
        <label>{say("replays.hours")}<input name="hours" type="number" min="0.1" step="any" /></label>
        <label>{say("replays.conversation")}<input name="conversation" /></label>
        <button type="submit">{say("replays.go")}</button>
      </form>
      {why === null ? null : <p class="problem" role="alert">{why}</p>}
    </details>
  );
}

/** The settings of NAME=VALUE lines; null where a line is none. */
function settingsOf(text: string): Record<string, string> | null {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (lines.some((line) => !/^\w+=/.test(line))) return null;
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

function Settings({ of }: { of: Record<string, string> }) {
  const { say } = useSpeech();
  const lines = Object.entries(of).map(([name, value]) => `${name}=${value}`);
  return lines.length === 0 ? <span class="quiet">{say("replays.unchanged")}</span> : <code>{lines.join(" ")}</code>;
}

function Nothing() {
  const { say } = useSpeech();
  return (
    <Empty title={say("replays.none")}>
      <p>{say("replays.how")}</p>
      <pre class="text">fathom replay --mode reprocess --execute</pre>
    </Empty>
  );
}

export function Replay({ id, against }: { id: string; against: string }) {
  const { say } = useSpeech();
  const others = useLoaded((signal) => replays(signal), []);
  const { value, why } = useLoaded((signal) => replayDifference(id, against, signal), [id, against]);
  const known = (others.value?.replays ?? []).map((each) => each.replay_id).filter((each) => each !== id);
  return (
    <div class="replays">
      <p class="crumbs"><a href={address("replays")}>{say("replays.all")}</a></p>
      <div class="page-head">
        <h1>{say("replays.replay")} {id}</h1>
        <label class="beside">{say("replays.against")}
          <select name="against" value={against} onChange={(event) => { location.hash = address("replay", [id], { against: event.currentTarget.value }); }}>
            <option value="">{say("replays.recorded")}</option>
            {known.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
      </div>
      <p class="quiet">{say("replays.with")}: <Settings of={(others.value?.replays ?? []).find((each) => each.replay_id === id)?.settings ?? {}} /></p>
      {value === null ? <Waiting why={why} /> : <Shown of={value} />}
    </div>
  );
}

function Shown({ of }: { of: ReplayDifference }) {
  const { say, locale } = useSpeech();
  const both = (was: number | null, now: number | null, shown = (value: number | null) => number(value, locale)): string => `${shown(was)} → ${shown(now)}`;
  const counted = (...names: Key[]): Head[] => names.map((name) => ({ name: say(name), n: true }));
  const timed = (value: number | null): string => milliseconds(value, locale);
  const rows = (table: ReplayDifference["items"], columns: readonly string[]): ComponentChildren =>
    Object.entries(table).map(([name, counts]) => (
      <tr key={name}><th scope="row">{name}</th>{columns.map((each) => <td key={each} class="n">{number(counts[each] ?? 0, locale)}</td>)}</tr>
    ));
  return (
    <>
      <div class="figures">
        <Fields of={[
          [say("replays.compared"), number(of.compared, locale)],
          [say("replays.different"), number(of.different, locale)],
          [say("replays.only"), of.only_replayed > 0 ? number(of.only_replayed, locale) : null],
          [say("tokens"), both(of.tokens.was, of.tokens.now)],
          [say("inspect.evidence"), say("replays.changed", { gained: of.evidence.gained, lost: of.evidence.lost })],
          [say("inspect.degraded"), both(of.degraded.was, of.degraded.now)],
          [say("replays.noRoom"), both(of.over_budget.was, of.over_budget.now)],
          [`${say("pack.latency")}, ${say("decisions.median")}`, both(of.latency_ms.was.p50, of.latency_ms.now.p50, timed)],
          [`${say("pack.latency")}, ${say("decisions.p95")}`, both(of.latency_ms.was.p95, of.latency_ms.now.p95, timed)],
        ]} />
      </div>
      <div class="thirds">
        <Block title={say("replays.depths")}>
          {of.depths.length === 0 ? <p class="quiet">{say("replays.same")}</p> : (
            <Grid name={say("replays.depths")} heads={[say("replays.was"), say("replays.now"), { name: say("decisions.messages"), n: true }]}>
              {of.depths.map((each) => (
                <tr key={`${each.was}${each.now}`}><td><Depth of={each.was} /></td><td><Depth of={each.now} /></td><td class="n">{number(each.messages, locale)}</td></tr>
              ))}
            </Grid>
          )}
        </Block>
        <Block title={say("node.sources")}>
          <Grid name={say("node.sources")} heads={[say("source"), ...counted("replays.was", "replays.now")]}>{rows(of.sources, ["was", "now"])}</Grid>
        </Block>
        <Block title={say("items")}>
          <Grid name={say("items")} heads={[say("section"), ...counted("kept", "replays.gained", "replays.lost")]}>{rows(of.items, ["kept", "gained", "lost"])}</Grid>
        </Block>
      </div>
      <Block title={say("replays.messages")}>
        {of.changes.length === 0 ? <p class="quiet">{say("replays.same")}</p> : <Changes of={of.changes} />}
        {of.changes_left_out > 0 ? <p class="quiet">{say("replays.more", { n: number(of.changes_left_out, locale) })}</p> : null}
      </Block>
    </>
  );
}

function Changes({ of }: { of: readonly ReplayChange[] }) {
  const { say, locale } = useSpeech();
  return (
    <Grid name={say("replays.messages")} heads={[say("ask.question"), say("pack.level"), say("tokens"), say("replays.gained"), say("replays.lost")]}>
      {of.map((each) => (
        <tr key={each.message_id}>
          <th scope="row"><a href={address("message", [each.message_id])}>{each.query}</a></th>
          <td class="nowrap">{each.depth[0]} → {each.depth[1]}</td>
          <td class="nowrap">{number(each.tokens[0], locale)} → {number(each.tokens[1], locale)}</td>
          <td>{changed(each.sources_gained, each.items_gained, !each.evidence[0] && each.evidence[1] ? say("inspect.evidence") : null, "")}</td>
          <td>{changed(each.sources_lost, each.items_lost, each.evidence[0] && !each.evidence[1] ? say("inspect.evidence") : null, say("replays.overBudget"))}</td>
        </tr>
      ))}
    </Grid>
  );
}

function changed(sources: readonly string[], items: ReplayChange["items_lost"], evidence: string | null, overBudget: string): ComponentChildren {
  const lines = [...(evidence === null ? [] : [evidence]), ...sources, ...items.map((each) => `${each.section}: ${each.title}${each.over_budget && overBudget !== "" ? ` (${overBudget})` : ""}`)];
  return lines.length === 0 ? null : <ul class="lines">{lines.map((each, at) => <li key={at}>{each}</li>)}</ul>;
}
