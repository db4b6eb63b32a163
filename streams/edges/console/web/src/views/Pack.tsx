/** A pack, and two packs side by side. */

import { packToCome } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import type { ContextPack } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Inspected, idsOf } from "../parts/inspected.tsx";

export function Pack({ id }: { id: string }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded((signal) => packToCome(id, signal), [id]);
  if (value === null) return <Waiting why={why} />;
  return (
    <div class="inspected">
      <h1>{value.query}</h1>
      <p class="facts"><a href={address("message", [id])}>{say("inspect.message")}</a> <code class="quiet">{id}</code></p>
      <Inspected pack={value} />
    </div>
  );
}

export function Compare({ ids }: { ids: readonly string[] }) {
  const { say } = useSpeech();
  const [first = "", second = ""] = ids;
  const left = useLoaded((signal) => packToCome(first, signal), [first]);
  const right = useLoaded((signal) => packToCome(second, signal), [second]);
  return (
    <div class="compare">
      <h1>{say("compare.title")}</h1>
      <div class="two">
        <Column id={first} pack={left.value} why={left.why} other={right.value} />
        <Column id={second} pack={right.value} why={right.why} other={left.value} />
      </div>
    </div>
  );
}

interface ColumnProps {
  id: string;
  pack: ContextPack | null;
  why: string | null;
  other: ContextPack | null;
}

function Column({ id, pack, why, other }: ColumnProps) {
  const { say } = useSpeech();
  return (
    <section aria-label={pack?.depth_level ?? id}>
      {pack === null ? <Waiting why={why} /> : (
        <>
          <h2>{pack.depth_level} · {pack.query}</h2>
          <p class="facts"><a href={address("message", [id])}>{say("inspect.message")}</a> <code class="quiet">{id}</code></p>
          <Inspected pack={pack} other={other === null ? undefined : idsOf(other)} />
        </>
      )}
    </section>
  );
}

export function Waiting({ why }: { why: string | null }) {
  const { say } = useSpeech();
  return why === null ? <p class="quiet" role="status">{say("loading")}</p> : <p class="problem" role="alert">{why}</p>;
}
