// The client against a server that runs (FATHOM_URL, FATHOM_TOKEN): packs, documents, conversations, errors.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { cited, Fathom, FathomError, NotFound, Refused, textOf, Unauthorized, Unavailable, Unreachable } from "fathom-client";
import { answering, cutting } from "./proxy.mjs";

const { FATHOM_URL: URL, FATHOM_TOKEN: TOKEN } = process.env;
const REFUNDS = "# Refunds\n\nThe team lead approves refunds up to 500 euros.";
const REEMBOLSOS = "# Reembolsos\n\nA coordenadora Marta aprova os reembolsos de viagens.";

/** A client of a conversation of its own, and of a user whom no other test knows. */
const client = (options) => new Fathom({ user: `ana-${randomUUID()}`, waitMs: 30_000, ...options });

const refused = (kind, status, words) => (error) => {
  assert.equal(error.constructor, kind, String(error));
  assert.ok(error instanceof FathomError);
  assert.equal(error.status, status);
  assert.match(error.message, words);
  return true;
};

for (const [language, text, question, found] of [
  ["English", REFUNDS, "Who approves refunds?", "The team lead approves refunds up to 500 euros."],
  ["Portuguese", REEMBOLSOS, "Quem aprova os reembolsos?", "A coordenadora Marta aprova os reembolsos de viagens."],
]) {
  test(`a pack in ${language} has text, sources and items`, async () => {
    const fathom = client();
    const document = await fathom.ingestText(text, { title: "Policy", documentId: `policy-${language}` });
    assert.deepEqual([document.document_id, document.visible], [`policy-${language}`, true]);
    const pack = await fathom.ask(question, { lookUp: "always" });
    assert.ok(pack.text.includes(found), pack.text);
    assert.equal(pack.evidence, "found");
    assert.equal(pack.lang, language === "English" ? "en" : "pt");
    const items = cited(pack).filter(({ item }) => item.type === "chunk" && item.document_id === document.document_id);
    assert.deepEqual(items.map(({ item }) => textOf(item)), [found]);
    assert.match(items[0].source.name, /^Policy/);
  });
}

test("an answer closes the loop", async () => {
  const fathom = client();
  const pack = await fathom.ask("Who approves refunds?");
  const answer = await fathom.say("The team lead does.", { answers: pack });
  const talk = await fathom.conversation(undefined, { until: answer.message_id });
  assert.deepEqual(talk.turns.map((turn) => [turn.role, turn.content]), [
    ["user", "Who approves refunds?"],
    ["assistant", "The team lead does."],
  ]);
  assert.deepEqual([talk.turns[1].answers, talk.turns[1].pack_id], [pack.message_id, pack.pack_id]);
  assert.deepEqual(talk.decisions.map((decision) => decision.pack_id), [pack.pack_id]);
  assert.deepEqual(await fathom.pack(pack.message_id), pack);
});

test("what a caller decides about a pack holds", async () => {
  const fathom = client();
  const pack = await fathom.ask("Thanks!", { minDepth: "D2", maxTokens: 400 });
  assert.deepEqual([pack.depth_level, pack.max_tokens], ["D2", 400]);
  const next = await fathom.ask("Compare everything.", { maxDepth: "D0", have: [pack] });
  assert.deepEqual([next.depth_level, next.options.have], ["D0", [pack.pack_id]]);
});

test("any text comes back as it was, also in ids", async () => {
  const fathom = client();
  for (const text of ["Onde está o coração? 日本語 🦊", "a".repeat(20_000), 'line\n"quoted"\t\\']) {
    const conversation = `açúcar/日本?x=1#y ${randomUUID()}`;
    const sent = await fathom.remember(text, { conversation });
    const talk = await fathom.conversation(conversation, { until: sent.message_id });
    assert.equal(talk.turns.at(-1).content, text);
  }
});

test("a file is remembered under its name, replaced when sent again, and forgotten", async () => {
  const fathom = client();
  const file = (text) => new File([text], "máquina.md");
  const first = await fathom.ingest(file("# Machine\n\nDescale the espresso machine with vinegar."));
  assert.deepEqual([first.document_id, first.visible], ["máquina.md", true]);
  await fathom.ingest(file("# Machine\n\nDescale the espresso machine with citric acid."));
  const ask = async () => (await client().ask("How do I descale the espresso machine?", { lookUp: "always" })).text;
  assert.match(await ask(), /citric acid/);
  assert.doesNotMatch(await ask(), /vinegar/);
  assert.equal((await fathom.forget(first)).topic, "documents.in");
  for (let tries = 0; (await ask()).includes("citric acid"); tries++) assert.ok(tries < 50, "it is still there");
  const unseen = await fathom.ingestText("# Later\n\nNobody waits for this.", { wait: false });
  assert.equal(unseen.visible, false);
});

