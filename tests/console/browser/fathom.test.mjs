// The page against a running Fathom, whatever its broker: questions, their packs and answers, and what became of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { TOKEN, URL_OF, launched, opened, screen } from "./browser.mjs";

const QUESTION = "Who approves refunds?";
const DEEP = "O adicional de insalubridade é devido ao empregado do frigorífico, quanto dura o intervalo de almoço e qual é a alíquota do ITBI?";
const HEADERS = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
let browser;
// The address of the message that the deep question made, with what is chosen in it.
let permalink;
before(async () => {
  browser = await launched();
  // A browser that starts takes the machine, and a server compiles its first queries, and again while its data grow:
  // parts of the first packs come late, and the page says so.
  const { page, context } = await opened(browser, "/ask");
  await page.getByRole("button", { name: "Ask", exact: true }).waitFor();
  for (const question of [QUESTION, DEEP]) {
    let whole = 0;
    for (let tries = 0; whole < 5 && tries < 30; tries += 1) {
      whole = (await post("messages?wait=pack", message(question, "c-first"))).degraded ? 0 : whole + 1;
    }
    assert.equal(whole, 5, `packs lack parts: ${question}`);
  }
  await context.close();
});
after(async () => { await browser.close(); });

const asked = async (page, fields, question = QUESTION) => {
  await page.getByRole("textbox", { name: "Question" }).fill(question);
  await page.locator("form details").evaluate((fold) => { fold.open = true; });
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
};

const message = (content, conversation) => ({ role: "user", content, conversation_id: conversation, client_id: "console" });

