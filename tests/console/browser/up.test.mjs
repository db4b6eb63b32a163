// The page against a running `fathom up`: a question and its pack, at two depths, and the conversation they make.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { URL_OF, launched, opened, screen } from "./browser.mjs";

const QUESTION = "Who approves refunds?";
let browser;
before(async () => { browser = await launched(); });
after(async () => { await browser.close(); });

const asked = async (page, fields) => {
  await page.getByRole("textbox", { name: "Question" }).fill(QUESTION);
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
