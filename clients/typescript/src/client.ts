// The calls.

import type {
  Assessment,
  Conversation,
  Conversations,
  DeepAnswer,
  Document,
  Found,
  Health,
  Memories,
  Memory,
  Pack,
  Receipt,
} from "./answers.js";
import { type Call, Connection, header, segment, sleep, uuid } from "./connection.js";
import { NotFound } from "./errors.js";
import type {
  AskOptions,
  CallOptions,
  ConversationOptions,
  ConversationsOptions,
  CorrectOptions,
  FathomOptions,
  FeedbackOptions,
  IngestOptions,
  MemoriesOptions,
  MemoryOptions,
  PacksOptions,
  ProfileOptions,
  SayOptions,
  SearchOptions,
  TurnOptions,
} from "./options.js";
import type { ClaimItem } from "./types.js";

const WAIT_MS = 10_000;
// How long a deep answer may take, where a pack may take less.
const DEEP_WAIT_MS = 30_000;
// The server's own longest wait, for a document's passages, and some more.
const MIN_TIMEOUT_MS = 45_000;
const SPARE_MS = 15_000;
const FOLLOW_MS = 500;
const UNTIL_MS = 100;
// Read once, then as many as come between two looks.
const MAX_TURNS = 1_000;
const FOLLOWED_TURNS = 50;
const PACK_TRIES = 3;

/** A client of a running Fathom. Nothing is connected before the first call; nothing is to be closed. */
export class Fathom {
  readonly url: string;
  /** The conversation of calls that name none. */
  readonly conversationId: string;
  readonly #connection: Connection;
  readonly #client: string;
  readonly #user: string | undefined;
  readonly #waitMs: number;

