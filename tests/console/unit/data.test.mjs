// The page's rules, without a browser: patches, the reducer, frames, following, texts, routes, packs.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const lib = (name) => import(pathToFileURL(`${process.env.CONSOLE_LIB}/${name}.js`));
const given = (name) => JSON.parse(readFileSync(`${process.env.CONSOLE_DATA}/${name}.json`, "utf8"));
const { MessageReducer } = await lib("data/reducer");
const { patch, pointer } = await lib("data/patch");
const { FrameReader } = await lib("data/frames");
const { Refused, follow } = await lib("data/follow");
const { ago, split, said } = await lib("data/text");
const { piecesOf, tokensByClass } = await lib("data/prompt");
const { slotsOf } = await lib("data/days");
const { address, routeOf } = await lib("data/routes");
const { verdictOf } = await lib("data/claims");
const { isUnnamed, named, sections, stateOf, textOf } = await lib("data/pack");
const records = given("records");
const states = given("states");

const reducedFrom = (all) => {
  const reducer = new MessageReducer();
  const outcomes = all.map((record) => reducer.apply(record));
  return { reducer, outcomes };
};

test("the records of a message reduce to its states", () => {
  const { reducer, outcomes } = reducedFrom(records);
  assert.deepEqual(reducer.picture, states);
  assert.ok(outcomes.every((outcome) => outcome === "applied"));
});

test("what the server has recorded reduces to what the server reduced", () => {
  const recorded = existsSync(`${process.env.CONSOLE_DATA}/progress_job.json`);
  const { reducer, outcomes } = reducedFrom(recorded ? given("progress_job") : records);
  const { message_id: _, ...reduced } = recorded ? given("progress_job_reduced") : states;
  assert.deepEqual(reducer.picture, reduced);
  assert.ok(outcomes.every((outcome) => outcome === "applied"));
});

test("the status goes from nothing over each of its values to complete, in order", () => {
  const reducer = new MessageReducer();
  const seen = [reducer.picture.cognition?.status ?? "idle"];
  for (const record of records) {
    reducer.apply(record);
    const status = reducer.picture.cognition?.status ?? "idle";
    if (seen.at(-1) !== status) seen.push(status);
  }
  assert.deepEqual(seen, ["idle", "decomposing", "retrieving", "refining", "verifying", "complete"]);
});

test("a verdict on a tool call is a stage of its own, and is looked at again before and after it came", () => {
  const reducer = new MessageReducer();
  const record = (seq, prev_seq, status) => ({
    job_id: "calls", message_id: "m", stage: "tools", type: "TOOL_VERDICT", seq, prev_seq,
    patch: [{ op: "add", path: "/job_id", value: "calls" }, { op: "add", path: "/calls/k1", value: { call_id: "k1", status } }],
  });
  assert.equal(reducer.apply(record(8, 0, "confirmation_required")), "applied");
  assert.equal(reducer.apply(record(12, 8, "resolved")), "applied");
  assert.equal(reducer.apply(record(12, 8, "resolved")), "seen");
  assert.equal(reducer.picture.tools.calls.k1.status, "resolved");
  assert.equal(reducer.after(1).tools.calls.k1.status, "confirmation_required");
  assert.equal(reducer.after(0).tools, undefined);
  assert.equal(reducer.apply(record(20, 15, "error")), "gap");
});

test("a record that comes twice counts once, wherever it comes again", () => {
  const twice = records.flatMap((record, at) => (at % 3 === 0 ? [record, ...records.slice(0, at + 1)] : [record]));
  const { reducer, outcomes } = reducedFrom(twice);
  assert.deepEqual(reducer.picture, states);
  assert.equal(outcomes.filter((outcome) => outcome === "applied").length, records.length);
  assert.equal(outcomes.filter((outcome) => outcome === "gap").length, 0);
});

test("a record that is missing is seen at the next of its stage, and nothing is applied behind it", () => {
  for (let lost = 0; lost < records.length; lost += 1) {
    const reducer = new MessageReducer();
    const next = records.findIndex((record, at) => at > lost && record.stage === records[lost].stage);
    if (next < 0) continue;
    for (const [at, record] of records.slice(0, next).entries()) if (at !== lost) reducer.apply(record);
    const before = structuredClone(reducer.picture);
    assert.equal(reducer.apply(records[next]), "gap", `without record ${lost}`);
    assert.deepEqual(reducer.picture, before);
  }
});

