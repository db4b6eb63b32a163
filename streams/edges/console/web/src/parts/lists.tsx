/** Lists that are asked for in pages: their search box, table, pages, and what stands there where there is nothing. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { number } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";

export interface Head {
  name: string;
  /** Of numbers. */
  n?: boolean;
}

/** A table that scrolls by itself. */
export function Grid({ name, heads, children }: { name: string; heads: readonly (string | Head)[]; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={name}>
      <table class="grid">
        <thead>
          <tr>
            {heads.map((each) => (typeof each === "string" ? { name: each } : each)).map((head) => (
              <th key={head.name} scope="col" class={head.n ? "n" : ""}>{head.name}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function Find({ label, text, go }: { label: string; text: string; go: (text: string) => void }) {
  const { say } = useSpeech();
  const [typed, setTyped] = useState(text);
  return (
    <form class="find" role="search" aria-label={label} onSubmit={(event) => { event.preventDefault(); go(typed.trim()); }}>
      <input type="search" aria-label={label} placeholder={label} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      <button type="submit">{say("find")}</button>
    </form>
  );
}

interface PagesProps {
  offset: number;
  limit: number;
  shown: number;
  total: number;
  to: (offset: number) => string;
}

/** Which of how many are shown, with links to the page before and behind. */
export function Pages({ offset, limit, shown, total, to }: PagesProps) {
  const { say, locale } = useSpeech();
  if (total === 0) return null;
  const says = say("pages.of", { from: number(offset + 1, locale), to: number(offset + shown, locale), total: number(total, locale) });
  return (
    <nav class="pages" aria-label={say("pages")}>
      <span class="quiet">{says}</span>
      {offset > 0 ? <a class="button" href={to(Math.max(offset - limit, 0))} rel="prev">{say("pages.before")}</a> : null}
      {offset + shown < total ? <a class="button" href={to(offset + limit)} rel="next">{say("pages.behind")}</a> : null}
    </nav>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <section class="nothing"><h2>{title}</h2>{children}</section>;
}