test("a correction gives both sides", async () => {
  const fathom = client();
  assert.equal((await fathom.profile(fathom.conversationId, { userRole: "clerk", department: "finance" })).topic, "documents.in");
  const thing = `relatório ${randomUUID().slice(0, 8)}`;
  const first = await fathom.ask(`O prazo do ${thing} é dia 15.`);
  await fathom.say(`Anotado: o prazo do ${thing} é dia 15.`, { answers: first });
  const pack = await fathom.ask(`Não, o prazo do ${thing} mudou para dia 20.`, { minDepth: "D3" });
  // Not the claim of the message itself: it may be in its pack a moment before it is in the log.
  const claim = [...pack.claims.user_claims, ...pack.claims.system_claims].find((one) => one.value.includes("15"));
  assert.ok(claim, JSON.stringify(pack.claims));
  assert.equal((await fathom.feedback(pack, 5, { expectedDepth: "D3", reason: "útil" })).topic, "feedback.in");
  const corrected = await fathom.correct(claim, "It is day 22.", { newValue: "dia 22" });
  assert.equal(corrected.topic, "corrections.in");
  let sides = [];
  for (let tries = 0; tries < 40 && !sides.some((claim) => claim.value.includes("22")); tries++) {
    const later = await fathom.ask(`Qual é o prazo do ${thing}?`, { minDepth: "D3", lookUp: "always" });
    sides = [...(later.claims?.user_claims ?? []), ...(later.claims?.system_claims ?? [])];
  }
  const values = sides.map((claim) => claim.value);
  assert.ok(values.some((value) => value.includes("22")), values.join());
  assert.ok(values.some((value) => value.includes("15") || value.includes("20")), values.join());
});

test("a turn is waited for, and not for ever", async () => {
  const json = { "content-type": "application/json" };
  const none = [404, json, JSON.stringify({ title: "Not Found", status: 404, detail: "there is no conversation" })];
  const talk = (...ids) => [200, json, JSON.stringify({ turns: ids.map((message_id) => ({ message_id })) })];
  await answering([none, talk("m1"), talk("m1", "m2")], async (url, taken) => {
    const found = await client({ url }).conversation("c", { until: "m2", limit: 7 });
    assert.deepEqual(found.turns.map((turn) => turn.message_id), ["m1", "m2"]);
    assert.deepEqual(taken, Array(3).fill("/conversations/c?client_id=default&limit=7"));
  });
  await answering([talk("m1")], async (url) => {
    const found = await client({ url, waitMs: 300 }).conversation("c", { until: "m2" });
    assert.deepEqual(found.turns.length, 1);
  });
  await answering([none], async (url) => {
    await assert.rejects(client({ url, waitMs: 300 }).conversation("c", { until: "m2" }), NotFound);
  });
});

test("packs come in order and are followed until the signal", async () => {
  const fathom = client();
  const questions = ["One?", "Two?", "Three?"];
  const controller = new AbortController();
  const found = [];
  const following = (async () => {
    for await (const pack of fathom.packs(undefined, { follow: true, signal: controller.signal })) {
      found.push(pack.query);
      if (found.length === questions.length) controller.abort(new Error("enough"));
    }
  })();
  for (const question of questions) await fathom.ask(question);
  await assert.rejects(following, /enough/);
  assert.deepEqual(found, questions);
  const again = [];
  for await (const pack of fathom.packs()) again.push(pack.query);
  assert.deepEqual(again, questions);
  await assert.rejects(() => fathom.packs("nowhere").next(), refused(NotFound, 404, /there is no conversation 'nowhere'/));
});

test("a search finds a document, and stores nothing", async () => {
  const fathom = client();
  const document = await fathom.ingestText("# Parking\n\nParking permits are issued by the front desk.", { title: "Parking" });
  const found = await fathom.search("Who issues parking permits?", { document, kind: "document", limit: 2 });
  assert.deepEqual(found.results.map((one) => one.text), ["Parking permits are issued by the front desk."]);
  assert.equal(found.evidence, "found");
  assert.equal((await fathom.search("Who issues parking permits?", { until: new Date(0) })).evidence, "none");
  await assert.rejects(fathom.conversation(), NotFound);
});

