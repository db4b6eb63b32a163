/** From records of progress to what a message looks like now, and looked like after any of them. */

import { patch } from "./patch.ts";
import type { Picture, ProgressRecord, Snapshot, Stage } from "./types.ts";

/** `seen`: it was applied before; `gap`: one before it is missing, and a snapshot is needed. */
export type Outcome = "applied" | "seen" | "gap";

/** Where a job is: its last applied number; null after a snapshot, which does not say it. */
interface Place {
  job: string | null;
  last: number | null;
}

/** Reduces the records of one message, of all stages; every record counts once, and none may be missing. */
export class MessageReducer {
  picture: Picture = { pack: null, cognition: null };
  readonly history: ProgressRecord[] = [];
  #base: Picture = { pack: null, cognition: null };
  #places: Record<Stage, Place> = { pack: { job: null, last: 0 }, cognition: { job: null, last: 0 }, tools: { job: null, last: 0 } };

  /** Begin again from what the server has reduced. */
  restart(snapshot: Snapshot): void {
    this.#base = structuredClone({
      pack: snapshot.pack ?? null,
      cognition: snapshot.cognition ?? null,
      ...(snapshot.tools ? { tools: snapshot.tools } : {}),
    });
    this.picture = structuredClone(this.#base);
    this.history.length = 0;
    for (const stage of ["pack", "cognition", "tools"] as const) {
      const job = this.picture[stage]?.job_id ?? null;
      this.#places[stage] = { job, last: this.picture[stage] ? null : 0 };
    }
  }

  /** Apply one record, unless it was seen before or one before it is missing. */
  apply(record: ProgressRecord): Outcome {
    const place = this.#places[record.stage];
    const begins = place.job !== record.job_id && record.prev_seq === 0;
    if (begins) {
      this.picture[record.stage] = null;
    } else if (place.job !== null && place.job !== record.job_id) {
      return "gap";
    } else if (place.last !== null) {
      if (record.seq <= place.last) return "seen";
      if (record.prev_seq !== place.last) return "gap";
    }
    this.#places[record.stage] = { job: record.job_id, last: record.seq };
    apply(this.picture, record);
    this.history.push(record);
    return "applied";
  }

  /** The picture after the first so many records of the history. */
  after(count: number): Picture {
    const picture = structuredClone(this.#base);
    const jobs: Record<Stage, string | null> = {
      pack: picture.pack?.job_id ?? null,
      cognition: picture.cognition?.job_id ?? null,
      tools: picture.tools?.job_id ?? null,
    };
    for (const record of this.history.slice(0, count)) {
      if (jobs[record.stage] !== record.job_id) picture[record.stage] = null;
      jobs[record.stage] = record.job_id;
      apply(picture, record);
    }
    return picture;
  }
}

function apply(picture: Picture, record: ProgressRecord): void {
  const document = (picture[record.stage] ??= {}) as Record<string, unknown>;
  // A record may be applied again from the history: what it holds must stay as it came.
  patch(document, structuredClone(record.patch ?? []));
}
