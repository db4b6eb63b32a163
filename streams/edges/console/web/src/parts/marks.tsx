/** Marks that mean the same on every page: a class of memory, a depth, a score, tokens over turns. */

import { number } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

export function Depth({ of }: { of: string }) {
  return <span class={`badge level ${of.toLowerCase()}`}>{of}</span>;
}

/** A class of memory by its colour and name; `FRAME` is what is no memory. */
export function Memory({ of }: { of: string }) {
  const { word } = useSpeech();
  return <span class={`memory m-${of}`}>{word("class.", of)}</span>;
}

const LEAST = 0.001;

/** A score beside the lowest that was kept; `most` is the length of the bar. */
export function Score({ of, floor, most = 1 }: { of: number | undefined; floor?: number | null | undefined; most?: number }) {
  const { say, locale } = useSpeech();
  if (!of) return <span class="quiet">–</span>;
  const share = (value: number): string => `${Math.min(value / Math.max(most, Number.EPSILON), 1) * 100}%`;
  const text = of < LEAST ? `< ${number(LEAST, locale, 3)}` : number(of, locale, 3);
  return (
    <span class="score" title={floor ? say("score.floor", { n: number(floor, locale, 3) }) : undefined}>
      <span class="score-bar" aria-hidden="true">
        <span class="fill" style={{ width: share(of) }} />
        {floor ? <span class="floor" style={{ left: share(floor) }} /> : null}
      </span>
      {text}
    </span>
  );
}

const SPARK = { width: 96, height: 22, most: 24 };

/** Tokens of each turn, the oldest first. */
export function Spark({ of }: { of: readonly number[] }) {
  const { say, locale } = useSpeech();
  const values = of.slice(-SPARK.most);
  const most = Math.max(...values, 1);
  const step = SPARK.width / SPARK.most;
  // One element for all of them: a page has fifty.
  const strokes = values.map((value, at) => `M${(at + 0.5) * step} ${SPARK.height}v-${Math.max((value / most) * SPARK.height, 1.5).toFixed(1)}`);
  const label = say("spark", { n: of.length, last: number(of.at(-1) ?? 0, locale), most: number(Math.max(...of, 0), locale) });
  return (
    <svg class="spark" viewBox={`0 0 ${SPARK.width} ${SPARK.height}`} role="img" aria-label={label}>
      <path d={strokes.join("")} stroke-width={step - 1} />
    </svg>
  );
}