test("a query is assessed, and the server says that it is well", async () => {
  const assessed = await client().assess("Compare both contracts in detail.");
  assert.equal(typeof assessed.needs_deep_context, "boolean");
  assert.match(assessed.depth_level, /^D[0-4]$/);
  const health = await client().health();
  assert.equal(health.ready, true);
  assert.ok("stores" in health);
});

test("a server that is not ready says so", async () => {
  await answering([[503, { "content-type": "application/json" }, '{"ready": false, "disk": "full"}']], async (url, taken) => {
    assert.deepEqual(await new Fathom({ url, token: "t" }).health(), { ready: false, disk: "full" });
    assert.equal(taken.length, 1);
  });
});

for (const cuts of [1, 3]) {
  test(`a connection that breaks ${cuts} times after the server took the call makes one turn`, async () => {
    const conversation = randomUUID();
    await cutting(URL, cuts, async (url, counts) => {
      const sent = await client({ url, conversation }).remember("I am allergic to peanuts.");
      assert.equal(counts.requests, cuts + 1);
      const talk = await client({ conversation }).conversation(undefined, { until: sent.message_id });
      assert.deepEqual(talk.turns.map((turn) => turn.content), ["I am allergic to peanuts."]);
      // A document that is sent again is one record, too: the next one in its partition.
      counts.requests = 0;
      const send = (one) => one.ingestText("# Broken\n\nConnections.", { documentId: "broken", wait: false });
      const before = await send(client());
      assert.equal((await send(client({ url }))).offset, before.offset + 1);
      assert.equal(counts.requests, cuts + 1);
    });
  });
}

test("a connection that always breaks ends in a sentence, with the message's id", async () => {
  await cutting(URL, 100, async (url, counts) => {
    await assert.rejects(client({ url }).ask("Hello?", { messageId: "m-1" }), (error) => {
      assert.equal(error.messageId, "m-1");
      return refused(Unreachable, undefined, /^no Fathom answers at http.*`fathom up`/)(error);
    });
    assert.equal(counts.requests, 4);
  });
});

test("a server that is busy is asked again when it says, and not for ever", async () => {
  const problem = JSON.stringify({ title: "Too Many Requests", status: 429, detail: "too many calls: try again in 1 s" });
  const busy = [429, { "content-type": "application/problem+json", "retry-after": "0" }, problem];
  const place = [202, { "content-type": "application/json" }, '{"topic": "messages.in", "partition": 0, "offset": 1}'];
  await answering([busy, busy, place], async (url, taken) => {
    assert.equal((await client({ url }).remember("x")).offset, 1);
    assert.equal(taken.length, 3);
  });
  await answering([busy], async (url, taken) => {
    await assert.rejects(client({ url }).remember("x"), refused(Unavailable, 429, /too many calls/));
    assert.equal(taken.length, 4);
  });
});

