// The page in a browser: asks, shows, is used by keyboard alone, keeps strangers' texts as texts, resumes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { TOKEN, URL_OF, faint, launched, opened, screen, told } from "./browser.mjs";

let browser;
before(async () => { browser = await launched(); });
after(async () => { await browser.close(); });

const complete = (page) => page.locator(".link.ended").waitFor();
const row = (page, id) => page.locator(`[data-row="${id}"]`);
const focused = (page) => page.evaluate(() => document.activeElement.dataset.row ?? document.activeElement.className);

/** Run at a view; nothing may have gone wrong in the page. */
async function at(view, look, { expected, ...options } = {}) {
  const { page, context, problems } = await opened(browser, view, options);
  try {
    await look(page);
    assert.match(await page.title(), (await page.locator("html").getAttribute("lang")) === "pt" ? / · Console do Fathom$/ : / · Fathom console$/);
    assert.deepEqual(problems.filter((each) => !expected?.test(each)), []);
  } finally {
    await context.close();
  }
}

test("the token leaves the address, stays in the tab, and is asked for where there is none", async () => {
  await at("/ask", async (page) => {
    await page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
    assert.equal(page.url(), `${URL_OF}/console/#/ask`);
    assert.equal(await page.evaluate(() => sessionStorage.getItem("fathom.token")), TOKEN);
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes(TOKEN));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").fill("wrong-token-0123456789");
    await page.getByRole("button", { name: "Sign in" }).click();
    // At once, before anything is asked with it; and it is not kept.
    await page.getByRole("alert").getByText("does not know this token").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.getItem("fathom.token")), null);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
  });
});

