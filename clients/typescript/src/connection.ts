// Where Fathom is, and how a call is sent: again while that may help, errors in a sentence.

import { FathomError, Refused, Unreachable, refusal } from "./errors.js";

const RETRIES = 3;
const RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;
// Every call is one that may be sent again; after these it is.
const AGAIN = new Set([429, 502, 503]);

/** A request. `needs` is a field that every answer to it has. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  needs: string;
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  json?: object;
  form?: FormData;
  messageId?: string;
  /** Statuses that are answers besides 2xx. */
  also?: readonly number[];
  signal?: AbortSignal | undefined;
}

/** Sends calls to one server with one token. */
export class Connection {
  readonly url: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(url: string | undefined, token: string | undefined, timeoutMs: number, using?: typeof fetch) {
    const environment = nodeEnvironment();
    this.url = checkedUrl(url ?? environment["FATHOM_URL"]);
    this.#token = checkedToken(token ?? environment["FATHOM_TOKEN"], this.url);
    this.#timeoutMs = timeoutMs;
    this.#fetch = using ?? ((input, init) => fetch(input, init));
  }

  /** The answer to a call; rejects with a `FathomError`, or with the reason of the caller's signal. */
  async send<T>(call: Call): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const signal = this.#signal(call.signal);
      try {
        const response = await this.#fetch(this.#address(call), { ...this.#request(call), signal });
        const wait = pause(attempt, response);
        const again = AGAIN.has(response.status) && !call.also?.includes(response.status);
        if (wait === undefined || !again) return await read<T>(call, response);
        await response.body?.cancel();
        await sleep(wait, call.signal);
      } catch (error) {
        if (error instanceof FathomError) throw error;
        call.signal?.throwIfAborted();
        const wait = pause(attempt);
        if (signal.aborted || wait === undefined) throw this.#unreachable(error, signal.aborted, call.messageId);
        await sleep(wait, call.signal);
      }
    }
  }

  #signal(callers: AbortSignal | undefined): AbortSignal {
    const patience = AbortSignal.timeout(this.#timeoutMs);
    return callers === undefined ? patience : AbortSignal.any([callers, patience]);
  }

  #address(call: Call): string {
    const query = new URLSearchParams();
    for (const [name, text] of Object.entries(call.query ?? {})) if (text !== undefined) query.set(name, text);
    return `${this.url}${call.path}${query.size === 0 ? "" : `?${query}`}`;
  }

  #request(call: Call): RequestInit {
    const headers = { Authorization: `Bearer ${this.#token}`, Accept: "application/json", ...call.headers };
    const init: RequestInit = { method: call.method, headers, redirect: "manual", credentials: "omit" };
    if (call.form !== undefined) return { ...init, body: call.form };
    if (call.json === undefined) return init;
    return { ...init, headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(call.json) };
  }

  #unreachable(cause: unknown, late: boolean, messageId: string | undefined): Unreachable {
    const fields = { messageId, cause };
    if (late) return new Unreachable(`${this.url} did not answer in time; try again, or wait longer`, fields);
    const said = `no Fathom answers at ${this.url}; see whether \`fathom up\` or \`fathom serve\` runs there`;
    const hint = inBrowser() ? ", and whether this page is of the same origin (its README says how)" : "";
    return new Unreachable(said + hint, fields);
  }
}

async function read<T>(call: Call, response: Response): Promise<T> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const answers = response.ok || call.also?.includes(response.status);
  if (answers && typeof body === "object" && body !== null && call.needs in body) return body as T;
  if (!response.ok) throw refusal(response, body, call.messageId);
  throw new Unreachable(
    `${response.url.split("?")[0]} did not answer as Fathom does (${call.needs} is missing); check that this is its ` +
      "address, and that client and server are of like versions",
    { status: response.status, messageId: call.messageId },
  );
}

/** Milliseconds before the next attempt; undefined after the last. */
function pause(attempt: number, response?: Response): number | undefined {
  if (attempt >= RETRIES) return undefined;
  const stated = response?.headers.get("retry-after") ?? "";
  return Math.min(/^\d+$/.test(stated) ? Number(stated) * 1000 : RETRY_MS * 2 ** attempt, MAX_RETRY_MS);
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const gone = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", gone);
      resolve();
    }, ms);
    signal?.addEventListener("abort", gone, { once: true });
  });
}

/** An id as a part of a path. */
export function segment(id: string): string {
  try {
    if (id !== "" && id !== "." && id !== "..") return encodeURIComponent(id);
  } catch {
    // half of a character
  }
  throw new Refused(`${JSON.stringify(id)} cannot stand in an address; give an id of text other than dots alone`);
}

/** A text as a header's value. */
export function header(name: string, text: string): string {
  if (/^[\x21-\x7e\xa1-\xff]([\x20-\x7e\xa1-\xff]*[\x21-\x7e\xa1-\xff])?$/.test(text)) return text;
  const shown = JSON.stringify(text);
  throw new Refused(`${name} ${shown} cannot be sent in a header; use letters of Latin-1, without spaces around them`);
}

/** A random UUID, also on pages where `crypto.randomUUID` is not. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

interface Surroundings {
  document?: unknown;
  importScripts?: unknown;
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } };
}

function inBrowser(): boolean {
  const { document, importScripts } = globalThis as Surroundings;
  return document !== undefined || importScripts !== undefined;
}

/** The environment of Node; a page has none, whatever its bundler puts there. */
function nodeEnvironment(): Record<string, string | undefined> {
  const { process } = globalThis as Surroundings;
  return !inBrowser() && process?.versions?.node !== undefined ? (process.env ?? {}) : {};
}

function checkedUrl(url: string | undefined): string {
  if (!url) throw new Unreachable("no Fathom is named: give `url`, or set FATHOM_URL (Node)");
  const parsed = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new Refused(`${JSON.stringify(url)} is no address of a Fathom; write one like http://127.0.0.1:8088`);
  }
  return parsed.href.replace(/\/+$/, "");
}

function checkedToken(token: string | undefined, url: string): string {
  if (!token) throw new Refused(`there is no token for ${url}: give \`token\`, or set FATHOM_TOKEN (Node)`);
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Refused("the token has characters that no token has; give it as Fathom wrote it");
}
