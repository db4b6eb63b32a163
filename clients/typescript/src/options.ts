// What a caller may say with each call.

import type { Document, Pack } from "./answers.js";
import type { ObjectiveEntry } from "./types.js";

export interface FathomOptions {
  /** Default in Node: FATHOM_URL. */
  url?: string;
  /** Default in Node: FATHOM_TOKEN. */
  token?: string;
  /** Who says it, where a call names nobody; may be left out with a token of one user. */
  user?: string;
  /** The application. */
  client?: string;
  /** The conversation of calls that name none; by default each client has its own. */
  conversation?: string;
  /** How long a pack may take, in milliseconds. */
  waitMs?: number;
  /** In place of the global one. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call; its promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface TurnOptions extends CallOptions {
  conversation?: string;
  user?: string;
  /** Default: a new one. The same id again is the same message. */
  messageId?: string;
}

export interface AskOptions extends TurnOptions {
  minDepth?: "D0" | "D1" | "D2" | "D3" | "D4";
  maxDepth?: "D0" | "D1" | "D2" | "D3" | "D4";
  /** Whether to search memory. */
  lookUp?: "auto" | "always" | "never";
  maxTokens?: number;
  /** Packs that the prompt still holds: what they have is not repeated. */
  have?: readonly (Pack | string)[];
  template?: string;
  /** Its answer by cognition, too, within 30 s or `waitMs`; refused (409) where cognition is off. */
  deep?: boolean;
}

export interface SayOptions extends TurnOptions {
  /** The pack of the message that is answered, which says the conversation, or the message's id. */
  answers?: Pack | string;
}

export interface SearchOptions extends CallOptions {
  /** The most results, 1 to 50; default: 10. */
  limit?: number;
  kind?: "document" | "turn" | "summary" | "claim" | "event" | "process";
  /** Only of this document, or of this id. */
  document?: Document | string;
  /** Only of this conversation; default: of all. */
  conversation?: string;
  /** Recorded then or later; text is ISO 8601. */
  since?: Date | string;
  /** Recorded then or before. */
  until?: Date | string;
  user?: string;
}

export interface IngestOptions extends CallOptions {
  title?: string;
  /** With the same id it replaces the earlier version. */
  documentId?: string;
  lang?: "pt" | "en";
  /** Who may see it; default: public. */
  access?: "public" | "internal" | "restricted" | "confidential";
  /** Whether to wait until its passages can be found; default: true. */
  wait?: boolean;
}

export interface CorrectOptions extends CallOptions {
  /** The value that is right: it becomes the newer claim. */
  newValue?: string;
  kind?: "factual" | "juridico" | "formatacao";
  user?: string;
}

export interface FeedbackOptions extends CallOptions {
  /** How deep it should have gone. */
  expectedDepth?: "D0" | "D1" | "D2" | "D3" | "D4";
  reason?: string;
  user?: string;
}

export interface ProfileOptions extends CallOptions {
  userRole?: string;
  department?: string;
  /** What the user may see. */
  accessLevel?: "public" | "internal" | "restricted" | "confidential";
  objectives?: readonly ObjectiveEntry[];
}

export interface ConversationOptions extends CallOptions {
  /** How many turns, the newest; default: 100. */
  limit?: number;
  /** Wait for the turn of this id, which takes part of a second. */
  until?: string;
}

export interface PacksOptions extends CallOptions {
  /** Go on with those to come, without an end. */
  follow?: boolean;
}

export interface ConversationsOptions extends CallOptions {
  /** Used in so many days; default: 30. */
  days?: number;
  /** How many; default: 50. */
  limit?: number;
  /** How many to pass over. */
  offset?: number;
}

export interface MemoriesOptions extends CallOptions {
  /** Also what was replaced or taken back. */
  every?: boolean;
  /** How many; default: 50. */
  limit?: number;
  /** The `next` of the page before. */
  after?: string;
  user?: string;
}

export interface MemoryOptions extends CallOptions {
  /** Why, for its history. */
  reason?: string;
}