const post = async (path, body) => {
  const answer = await fetch(`${URL_OF}/${path}`, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
};

/** All frames of a message's stream, which has to end. */
const frames = async (id, after) => {
  const answer = await fetch(`${URL_OF}/events?message_id=${id}&${after ? "" : "replay=true"}`, {
    headers: { ...HEADERS, ...(after ? { "Last-Event-ID": after } : {}) },
  });
  const said = (await answer.text()).split("\n\n").map((each) => Object.fromEntries(each.split("\n").map((line) => line.split(/: (.*)/s, 2))));
  assert.equal(said.findLast((each) => each.event)?.event, "end");
  return said.filter((each) => each.id);
};

test("a question gets its pack, which is inspected down to its source", async () => {
  const { page, context, problems } = await opened(browser, "/ask");
  await asked(page, { User: "ana", Conversation: "c-refunds" });
  await page.locator(".link.ended").waitFor();
  const said = await page.locator('[data-row="class:semantic"]').innerText();
  assert.match(said, /ok\s+Knowledge/, `the part of what documents say: ${said}`);
  await screen(page, "message");
  await page.getByRole("link", { name: "Inspect the pack" }).click();
  await page.getByText("The team lead approves refunds.").first().waitFor();
  await screen(page, "pack");
  await page.goto(`${URL_OF}/console/#/conversation/c-refunds?client=console`);
  await page.locator(".turn", { hasText: QUESTION }).getByRole("link", { name: "Pack" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("what a pack has of a conversation names the very records of the log, on each partition", async () => {
  const places = new Map();
  for (let number = 0; number < 8; number += 1) {
    const statement = `The code of door ${number} is ${number}${number}7.`;
    const place = await post("messages", message(statement, `c-door-${number}`));
    if (place.offset > 0) places.set(place.partition, { ...place, statement, number });
  }
  assert.ok(places.size > 1, "several partitions");
  const { page, context, problems } = await opened(browser, "/ask");
  for (const { partition, offset, statement, number } of [...places.values()].slice(0, 2)) {
    await page.goto(`${URL_OF}/console/#/ask`);
    await asked(page, { User: "ana", Conversation: `c-door-${number}` }, `What is the code of door ${number}?`);
    await page.locator(".link.ended").waitFor();
    await page.getByRole("link", { name: "Inspect the pack" }).click();
    const item = page.locator("tr.item", { hasText: statement }).first();
    assert.match(await item.innerText(), new RegExp(`messages\\.in \\[${partition}\\] @ ${offset}$`, "m"));
  }
  await screen(page, "places");
  assert.deepEqual(problems, []);
  await context.close();
});

test("the same question at two depths gives two packs", async () => {
  const { page, context, problems } = await opened(browser, `/ask?q=${encodeURIComponent(QUESTION)}&not=D3`);
  await page.getByLabel("Depth").selectOption("D3");
  await asked(page, { User: "ana" });
  await page.getByRole("heading", { name: QUESTION }).waitFor();
  for (const depth of ["D3", "D1"]) await page.getByRole("heading", { name: `Only in ${depth}` }).waitFor();
  await screen(page, "compare");
  assert.deepEqual(problems, []);
  await context.close();
});

test("a deep answer grows before one's eyes, with its sub-questions, claims and checks", async () => {
  const { page, context, problems } = await opened(browser, "/ask");
  await page.evaluate(() => {
    window.seen = [];
    const look = () => {
      const state = document.querySelector('[data-row="answer"] .state')?.innerText;
      if (state && state !== window.seen.at(-1)) window.seen.push(state);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole("switch", { name: "deep answer" }).check();
  await asked(page, { User: "ana", Conversation: "c-deep" }, DEEP);
  await page.locator(".link.ended").waitFor();
  const row = (id) => page.locator(`[data-row="${id}"]`);
  const seen = await page.evaluate(() => window.seen);
  assert.equal(seen.at(-1), "complete");
  assert.ok(seen.length > 1, `only ${seen}: nothing was shown before the end`);
  assert.match(await row("answer").innerText(), /complete/);
  assert.match(await row("node:1").innerText(), /verified.*insalubridade.*conflict/s);
  assert.match(await row("node:2").innerText(), /abstains.*ITBI/s);
  const details = page.getByRole("region", { name: "Details" });
  await details.getByRole("heading", { name: "Limitações" }).waitFor();
  await screen(page, "answer");
  await row("claim:1:0").click();
  await details.locator("mark").waitFor();
  assert.equal(await details.locator("table.checks tbody tr").count(), 12);
  await screen(page, "claim");
  permalink = new URL(page.url()).hash.slice(1);
  assert.deepEqual(problems, []);
  await context.close();
});

test("the address of a claim is a permalink, and its message can be turned back and exported", async () => {
  assert.ok(permalink, "there is an answer");
  const { page, context, problems } = await opened(browser, permalink);
  const details = page.getByRole("region", { name: "Details" });
  await details.locator("mark").waitFor();
  await page.locator(".link.ended").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as JSON" }).click()]);
  const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.equal(saved.states.cognition.status, "complete");
  assert.equal(saved.pack.message_id, saved.message_id);
  assert.equal(permalink, `/message/${saved.message_id}?row=claim%3A1%3A0`);
  const told = await frames(saved.message_id);
  assert.deepEqual(saved.events, told.map((each) => JSON.parse(each.data)));
  // A reader goes on behind any of its positions, partition and offset.
  const half = Math.floor(told.length / 2);
  assert.deepEqual(await frames(saved.message_id, told[half].id), told.slice(half + 1));
  await page.getByRole("slider").focus();
  await page.keyboard.press("Home");
  await page.getByText(`event 0 of ${told.length}`).waitFor();
  assert.equal(await page.getByRole("treeitem").count(), 0);
  await page.keyboard.press("End");
  await page.locator('[data-row="claim:1:0"]').waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("conversations and decisions over time tell of the same questions", async () => {
  const { page, context, problems } = await opened(browser, "/conversation/c-refunds?client=console");
  const turn = page.locator(".turn", { hasText: QUESTION });
  assert.match(await turn.innerText(), /D\d[\s\S]*tokens/);
  await turn.getByRole("link", { name: "Pack" }).click();
  await page.getByText("The team lead approves refunds.").first().waitFor();
  const stored = async () => (await (await fetch(`${URL_OF}/decisions`, { headers: HEADERS })).json()).latest.map((each) => each.conversation_id);
  while (!(await stored()).includes("c-deep")) await page.waitForTimeout(200);  // the graph is written behind the packs
  await page.goto(`${URL_OF}/console/#/decisions`);
  await page.getByRole("img", { name: /^Messages by depth\. D0: \d+; D1/ }).waitFor();
  assert.equal(await page.locator("svg[role=img]").count(), 4);
  const latest = page.getByRole("row").filter({ has: page.locator('td a[href*="c-deep"]') });
  await latest.getByRole("rowheader").getByRole("link", { name: DEEP }).waitFor();
  await screen(page, "decisions");
  await latest.getByRole("cell").getByRole("link", { name: DEEP }).click(); // the conversation by its title
  await page.locator(".turn", { hasText: DEEP }).getByRole("link", { name: "Message" }).click();
  await page.locator('[data-row="claim:1:0"]').waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("the list of conversations, a search and the memories tell of the same", async () => {
  const { page, context, problems } = await opened(browser, "");
  const talks = page.getByRole("region", { name: "Conversations" });
  while (!(await talks.getByRole("link", { name: QUESTION }).count())) { // the graph is written behind the packs
    await page.waitForTimeout(300);
    await page.reload();
  }
  await talks.getByRole("img", { name: /^Tokens of \d+ packs: last \d+/ }).first().waitFor();
  await screen(page, "conversations");
  await page.goto(`${URL_OF}/console/#/search?q=${encodeURIComponent(QUESTION)}`);
  await page.locator(".result", { hasText: "The team lead approves refunds." }).first().waitFor();
  await screen(page, "search");
  await page.goto(`${URL_OF}/console/#/memories?user=maria&status=all`);
  await page.getByRole("textbox", { name: "A fact to remember" }).fill("My locker code is 7781.");
  await page.getByRole("button", { name: "Add" }).click();
  const fact = page.locator("[data-memory]", { hasText: "7781" });
  await fact.getByRole("link").first().click();
  await page.getByLabel("The value that is right").fill("8123");
  await page.getByRole("button", { name: "Correct", exact: true }).click();
  await fact.first().getByText("replaced").waitFor();
  await page.locator("[data-memory]", { hasText: "8123" }).getByText("holds").waitFor();
  await page.getByRole("region", { name: "Fact", exact: true }).getByText("corrected to 8123").waitFor();
  await screen(page, "memories");
  assert.deepEqual(problems, []);
  await context.close();
});