test("a snapshot and the records behind it reduce to the same, from wherever it was taken", () => {
  for (let at = 0; at <= records.length; at += 1) {
    const first = reducedFrom(records.slice(0, at)).reducer;
    const late = new MessageReducer();
    late.restart(structuredClone(first.picture));
    for (const record of records.slice(at)) assert.equal(late.apply(record), "applied");
    assert.deepEqual(late.picture, states);
  }
});

test("any moment of the history can be looked at again", () => {
  const { reducer } = reducedFrom(records);
  for (const at of [0, 1, 5, records.length - 1, records.length]) {
    assert.deepEqual(reducer.after(at), reducedFrom(records.slice(0, at)).reducer.picture);
  }
  assert.deepEqual(reducer.picture, states);
});

test("a new job of a message begins anew", () => {
  const { reducer } = reducedFrom(records);
  const again = records.filter((record) => record.stage === "cognition").map((record) => ({ ...record, job_id: "j2" }));
  for (const record of again) assert.equal(reducer.apply(record), "applied");
  assert.deepEqual(reducer.picture.cognition, states.cognition);
  assert.equal(new MessageReducer().apply(again[3]), "gap");
});

test("a patch sets and removes one place, and makes what is missing on the way", () => {
  const document = {};
  patch(document, [{ op: "add", path: "/nodes/1.2~1a~0b", value: { n: 1 } }, { op: "add", path: "/list", value: [1] }]);
  patch(document, [{ op: "add", path: "/list/-", value: 3 }, { op: "add", path: "/list/1", value: 2 }]);
  assert.deepEqual(document, { nodes: { "1.2/a~b": { n: 1 } }, list: [1, 2, 3] });
  patch(document, [{ op: "remove", path: "/nodes/1.2~1a~0b" }, { op: "replace", path: "/list/0", value: 0 }]);
  assert.deepEqual(document, { nodes: {}, list: [0, 2, 3] });
  assert.deepEqual(pointer("/a~01"), ["a~1"]);
  assert.throws(() => patch(document, [{ op: "move", path: "/a", value: 1 }]), TypeError);
  assert.throws(() => patch(document, [{ op: "add", path: "", value: {} }]), TypeError);
});

test("a key that is named like a prototype is a key", () => {
  const document = {};
  patch(document, [{ op: "add", path: "/nodes/__proto__/polluted", value: true }]);
  assert.equal({}.polluted, undefined);
  assert.ok(Object.hasOwn(document.nodes, "__proto__"));
});

test("frames come out whole, wherever the pieces end and whatever ends the lines", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = ["retry: 70", "", ": beat", "", "id: 7", "event: A", "data: {\"a\":", "data: 1}", "", "data:x", "", ""].join(end);
    for (let size = 1; size <= text.length; size += 1) {
      const reader = new FrameReader();
      const frames = [];
      for (let at = 0; at < text.length; at += size) frames.push(...reader.take(text.slice(at, at + size)));
      frames.push(...reader.take("\n"));
      assert.deepEqual(frames, [
        { event: "A", data: '{"a":\n1}', id: "7" },
        { event: "message", data: "x", id: "7" },
      ], JSON.stringify({ end, size }));
      assert.equal(reader.retry, 70);
    }
  }
});

/** A server of some streams: each is the texts it says, and then ends; what was asked for is in `asked`. */
function server(streams) {
  const asked = [];
  const replays = [];
  const told = [];
  return {
    asked,
    replays,
    told,
    open: async (after, _, replay) => {
      asked.push(after);
      replays.push(replay);
      const next = streams.shift();
      if (next instanceof Error) throw next;
      return new ReadableStream({
        start(controller) {
          for (const text of next ?? []) controller.enqueue(new TextEncoder().encode(text));
          if (next !== undefined) controller.close();
        },
      });
    },
    changed: () => undefined,
    connection: (state) => told.push(state),
    wait: async () => undefined,
  };
}

const framed = (record, at) => `id: ${at}\nevent: ${record.type}\ndata: ${JSON.stringify(record)}\n\n`;
const empty = 'id: s\nevent: snapshot\ndata: {"pack":null,"cognition":null}\n\n';
const end = "event: end\ndata: {}\n\n";

