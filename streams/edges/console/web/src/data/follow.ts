/** Following a message: one stream of events that is opened again where it broke, until the server has said its end. */

import { FrameReader } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { MessageReducer } from "./reducer.ts";
import type { ProgressRecord, Snapshot } from "./types.ts";

export type Connection = "connecting" | "live" | "broken" | "ended" | "refused";

/** Says why no stream can be had, and whether it is worth another try. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly again: boolean,
  ) {
    super(message);
  }
}

export interface Following {
  /** Opens the stream behind a position, else at the first event with `replay`, or at a snapshot; throws `Refused`. */
  open(after: string | null, signal: AbortSignal, replay: boolean): Promise<ReadableStream<Uint8Array>>;
  changed(record: ProgressRecord | null): void;
  connection(state: Connection, why?: string): void;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds without a byte, after which a connection is taken for dead; heartbeats come every 15 s. */
  silence?: number;
}

const LONGEST_WAIT_MS = 10_000;
const SILENCE_MS = 40_000;

/** Reduce a message's events until they end or `signal` aborts. */
export async function follow(reducer: MessageReducer, given: Following, signal: AbortSignal): Promise<void> {
  let after: string | null = null;
  // Where the log itself lacks an event, only a snapshot helps.
  let replay = true;
  let failures = 0;
  let retry = 1000;
  let ended = false;
  while (!signal.aborted) {
    given.connection("connecting");
    const reader = new FrameReader();
    try {
      const stream = await given.open(after, signal, replay);
      given.connection("live");
      for await (const frame of frames(stream, reader, signal, given.silence ?? SILENCE_MS)) {
        failures = 0;
        if (frame.event === "end") {
          // Behind it may come verdicts on tool calls, until the server closes the stream.
          given.connection("ended");
          ended = true;
          continue;
        }
        const gap = take(reducer, frame, given);
        after = gap ? null : (frame.id ?? after);
        replay &&= !gap;
        if (gap) break;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && !error.again) {
        given.connection("refused", error.message);
        throw error;
      }
    }
    if (signal.aborted || ended) return;
    retry = reader.retry;
    given.connection("broken");
    await given.wait(Math.min(retry * 2 ** failures, LONGEST_WAIT_MS), signal).catch(() => undefined);
    failures += 1;
  }
}

/** Whether a record before this one is missing. */
function take(reducer: MessageReducer, frame: Frame, given: Following): boolean {
  if (frame.event === "snapshot") {
    reducer.restart(JSON.parse(frame.data) as Snapshot);
    given.changed(null);
    return false;
  }
  const record = JSON.parse(frame.data) as ProgressRecord;
  if (!["pack", "cognition", "tools"].includes(record.stage)) return false;
  const outcome = reducer.apply(record);
  if (outcome === "applied") given.changed(record);
  return outcome === "gap";
}

async function* frames(
  stream: ReadableStream<Uint8Array>,
  reader: FrameReader,
  signal: AbortSignal,
  silence: number,
): AsyncGenerator<Frame> {
  const pieces = stream.getReader();
  const text = new TextDecoder();
  try {
    while (!signal.aborted) {
      const { done, value } = await within(pieces.read(), silence);
      if (done) return;
      yield* reader.take(text.decode(value, { stream: true }));
    }
  } finally {
    void pieces.cancel().catch(() => undefined);
  }
}

function within<T>(waited: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("silence")), ms);
    waited.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
