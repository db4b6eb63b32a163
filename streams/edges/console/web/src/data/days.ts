/** The days or hours of decisions: those without messages are among them, too. */

import type { DecisionFigures, DecisionsShown } from "./types.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A day or an hour with its name. */
export interface Slot extends DecisionFigures {
  at: string;
}

/** The hours, where all is of less than two days, else the days, from the first to the last. */
export function slotsOf(shown: Pick<DecisionsShown, "days" | "hours">): Slot[] {
  if (shown.hours) return filled(shown.hours.map((each) => [Date.parse(each.hour), each]), HOUR_MS, (at) => `${at.slice(0, 10)} ${at.slice(11, 13)}:00`);
  return filled(shown.days.map((each) => [Date.parse(`${each.day}T00:00:00Z`), each]), DAY_MS, (at) => at.slice(0, 10));
}

function filled(known: readonly (readonly [number, DecisionFigures])[], step: number, name: (iso: string) => string): Slot[] {
  const found = new Map(known);
  const whole: Slot[] = [];
  for (let at = known[0]?.[0] ?? 1; at <= (known.at(-1)?.[0] ?? 0); at += step) {
    whole.push({ ...(found.get(at) ?? nothing()), at: name(new Date(at).toISOString()) });
  }
  return whole;
}

function nothing(): DecisionFigures {
  return { depths: {}, messages: 0, tokens: { p50: 0, mean: 0 }, latency_ms: { p50: 0, p95: 0 }, degraded: 0, corrections: 0 };
}