test("a stream that breaks is resumed behind the last event, also in the middle of a frame", async () => {
  const all = records.map(framed);
  const given = server([
    [empty, ...all.slice(0, 4), all[4].slice(0, 20)], [], new TypeError("network"), [...all.slice(4), end],
  ]);
  const reducer = new MessageReducer();
  await follow(reducer, given, new AbortController().signal);
  assert.deepEqual(given.asked, [null, 3, 3, 3].map((at) => (at === null ? null : `${at}`)));
  assert.deepEqual(reducer.picture, states);
  assert.equal(given.told.at(-1), "ended");
  assert.ok(given.told.includes("broken"));
});

test("a hundred breaks lose no event", async () => {
  const all = records.map(framed);
  const streams = [[empty]];
  for (let at = 0; streams.length < 101; at = Math.min(at + 1, all.length)) streams.push(all.slice(at, at + 1));
  const reducer = new MessageReducer();
  await follow(reducer, server([...streams, [...all, end]]), new AbortController().signal);
  assert.deepEqual(reducer.picture, states);
});

test("who comes late has a history from the first event on", async () => {
  const all = records.map(framed);
  const given = server([[...all.slice(0, 7)], [...all.slice(7), end]]);
  const reducer = new MessageReducer();
  await follow(reducer, given, new AbortController().signal);
  assert.deepEqual(given.replays, [true, true]);
  assert.equal(reducer.history.length, records.length);
  assert.deepEqual(reducer.after(7), reducedFrom(records.slice(0, 7)).reducer.picture);
  assert.deepEqual(reducer.picture, states);
});

test("a missing event asks for a snapshot", async () => {
  const all = records.map(framed);
  const snapshot = `id: z\nevent: snapshot\ndata: ${JSON.stringify({ ...states, message_id: "told" })}\n\n`;
  const given = server([[empty, ...all.slice(0, 2), ...all.slice(3)], [snapshot, end]]);
  const reducer = new MessageReducer();
  await follow(reducer, given, new AbortController().signal);
  assert.deepEqual(given.asked, [null, null]);
  assert.deepEqual(given.replays, [true, false]);
  assert.deepEqual(reducer.picture, states);
});

test("a silent connection is taken for dead and opened again", async () => {
  const given = server([undefined, [empty, ...records.map(framed), end]]);
  const reducer = new MessageReducer();
  await follow(reducer, { ...given, silence: 20 }, new AbortController().signal);
  assert.deepEqual(reducer.picture, states);
});

test("what is refused for good is not asked again; what is refused for now is", async () => {
  const reducer = new MessageReducer();
  const late = server([new Refused("busy", 503, true), [end]]);
  await follow(reducer, late, new AbortController().signal);
  assert.equal(late.asked.length, 2);
  const never = server([new Refused("unknown", 404, false)]);
  await assert.rejects(follow(reducer, never, new AbortController().signal), /unknown/);
  assert.equal(never.told.at(-1), "refused");
});

test("a span is counted in characters, also behind those of two code units", () => {
  assert.deepEqual(split("⚖️𝄞 prazo de 15 dias.", 4, 9), ["⚖️𝄞 ", "prazo", " de 15 dias."]);
  assert.deepEqual(split("abc", -1, 99), ["", "abc", ""]);
  assert.equal(said([{ text: "a" }, null, 5, { x: 1 }]), 'a, 5, {"x":1}');
});

test("addresses lead back to their views", () => {
  const hash = address("message", ["a/b?c#d"], { row: "node:1.2", none: "" });
  assert.deepEqual(routeOf(hash).ids, ["a/b?c#d"]);
  assert.equal(routeOf(hash).query.get("row"), "node:1.2");
  assert.equal(routeOf(hash).query.has("none"), false);
  assert.equal(routeOf("").view, "conversations");
  assert.deepEqual(routeOf("#/message/%E0%A4%A").ids, ["%E0%A4%A"]);
});

test("one failed check rejects a claim, and one that cannot decide does not approve it", () => {
  const checks = (...verdicts) => ({ text: "", checks: verdicts.map((verdict) => ({ name: "n", verdict })) });
  assert.equal(verdictOf(checks("pass", "warn")), "accepted");
  assert.equal(verdictOf(checks("pass", "unverified")), "unverified");
  assert.equal(verdictOf(checks("unverified", "fail")), "rejected");
  assert.equal(verdictOf(checks()), "unchecked");
});

