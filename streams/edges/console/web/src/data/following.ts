/** A message as a view follows it: drawn some thirty times a second, with what changed told in words now and then. */

import { useEffect, useRef, useState } from "preact/hooks";

import { events, packToCome, pause } from "./api.ts";
import { Refused, follow } from "./follow.ts";
import type { Connection } from "./follow.ts";
import { stateOf } from "./pack.ts";
import { pointer } from "./patch.ts";
import { MessageReducer } from "./reducer.ts";
import { isOurs } from "./session.ts";
import type { ProgressRecord } from "./types.ts";

export interface Followed {
  reducer: MessageReducer;
  /** Grows with each drawing. */
  version: number;
  connection: Connection | "polling" | "unknown";
  why: string | null;
}

/** What was touched by records since the last time. */
export interface Touched {
  nodes: Set<string>;
  stages: Set<string>;
}

/** Follow a message; `tell` gets what changed, at most once in a while. */
export function useMessage(message: string, tell: (touched: Touched, reducer: MessageReducer) => void): Followed {
  const [, draw] = useState(0);
  const followed = useRef<Followed | null>(null);
  const told = useRef(tell);
  told.current = tell;
  if (followed.current === null) followed.current = begun();

  useEffect(() => {
    const state = (followed.current = begun());
    const ending = new AbortController();
    const drawing = batched(() => {
      state.version += 1;
      draw((count) => count + 1);
    }, (run) => setTimeout(() => requestAnimationFrame(run), DRAW_MS));
    let touched = nothing();
    const telling = batched(() => {
      told.current(touched, state.reducer);
      touched = nothing();
    }, (run) => setTimeout(run, TELL_MS));
    const connection = (kind: Followed["connection"], why?: string): void => {
      state.connection = kind;
      state.why = why ?? null;
      drawing();
    };
    const changed = (record: ProgressRecord | null): void => {
      drawing();
      if (record === null) return;
      touch(touched, record);
      telling();
    };
    const open = (after: string | null, signal: AbortSignal, replay: boolean) => events(message, after, signal, replay);
    void follow(state.reducer, { open, changed, connection, wait: pause }, ending.signal)
      .catch((error: unknown) => fromPack(message, error, state, connection, ending.signal));
    void earlier(message, state.reducer, drawing, () => connection("unknown"), ending.signal);
    drawing();
    return () => ending.abort();
  }, [message]);
  return followed.current;
}

const TELL_MS = 1200;
// Scrolling draws each frame; what comes from the server need not.
const DRAW_MS = 20;
const EARLIER_MS = 1500;

function begun(): Followed {
  return { reducer: new MessageReducer(), version: 0, connection: "connecting", why: null };
}

function nothing(): Touched {
  return { nodes: new Set(), stages: new Set() };
}

function touch(touched: Touched, record: ProgressRecord): void {
  for (const { path } of record.patch ?? []) {
    const [place, id] = pointer(path);
    if (place === "nodes" && id !== undefined) touched.nodes.add(`${record.stage}:${id}`);
    if (place === "status") touched.stages.add(record.stage);
  }
}

/** Events are kept for a day, packs for a month: an older message is shown as its pack. */
async function fromPack(
  message: string,
  error: unknown,
  state: Followed,
  connection: (kind: Followed["connection"], why?: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted || !(error instanceof Refused) || error.status !== 404) return;
  connection("polling");
  try {
    // A server without events says that there is no such path; one with them has waited for the message itself.
    const tries = error.message.includes("no such path") ? undefined : 1;
    const pack = stateOf(await packToCome(message, signal, tries));
    state.reducer.restart({ pack, cognition: null });
    connection("ended");
  } catch (why) {
    if (signal.aborted) return;
    if (isNowhere(why, message)) connection("unknown");
    else connection("refused", why instanceof Error ? why.message : `${why}`);
  }
}

/** Whether the server has neither events nor a pack of a message, and this tab has not just sent it. */
function isNowhere(why: unknown, message: string): boolean {
  return why instanceof Refused && why.status === 404 && !isOurs(message);
}

/** While the server looks for events of an older message, its pack is shown, or that there is none. */
async function earlier(
  message: string,
  reducer: MessageReducer,
  drawing: () => void,
  unknown: () => void,
  signal: AbortSignal,
): Promise<void> {
  const begun = (): boolean => reducer.picture.pack !== null || reducer.picture.cognition !== null;
  try {
    await pause(EARLIER_MS, signal);
    if (begun()) return;
    const pack = stateOf(await packToCome(message, signal, 1));
    if (begun()) return;
    reducer.restart({ pack, cognition: null });
    drawing();
  } catch (why) {
    // There is none yet: should it come, its events will tell.
    if (!signal.aborted && !begun() && isNowhere(why, message)) unknown();
  }
}

function batched(run: () => void, later: (run: () => void) => unknown): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    later(() => {
      waiting = false;
      run();
    });
  };
}
