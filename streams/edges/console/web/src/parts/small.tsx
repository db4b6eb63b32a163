/** Small pieces that several views show. */

import type { ComponentChildren } from "preact";

import { said } from "../data/text.ts";
import type { Provenance } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";

/** A state: a mark whose form says it, too, and its word. */
export function State({ of, says }: { of: string | undefined; says: string }) {
  return (
    <span class={`state ${of ?? "idle"}`}>
      <span class={`mark ${of ?? "idle"}`} aria-hidden="true" />
      {says}
    </span>
  );
}

export function Badge({ children, kind = "", title }: { children: ComponentChildren; kind?: string; title?: string }) {
  return <span class={`badge ${kind}`} title={title}>{children}</span>;
}

/** What was used of what may be used. */
export function Meter({ label, used, most, says }: { label: string; used: number; most: number; says: string }) {
  const share = most > 0 ? Math.min(used / most, 1) : 0;
  return (
    <div class="meter" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={most} aria-valuenow={used} aria-valuetext={says}>
      <span class="meter-label">{label}</span>
      <span class="bar"><span class={used > most ? "fill over" : "fill"} style={{ width: `${share * 100}%` }} /></span>
      <span class="meter-says">{says}</span>
    </div>
  );
}

/** Names and what they stand for; without those that have nothing. */
export function Fields({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = of.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return (
    <dl class="fields">
      {shown.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

/** A place in the log, or a record of a store. */
export function placeOf(source: Provenance | null | undefined): string {
  if (!source) return "";
  if (source.topic !== undefined) return `${source.topic} [${source.partition ?? "?"}] @ ${source.offset ?? "?"}`;
  return `${source.store ?? ""} ${source.id ?? ""}`.trim();
}

export function Lines({ of }: { of: readonly unknown[] | undefined }) {
  if (!of || of.length === 0) return null;
  return <ul class="lines">{of.map((each, at) => <li key={at}>{said(each)}</li>)}</ul>;
}

export function Block({ title, children }: { title: string; children: ComponentChildren }) {
  return <section class="block"><h3>{title}</h3>{children}</section>;
}

/** Something that is on its way, or why it does not come. */
export function Waiting({ why }: { why: string | null }) {
  const { say } = useSpeech();
  return why === null ? <p class="quiet" role="status">{say("loading")}</p> : <p class="problem" role="alert">{why}</p>;
}

const SPANS = [7, 30, 90];

/** Of how many days something is shown. */
export function Days({ of, to, spans = SPANS }: { of: number; to: (days: number) => string; spans?: readonly number[] }) {
  const { say } = useSpeech();
  return (
    <nav class="chips" aria-label={say("decisions.days")}>
      {spans.map((each) => <a key={each} href={to(each)} aria-current={each === of ? "true" : undefined} aria-label={say("days", { n: each })}>{each}</a>)}
      <span class="quiet">{say("days.unit")}</span>
    </nav>
  );
}
