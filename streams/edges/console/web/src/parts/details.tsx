/** The details of the row that was chosen. */

import type { Picture } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Row } from "../tree/rows.ts";
import { AnswerShown, NodeShown } from "./answer.tsx";
import { ClaimShown } from "./claim.tsx";
import { ClassShown, ItemShown, PackShown } from "./pack.tsx";

export function Details({ row, picture, unknown }: { row: Row | undefined; picture: Picture; unknown: boolean }) {
  const { say, word } = useSpeech();
  const cognition = picture.cognition ?? {};
  if (row === undefined) return <p class="quiet">{say(unknown ? "message.unknown" : "message.waiting")}</p>;
  const { held } = row;
  switch (held.kind) {
    case "pack":
      return <><h2>{say("pack")}</h2><PackShown pack={held.pack} /></>;
    case "class":
      return <><h2>{word("class.", held.node.node_id)}</h2><ClassShown node={held.node} /></>;
    case "kept":
      return <><h2>{say("item")}</h2><ItemShown item={held.item} kept /></>;
    case "dropped":
      return <><h2>{say("item")}</h2><ItemShown item={held.item} kept={false} /></>;
    case "cognition":
      return <><h2>{say("answer")}</h2><AnswerShown cognition={held.cognition} /></>;
    case "node":
      return <><h2>{say("node.question")} {held.node.node_id}</h2><NodeShown node={held.node} cognition={cognition} /></>;
    case "claim":
      return <><h2>{say("claim")}</h2><p class="quiet">{held.node.node_id} {held.node.question}</p><ClaimShown claim={held.claim} cognition={cognition} /></>;
  }
}
