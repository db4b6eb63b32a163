/** A pack. */

import { useState } from "preact/hooks";

import { explanation, packToCome } from "../data/api.ts";
import { useLoaded } from "../data/loading.ts";
import { address } from "../data/routes.ts";
import { isOurs } from "../data/session.ts";
import { whyOf } from "../data/text.ts";
import { useSpeech } from "../language/say.ts";
import { Inspected } from "../parts/inspected.tsx";
import { Waiting } from "../parts/small.tsx";

export function Pack({ id }: { id: string }) {
  const { say } = useSpeech();
  const { value, why } = useLoaded((signal) => packToCome(id, signal, isOurs(id) ? undefined : 1), [id]);
  if (value === null) return <Waiting why={why} />;
  return (
    <div class="inspected">
      <h1>{value.query}</h1>
      <p class="facts">
        <a href={address("message", [id])}>{say("inspect.message")}</a> <code class="quiet">{id}</code>
        <span class="spacer" />
        <a href={address("ask", [], { q: value.query, not: value.depth_level })}>{say("message.again")}</a>
        <Explain id={id} />
      </p>
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
      setWhy(whyOf(error));
    }
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void save()}>{say("inspect.explain")}</button>
      {why === null ? null : <span class="problem" role="alert">{why}</span>}
    </>
  );
}
