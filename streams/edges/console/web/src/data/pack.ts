/** A context pack as the console shows it: its items by section, and the state it would have been reduced to. */

import type { ClassState, ContextPack, DroppedItem, KeptItem, PackItem, PackNode, PackState, Picture } from "./types.ts";

/** The sections of a pack, in its order, and the class of memory of each. */
export const SECTIONS: Readonly<Record<string, string>> = {
  working_set: "working_set",
  persona_context: "persona",
  episodic: "episodic",
  semantic: "semantic",
  claims: "claims",
  procedural: "procedural",
};

const STATES: Readonly<Record<string, ClassState>> = {
  ok: "ok", empty: "empty", timeout: "late", error: "failed", missing: "late", skipped: "skipped",
};
const TEXTS = ["text", "content", "definition", "explanation", "label", "name", "title"];
const TITLES = ["title", "process_name", "name", "role"];

// Of these the title says more than the text in one line does.
const TITLED = new Set(["chunk", "knowledge", "concept", "process", "objective"]);

export interface Section {
  name: string;
  items: PackItem[];
  tokens: number;
}

/** The items of each section that has any. */
export function sections(pack: ContextPack): Section[] {
  const found = Object.keys(SECTIONS).map((name) => ({ name, items: itemsIn(pack[name], name) }));
  return found
    .filter((section) => section.items.length > 0)
    .map((section) => ({ ...section, tokens: section.items.reduce((sum, item) => sum + (item.tokens ?? 0), 0) }));
}

/** Whether an item stands in the text: a user without a profile has an item that says nothing. */
export function isShown(item: { tokens?: number | undefined; score?: number | undefined }): boolean {
  return Boolean(item.tokens || item.score);
}

/** Whether something was left out that its memory had sent, and is not named: a pack itself has no titles of it. */
export function isUnnamed(pack: PackState | null): boolean {
  return Object.values(pack?.dropped ?? {}).some((item) => item.title === undefined && Boolean(item.tokens));
}

/** A picture whose left-out items have their titles. */
export function named(picture: Picture, titles: ReadonlyMap<string, string> | null): Picture {
  if (titles === null || picture.pack === null) return picture;
  const dropped = Object.entries(picture.pack.dropped ?? {}).map(([id, item]) => {
    const title = item.title ?? titles.get(id);
    return [id, title === undefined ? item : { ...item, title }] as const;
  });
  return { ...picture, pack: { ...picture.pack, dropped: Object.fromEntries(dropped) } };
}

/** What an item says: its text, or the fields that are its own. */
export function textOf(item: PackItem): string {
  for (const name of TEXTS) {
    const held = item[name];
    if (typeof held === "string" && held !== "") return held;
  }
  if (item.type === "persona") {
    return ["user_role", "department", "access_level"].map((name) => `${item[name]}`).join(" · ");
  }
  return item.id;
}

/** What to call an item in one line. */
export function titleOf(item: PackItem): string {
  const named = TITLES.map((name) => item[name]).find((value) => typeof value === "string" && value !== "");
  return typeof named === "string" ? named : item.type.replaceAll("_", " ");
}

/** The state of a finished pack, as its events would have made it. */
export function stateOf(pack: ContextPack): PackState {
  const kept: Record<string, KeptItem> = {};
  const nodes: Record<string, PackNode> = {};
  const all = sections(pack);
  for (const part of pack.parts ?? []) {
    const section = all.find((each) => SECTIONS[each.name] === part.memory_class);
    nodes[part.memory_class] = {
      node_id: part.memory_class,
      state: STATES[part.status] ?? "failed",
      why: part.error ?? null,
      latency_ms: part.latency_ms ?? null,
      items: section?.items.length ?? 0,
      tokens: section?.tokens ?? 0,
    };
  }
  for (const section of all) {
    for (const item of section.items) {
      kept[item.id] = {
        item_id: item.id,
        section: section.name,
        title: item.type === "message" ? `${titleOf(item)}: ${textOf(item)}` : TITLED.has(item.type) ? titleOf(item) : textOf(item),
        tokens: item.tokens,
        score: item.score,
        reason: item.reason,
        source: item.provenance ?? null,
      };
    }
  }
  const dropped: Record<string, DroppedItem> = {};
  for (const item of pack.dropped ?? []) {
    dropped[item.id] = { item_id: item.id, section: item.memory_class, reason: item.reason, tokens: item.tokens, score: item.score };
  }
  return {
    job_id: pack.pack_id,
    message_id: pack.message_id,
    status: pack.degraded ? "degraded" : "complete",
    level: pack.depth_level,
    question: pack.query,
    budget: {
      max_tokens: pack.max_tokens,
      used_tokens: pack.total_tokens_estimated,
      latency_ms: pack.latency_ms,
    },
    nodes,
    kept,
    dropped,
    conflicts: {},
  };
}

function itemsIn(section: unknown, name: string): PackItem[] {
  if (typeof section !== "object" || section === null) return [];
  const fields = section as Record<string, unknown>;
  if (name === "persona_context") return [{ ...fields, id: "persona", type: "persona" } as PackItem];
  const found: PackItem[] = [];
  for (const held of Object.values(fields)) {
    for (const each of Array.isArray(held) ? held : [held]) {
      if (typeof each === "object" && each !== null && "id" in each) found.push(each as PackItem);
    }
  }
  return found;
}
