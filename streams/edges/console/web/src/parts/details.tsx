/** The details of the row that was chosen. */

import type { ContextPack, Picture } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import type { Row } from "../tree/rows.ts";
import { CallShown } from "./call.tsx";
import { AnswerShown, NodeShown } from "./answer.tsx";
import { ClaimShown } from "./claim.tsx";
import { ClassShown, ItemShown, MoreShown, PackShown } from "./pack.tsx";

interface DetailsProps {
  row: Row | undefined;
  picture: Picture;
  /** The finished pack; null while there is none. */
  whole: ContextPack | null;
  unknown: boolean;
}

export function Details({ row, picture, whole, unknown }: DetailsProps) {
  const { say, word } = useSpeech();
  const { pack, cognition } = picture;
  if (row === undefined) return <p class="quiet">{say(unknown ? "message.unknown" : "message.waiting")}</p>;
  const { held } = row;
  switch (held.kind) {
    case "pack":
      return <><h2>{say("inspect.text")}</h2><PackShown pack={held.pack} whole={whole} /></>;
    case "empties":
      return <><h2>{say("class.empty")}</h2>{held.nodes.map((node) => <ClassShown key={node.node_id} node={node} pack={pack ?? {}} whole={null} />)}</>;
    case "class":
      return <><h2>{word("class.", held.node.node_id)}</h2><ClassShown node={held.node} pack={pack ?? {}} whole={whole} /></>;
    case "kept":
      return <><h2>{say("item")}</h2><ItemShown item={held.item} kept whole={whole} /></>;
    case "dropped":
      return <><h2>{say("item")}</h2><ItemShown item={held.item} kept={false} whole={null} /></>;
    case "more":
      return <><h2>{say("dropped.title")}</h2><MoreShown items={held.items} pack={pack ?? {}} /></>;
    case "cognition":
      return <><h2>{say("answer")}</h2><AnswerShown cognition={held.cognition} /></>;
    case "node":
      return <><h2>{say("node.question")} {held.node.node_id}</h2><NodeShown node={held.node} cognition={cognition ?? {}} /></>;
    case "calls":
      return <><h2>{say("calls.title")}</h2><p class="quiet">{say("calls.what")}</p></>;
    case "call":
      return <><h2>{held.verdict.tool_name}</h2><CallShown verdict={held.verdict} /></>;
    case "claim":
      return <><h2>{say("claim")}</h2><p class="quiet">{held.node.node_id} {held.node.question}</p><ClaimShown claim={held.claim} cognition={cognition ?? {}} /></>;
  }
}
