// The page against a running `fathom up`: a question and its pack, at two depths, and the conversation they make.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { TOKEN, URL_OF, launched, opened, screen } from "./browser.mjs";

const QUESTION = "Who approves refunds?";
const DEEP = "O adicional de insalubridade é devido ao empregado do frigorífico, quanto dura o intervalo de almoço e qual é a alíquota do ITBI?";
let browser;
before(async () => { browser = await launched(); });
after(async () => { await browser.close(); });

const asked = async (page, fields, question = QUESTION) => {
  await page.getByRole("textbox", { name: "Question" }).fill(question);
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
};

test("a question gets its pack, which is inspected down to its source", async () => {
  const { page, context, problems } = await opened(browser, "/ask");
  await asked(page, { User: "ana", Conversation: "c-up" });
  await page.locator(".link.ended").waitFor();
  assert.match(await page.locator('[data-row="class:semantic"]').innerText(), /ok\s+Knowledge/);
  await screen(page, "up-message");
  await page.getByRole("link", { name: "Inspect the pack" }).click();
  await page.getByText("The team lead approves refunds.").first().waitFor();
  assert.match(await page.locator("main").innerText(), /messages\.in \[\d+\] @ \d+|index \S+/);
  await screen(page, "up-pack");
  await page.goto(`${URL_OF}/console/#/conversation/c-up?client=console`);
  await page.locator(".turn", { hasText: QUESTION }).getByRole("link", { name: "Pack" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("the same question at two depths gives two packs", async () => {
  const { page, context, problems } = await opened(browser, `/ask?q=${encodeURIComponent(QUESTION)}&not=D3`);
  await page.getByLabel("Depth").selectOption("D3");
  await asked(page, { User: "ana" });
  await page.getByRole("heading", { name: `D3 · ${QUESTION}` }).waitFor();
  await page.getByRole("heading", { name: `D1 · ${QUESTION}` }).waitFor();
  await screen(page, "up-compare");
  assert.deepEqual(problems, []);
  await context.close();
});

test("a deep answer grows with its sub-questions, claims and checks", async () => {
  const api = await (await fetch(`${URL_OF}/openapi.json`, { headers: { Authorization: `Bearer ${TOKEN}` } })).json();
  const { page, context, problems } = await opened(browser, "/ask");
  await page.getByRole("switch", { name: "deep answer" }).check();
  await asked(page, { User: "ana" }, DEEP);
  await page.locator(".link.ended").waitFor();
  const row = (id) => page.locator(`[data-row="${id}"]`);
  assert.match(await row("class:semantic").innerText(), /ok\s+Knowledge/);
  // A server that tells no events tells of no deep answer, either.
  if (api.paths["/events"] !== undefined) {
    assert.match(await row("answer").innerText(), /complete/);
    assert.match(await row("node:1").innerText(), /verified.*insalubridade.*conflict/s);
    assert.match(await row("node:2").innerText(), /abstains.*ITBI/s);
    const details = page.getByRole("region", { name: "Details" });
    await details.getByRole("heading", { name: "Limitações" }).waitFor();
    await screen(page, "up-answer");
    await row("claim:1:0").click();
    await details.locator("mark").waitFor();
    assert.equal(await details.locator("table.checks tbody tr").count(), 12);
    await screen(page, "up-claim");
    await page.reload();
    await details.locator("mark").waitFor();
  }
  assert.deepEqual(problems, []);
  await context.close();
});
