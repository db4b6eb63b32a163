/** The calls of the HTTP interface that the console makes, with its token. */

import { Refused } from "./follow.ts";
import { forgetToken, token } from "./session.ts";
import type { ConversationsShown, DocumentUse, DocumentsShown, MemoriesShown, MemoryShown, ReplayShown, SearchMade, UsersShown } from "./listed.ts";
import type { ContextPack, ConversationShown, DecisionsShown, GroupLag, ReplayDifference } from "./types.ts";

export interface Question {
  question: string;
  user: string;
  conversation: string;
  client: string;
  deep: boolean;
  depth: string;
}

/** The page is at `…/console/`, the interface beside it. */
const BASE = new URL("../", `${location.origin}${location.pathname}`);
const NO_TOKEN = 401;
const PRIVATELY: RequestInit = { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };
const PACK_TRIES = 60;
const PACK_RETRY_MS = 500;

let refusedToken: () => void = () => undefined;

/** Call this when a token is not known to the server. */
export function onRefusedToken(tell: () => void): void {
  refusedToken = tell;
}

/** Whether the server knows a token; throws where it cannot be asked. */
export async function isKnown(bearer: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${bearer}` };
  const answer = await fetch(new URL("openapi.json", BASE), { method: "HEAD", headers, ...PRIVATELY });
  return answer.status !== NO_TOKEN;
}

/** Send a question as a message; its id. With a depth it is made at that depth and no other. */
export async function send(asked: Question): Promise<string> {
  const depth = asked.depth === "" ? {} : { min_depth: asked.depth, max_depth: asked.depth };
  const message = {
    role: "user",
    content: asked.question,
    conversation_id: asked.conversation,
    client_id: asked.client,
    ...depth,
    ...(asked.deep ? { deep: true } : {}),
  };
  const answer = await call("messages", sending("POST", message, asked.user));
  return ((await answer.json()) as { message_id: string }).message_id;
}

export async function events(
  message: string,
  after: string | null,
  signal: AbortSignal,
  replay: boolean,
): Promise<ReadableStream<Uint8Array>> {
  const position: Record<string, string> = after === null ? {} : { "Last-Event-ID": after };
  const path = `events?message_id=${encodeURIComponent(message)}&calls=true${replay ? "&replay=true" : ""}`;
  const answer = await call(path, { signal, headers: { Accept: "text/event-stream", ...position } });
  if (answer.body === null) throw new Refused("no events came", answer.status, true);
  return answer.body;
}

export async function pack(message: string, signal?: AbortSignal): Promise<ContextPack> {
  return got(`packs/${encodeURIComponent(message)}`, signal);
}

/** The explanation of a message, as a page of its own. */
export async function explanation(message: string): Promise<Blob> {
  return (await call(`explain/${encodeURIComponent(message)}?format=html`)).blob();
}

/** The pack of a message that may have been sent just now: it is asked for so often, twice a second. */
export async function packToCome(message: string, signal: AbortSignal, tries = PACK_TRIES): Promise<ContextPack> {
  for (let left = tries; ; left -= 1) {
    try {
      return await pack(message, signal);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404 || left <= 1 || signal.aborted) throw error;
    }
    await pause(PACK_RETRY_MS, signal);
  }
}

/** The titles of what was left out of a message's pack, by id, as far as its memory sent it on. */
export async function titlesOfDropped(message: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const found = await got<{ dropped: { id: string; title?: string }[] }>(`explain/${encodeURIComponent(message)}`, signal);
  return new Map(found.dropped.flatMap((each) => (each.title === undefined ? [] : [[each.id, each.title] as const])));
}

export async function conversations(asked: { days: number; q: string; offset: number; limit: number }, signal?: AbortSignal): Promise<ConversationsShown> {
  return got(`conversations${queryOf({ ...asked })}`, signal);
}

export async function conversation(id: string, client: string): Promise<ConversationShown> {
  return got(`conversations/${encodeURIComponent(id)}${queryOf({ client_id: client })}`);
}

export async function decisions(asked: { days: number; limit?: number; level?: string; user?: string; degraded?: string; evidence?: string }, signal?: AbortSignal): Promise<DecisionsShown> {
  return got(`decisions${queryOf({ ...asked })}`, signal);
}

export interface Wanted {
  query: string;
  user: string;
  kind: string;
  limit: number;
}

export async function search({ query, user, kind, limit }: Wanted, signal: AbortSignal): Promise<SearchMade> {
  const body = { query, limit, ...(kind === "" ? {} : { kind }) };
  return (await call("search", { ...sending("POST", body, user), signal })).json() as Promise<SearchMade>;
}

export async function memories(asked: { user: string; q: string; status: string; after: string; limit: number }, signal: AbortSignal): Promise<MemoriesShown> {
  return got(`memories${queryOf({ ...asked })}`, signal);
}

export async function memory(id: string, signal?: AbortSignal): Promise<MemoryShown> {
  return got(`memories/${encodeURIComponent(id)}`, signal);
}

/** Remember a sentence of a user's. */
export async function remember(text: string, user: string): Promise<void> {
  await call("memories", sending("POST", { text }, user));
}

/** Correct a fact, or say that it holds. */
export async function changeMemory(id: string, change: { value: string } | { confirm: true }, reason: string, user: string): Promise<void> {
  await call(`memories/${encodeURIComponent(id)}`, sending("PATCH", { ...change, ...(reason === "" ? {} : { reason }) }, user));
}

export async function takeBack(id: string, reason: string, user: string): Promise<void> {
  await call(`memories/${encodeURIComponent(id)}${queryOf({ reason })}`, { method: "DELETE", headers: as(user) });
}

export async function documents(asked: { q: string; offset: number; limit: number }, signal?: AbortSignal): Promise<DocumentsShown> {
  return got(`documents${queryOf({ ...asked })}`, signal);
}

export async function usesOf(document: string, signal: AbortSignal): Promise<{ uses: DocumentUse[] }> {
  return got(`documents/${encodeURIComponent(document)}/uses`, signal);
}

export async function users(asked: { q: string; offset: number; limit: number }, signal?: AbortSignal): Promise<UsersShown> {
  return got(`users${queryOf({ ...asked })}`, signal);
}

export async function lag(signal: AbortSignal): Promise<{ groups: GroupLag[] }> {
  return got("operations/lag", signal);
}

export async function replays(signal: AbortSignal): Promise<{ replays: ReplayShown[] }> {
  return got("operations/replays", signal);
}

/** Answer recorded messages again with other settings; the id of the replay. */
export async function startReplay(wanted: { settings: Record<string, string>; hours?: number; conversation_id?: string }): Promise<string> {
  const answer = await call("operations/replays", sending("POST", wanted, ""));
  return ((await answer.json()) as { replay_id: string }).replay_id;
}

/** What a replay made otherwise than another one, or with "" than the recorded run. */
export async function replayDifference(id: string, against: string, signal: AbortSignal): Promise<ReplayDifference> {
  return got(`operations/replays/${encodeURIComponent(id)}${queryOf({ against })}`, signal);
}

/** Wait, or throw when `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Error("aborted"));
    }, { once: true });
  });
}

