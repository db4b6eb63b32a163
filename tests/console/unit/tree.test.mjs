// The tree: its rows, which of them are drawn, what keys do, and the words of both languages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const lib = (name) => import(pathToFileURL(`${process.env.CONSOLE_LIB}/${name}.js`));
const given = (name) => JSON.parse(readFileSync(`${process.env.CONSOLE_DATA}/${name}.json`, "utf8"));
const { rowsOf } = await lib("tree/rows");
const { scrolledTo, windowOf } = await lib("tree/window");
const { moveOf, typed } = await lib("tree/keys");
const { describe: inWords } = await lib("tree/line");
const { languageOf, speaker } = await lib("language/say");
const { en } = await lib("language/en");
const { pt } = await lib("language/pt");
const states = given("states");

const ids = (rows) => rows.map((row) => row.id);
const rows = rowsOf(states, new Map());

test("the rows are the pack by class and the answer by question, with what is below them", () => {
  assert.deepEqual(ids(rows), [
    "pack", "class:working_set", "kept:t1", "kept:t2", "kept:t3", "class:persona", "kept:p1", "class:semantic", "kept:k1", "kept:k2",
    "dropped:k3", "class:claims", "empties", "answer", "node:1", "node:1.1", "claim:1.1:0", "node:1.2", "claim:1.2:0",
  ]);
  const [first, second] = [rows.find((row) => row.id === "node:1.1"), rows.find((row) => row.id === "node:1.2")];
  assert.deepEqual([first.level, first.position, first.size, first.parent], [3, 1, 2, "node:1"]);
  assert.deepEqual([second.level, second.position, second.size, second.expanded], [3, 2, 2, true]);
  assert.equal(rows.find((row) => row.id === "class:claims").expanded, undefined);
});

test("the verdicts on tool calls stand below the answer, each with what the gate said", () => {
  const verdict = { call_id: "k1", tool_name: "refund_order", status: "error", arguments: null, error: "Which order?", preview: null, taken: [] };
  const shown = rowsOf({ ...states, tools: { calls: { k1: verdict } } }, new Map());
  assert.deepEqual(ids(shown).slice(-2), ["calls", "call:k1"]);
  assert.equal(inWords(shown.at(-1), speaker("en")), "refund_order, refused, Which order?");
  assert.ok(!ids(rowsOf(states, new Map())).includes("calls"));
});

test("a closed row hides what is below it, and classes without anything are folded into one", () => {
  const shown = (...opened) => ids(rowsOf(states, new Map(opened)));
  assert.equal(shown(["answer", false]).at(-1), "answer");
  assert.ok(!shown(["class:semantic", false]).includes("kept:k1"));
  assert.deepEqual(shown(["answer", false], ["empties", true]).slice(-4), ["empties", "class:episodic", "class:procedural", "answer"]);
});

test("what its memory did not send on is counted by its reason, and never a bare id", () => {
  const dropped = Object.fromEntries(["a", "b", "c"].map((id) => [id, { item_id: id, section: "semantic", reason: id === "c" ? "duplicate" : "budget" }]));
  const made = rowsOf({ pack: { nodes: { semantic: { node_id: "semantic", state: "ok" } }, dropped }, cognition: null }, new Map());
  assert.deepEqual(ids(made), ["pack", "class:semantic", "more:semantic:budget", "more:semantic:duplicate"]);
  assert.equal(inWords(made[2], speaker("en")), "2 more, not sent on, left out, no room left");
});

test("each node has one row, whatever parents they name", () => {
  const nodes = {
    a: { node_id: "a", state: "pending", parent_id: "a" },
    b: { node_id: "b", state: "pending", parent_id: "nobody" },
    c: { node_id: "c", state: "pending", parent_id: "b", children: ["d", "c"] },
    d: { node_id: "d", state: "pending", parent_id: "b" },
  };
  assert.deepEqual(ids(rowsOf({ pack: null, cognition: { nodes } }, new Map())), ["answer", "node:a", "node:b", "node:c", "node:d"]);
  const many = Object.fromEntries([10, 9, 2, 1].map((n) => [`1.${n}`, { node_id: `1.${n}`, state: "pending" }]));
  assert.deepEqual(ids(rowsOf({ pack: null, cognition: { nodes: many } }, new Map())).slice(1), [
    "node:1.1", "node:1.2", "node:1.9", "node:1.10",
  ]);
});