test("a call is aborted at once, and no error hides the reason", async () => {
  await answering([[0]], async (url) => {
    const fathom = client({ url });
    const began = Date.now();
    await assert.rejects(fathom.ask("Hello?", { signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
    await assert.rejects(fathom.ask("Hello?", { signal: AbortSignal.abort(new Error("gone")) }), /^Error: gone$/);
    assert.ok(Date.now() - began < 5_000);
  });
  const busy = [503, { "retry-after": "5" }, "{}"];
  await answering([busy], async (url, taken) => {
    const began = Date.now();
    await assert.rejects(client({ url }).remember("x", { signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
    assert.ok(Date.now() - began < 4_000, "it waited for the next attempt");
    assert.equal(taken.length, 1);
  });
});

for (const [name, call, kind, status, words] of [
  ["blank text", (one) => one.ask(" "), Refused, 422, /content: there is no text in it/],
  ["depths the wrong way round", (one) => one.ask("x", { minDepth: "D4", maxDepth: "D1" }), Refused, 422, /min_depth D4 is above/],
  ["no tokens", (one) => one.ask("x", { maxTokens: 0 }), Refused, 422, /max_tokens/],
  ["no such pack", (one) => one.pack("nope"), NotFound, 404, /no pack of a message 'nope'/],
  ["an answer to nothing", (one) => one.say("x", { answers: "nope" }), Refused, 422, /nope/],
  ["no such claim", (one) => one.correct("nope", "x"), Refused, 422, /there is no claim 'nope'/],
  ["no such document", (one) => one.forget("nope"), NotFound, 404, /no document 'nope' was sent/],
  ["a language of neither kind", (one) => one.ingestText("x", { lang: "fr" }), Refused, 422, /lang/],
  ["an id of dots", async (one) => one.pack(".."), Refused, undefined, /cannot stand in an address/],
  ["half a character", async (one) => one.pack("\ud800"), Refused, undefined, /cannot stand in an address/],
  ["a user that no header carries", async (one) => one.ask("x", { user: "日本" }), Refused, undefined, /letters of Latin-1/],
]) {
  test(`a refusal is one sentence: ${name}`, async () => {
    await assert.rejects(async () => await call(client()), refused(kind, status, words));
  });
}

test("a problem is the server's own", async () => {
  const error = await client().pack("nope").catch((reason) => reason);
  assert.equal(error.problem.status, 404);
  assert.equal(error.problem.title, "Not Found");
  assert.equal(error.problem.detail, error.message);
  assert.equal(error.name, "NotFound");
});

test("a wrong token is told", async () => {
  await assert.rejects(client({ token: "wrong" }).ask("Hello?"), refused(Unauthorized, 401, /a known token is needed/));
});

test("a server that is not there, or is another, is told", async () => {
  await assert.rejects(client({ url: "http://127.0.0.1:9" }).ask("Hello?"), refused(Unreachable, undefined, /no Fathom answers/));
  for (const answer of [
    [200, { "content-type": "text/html" }, "<html>"],
    [200, { "content-type": "application/json" }, '{"hello": "world"}'],
    [302, { location: "http://127.0.0.1:9/" }, ""],
    [404, {}, "not found"],
  ]) {
    await answering([answer], async (url, taken) => {
      await assert.rejects(client({ url }).pack("m"), refused(Unreachable, answer[0], /check that this is its address/));
      assert.equal(taken.length, 1);
    });
  }
});

test("a page of another origin is answered without leave to read", async () => {
  const preflight = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" };
  for (const [origin, status] of [["https://app.example", 403], ["http://localhost:5173", 401]]) {
    const answer = await fetch(`${URL}/messages`, { method: "OPTIONS", headers: { Origin: origin, ...preflight } });
    const names = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"));
    assert.deepEqual([answer.status, names], [status, []]);
  }
  const headers = { Origin: "http://localhost:5173", Authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${URL}/conversations/none`, { headers });
  assert.deepEqual([answer.status, answer.headers.get("access-control-allow-origin")], [404, null]);
});

test("address and token come from the environment, and their lack is told", () => {
  const { FATHOM_URL, FATHOM_TOKEN } = process.env;
  try {
    process.env.FATHOM_URL = `${FATHOM_URL}/`;
    assert.equal(new Fathom().url, FATHOM_URL);
    delete process.env.FATHOM_TOKEN;
    assert.throws(() => new Fathom(), refused(Refused, undefined, /there is no token for http.*FATHOM_TOKEN/));
    delete process.env.FATHOM_URL;
    assert.throws(() => new Fathom(), refused(Unreachable, undefined, /no Fathom is named.*FATHOM_URL/));
  } finally {
    Object.assign(process.env, { FATHOM_URL, FATHOM_TOKEN });
  }
  for (const url of ["localhost:80", "ftp://x", "http://", "http://u:p@x", "http://x/?a=1"]) {
    assert.throws(() => new Fathom({ url, token: TOKEN }), refused(Refused, undefined, /no address of a Fathom/));
  }
  assert.throws(() => new Fathom({ url: URL, token: "a\nb" }), refused(Refused, undefined, /give it as Fathom wrote it/));
});

test("with deep the answer is beside the pack", async () => {
  const pack = { pack_id: "p1", message_id: "m1", text: "## Knowledge" };
  const answer = { job_id: "j1", message_id: "m1", status: "partial", text: "Ten days. [doc:a]", missing: ["who decides"] };
  const json = { "content-type": "application/json" };
  await answering([[200, json, JSON.stringify({ pack, answer })]], async (url, taken) => {
    const found = await client({ url }).ask("What is the deadline, and who decides?", { deep: true });
    assert.deepEqual(found, { ...pack, sources: [], answer });
    assert.deepEqual(taken, ["/messages?deep=true"]);
  });
  const off = { title: "Conflict", status: 409, detail: "cognition is off; ask without `deep`" };
  await answering([[409, json, JSON.stringify(off)]], async (url) => {
    await assert.rejects(client({ url }).ask("x", { deep: true }), refused(Refused, 409, /cognition is off/));
  });
});