async function got<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call(path, { signal: signal ?? null })).json() as Promise<T>;
}

function as(user: string): Record<string, string> {
  return user === "" ? {} : { "Fathom-User": user };
}

function sending(method: string, body: unknown, user: string): RequestInit {
  return { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...as(user) } };
}

/** Parameters behind a path; those without a value are left out. */
function queryOf(of: Record<string, string | number | undefined>): string {
  const stated = Object.entries(of).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, `${value}`]]));
  return stated.length === 0 ? "" : `?${new URLSearchParams(stated)}`;
}

async function call(path: string, given: RequestInit = {}): Promise<Response> {
  const bearer = token();
  const authorization: Record<string, string> = bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
  const answer = await fetch(new URL(path, BASE), {
    ...given,
    headers: { ...(given.headers as Record<string, string>), ...authorization },
    ...PRIVATELY,
  });
  if (answer.ok) return answer;
  if (answer.status === NO_TOKEN) {
    forgetToken();
    refusedToken();
  }
  throw new Refused(await sentence(answer), answer.status, answer.status === 429 || answer.status >= 500);
}

/** What a refusal says of itself. */
async function sentence(answer: Response): Promise<string> {
  try {
    const problem = (await answer.json()) as { detail?: string; title?: string };
    return problem.detail ?? problem.title ?? `${answer.status}`;
  } catch {
    return `${answer.status} ${answer.statusText}`;
  }
}
