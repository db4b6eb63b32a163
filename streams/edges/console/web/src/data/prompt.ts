/** A pack's text in pieces, each with the class of memory that it comes from, and what of the budget each class takes. */

import { SECTIONS, sections, textOf } from "./pack.ts";
import type { ContextPack, PackItem } from "./types.ts";

/** What is no item: headings, instructions, the question. */
export const FRAME = "frame";

export interface Piece {
  /** A class of memory, or `FRAME`. */
  of: string;
  text: string;
  /** Null where a piece has no items of its own. */
  tokens: number | null;
  items: readonly PackItem[];
}

interface Held extends PackItem {
  memory: string;
}

/** The pieces of the text, in order: a heading, a source that is cited, or what stands between them. */
export function piecesOf(pack: ContextPack): Piece[] {
  const held = new Map(itemsOf(pack).map((item) => [item.id, item]));
  const cited = new Map((pack.sources ?? []).map((source) => [source.number, source]));
  const named = new Set((pack.sources ?? []).flatMap((source) => source.items));
  const loose = [...held.values()].filter((item) => !named.has(item.id));
  const pieces: Piece[] = [];
  for (const { lines, number } of chunksOf(pack.text ?? "", cited)) {
    const text = lines.join("\n");
    const own = number === null ? loose.filter((item) => stands(item, text)) : (cited.get(number)?.items ?? []).flatMap((id) => held.get(id) ?? []);
    const tokens = own.length === 0 ? null : own.reduce((sum, item) => sum + (item.tokens ?? 0), 0);
    pieces.push({ of: own[0]?.memory ?? FRAME, text, tokens, items: own });
  }
  // A heading is of what stands below it.
  return pieces.map((piece, at) => (piece.text.startsWith("## ") && piece.of === FRAME ? { ...piece, of: pieces[at + 1]?.of ?? FRAME } : piece));
}

/** The tokens of each class that has any, and of what is no item. */
export function tokensByClass(pack: ContextPack): [string, number][] {
  const found = sections(pack).map((each) => [SECTIONS[each.name] ?? each.name, each.tokens] as [string, number]);
  const rest = pack.total_tokens_estimated - found.reduce((sum, [, tokens]) => sum + tokens, 0);
  return [...found, [FRAME, Math.max(rest, 0)] as [string, number]].filter(([, tokens]) => tokens > 0);
}

/** The lowest score of a class's kept items: what was left out is measured by it. */
export function floorOf(items: readonly { score?: number | undefined }[]): number | null {
  const scores = items.flatMap((item) => (item.score ? [item.score] : []));
  return scores.length === 0 ? null : Math.min(...scores);
}

function itemsOf(pack: ContextPack): Held[] {
  return sections(pack).flatMap((section) => section.items.map((item) => ({ ...item, memory: SECTIONS[section.name] ?? section.name })));
}

interface Chunk {
  lines: string[];
  number: number | null;
}

/** Split at headings and at the next source by number and name: a text that looks like one is none. */
function chunksOf(text: string, cited: ReadonlyMap<number, { number: number; name: string }>): Chunk[] {
  const chunks: Chunk[] = [];
  let next = 1;
  let fresh = true;
  for (const line of text.split("\n")) {
    const source = cited.get(next);
    const begins = source !== undefined && line.startsWith(`[${next}] ${source.name.slice(0, 40)}`);
    const heading = line.startsWith("## ");
    if (begins || heading || fresh) chunks.push({ lines: [line], number: begins ? next : null });
    else chunks.at(-1)!.lines.push(line);
    if (begins) next += 1;
    fresh = heading;
  }
  return chunks;
}

/** Whether what an item says is in a text. */
function stands(item: PackItem, text: string): boolean {
  const said = item.type === "persona" ? `${item["user_role"] ?? ""}` : textOf(item);
  const begin = said.split("\n")[0]!.slice(0, 60).trim();
  return begin.length > 2 && begin !== "unknown" && text.includes(begin);
}