  /** Throws `Unreachable` or `Refused` where address or token are missing or wrong. */
  constructor(options: FathomOptions = {}) {
    this.#waitMs = options.waitMs ?? WAIT_MS;
    const timeout = Math.max(MIN_TIMEOUT_MS, this.#waitMs + SPARE_MS);
    this.#connection = new Connection(options.url, options.token, timeout, options.fetch);
    this.url = this.#connection.url;
    this.#client = options.client ?? "default";
    this.#user = options.user;
    this.conversationId = options.conversation ?? uuid();
  }

  /** The pack of a user's message. */
  async ask(question: string, options: AskOptions = {}): Promise<Pack> {
    const call = this.#turn("user", question, options, {
      min_depth: options.minDepth,
      max_depth: options.maxDepth,
      look_up: options.lookUp,
      max_tokens: options.maxTokens,
      have: options.have?.length ? options.have.map((one) => (typeof one === "string" ? one : one.pack_id)) : undefined,
      template: options.template,
    });
    const waitMs = options.deep ? Math.max(this.#waitMs, DEEP_WAIT_MS) : this.#waitMs;
    const headers = { ...call.headers, Prefer: `wait=${Math.max(1, Math.round(waitMs / 1000))}` };
    if (options.deep) {
      const both = { ...call, needs: "answer", query: { deep: "true" }, headers };
      const { pack, answer } = await this.#connection.send<{ pack: Pack; answer: DeepAnswer }>(both);
      return { ...whole(pack), answer };
    }
    return whole(await this.#connection.send({ ...call, needs: "pack_id", query: { wait: "pack" }, headers }));
  }

  /** Send something that a user said, without waiting for a pack. */
  remember(text: string, options: TurnOptions = {}): Promise<Receipt> {
    return this.#connection.send(this.#turn("user", text, options, {}));
  }

  /** Send the assistant's answer to a message. */
  say(text: string, options: SayOptions = {}): Promise<Receipt> {
    const { answers } = options;
    if (answers === undefined || typeof answers === "string") {
      return this.#connection.send(this.#turn("assistant", text, options, { answers }));
    }
    const whose = { ...options, conversation: answers.conversation_id, user: answers.user_id };
    const about = { answers: answers.message_id, pack_id: answers.pack_id, client_id: answers.client_id };
    return this.#connection.send(this.#turn("assistant", text, whose, about));
  }

  /** Remember a file; its id is its name: sent again, it replaces what it was. */
  ingest(file: Blob, options: IngestOptions = {}): Promise<Document> {
    const name = "name" in file && typeof file.name === "string" ? file.name : undefined;
    const form = new FormData();
    form.set("file", file, name ?? "document");
    const { title, documentId = name, lang, access, wait = true } = options;
    const query = { title, document_id: documentId, lang, access, wait: wait ? "visible" : undefined };
    return this.#connection.send({ ...this.#document(options), form, query });
  }

  /** Remember a document given as text or Markdown. */
  ingestText(text: string, options: IngestOptions = {}): Promise<Document> {
    const { title, documentId, lang, access, wait = true } = options;
    const json = stated({ text, title, document_id: documentId, lang, access });
    return this.#connection.send({ ...this.#document(options), json, query: { wait: wait ? "visible" : undefined } });
  }

  /** Offer a document's passages no more, from within a second on. */
  forget(document: Document | string, options: CallOptions = {}): Promise<Receipt> {
    const id = typeof document === "string" ? document : document.document_id;
    const path = `/documents/${segment(id)}`;
    return this.#connection.send({ method: "DELETE", path, needs: "topic", headers: once(), signal: options.signal });
  }

  /** Contest a claim, an item of a pack or its id. */
  correct(claim: ClaimItem | string, text: string, options: CorrectOptions = {}): Promise<Receipt> {
    const { newValue, kind, user = this.#user, signal } = options;
    const id = typeof claim === "string" ? claim : claim.claim_id;
    const json = stated({ claim_id: id, text, new_value: newValue, kind });
    const headers = { ...once(), ...as(user) };
    return this.#connection.send({ method: "POST", path: "/corrections", needs: "topic", json, headers, signal });
  }

  /** Say how good a pack was, from 1 to 5; its user says it, if no other is named. */
  feedback(pack: Pack, rating: number, options: FeedbackOptions = {}): Promise<Receipt> {
    const { expectedDepth, reason, user = pack.user_id, signal } = options;
    const { message_id, conversation_id, client_id } = pack;
    const json = stated({ message_id, conversation_id, client_id, rating, expected_depth: expectedDepth, reason });
    const headers = { ...once(), ...as(user) };
    return this.#connection.send({ method: "POST", path: "/feedback", needs: "topic", json, headers, signal });
  }

  /** Say who a user is, and what they may see; this replaces what was said before. */
  profile(user: string, options: ProfileOptions = {}): Promise<Receipt> {
    const { userRole, department, accessLevel, objectives, signal } = options;
    const json = stated({ user_role: userRole, department, access_level: accessLevel, objectives });
    const path = `/profiles/${segment(user)}`;
    return this.#connection.send({ method: "PUT", path, needs: "topic", json, headers: once(), signal });
  }

  /** The facts that are remembered of a user, newest first; those that have all the words. */
  memories(words = "", options: MemoriesOptions = {}): Promise<Memories> {
    const { every = false, limit = 50, after, user = this.#user, signal } = options;
    const query = { q: words, status: every ? "all" : "current", limit: String(limit), after };
    return this.#connection.send({ method: "GET", path: "/memories", needs: "memories", query, headers: as(user), signal });
  }

  /** Remember a fact, in a sentence that its user would say. */
  addMemory(text: string, options: CallOptions & { user?: string } = {}): Promise<Receipt> {
    const { user = this.#user, signal } = options;
    const headers = { ...once(), ...as(user) };
    const json = { text, client_id: this.#client };
    return this.#connection.send({ method: "POST", path: "/memories", needs: "topic", json, headers, signal });
  }

  /** Give a fact another value; the old one stays in its history. */
  correctMemory(memory: Memory | string, value: string, options: MemoryOptions = {}): Promise<Receipt> {
    return this.#edit("PATCH", memory, options, { json: stated({ value, reason: options.reason }) });
  }

  /** Say that a fact holds still, whatever was said against it. */
  confirmMemory(memory: Memory | string, options: MemoryOptions = {}): Promise<Receipt> {
    return this.#edit("PATCH", memory, options, { json: stated({ confirm: true, reason: options.reason }) });
  }

  /** Take a fact back: neither it nor the turns that stated it are in any later pack; the log keeps them. */
  deleteMemory(memory: Memory | string, options: MemoryOptions = {}): Promise<Receipt> {
    return this.#edit("DELETE", memory, options, { query: { reason: options.reason } });
  }

  /** What memory has on a query, best first; the query is no message, and nothing of it is stored. */
  search(query: string, options: SearchOptions = {}): Promise<Found> {
    const { limit, kind, document, conversation, since, until, user = this.#user, signal } = options;
    const documentId = typeof document === "object" ? document.document_id : document;
    const narrowing = { kind, document_id: documentId, conversation_id: conversation, since, until };
    const json = stated({ query, client_id: this.#client, limit, ...narrowing });
    return this.#connection.send({ method: "POST", path: "/search", needs: "results", json, headers: as(user), signal });
  }

  /** Whether a query needs context, by rules, in milliseconds; nothing is searched or stored. */
  assess(query: string, options: CallOptions & { conversationSummary?: string } = {}): Promise<Assessment> {
    const json = stated({ query, conversation_summary: options.conversationSummary });
    const needs = "recommended_action";
    return this.#connection.send({ method: "POST", path: "/assess", needs, json, signal: options.signal });
  }

  /** The pack that a message was given. */
  async pack(messageId: string, options: CallOptions = {}): Promise<Pack> {
    const path = `/packs/${segment(messageId)}`;
    return whole(await this.#connection.send({ method: "GET", path, needs: "pack_id", signal: options.signal }));
  }

  /** The conversations that were used lately, that of the last use first; those whose title or id has all the words. */
  conversations(words = "", options: ConversationsOptions = {}): Promise<Conversations> {
    const { days = 30, limit = 50, offset = 0, signal } = options;
    const query = { q: words, days: String(days), limit: String(limit), offset: String(offset) };
    return this.#connection.send({ method: "GET", path: "/conversations", needs: "conversations", query, signal });
  }

  /** The newest turns of a conversation. */
  async conversation(id: string = this.conversationId, options: ConversationOptions = {}): Promise<Conversation> {
    const { limit = 100, until, signal } = options;
    const query = { client_id: this.#client, limit: String(limit) };
    const path = `/conversations/${segment(id)}`;
    const deadline = Date.now() + this.#waitMs;
    for (;;) {
      try {
        const found = await this.#connection.send<Conversation>({ method: "GET", path, needs: "turns", query, signal });
        const there = until === undefined || found.turns.some((turn) => turn.message_id === until);
        if (there || Date.now() > deadline) return found;
      } catch (error) {
        if (!(error instanceof NotFound) || until === undefined || Date.now() > deadline) throw error;
      }
      await sleep(UNTIL_MS, signal);
    }
  }

  /** The packs of a conversation's messages, in order; with `follow` also those to come, until the signal aborts. */
  async *packs(id: string = this.conversationId, options: PacksOptions = {}): AsyncGenerator<Pack, void, void> {
    const { follow = false, signal } = options;
    // A pack that cannot be read is tried three times: its decision came first, or was kept longer.
    const tries = new Map<string, number>();
    for (let limit = MAX_TURNS; ; limit = FOLLOWED_TURNS) {
      for (const name of await this.#decided(id, limit, follow, signal)) {
        const tried = tries.get(name) ?? 0;
        if (tried >= PACK_TRIES) continue;
        try {
          const found = await this.pack(name, options);
          tries.set(name, PACK_TRIES);
          yield found;
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          tries.set(name, tried + 1);
        }
      }
      if (!follow) return;
      await sleep(FOLLOW_MS, signal);
    }
  }

  /** Whether the server takes calls: of `fathom up`; `fathom serve` tells it on a port of its own. */
  health(options: CallOptions = {}): Promise<Health> {
    const path = "/health/ready";
    return this.#connection.send({ method: "GET", path, needs: "ready", also: [503], signal: options.signal });
  }

  /** The messages of a conversation that were given packs, in order. */
  async #decided(id: string, limit: number, follow: boolean, signal: AbortSignal | undefined): Promise<string[]> {
    try {
      const found = await this.conversation(id, signal === undefined ? { limit } : { limit, signal });
      return found.decisions.map((one) => one.message_id);
    } catch (error) {
      if (follow && error instanceof NotFound) return []; // it has not begun
      throw error;
    }
  }

  #turn(role: string, content: string, options: TurnOptions, more: object): Call {
    const { conversation = this.conversationId, user = this.#user, messageId = uuid(), signal } = options;
    const turn = { role, content, client_id: this.#client, conversation_id: conversation, message_id: messageId };
    const json = stated({ ...turn, ...more });
    return { method: "POST", path: "/messages", needs: "topic", json, headers: as(user), messageId, signal };
  }

  #edit(method: "PATCH" | "DELETE", memory: Memory | string, options: MemoryOptions, how: Partial<Call>): Promise<Receipt> {
    const path = `/memories/${segment(typeof memory === "string" ? memory : memory.memory_id)}`;
    return this.#connection.send({ method, path, needs: "topic", headers: once(), signal: options.signal, ...how });
  }

  #document(options: IngestOptions): Call {
    return { method: "POST", path: "/documents", needs: "document_id", headers: once(), signal: options.signal };
  }
}

function whole(pack: Pack): Pack {
  return { ...pack, text: pack.text ?? "", sources: pack.sources ?? [] };
}

/** Sent again after a broken connection, a call with this header happens once. */
function once(): Record<string, string> {
  return { "Idempotency-Key": uuid() };
}

function as(user: string | undefined): Record<string, string> {
  return user === undefined ? {} : { "Fathom-User": header("user", user) };
}

function stated(fields: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
