/** Charts by day or hour, as inline SVG: the numbers are in the table beside them. */

import type { Slot } from "../data/days.ts";
import { number } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

const WIDTH = 560, HEIGHT = 170, LEFT = 44, BOTTOM = 20, TOP = 10;
const INNER = HEIGHT - BOTTOM - TOP;

export interface Series {
  name: string;
  /** The class that colours it. */
  kind: string;
  of: (slot: Slot) => number;
}

interface ChartProps {
  title: string;
  slots: readonly Slot[];
  series: readonly Series[];
}

/** Bars that stand on one another. */
export function Bars({ title, slots, series }: ChartProps) {
  const most = ceiling(Math.max(1, ...slots.map((slot) => series.reduce((sum, each) => sum + each.of(slot), 0))));
  const step = (WIDTH - LEFT) / Math.max(slots.length, 1);
  const width = Math.min(Math.max(step - 2, 1), 36);
  return (
    <Chart title={title} slots={slots} series={series} most={most} total>
      {slots.map((slot, at) => {
        let below = 0;
        return series.map((each) => {
          const height = (each.of(slot) / most) * INNER;
          below += height;
          if (height === 0) return null;
          return (
            <rect key={`${slot.at}${each.name}`} class={each.kind} x={LEFT + at * step + (step - width) / 2} width={width}
              y={TOP + INNER - below} height={Math.max(height - 0.75, 0.5)} rx={1.5}>
              <title>{`${slot.at} · ${each.name}: ${each.of(slot)}`}</title>
            </rect>
          );
        });
      })}
    </Chart>
  );
}

/** A line with a point for each of them. */
export function Curves({ title, slots, series }: ChartProps) {
  const most = ceiling(Math.max(1, ...slots.flatMap((slot) => series.map((each) => each.of(slot)))));
  const step = (WIDTH - LEFT) / Math.max(slots.length, 1);
  const x = (at: number): number => LEFT + (at + 0.5) * step;
  const y = (value: number): number => TOP + INNER - (value / most) * INNER;
  return (
    <Chart title={title} slots={slots} series={series} most={most}>
      {series.map((each) => (
        <g key={each.name} class={each.kind}>
          <polyline points={slots.map((slot, at) => `${x(at)},${y(each.of(slot))}`).join(" ")} />
          {slots.map((slot, at) => (
            <circle key={slot.at} cx={x(at)} cy={y(each.of(slot))} r={3}>
              <title>{`${slot.at} · ${each.name}: ${each.of(slot)}`}</title>
            </circle>
          ))}
        </g>
      ))}
    </Chart>
  );
}

interface FrameProps extends ChartProps {
  most: number;
  total?: boolean;
  children: preact.ComponentChildren;
}

function Chart({ title, slots, series, most, total, children }: FrameProps) {
  const { locale } = useSpeech();
  const summary = series.map((each) => `${each.name}: ${spoken(slots.map(each.of), total ?? false, locale)}`).join("; ");
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}. ${summary}`}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid" x1={LEFT} x2={WIDTH} y1={TOP + INNER * (1 - share)} y2={TOP + INNER * (1 - share)} />
            <text class="axis" x={LEFT - 6} y={TOP + INNER * (1 - share) + 3.5} text-anchor="end">{total && !Number.isInteger(most * share) ? "" : number(most * share, locale, 1)}</text>
          </g>
        ))}
        {children}
        {slots.length > 0 ? <text class="axis" x={LEFT} y={HEIGHT - 5}>{slots[0]!.at.slice(5)}</text> : null}
        {slots.length > 1 ? <text class="axis" x={WIDTH} y={HEIGHT - 5} text-anchor="end">{slots.at(-1)!.at.slice(5)}</text> : null}
      </svg>
      <ul class="legend">
        {series.map((each) => <li key={each.name}><span class={`swatch ${each.kind}`} aria-hidden="true" />{each.name}</li>)}
      </ul>
    </figure>
  );
}

function spoken(values: readonly number[], total: boolean, locale: string): string {
  if (total) return number(values.reduce((sum, each) => sum + each, 0), locale);
  return `${number(Math.min(...values), locale)}–${number(Math.max(...values), locale)}`;
}

/** The next round number. */
export function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) ?? 10) * power;
}
