/** Two pages in a real browser that look on, and what it is like to look at them meanwhile. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { quantile } from "../lib/measure.mjs";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** null: this machine has none. `KRON_CHROMIUM` names another. */
export function browserPath() {
  const named = process.env.KRON_CHROMIUM ?? "";
  if (named !== "") return named;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file)) ?? null;
}

/** Runs in the page: every frame that is drawn, and every task that held it for longer than 50 ms. */
const LOOK = `(() => {
  const seen = { frames: [], tasks: [] };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration);
  }).observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.seenByBench = seen;
})()`;

export class Windows {
  #browser;
  #origin;
  #pages = [];

  constructor(browser, origin) {
    this.#browser = browser;
    this.#origin = origin;
  }

  static async open(executablePath, origin) {
    const { chromium } = await import("playwright-core");
    const isSandboxed = process.getuid?.() !== 0;
    const args = ["--disable-dev-shm-usage"];
    return new Windows(await chromium.launch({ executablePath, chromiumSandbox: isSandboxed, args }), origin);
  }

  /** `linkOf`: makes a link that logs in once. */
  async show(places, linkOf) {
    for (const [path, title] of places) {
      const page = await (await this.#browser.newContext({ reducedMotion: "reduce" })).newPage();
      await page.goto(linkOf());
      await page.getByRole("navigation").waitFor();
      await page.goto(this.#origin + path);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      await page.evaluate(LOOK);
      this.#pages.push({ title, page });
    }
  }

  /** Forgets what was seen. */
  async begin() {
    for (const { page } of this.#pages) {
      await page.evaluate("seenByBench.frames.length = 0; seenByBench.tasks.length = 0");
    }
  }

  /** By the titles of the pages, in milliseconds. */
  async seen() {
    const found = new Map();
    for (const { title, page } of this.#pages) {
      const { frames, tasks } = await page.evaluate("seenByBench");
      found.set(title, { frame: quantile(frames, 0.99) ?? 0, task: Math.max(0, ...tasks) });
    }
    return found;
  }

  async close() {
    await this.#browser.close();
  }
}
