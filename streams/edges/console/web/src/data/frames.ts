/** Frames of an event stream (text/event-stream), from pieces of text that end anywhere. */

export interface Frame {
  event: string;
  data: string;
  id: string | null;
}

/** Collects pieces into frames; `retry` is the last waiting time the server named, in milliseconds. */
export class FrameReader {
  retry = 1000;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | null = null;

  /** The frames that a piece completes. */
  take(piece: string): Frame[] {
    this.#rest += piece;
    const frames: Frame[] = [];
    let begin = 0;
    for (;;) {
      const end = this.#rest.slice(begin).search(/[\r\n]/);
      if (end < 0) break;
      const at = begin + end;
      // A carriage return at the end of a piece may be half of a line end.
      if (this.#rest[at] === "\r" && at + 1 === this.#rest.length) break;
      const frame = this.#line(this.#rest.slice(begin, at));
      if (frame) frames.push(frame);
      begin = at + (this.#rest.startsWith("\r\n", at) ? 2 : 1);
    }
    this.#rest = this.#rest.slice(begin);
    return frames;
  }

  #line(line: string): Frame | null {
    if (line === "") return this.#complete();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    return null;
  }

  #complete(): Frame | null {
    const frame = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const told = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return told ? frame : null;
  }
}
