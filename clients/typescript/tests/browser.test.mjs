// The built files where there is nothing of Node: a context with web globals only, as a page and as a worker has them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import vm from "node:vm";

const WEB = { fetch, Headers, Request, Response, URL, URLSearchParams, AbortController, AbortSignal, Blob, File, FormData };
const DIST = new URL(import.meta.resolve("fathom-client"));

/** The exports of the client in a page; `more` are further globals. */
async function page(more) {
  const globals = { ...WEB, crypto, setTimeout, clearTimeout, ...more };
  const context = vm.createContext(globals);
  const modules = new Map();
  const module = async (url) => {
    assert.match(String(url), /^file:.*\/dist\/[a-z]+\.js$/, "it imports something else");
    if (!modules.has(url.href)) {
      const text = await readFile(url, "utf8");
      modules.set(url.href, new vm.SourceTextModule(text, { context, identifier: url.href }));
    }
    return modules.get(url.href);
  };
  const main = await module(DIST);
  await main.link((name, from) => module(new URL(name, from.identifier)));
  await main.evaluate();
  assert.equal(modules.size > 3, true);
  return main.namespace;
}

test("a page asks, and its errors are sentences", async () => {
  const { Fathom } = await page({ document: {} });
  const fathom = new Fathom({ url: process.env.FATHOM_URL, token: process.env.FATHOM_TOKEN, user: "bea", waitMs: 30_000 });
  const document = await fathom.ingest(new File(["# Bees\n\nThe bees live on the roof."], "bees.md"));
  assert.equal(document.visible, true);
  assert.match((await fathom.ask("Where do the bees live?", { lookUp: "always" })).text, /on the roof/);
  await assert.rejects(new Fathom({ url: "http://127.0.0.1:9", token: "t" }).pack("x"), /no Fathom answers.*same origin/);
});

test("a page takes nothing from an environment, not even one that its bundler made up", async () => {
  const process_ = { env: { FATHOM_URL: "http://127.0.0.1:9", FATHOM_TOKEN: "t" }, versions: { node: "20.0.0" } };
  for (const place of [{ document: {} }, { importScripts() {} }, {}]) {
    const { Fathom } = await page({ ...place, process: Object.keys(place).length ? process_ : { env: process_.env } });
    assert.throws(() => new Fathom(), /no Fathom is named/);
  }
});
