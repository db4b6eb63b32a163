/** The calls of the HTTP interface that the console makes, with its token. */

import { Refused } from "./follow.ts";
import { forgetToken, token } from "./session.ts";
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
  const user: Record<string, string> = asked.user === "" ? {} : { "Fathom-User": asked.user };
  const answer = await call("messages", {
    method: "POST",
    body: JSON.stringify(message),
    headers: { "Content-Type": "application/json", ...user },
  });
  return ((await answer.json()) as { message_id: string }).message_id;
}

export async function events(
  message: string,
  after: string | null,
  signal: AbortSignal,
  replay: boolean,
): Promise<ReadableStream<Uint8Array>> {
  const position: Record<string, string> = after === null ? {} : { "Last-Event-ID": after };
  const path = `events?message_id=${encodeURIComponent(message)}${replay ? "&replay=true" : ""}`;
  const answer = await call(path, { signal, headers: { Accept: "text/event-stream", ...position } });
  if (answer.body === null) throw new Refused("no events came", answer.status, true);
  return answer.body;
}

export async function pack(message: string, signal?: AbortSignal): Promise<ContextPack> {
  return (await (await call(`packs/${encodeURIComponent(message)}`, { signal })).json()) as ContextPack;
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

export async function conversation(id: string, client: string): Promise<ConversationShown> {
  const query = client === "" ? "" : `?client_id=${encodeURIComponent(client)}`;
  return (await (await call(`conversations/${encodeURIComponent(id)}${query}`)).json()) as ConversationShown;
}

export async function decisions(days: number): Promise<DecisionsShown> {
  return (await (await call(`decisions?days=${days}`)).json()) as DecisionsShown;
}

export async function lag(signal: AbortSignal): Promise<{ groups: GroupLag[] }> {
  return (await (await call("operations/lag", { signal })).json()) as { groups: GroupLag[] };
}

export async function replays(signal: AbortSignal): Promise<{ replays: { replay_id: string; topics: Record<string, number> }[] }> {
  return (await (await call("operations/replays", { signal })).json()) as { replays: { replay_id: string; topics: Record<string, number> }[] };
}

/** What a replay made otherwise than another one, or with "" than the recorded run. */
export async function replayDifference(id: string, against: string, signal: AbortSignal): Promise<ReplayDifference> {
  const query = against === "" ? "" : `?against=${encodeURIComponent(against)}`;
  return (await (await call(`operations/replays/${encodeURIComponent(id)}${query}`, { signal })).json()) as ReplayDifference;
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
