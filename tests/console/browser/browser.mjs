// A browser for the tests: Debian's Chromium, driven by playwright-core, both named by the environment.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.CONSOLE_PLAYWRIGHT);

export const URL_OF = process.env.CONSOLE_URL;
export const TOKEN = process.env.CONSOLE_TOKEN;
const SCREENS = process.env.CONSOLE_SCREENS;

export async function launched() {
  return chromium.launch({
    executablePath: process.env.CONSOLE_CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

/** A page at a view, with the token; what went wrong in it is in `problems`. */
export async function opened(browser, view, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 }, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce", ...options,
  });
  const page = await context.newPage();
  // When a test gives up: far more than it takes, since machines are busy with something else.
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("pageerror", (error) => problems.push(`${error}`));
  page.on("console", (message) => {
    // A refused call is logged by the browser, too.
    if (message.type() === "error" && !message.text().includes("Failed to load resource")) problems.push(message.text());
  });
  await page.goto(`${URL_OF}/console#token=${TOKEN}&${view}`);
  return { page, context, problems };
}

export async function screen(page, name) {
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: `${SCREENS}/${name}.png`, fullPage: true });
}

export async function told(what, method = "GET") {
  const answer = await fetch(`${URL_OF}/stub/${what}`, { method, headers: { Authorization: `Bearer ${TOKEN}` } });
  return answer.json();
}

/** The texts whose contrast to their ground is below `least`; their words, contrast and colours. */
export async function faint(page, least) {
  return page.evaluate((least) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return { rgb: [r, g, b], alpha: a / 255 };
    };
    const light = ([r, g, b]) => {
      const linear = [r, g, b].map((each) => {
        const share = each / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const ground = (element) => {
      for (let each = element; each; each = each.parentElement) {
        const { rgb, alpha } = rgba(getComputedStyle(each).backgroundColor);
        if (alpha > 0.99) return rgb;
      }
      return rgba(getComputedStyle(document.documentElement).backgroundColor).rgb;
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.data.trim();
      if (!text || !element.checkVisibility() || element.closest(".unseen, .skip, option, title, noscript")) continue;
      const style = getComputedStyle(element);
      const colour = element.closest("svg") ? style.fill : style.color;
      const [a, b] = [light(rgba(colour).rgb), light(ground(element))].sort((x, y) => y - x);
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < least) found.push(`${text.slice(0, 30)}: ${contrast.toFixed(2)} ${colour}`);
    }
    return found;
  }, least);
}
