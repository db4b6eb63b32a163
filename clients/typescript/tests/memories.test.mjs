// Facts that are remembered of a user, and lists of conversations, against a server that runs (FATHOM_URL, FATHOM_TOKEN).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { Fathom, NotFound, Refused } from "fathom-client";

const client = (options) => new Fathom({ user: `rui-${randomUUID()}`, waitMs: 30_000, ...options });

/** The facts about a locker by their values, once these have such states; the last look, where that never comes. */
async function facts(fathom, wanted, options) {
  let found = [];
  for (let tries = 0; tries < 100; tries++) {
    found = (await fathom.memories("locker", options)).memories;
    if (JSON.stringify(states(found)) === JSON.stringify(wanted)) break;
    await pause(200);
  }
  assert.deepEqual(states(found), wanted);
  return found;
}

const states = (found) => Object.fromEntries(found.map((one) => [one.value, one.status]));

test("a fact is added, corrected, confirmed and taken back", async () => {
  const fathom = client();
  assert.equal((await fathom.addMemory("My locker code is 7781.")).topic, "messages.in");
  const [old] = await facts(fathom, { 7781: "holds" });
  assert.deepEqual([old.text, old.author], ["My locker code is 7781.", "user"]);
  assert.equal((await fathom.correctMemory(old, "9002", { reason: "moved" })).topic, "corrections.in");
  await facts(fathom, { 7781: "replaced", 9002: "holds" }, { every: true });
  const [current] = (await fathom.memories("locker")).memories;
  await assert.rejects(fathom.confirmMemory(old), (error) => {
    assert.deepEqual([error.constructor, error.status], [Refused, 409]);
    assert.match(error.message, new RegExp(`this memory was replaced by ${current.memory_id} meanwhile`));
    return true;
  });
  await fathom.confirmMemory(current.memory_id);
  const [confirmed] = await facts(fathom, { 9002: "confirmed" });
  await fathom.deleteMemory(confirmed);
  await fathom.deleteMemory(old);
  await facts(fathom, {});
  assert.doesNotMatch((await fathom.ask("What is my locker code?", { lookUp: "always" })).text, /7781|9002/);
});

test("facts are found by their words and come in pages, each user's own", async () => {
  const fathom = client();
  await fathom.addMemory("My locker code is 4410.");
  await fathom.addMemory("My bicycle is green.");
  await facts(fathom, { 4410: "holds" });
  for (let tries = 0; (await fathom.memories()).memories.length < 2; tries++) {
    assert.ok(tries < 100, "the second fact does not come");
    await pause(200);
  }
  const first = await fathom.memories("", { limit: 1 });
  const second = await fathom.memories("", { limit: 1, after: first.next });
  const values = [...first.memories, ...second.memories].map((one) => one.value).sort();
  assert.deepEqual(values, ["4410", "green"]);
  assert.deepEqual((await fathom.memories("bicycle green")).memories.map((one) => one.value), ["green"]);
  assert.deepEqual((await client().memories()).memories, []);
});

test("what is wrong with an edit is one sentence", async () => {
  const fathom = client();
  await assert.rejects(fathom.deleteMemory("nope"), (error) => {
    assert.deepEqual([error.constructor, error.status], [NotFound, 404]);
    assert.match(error.message, /there is no such memory/);
    return true;
  });
  await assert.rejects(fathom.addMemory(" "), /there is no text in it/);
  await assert.rejects(fathom.memories("", { after: "x" }), /the `next` of the page before/);
});

test("the conversations that were used lately are listed and found by their first question", async () => {
  const word = `zebra${randomUUID().slice(0, 8)}`;
  const fathom = client();
  await fathom.ask(`Where does the ${word} live?`);
  let found;
  for (let tries = 0; tries < 100; tries++) {
    found = await fathom.conversations(word, { days: 1 });
    if (found.total === 1) break;
    await pause(200);
  }
  assert.deepEqual(found.conversations.map((one) => [one.conversation_id, one.title, one.questions]), [
    [fathom.conversationId, `Where does the ${word} live?`, 1],
  ]);
  assert.equal((await fathom.conversations(word, { offset: 1 })).conversations.length, 0);
});
