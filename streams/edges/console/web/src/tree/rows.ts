/** The tree of a message as the rows of a list: the pack by class of memory, the answer by sub-question, tool calls. */

import { SECTIONS, isShown } from "../data/pack.ts";
import type {
  Claim, CognitionNode, CognitionState, DroppedItem, KeptItem, PackNode, PackState, Picture, ToolVerdict,
} from "../data/types.ts";

export type Held =
  | { kind: "pack"; pack: PackState }
  | { kind: "class"; node: PackNode }
  | { kind: "empties"; nodes: PackNode[] }
  | { kind: "kept"; item: KeptItem }
  | { kind: "dropped"; item: DroppedItem }
  | { kind: "more"; items: DroppedItem[] }
  | { kind: "cognition"; cognition: CognitionState }
  | { kind: "node"; node: CognitionNode; open: boolean }
  | { kind: "claim"; claim: Claim; node: CognitionNode }
  | { kind: "calls"; count: number }
  | { kind: "call"; verdict: ToolVerdict };

export interface Row {
  id: string;
  level: number;
  /** How many rows there are beside this one, with it, and which of them it is, from 1. */
  size: number;
  position: number;
  parent: string | null;
  /** Undefined for a row that has nothing below it. */
  expanded: boolean | undefined;
  held: Held;
}

/** Which rows were opened or closed by hand; others are as their kind is. */
export type Opened = ReadonlyMap<string, boolean>;

const CLOSED_AT_FIRST = new Set<Held["kind"]>(["empties"]);
const EMPTY = new Set(["empty", "skipped"]);

/** A node of the tree before it is a row: what it holds, and what is below it, made only where it is looked at. */
interface Twig {
  id: string;
  held: Held;
  below: () => Twig[];
  leaf: boolean;
}

/** The visible rows, from the top. */
export function rowsOf(picture: Picture, opened: Opened): Row[] {
  const rows: Row[] = [];
  const walk = (twigs: Twig[], level: number, parent: string | null): void => {
    twigs.forEach((twig, at) => {
      const expanded = twig.leaf ? undefined : (opened.get(twig.id) ?? !CLOSED_AT_FIRST.has(twig.held.kind));
      rows.push({ id: twig.id, level, size: twigs.length, position: at + 1, parent, expanded, held: twig.held });
      if (expanded) walk(twig.below(), level + 1, twig.id);
    });
  };
  walk(roots(picture), 1, null);
  return rows;
}

function roots(picture: Picture): Twig[] {
  const { pack, cognition, tools } = picture;
  const twigs: Twig[] = [];
  if (pack !== null) {
    const below = classes(pack);
    twigs.push({ id: "pack", held: { kind: "pack", pack }, below: () => below, leaf: below.length === 0 });
  }
  if (cognition !== null) {
    const below = questions(cognition);
    twigs.push({ id: "answer", held: { kind: "cognition", cognition }, below: () => below, leaf: below.length === 0 });
  }
  if (tools) {
    const below = Object.values(tools.calls ?? {}).map((verdict) => leaf(`call:${verdict.call_id}`, { kind: "call", verdict }));
    twigs.push({ id: "calls", held: { kind: "calls", count: below.length }, below: () => below, leaf: below.length === 0 });
  }
  return twigs;
}

function classes(pack: PackState): Twig[] {
  const inClass = new Map<string, Twig[]>();
  const classOf = (section: string): string => SECTIONS[section] ?? section;
  for (const item of Object.values(pack.kept ?? {}).filter(isShown)) {
    into(inClass, classOf(item.section), leaf(`kept:${item.item_id}`, { kind: "kept", item }));
  }
  // What its memory did not send on has no title: it is counted by the reason.
  const more = new Map<string, DroppedItem[]>();
  for (const item of Object.values(pack.dropped ?? {})) {
    if (item.title === undefined) into(more, `${classOf(item.section)}:${item.reason}`, item);
    else into(inClass, classOf(item.section), leaf(`dropped:${item.item_id}`, { kind: "dropped", item }));
  }
  for (const [key, items] of more) into(inClass, classOf(items[0]!.section), leaf(`more:${key}`, { kind: "more", items }));
  const nodes = pack.nodes ?? {};
  const twigs = Object.entries(nodes).map(([name, node]) => {
    const below = inClass.get(name) ?? [];
    return { id: `class:${name}`, held: { kind: "class", node } as const, below: () => below, leaf: below.length === 0 };
  });
  const elsewhere = [...inClass].filter(([name]) => !Object.hasOwn(nodes, name)).flatMap(([, below]) => below);
  const isOver = pack.kept !== undefined && Object.keys(pack.kept).length > 0;
  const isEmpty = ({ leaf, held }: Twig): boolean =>
    leaf && held.kind === "class" && (EMPTY.has(held.node.state) || (isOver && held.node.state === "ok" && !held.node.tokens));
  const empties = twigs.filter(isEmpty);
  const held = empties.flatMap((twig) => (twig.held.kind === "class" ? [twig.held.node] : []));
  const folded: Twig[] = empties.length === 0 ? [] : [{ id: "empties", held: { kind: "empties", nodes: held }, below: () => empties, leaf: false }];
  return [...twigs.filter((twig) => !isEmpty(twig)), ...elsewhere, ...folded];
}

function leaf(id: string, held: Held): Twig {
  return { id, held, below: () => [], leaf: true };
}

/** The sub-questions, each below its one parent; one whose parent is unknown stands on top. */
function questions(cognition: CognitionState): Twig[] {
  const nodes = cognition.nodes ?? {};
  const below = new Map<string, string[]>();
  const top: string[] = [];
  for (const [id, node] of Object.entries(nodes)) {
    const parent = node.parent_id ?? null;
    if (parent === null || parent === id || !Object.hasOwn(nodes, parent)) top.push(id);
    else into(below, parent, id);
  }
  const twig = (id: string): Twig => {
    const node = nodes[id]!;
    const inside = sorted(below.get(id) ?? [], node.children);
    const claims = node.claims ?? [];
    return {
      id: `node:${id}`,
      held: { kind: "node", node, open: inside.length > 0 },
      below: () => [
        ...inside.map(twig),
        ...claims.map((claim, at) => leaf(`claim:${id}:${at}`, { kind: "claim", claim, node })),
      ],
      leaf: inside.length + claims.length === 0,
    };
  };
  return sorted(top).map(twig);
}

function into<T>(lists: Map<string, T[]>, name: string, one: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [one]);
  else list.push(one);
}

/** In the order that is stated, else by the numbers in the ids. */
function sorted(ids: string[], stated: readonly string[] = []): string[] {
  if (ids.length < 2) return ids;
  if (stated.length === 0) return ids.sort((a, b) => compared(numbersIn(a), numbersIn(b)));
  const place = new Map(stated.map((id, at) => [id, at]));
  return ids.sort((a, b) => {
    const byPlace = (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity);
    return Number.isNaN(byPlace) || byPlace === 0 ? compared(numbersIn(a), numbersIn(b)) : byPlace;
  });
}

const MOST_KNOWN = 50_000;
const known = new Map<string, number[]>();

/** The numbers in an id; they are looked up again in each drawing, so they are kept. */
function numbersIn(id: string): number[] {
  let numbers = known.get(id);
  if (numbers === undefined) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(id, (numbers = id.split(/[.\-_]/).map(Number)));
  }
  return numbers;
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = a[at]! - b[at]!;
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return a.length - b.length;
}