test("of many rows those in sight are drawn, with a margin, and none twice", () => {
  assert.deepEqual(windowOf(0, 600, 30, 5000, 8), { first: 0, end: 28 });
  assert.deepEqual(windowOf(75_000, 600, 30, 5000, 8), { first: 2492, end: 2528 });
  assert.deepEqual(windowOf(149_400, 600, 30, 5000, 8), { first: 4972, end: 5000 });
  assert.deepEqual(windowOf(9_000, 600, 30, 3, 8), { first: 3, end: 3 });
  for (let top = 0; top < 3000; top += 7) {
    const { first, end } = windowOf(top, 100, 30, 100, 0);
    assert.ok(first * 30 <= top && (end >= 100 || end * 30 >= top + 100));
  }
});

test("a row out of sight is scrolled to, one in sight is not", () => {
  assert.equal(scrolledTo(3, 0, 600, 30), 0);
  assert.equal(scrolledTo(20, 0, 600, 30), 30);
  assert.equal(scrolledTo(3, 300, 600, 30), 90);
});

test("keys move as in WAI-ARIA's tree", () => {
  const at = (key, active) => moveOf(key, rows, active, 5);
  assert.deepEqual(at("ArrowDown", "pack"), { to: "class:working_set" });
  assert.deepEqual(at("ArrowUp", "pack"), { to: "pack" });
  assert.deepEqual(at("End", "pack"), { to: "claim:1.2:0" });
  assert.deepEqual(at("Home", "node:1.1"), { to: "pack" });
  assert.deepEqual(at("PageDown", "pack"), { to: "class:persona" });
  assert.deepEqual(at("ArrowRight", "empties"), { open: "empties", expanded: true });
  assert.deepEqual(at("ArrowRight", "node:1"), { to: "node:1.1" });
  assert.deepEqual(at("ArrowRight", "class:claims"), { to: "class:claims" });
  assert.deepEqual(at("ArrowLeft", "node:1"), { open: "node:1", expanded: false });
  assert.deepEqual(at("ArrowLeft", "claim:1.1:0"), { to: "node:1.1" });
  assert.deepEqual(at("*", "class:working_set"), { openAll: "pack" });
  assert.deepEqual(at("Enter", "pack"), { enter: true });
  assert.equal(at("Tab", "pack"), null);
  assert.deepEqual(moveOf("ArrowDown", rows, "gone", 5), { to: "pack" });
  assert.equal(moveOf("ArrowDown", [], "gone", 5), null);
  assert.equal(typed("D", rows, "pack", (row) => inWords(row, speaker("en"))), "answer");
});

test("a row says in words all that it shows", () => {
  const say = (id, language) => inWords(rows.find((row) => row.id === id), speaker(language));
  assert.equal(say("node:1.1", "en"), "1.1 Qual é o prazo para apelação?, verified, 3 pieces of evidence, conflict, reused");
  assert.match(say("node:1.2", "pt"), /abstém-se, 1 evidência, 2 tentativas$/);
  assert.equal(say("class:claims", "en"), "Claims, late, no answer within 80 ms, 0 items, 0 tokens");
  assert.equal(say("claim:1.2:0", "en"), "Claim, O prazo é de 10 dias., rejected");
  assert.equal(say("empties", "en"), "Nothing from: Past conversations, Procedures");
});

test("both languages say the same things, and the browser's is taken", () => {
  assert.deepEqual(Object.keys(pt), Object.keys(en));
  for (const key of Object.keys(en)) {
    const places = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
    assert.deepEqual(places(pt[key]), places(en[key]), key);
  }
  assert.equal(languageOf(["fr-FR", "pt-BR", "en"]), "pt");
  assert.equal(languageOf(["de"]), "en");
  assert.equal(speaker("en").say("pack.items", { n: 1 }), "1 item");
  assert.equal(speaker("pt").say("pack.items", { n: 2 }), "2 itens");
  assert.equal(speaker("pt").word("state.", "unheard-of"), "unheard-of");
});
