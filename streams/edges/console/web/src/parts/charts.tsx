/** Charts by day, as inline SVG: the numbers are in the table beside them. */

import type { DecisionDay } from "../data/types.ts";
import { number } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

const WIDTH = 560, HEIGHT = 170, LEFT = 44, BOTTOM = 20, TOP = 10;
const INNER = HEIGHT - BOTTOM - TOP;

export interface Series {
  name: string;
  /** The class that colours it. */
  kind: string;
  of: (day: DecisionDay) => number;
}

interface ChartProps {
  title: string;
  days: readonly DecisionDay[];
  series: readonly Series[];
}

/** Bars that stand on one another. */
export function Bars({ title, days, series }: ChartProps) {
  const most = ceiling(Math.max(1, ...days.map((day) => series.reduce((sum, each) => sum + each.of(day), 0))));
  const step = (WIDTH - LEFT) / Math.max(days.length, 1);
  const width = Math.min(Math.max(step - 2, 1), 36);
  return (
    <Chart title={title} days={days} series={series} most={most} total>
      {days.map((day, at) => {
        let below = 0;
        return series.map((each) => {
          const height = (each.of(day) / most) * INNER;
          below += height;
          if (height === 0) return null;
          return (
            <rect key={`${day.day}${each.name}`} class={each.kind} x={LEFT + at * step + (step - width) / 2} width={width}
              y={TOP + INNER - below} height={Math.max(height - 0.75, 0.5)} rx={1.5}>
              <title>{`${day.day} · ${each.name}: ${each.of(day)}`}</title>
            </rect>
          );
        });
      })}
    </Chart>
  );
}

/** A line with a point for each day. */
export function Curves({ title, days, series }: ChartProps) {
  const most = ceiling(Math.max(1, ...days.flatMap((day) => series.map((each) => each.of(day)))));
  const step = (WIDTH - LEFT) / Math.max(days.length, 1);
  const x = (at: number): number => LEFT + (at + 0.5) * step;
  const y = (value: number): number => TOP + INNER - (value / most) * INNER;
  return (
    <Chart title={title} days={days} series={series} most={most}>
      {series.map((each) => (
        <g key={each.name} class={each.kind}>
          <polyline points={days.map((day, at) => `${x(at)},${y(each.of(day))}`).join(" ")} />
          {days.map((day, at) => (
            <circle key={day.day} cx={x(at)} cy={y(each.of(day))} r={3}>
              <title>{`${day.day} · ${each.name}: ${each.of(day)}`}</title>
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

function Chart({ title, days, series, most, total, children }: FrameProps) {
  const { locale } = useSpeech();
  const summary = series.map((each) => `${each.name}: ${spoken(days.map(each.of), total ?? false, locale)}`).join("; ");
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}. ${summary}`}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid" x1={LEFT} x2={WIDTH} y1={TOP + INNER * (1 - share)} y2={TOP + INNER * (1 - share)} />
            <text class="axis" x={LEFT - 6} y={TOP + INNER * (1 - share) + 3.5} text-anchor="end">{number(most * share, locale, 1)}</text>
          </g>
        ))}
        {children}
        {days.length > 0 ? <text class="axis" x={LEFT} y={HEIGHT - 5}>{days[0]!.day.slice(5)}</text> : null}
        {days.length > 1 ? <text class="axis" x={WIDTH} y={HEIGHT - 5} text-anchor="end">{days.at(-1)!.day.slice(5)}</text> : null}
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
