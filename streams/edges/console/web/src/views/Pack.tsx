/** A pack, and two packs side by side. */

import { useState } from "preact/hooks";

import { explanation, packToCome } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { isOurs } from "../data/session.ts";
import type { ContextPack } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Inspected, idsOf } from "../parts/inspected.tsx";

export function Pack({ id }: { id: string }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded((signal) => packToCome(id, signal, isOurs(id) ? undefined : 1), [id]);
  if (value === null) return <Waiting why={why} />;
  return (
    <div class="inspected">
      <h1>{value.query}</h1>
      <p class="facts"><a href={address("message", [id])}>{say("inspect.message")}</a> <code class="quiet">{id}</code> <Explain id={id} /></p>
      <Inspected pack={value} />
    </div>
  );
}

/** Saved, not opened: a page of this origin's would be held to the console's own policy, and have no style. */
function Explain({ id }: { id: string }) {
  const { say } = useSpeech();
  const [why, setWhy] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await explanation(id));
      link.download = `${id}.html`;
      link.click();
      URL.revokeObjectURL(link.href);
      setWhy(null);
    } catch (error) {
      setWhy(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void save()}>{say("inspect.explain")}</button>
      {why === null ? null : <span class="problem" role="alert">{why}</span>}
    </>
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