test("a question that was typed is there again after the token was refused", async () => {
  await at("/ask", async (page) => {
    const question = page.getByRole("textbox", { name: "Question" });
    await question.fill("Which dock has the red crane?");
    // The server has got another token meanwhile.
    await page.evaluate(() => sessionStorage.setItem("fathom.token", "an-old-token-0123456789"));
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByRole("alert").getByText("does not know this token").waitFor();
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    assert.equal(await question.inputValue(), "Which dock has the red crane?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await complete(page);
    await page.goto(`${URL_OF}/console/#/ask`);
    assert.equal(await question.inputValue(), "");
  });
});

test("a message that nobody sent is said to be unknown", async () => {
  await at("/message/nosuch", async (page) => {
    await page.locator(".link.unknown").getByText("unknown", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Details" }).getByText("No message with this id.").waitFor();
    assert.ok(!(await page.locator("main").innerText()).includes("Waiting for the first event"));
  });
  await at("/message/unseen", async (page) => {
    // Its events are waited for: while they are, its pack is asked for, and there is none either.
    await page.locator(".link.unknown").getByText("unknown", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Details" }).getByText("No message with this id.").waitFor();
  });
  await at("/nowhere", async (page) => {
    await page.getByText("There is no such page.").waitFor();
    await page.getByRole("main").getByRole("link", { name: "To the conversations" }).click();
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
  });
});

test("a question is asked, and its pack and deep answer grow before one's eyes", async () => {
  await told("hold", "POST");
  await at("/ask", async (page) => {
    await page.getByRole("textbox", { name: "Question" }).fill("Qual é o prazo para apelação?");
    await page.locator("form details").evaluate((fold) => { fold.open = true; });
    await page.getByLabel("User").fill("ana");
    await page.getByRole("switch").check();
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await row(page, "class:semantic").waitFor();
    await page.locator('[data-row="class:semantic"] .state.asked').waitFor();
    await told("break", "POST");
    await page.locator('[data-row="node:1.1"] .state.pending').waitFor();
    await page.locator('[data-row="answer"] .state.retrieving').waitFor();
    await told("go", "POST");
    await complete(page);
    const asked = Object.values((await told("seen")).asked).at(-1);
    assert.equal(asked.content, "Qual é o prazo para apelação?");
    assert.deepEqual([asked.user, asked.deep, asked.role], ["ana", true, "user"]);
    const shown = await row(page, "node:1.1").innerText();
    for (const part of ["verified", "1.1", "conflict", "reused", "3"]) assert.ok(shown.includes(part), shown);
    assert.match(await row(page, "node:1.2").innerText(), /abstains.*2 attempts/s);
    assert.match(await row(page, "class:claims").innerText(), /late.*no answer within 80 ms/s);
    // What has nothing is one line, until it is opened.
    assert.match(await row(page, "empties").innerText(), /Nothing from\s*Past conversations, Procedures/);
    await row(page, "empties").locator(".twist").click();
    assert.match(await row(page, "class:procedural").innerText(), /skipped.*no how-to question/s);
    const details = page.getByRole("region", { name: "Details" });
    await details.getByRole("heading", { name: "Limitações" }).waitFor();
    assert.match(await details.innerText(), /Corrected before[\s\S]*c-1 was corrected[\s\S]*\[lei:CPC-art1003\] counts × 0\.5/);
    assert.match(await page.locator(".head").innerText(), /84 ms[\s\S]*369 of 4,000 tokens/);
    await screen(page, "message-light");
    await page.goBack();
    await page.getByRole("link", { name: "Qual é o prazo para apelação?" }).waitFor();
    await screen(page, "ask-light");
  });
});

test("a claim shows each check and the evidence with the cited span lit", async () => {
  await at("/message/told?row=node:1.1", async (page) => {
    await complete(page);
    const details = page.getByRole("region", { name: "Details" });
    assert.equal(await details.locator("mark").innerText(), "o prazo para interpor os recursos e para responder-lhes é de 15 (quinze) dias.");
    const checks = await details.locator("table.checks tbody tr").allInnerTexts();
    assert.equal(checks.length, 4);
    assert.match(checks[3], /6 numbers and dates\s+pass\s+15 dias\s+15 dias/);
    assert.match(await details.locator(".conflict").innerText(), /Art\. 1\.0 \[lei:CPC-art1003\][\s\S]*u2[\s\S]*não pacificado/);
    await row(page, "claim:1.2:0").click();
    assert.match(await details.innerText(), /rejected[\s\S]*6 numbers and dates\s+fail\s+10 dias/);
    await screen(page, "claim-rejected");
  });
});

test("the tree is used by keyboard alone, and is a tree to who hears it", async () => {
  await at("/message/told", async (page) => {
    await complete(page);
    for (let tabs = 0; tabs < 30 && !(await page.evaluate(() => document.activeElement.role === "treeitem")); tabs += 1) {
      await page.keyboard.press("Tab");
    }
    assert.equal(await focused(page), "answer");
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
      return focused(page);
    };
    assert.equal(await press("Home"), "pack");
    assert.equal(await press("ArrowDown"), "class:working_set");
    assert.equal(await row(page, "class:working_set").getAttribute("aria-expanded"), "true");
    assert.equal(await press("ArrowRight"), "kept:t1");
    assert.equal(await press("ArrowLeft", "ArrowLeft"), "class:working_set");
    assert.equal(await row(page, "class:working_set").getAttribute("aria-expanded"), "false");
    assert.equal(await press("End"), "claim:1.2:0");
    assert.equal(await press("ArrowLeft", "ArrowUp", "ArrowUp"), "node:1.1");
    assert.equal(await press("Enter"), "details");
    assert.equal(await press("Escape"), "node:1.1");
    assert.ok(page.url().endsWith("row=node%3A1.1"), page.url());
    const item = row(page, "node:1.1");
    const said = await item.evaluate((e) => ["role", "aria-level", "aria-setsize", "aria-posinset", "aria-expanded", "aria-selected", "tabindex"].map((name) => e.getAttribute(name)));
    assert.deepEqual(said, ["treeitem", "3", "2", "1", "true", "true", "0"]);
    assert.equal(await page.locator('[role="treeitem"][tabindex="0"]').count(), 1);
    const heard = await page.getByRole("tree").ariaSnapshot();
    assert.match(heard, /treeitem "1\.1 Qual é o prazo para apelação\?, verified, 3 pieces of evidence, conflict, reused"/);
  });
});

test("changes are announced politely", async () => {
  await at("/message/told", async (page) => {
    const live = page.locator("#said");
    assert.equal(await live.getAttribute("aria-live"), "polite");
    await page.waitForFunction(() => document.querySelector("#said").textContent !== "");
    assert.match(await live.innerText(), /changes|pending|verified|Context pack/);
  });
});

test("a stranger's text is a text: no element of it, no script, no request", async () => {
  await at("/message/told?row=claim:1.2:0", async (page) => {
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await complete(page);
    for (const id of ["claim:1.2:0", "node:1.2", "answer", "pack"]) {
      await row(page, id).click();
      assert.equal(await page.locator("#app img, #app script").count(), 0);
    }
    await page.getByRole("button", { name: "Open all" }).click();
    assert.match(await row(page, "kept:k2").innerText(), /<img src=x onerror=/);
    await page.goto(`${URL_OF}/console/#/decisions`);
    await page.getByRole("link", { name: "<img src=x" }).first().waitFor();
    assert.equal(await page.locator("#app img, #app script").count(), 0);
    assert.deepEqual(asked.filter((url) => !url.startsWith(URL_OF)), []);
    // And if one came in, it would do nothing.
    await page.evaluate(() => {
      document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="document.title=\'owned\'">');
      const script = document.createElement("script");
      script.textContent = "document.title = 'owned'";
      document.body.append(script);
    });
    await page.waitForTimeout(50);
    assert.notEqual(await page.title(), "owned");
  }, { expected: /Content Security Policy/ });
});

test("a dead connection is opened again behind its last event, and nothing is missing", async () => {
  await told("hold", "POST");
  const seen = (await told("seen")).seen.length;
  await at("/message/told", async (page) => {
    await row(page, "class:semantic").waitFor();
    await told("break", "POST");
    await page.locator('[data-row="answer"] .state.retrieving').waitFor();
    await told("break", "POST");
    await told("go", "POST");
    await complete(page);
    const calls = (await told("seen")).seen.slice(seen);
    assert.deepEqual(calls.map((call) => call.after), [null, "0", "11"]);
    assert.match(await row(page, "node:1.2").innerText(), /abstains/);
    assert.match(await page.locator(".slider").innerText(), /event 25 of 25/);
  });
});

test("an event that is missing is noticed, and a snapshot is asked for", async () => {
  await told("lose", "POST");
  const seen = (await told("seen")).seen.length;
  await at("/message/told", async (page) => {
    await complete(page);
    const calls = (await told("seen")).seen.slice(seen);
    assert.deepEqual(calls.map((call) => call.after), [null, null]);
    assert.match(await row(page, "class:semantic").innerText(), /ok/);
  });
});

test("time can be turned back, and on to the present", async () => {
  await at("/message/told", async (page) => {
    await complete(page);
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("Home");
    await page.getByText("event 0 of 25").waitFor();
    assert.equal(await page.getByRole("treeitem").count(), 0);
    for (let steps = 0; steps < 9; steps += 1) await page.keyboard.press("ArrowRight");
    await page.locator('[data-row="node:1.1"] .state.pending').waitFor();
    await page.getByRole("button", { name: "Live" }).click();
    await page.locator('[data-row="node:1.1"] .state.verified').waitFor();
  });
});

test("a message that was over before the page was opened can be turned back to its first event", async () => {
  await at("/message/late", async (page) => {
    await complete(page);
    await page.getByText("event 25 of 25").waitFor();
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    for (let steps = 0; steps < 9; steps += 1) await page.keyboard.press("ArrowRight");
    await page.locator('[data-row="node:1.1"] .state.pending').waitFor();
    assert.equal(await row(page, "claim:1.2:0").count(), 0);
  });
});

test("the same at another depth stands beside it", async () => {
  await at("/ask?q=Qual+o+prazo%3F&not=D3", async (page) => {
    assert.equal(await page.getByLabel("Compare with").inputValue(), "D1");
    await page.getByLabel("Depth").selectOption("D3");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByRole("heading", { name: "Qual o prazo?" }).waitFor();
    const [first, second] = Object.values((await told("seen")).asked).slice(-2);
    assert.deepEqual([first.min_depth, first.max_depth, second.min_depth, second.max_depth], ["D3", "D3", "D1", "D1"]);
    assert.notEqual(first.conversation_id, second.conversation_id);
    // What only one has comes first, what both have is folded; what was not searched is told from what timed out.
    const [only, more] = [page.getByRole("region").or(page.locator("section")).filter({ hasText: "Only in D3" }), page.getByText(/^In both \(\d+\)$/)];
    assert.match(await only.first().innerText(), /Only in D3 \(\d+\)[\s\S]*A vistoria do Farol/);
    assert.equal(await page.locator("details.both ul").isVisible(), false);
    await more.click();
    assert.match(await page.getByRole("region", { name: "What was decided" }).innerText(), /Claims\s+3 items, 124 tokens\s+not searched/);
    await screen(page, "compare-light");
  });
});

test("a pack is inspected down to topic, partition and offset, also one that has no events any more", async () => {
  await at("/message/old", async (page) => {
    await complete(page);
    await row(page, "class:claims").waitFor();
    await page.getByRole("link", { name: "Inspect the pack" }).click();
    await page.getByRole("heading", { name: "Items and their sources" }).waitFor();
    const text = await page.locator("main").innerText();
    for (const part of ["messages.in [4] @ 42", "verify and reconcile", "Plano do projeto Farol", "## Quem disse o quê"]) {
      assert.ok(text.includes(part), part);
    }
    await screen(page, "pack-light");
  });
});

test("the explanation of a pack's message is saved as a page of its own", async () => {
  await at("/pack/old", async (page) => {
    const button = page.getByRole("button", { name: "Save the explanation" });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    assert.equal(download.suggestedFilename(), "old.html");
    assert.ok(readFileSync(await download.path(), "utf8").includes("<title>Message old</title>"));
  });
});

test("a message is exported as JSON, with its states, events and pack", async () => {
  await at("/message/told", async (page) => {
    await complete(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as JSON" }).click()]);
    assert.equal(download.suggestedFilename(), "told.json");
    const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
    assert.equal(saved.states.cognition.nodes["1.2"].state, "abstain");
    assert.equal(saved.states.pack.dropped.k3.reason, "budget");
    assert.equal(saved.events.length, 25);
    assert.ok(saved.pack.text.includes("## "));
  });
});

test("conversations show their turns with what was decided, and decisions their days as charts and as a table", async () => {
  await at("/conversation/c1?client=web", async (page) => {
    await page.getByText("Qual o prazo de entrega do projeto Farol?").waitFor();
    assert.ok((await page.getByRole("link", { name: "Pack", exact: true }).count()) > 0);
    await screen(page, "conversation-light");
    assert.match(await page.locator(".turn.assistant").first().innerText(), /^assistant\s+\d/);
    await page.getByRole("link", { name: "Decisions" }).click();
    await page.getByRole("img", { name: /^Messages by depth\. D0: \d+; D1/ }).waitFor();
    assert.equal(await page.locator("svg[role=img]").count(), 4);
    await screen(page, "decisions-light");
    await page.getByText("As a table").click();
    assert.equal(await page.locator("details tbody tr").count(), 30);
    await page.getByRole("link", { name: "7 days", exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll("details tbody tr").length === 7);
  });
});

test("lag is looked at again, is told when it changes, and can be held still by keyboard", async () => {
  await at("/ask", async (page) => {
    const link = page.getByRole("link", { name: "Lag", exact: true });
    await link.focus();
    await page.keyboard.press("Enter");
    const planner = page.locator('tr[data-group="planner"]');
    await planner.getByText("STOP: depth.classified[1] has 7 to read, and no member reads them").waitFor();
    assert.match(await planner.innerText(), /ERROR\s+7\s+0/);
    assert.equal(await planner.locator(".state.failed").count(), 1);
    await screen(page, "lag-light");
    await page.getByText("By partition").click();
    await page.getByRole("cell", { name: "STOP", exact: true }).waitFor();
    await page.getByText("planner: OK, read to its end").waitFor(); // in the region that is read out
    // All is well: one line, the groups folded.
    await page.getByText("All 2 groups keep up: 0 records to read.").waitFor();
    assert.equal(await page.getByRole("region", { name: "All consumer groups" }).isVisible(), false);
    await screen(page, "lag-well-light");
    const looks = page.getByRole("switch", { name: "Look every two seconds" });
    await looks.focus();
    await page.keyboard.press("Space");
    assert.equal(await looks.isChecked(), false);
    await page.waitForTimeout(500); // the look under way
    let asked = 0;
    page.on("request", (request) => { asked += request.url().includes("operations/lag") ? 1 : 0; });
    await page.waitForTimeout(2600);
    assert.equal(asked, 0);
  });
});

test("replays are listed, and one is compared in sum and by message, also with another", async () => {
  await at("/replays", async (page) => {
    await page.getByText("fathom replay --mode reprocess --execute").waitFor(); // there are none: what to do
    await told("replayed", "POST");
    await page.reload();
    await page.getByRole("link", { name: "one", exact: true }).click();
    await page.getByText("gained in 1 packs, lost in 0").waitFor();
    const said = await page.locator("main").innerText();
    for (const part of [/Tokens\s+900 → 1,158/, /median\s+40 ms → 44 ms/, /95th percentile\s+92 ms → –/, /D1\s+D3\s+1/, /claims\s+1\s+2/, /semantic_items\s+4\s+1\s+0/, /No room for what the other has\s+0 → 1/, /FATHOM_MAX_TOKENS_D2=100/, /claims: The deadline is Friday\. \(over budget\)/]) {
      assert.match(said, part);
    }
    assert.match(await page.getByRole("region", { name: "Messages that came out otherwise" }).innerText(), /D1 → D3\s+120 → 378/);
    await screen(page, "replay-light");
    await page.getByLabel("Against").selectOption("two");
    await page.getByText("5 more").waitFor();
    assert.ok(page.url().endsWith("#/replay/one?against=two"), page.url());
  });
});

test("a replay with other settings is started, followed to its end, and a refusal says why", async () => {
  await at("/replays", async (page) => {
    await page.getByText("Answer recorded messages again").click();
    const settings = page.getByLabel("Settings to change, one a line");
    for (const [text, said] of [["nonsense", "Write each setting as NAME=VALUE"], ["FATHOM_BROKER=x", "says where things are"]]) {
      await settings.fill(text);
      await page.getByRole("button", { name: "Start the replay" }).click();
      await page.getByRole("alert").getByText(said).waitFor();
    }
    await settings.fill("FATHOM_MAX_TOKENS_D2=900\nFATHOM_LOOK_UP=never");
    await page.getByLabel("Messages of the last hours").fill("12");
    const asked = page.waitForRequest((request) => request.method() === "POST").then((request) => request.postDataJSON());
    await page.getByRole("button", { name: "Start the replay" }).click();
    assert.deepEqual(await asked, { settings: { FATHOM_MAX_TOKENS_D2: "900", FATHOM_LOOK_UP: "never" }, hours: 12 });
    await page.getByRole("cell", { name: "running" }).waitFor();
    await page.getByRole("cell", { name: "failed no such setting" }).waitFor();
    await screen(page, "replay-start");
  });
});

for (const colorScheme of ["light", "dark"]) {
  test(`every text is legible in the ${colorScheme} scheme`, async () => {
    const views = ["/ask", "/message/told", "/message/told?row=node:1.1", "/message/told?row=claim:1.2:0", "/pack/old",
      "/compare/told/old", "/decisions", "/conversation/c1?client=web", "/lag", "/replays", "/replay/one", "/conversations",
      "/search?q=refunds", "/memories/f2?user=ana&status=all", "/documents/d1", "/users", "/nowhere"];
    await at(views[0], async (page) => {
      for (const view of views) {
        await page.goto(`${URL_OF}/console/#${view}`);
        if (view.startsWith("/message")) await complete(page);
        else await page.locator("main h2, main h3, main form, .turn, main td, .well").filter({ visible: true }).first().waitFor();
        assert.deepEqual(await faint(page, 4.5), [], view);
        if (colorScheme === "dark") await screen(page, `${view.split(/[/?]/)[1]}-dark`);
      }
    }, { colorScheme });
  });
}

test("the switches choose colours and language, and are kept", async () => {
  await at("/message/told", async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    const darker = () => page.waitForFunction((light) => getComputedStyle(document.documentElement).backgroundColor !== light, light);
    await page.getByLabel("Colours").selectOption("dark");
    await darker();
    await page.getByLabel("Language").selectOption("pt");
    await page.getByRole("link", { name: "Inspecionar o pacote" }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Inspecionar o pacote" }).waitFor();
    await darker();
    assert.equal(await page.locator("html").getAttribute("lang"), "pt");
  });
  await at("/ask", async (page) => {
    await page.getByRole("heading", { name: "Perguntar" }).waitFor();
    await screen(page, "ask-pt");
  }, { locale: "pt-BR" });
});

test("of a tree of 5,000 nodes only what is in sight is in the document, and it moves while patches come", async () => {
  await at("/message/many", async (page) => {
    await row(page, "node:1").waitFor();
    const measured = await page.evaluate(async () => {
      const tree = document.querySelector(".tree");
      const began = performance.now();
      const patched = Number(/of (\d+)/.exec(document.querySelector(".slider").innerText)?.[1] ?? 0);
      const drawn = [];
      let [frames, longest, last, rows] = [0, 0, began, 0];
      while (last - began < 3000) {
        const now = await new Promise(requestAnimationFrame);
        frames += 1;
        longest = Math.max(longest, now - last);
        last = Math.max(now, last);
        tree.scrollTop += 90;
        const event = Number(/of (\d+)/.exec(document.querySelector(".slider").innerText)?.[1] ?? 0);
        if (event !== drawn.at(-1)?.[0]) drawn.push([event, Date.now()]);
        rows = Math.max(rows, document.querySelectorAll('[role="treeitem"]').length);
      }
      const came = Number(/of (\d+)/.exec(document.querySelector(".slider").innerText)[1]) - patched;
      return { drawn, frames, fps: (frames * 1000) / (last - began), longest, rows, came, scrolled: tree.scrollTop, height: tree.scrollHeight };
    });
    const { drawn, ...figures } = measured;
    const { sent } = await told("seen");
    const waits = drawn.slice(1).map(([event, at]) => at - sent[event]).sort((a, b) => a - b);
    const toScreen = { p50: waits[Math.floor(waits.length / 2)], p95: waits[Math.floor(waits.length * 0.95)] };
    console.log(`measured ${JSON.stringify({ ...figures, toScreen })}`);
    assert.ok(measured.height >= 5000 * 30);
    assert.ok(measured.rows < 80, "only rows in sight are in the document");
    assert.ok(measured.came > 100, "patches came");
    assert.ok(measured.scrolled > 900, "it moved");
    await screen(page, "many-light");
  });
});
