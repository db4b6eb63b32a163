/** What a view waits for: it, or why it does not come. */

import { useEffect, useState } from "preact/hooks";

import { whyOf } from "./text.ts";

export interface Loaded<T> {
  value: T | null;
  why: string | null;
}

/** The value of a call, which is made again when `of` changes; with `keep` the one before stays until the next is there. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, of: readonly unknown[], keep = false): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: null, why: null });
  useEffect(() => {
    const ending = new AbortController();
    setLoaded((before) => ({ value: keep ? before.value : null, why: null }));
    load(ending.signal).then(
      (value) => !ending.signal.aborted && setLoaded({ value, why: null }),
      (error: unknown) => {
        if (!ending.signal.aborted) setLoaded({ value: null, why: whyOf(error) });
      },
    );
    return () => ending.abort();
  }, of);
  return loaded;
}