test("days and hours without messages stand between the others, with nothing on them", () => {
  const days = ["2026-02-27", "2026-03-02"].map((day) => ({ day, messages: 3 }));
  assert.deepEqual(slotsOf({ days }).map((each) => [each.at, each.messages]), [
    ["2026-02-27", 3], ["2026-02-28", 0], ["2026-03-01", 0], ["2026-03-02", 3],
  ]);
  const hours = ["2026-02-27T23:00:00Z", "2026-02-28T01:00:00Z"].map((hour) => ({ hour, messages: 2 }));
  assert.deepEqual(slotsOf({ days, hours }).map((each) => [each.at, each.messages]), [
    ["2026-02-27 23:00", 2], ["2026-02-28 00:00", 0], ["2026-02-28 01:00", 2],
  ]);
  assert.deepEqual(slotsOf({ days: [] }), []);
});

test("the text of every golden pack is whole in its pieces, and each source is of the class of its items", () => {
  for (const pack of given("packs")) {
    const pieces = piecesOf(pack);
    assert.equal(pieces.map((piece) => piece.text).join("\n"), pack.text ?? "");
    for (const source of pack.sources ?? []) {
      const [piece] = pieces.filter((each) => each.text.startsWith(`[${source.number}] `));
      assert.deepEqual(piece.items.map((item) => item.id), source.items);
      assert.notEqual(piece.of, "frame");
    }
    const spent = tokensByClass(pack).reduce((sum, [, tokens]) => sum + tokens, 0);
    assert.ok(spent >= pack.total_tokens_estimated, `${spent} of ${pack.total_tokens_estimated}`);
  }
});

test("what a pack left out is named where its explanation knows it", () => {
  const state = { pack: { dropped: { a: { item_id: "a", section: "semantic", reason: "budget", tokens: 9 }, b: { item_id: "b", section: "semantic", reason: "budget", tokens: 0 } } }, cognition: null };
  assert.equal(isUnnamed(state.pack), true);
  const { pack } = named(state, new Map([["a", "Handbook"]]));
  assert.deepEqual([pack.dropped.a.title, pack.dropped.b.title, isUnnamed(pack)], ["Handbook", undefined, false]);
  assert.equal(named(state, null), state);
});

test("a text that looks like a heading of a source is none", () => {
  const chunk = { id: "k", type: "chunk", text: "[2] Bees say so", tokens: 9, score: 0.5 };
  const text = "## Knowledge\n[1] Handbook\n- of bees\n[2] Bees say so\n## End";
  const pieces = piecesOf({ text, sources: [{ number: 1, name: "Handbook", items: ["k"] }], semantic: { knowledge_chunks: [chunk] } });
  assert.deepEqual(pieces.map((piece) => [piece.of, piece.tokens]), [["semantic", null], ["semantic", 9], ["frame", null]]);
});

test("how long ago something was is said in words, and by its date after a week", () => {
  const now = Date.parse("2026-11-29T12:00:00Z");
  const said = ["2026-11-29T11:59:50Z", "2026-11-29T11:15:00Z", "2026-11-28T11:00:00Z", "2026-11-01T12:00:00Z", "never"].map((each) => ago(each, "en-GB", now));
  assert.deepEqual(said, ["now", "45 minutes ago", "yesterday", "1 Nov 2026", "never"]);
  assert.equal(ago("2026-11-29T10:00:00Z", "pt-BR", now), "há 2 horas");
});

test("every item of every golden pack is in its section, with a text", () => {
  const ids = (value) => {
    if (Array.isArray(value)) return value.flatMap(ids);
    if (typeof value !== "object" || value === null) return [];
    return [...("provenance" in value && "id" in value ? [value.id] : []), ...Object.values(value).flatMap(ids)];
  };
  for (const pack of given("packs")) {
    const shown = sections(pack).flatMap((section) => section.items);
    const { persona_context: _, ...rest } = pack;
    assert.deepEqual(new Set(shown.map((item) => item.id)), new Set(["persona", ...ids(rest)]));
    assert.ok(shown.every((item) => item.type === "persona" || textOf(item) !== item.id));
    const state = stateOf(pack);
    assert.equal(Object.keys(state.kept).length, shown.length);
    assert.deepEqual(Object.keys(state.dropped), (pack.dropped ?? []).map((item) => item.id));
    assert.equal(state.status, pack.degraded ? "degraded" : "complete");
  }
});
