/** Days without messages are days, too. */

import type { DecisionDay } from "./types.ts";

const DAY_MS = 86_400_000;

/** The days from the first to the last, those that were left out with nothing on them. */
export function everyDay(days: readonly DecisionDay[]): DecisionDay[] {
  const known = new Map(days.map((day) => [day.day, day]));
  const [first, last] = [days[0]?.day, days.at(-1)?.day].map((day) => Date.parse(`${day}T00:00:00Z`));
  const whole: DecisionDay[] = [];
  for (let at = first ?? 1; at <= (last ?? 0); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    whole.push(known.get(day) ?? nothing(day));
  }
  return whole;
}

function nothing(day: string): DecisionDay {
  return {
    day, depths: {}, messages: 0, tokens: { p50: 0, mean: 0 }, latency_ms: { p50: 0, p95: 0 }, degraded: 0, corrections: 0,
  };
}
