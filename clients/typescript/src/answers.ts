// What the interface answers, besides the events. Fields that a newer server adds are there at run time.

import type { AssessmentMade, ContextPack, DepthLevel, Item, MemoryClass, Open, PackDecision, PackSource, SearchMade, Turn } from "./types.js";

/** A pack; without a text where an earlier version made it, then `text` is empty. */
export interface Pack extends ContextPack {
  text: string;
  sources: PackSource[];
  /** Of a message that was asked with `deep`. */
  answer?: DeepAnswer;
}

/** An answer in sections of checked quotations; `missing` is what would have been needed. */
export interface DeepAnswer {
  job_id: string;
  message_id: string;
  status: Open<"answered" | "partial" | "abstained">;
  lang: string;
  /** The whole as Markdown. */
  text: string;
  sections: { title: string; text: string }[];
  citations: string[];
  missing: string[];
  confidence: number;
  sources: { chunk_uid: string; cite: string; title: string; text: string; document_id: string }[];
}

/** A record in the log: its place, and the ids of what the call made. */
export interface Receipt {
  topic: string;
  partition: number;
  offset: number;
  message_id?: string;
  document_id?: string;
  event_id?: string;
  pack_id?: string;
  user_id?: string;
}

/** A document in the log; `visible` where its passages can be found. */
export interface Document extends Receipt {
  document_id: string;
  visible: boolean;
}

/** The newest turns of a conversation, in order, and the decisions on them; `complete` where these are all. */
export interface Conversation {
  client_id: string;
  conversation_id: string;
  complete: boolean;
  turns: Turn[];
  decisions: PackDecision[];
}

/** A conversation that was used lately: its first question, how often it was asked, the tokens of its newest packs. */
export interface Talk {
  conversation_id: string;
  client_id?: string;
  title?: string;
  questions: number;
  first_at: string;
  last_at: string;
  last_level: Open<DepthLevel>;
  tokens: number[];
  degraded: number;
}

/** A page of conversations; `complete` is false where there were more than are read. */
export interface Conversations {
  conversations: Talk[];
  total: number;
  complete: boolean;
}

/** One fact that is remembered of a user; `by` are the ids of the facts that replaced or contest it. */
export interface Memory {
  memory_id: string;
  text: string;
  subject: string;
  attribute: string;
  value: string;
  author: Open<"user" | "assistant">;
  status: Open<"holds" | "confirmed" | "contested" | "replaced" | "taken_back">;
  by?: string[];
  said_at: string;
  user_id: string;
  client_id: string;
  conversation_id: string;
  message_id: string;
}

/** A page of facts, newest first; `next` is where the next one begins, if there is one. */
export interface Memories {
  memories: Memory[];
  next?: string;
}

/** Whether a server takes calls, and what it says of its parts. */
export interface Health {
  ready: boolean;
  [part: string]: unknown;
}

/** What a query needs: whether to search, how deep, and how many tokens of which class of memory. */
export interface Assessment
  extends Pick<
    AssessmentMade,
    | "needs_deep_context" | "confidence" | "reason" | "recommended_action" | "estimated_savings" | "query_type"
    | "recommended_tier" | "recommended_tools" | "skip_tools" | "depth_level" | "classifier"
  > {
  max_tokens: number;
  needs: { memory_class: MemoryClass; max_tokens: number }[];
}

/** The results of a search, best first, and their text for a prompt. */
export type Found = SearchMade;

/** An item, and the source that the text of its pack cites as `[number]`. */
export interface Cited {
  source: PackSource;
  item: Item;
}

// What an item says, whatever its kind calls it.
const TEXTS = ["text", "content", "definition", "explanation", "label", "name", "title"] as const;

/** What an item says. */
export function textOf(item: Item): string {
  const fields = item as unknown as Record<string, unknown>;
  const name = TEXTS.find((one) => typeof fields[one] === "string");
  return name === undefined ? "" : (fields[name] as string);
}

/** Every item of a pack that its text has a source for, with it, in the order of the sources. */
export function cited(pack: Pack): Cited[] {
  const sections = [pack.working_set, pack.episodic, pack.semantic, pack.claims, pack.procedural];
  const lists = sections.flatMap((section) => Object.values(section ?? {}).filter(Array.isArray));
  const byId = new Map(lists.flat().map((item: Item) => [item.id, item]));
  return pack.sources.flatMap((source) =>
    source.items.flatMap((id) => {
      const item = byId.get(id);
      return item === undefined ? [] : [{ source, item }];
    }),
  );
}
