/** When each class of memory was asked and answered, beside the deadline. */

import { milliseconds, said } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Memory } from "./marks.tsx";
import { State } from "./small.tsx";

export interface Wait {
  memory: string;
  state: string;
  why?: string | null | undefined;
  ms: number | null | undefined;
}

interface WaterfallProps {
  of: readonly Wait[];
  /** When the pack was complete. */
  done?: number | null | undefined;
  deadline?: number | undefined;
  /** Whether the page says elsewhere when the pack was complete. */
  known?: boolean;
}

// A deadline that is farther away than this many times the last answer is named, not drawn to scale.
const FAR = 2.5;

export function Waterfall({ of, done, deadline, known }: WaterfallProps) {
  const { say, word, locale } = useSpeech();
  const last = Math.max(...of.map((each) => each.ms ?? 0), done ?? 0, 1);
  const isFar = deadline !== undefined && deadline > last * FAR;
  const width = deadline === undefined ? last : isFar ? last * 1.3 : Math.max(last, deadline) * 1.05;
  const share = (ms: number): string => `${Math.min(ms / width, 1) * 100}%`;
  return (
    <table class="waterfall" aria-label={say("waterfall")}>
      <thead>
        <tr>
          <th scope="col">{say("waterfall.asked")}</th>
          <th scope="col" class="axis">
            <span>0 ms</span>
            {deadline === undefined ? null : <span class="deadline-label">{say("pack.deadline", { ms: milliseconds(deadline, locale) })}{isFar ? " →" : ""}</span>}
          </th>
          <th scope="col" class="n">{say("waterfall.answered")}</th>
        </tr>
      </thead>
      <tbody>
        {of.map((each) => (
          <tr key={each.memory}>
            <th scope="row"><Memory of={each.memory} /></th>
            <td class="track">
              {each.state === "skipped" ? <span class="quiet">{word("state.", "skipped")}{each.why ? `: ${said(each.why)}` : ""}</span> : (
                <span class={`wait m-${each.memory} is-${each.state}`} style={{ width: each.ms === null || each.ms === undefined ? (each.state === "late" && deadline !== undefined ? share(deadline) : "100%") : share(each.ms) }} />
              )}
              {deadline === undefined || isFar ? null : <span class="deadline" style={{ left: share(deadline) }} />}
            </td>
            <td class="n nowrap">{each.state === "ok" || each.state === "empty" ? milliseconds(each.ms, locale) : <State of={each.state} says={word("state.", each.state)} />}</td>
          </tr>
        ))}
        {done === null || done === undefined ? null : (
          <tr>
            <th scope="row">{say("pack")}</th>
            <td class="track"><span class="wait is-whole" style={{ width: share(done) }} />{deadline === undefined || isFar ? null : <span class="deadline" style={{ left: share(deadline) }} />}</td>
            <td class="n nowrap">{known ? "" : milliseconds(done, locale)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
