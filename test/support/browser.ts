/** A real browser, headless, for the page of a daemon: whatever it complains about fails the test. */
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach } from "vitest";
import type { Place } from "./place.js";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** null: this machine has none. `KRON_CHROMIUM` names another. */
export function browserPath(): string | null {
  const named = process.env["KRON_CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return found.find((file) => fs.existsSync(file)) ?? null;
}

export interface Shown {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of, and what it asked of others. */
  readonly complaints: string[];
}

export interface Browsers {
  /** A window of its own, in which nobody is logged in. */
  window(address: string, options?: BrowserContextOptions): Promise<Shown>;
  /** One in which somebody is, by a link of `kron open`. */
  loggedIn(here: Place, options?: BrowserContextOptions, ...more: readonly string[]): Promise<Shown>;
}

/** One browser for all tests of a file; windows end with their test. */
export function browsers(): Browsers {
  let starting: Promise<Browser> | null = null;
  const open: BrowserContext[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((context) => context.close()));
  });
  afterAll(async () => (await starting)?.close());
  const window = async (address: string, options: BrowserContextOptions = {}): Promise<Shown> => {
    starting ??= launch();
    const context = await (await starting).newContext({
      viewport: { width: 1280, height: 860 },
      reducedMotion: "reduce",
      timezoneId: "Europe/Berlin",
      ...options,
    });
    open.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return { page, context, complaints: complaintsOf(page, new URL(address).origin) };
  };
  return {
    window,
    loggedIn: async (here, options, ...more) => {
      const link = linkOf(here, ...more);
      const shown = await window(link, options);
      await shown.page.goto(link);
      await shown.page.getByRole("navigation").waitFor();
      return shown;
    },
  };
}

export function linkOf(here: Place, ...more: readonly string[]): string {
  const { status, out, err } = here.kron("open", ...more);
  if (status !== 0) throw new Error(err);
  return out.trim();
}

function launch(): Promise<Browser> {
  const executablePath = browserPath();
  if (executablePath === null) throw new Error("this machine has no Chromium");
  // Of root Chromium's own sandbox wants nothing to know.
  return chromium.launch({
    executablePath,
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-dev-shm-usage"],
  });
}

function complaintsOf(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) complaints.push(`asked ${url.href}`);
  });
  return complaints;
}

/** What axe finds serious. It runs in a world of its own, so that the page's policy stays in force. */
export async function seriousFindings({ page, context }: Shown): Promise<readonly string[]> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Runtime.enable");
  const { frameTree } = await devtools.send("Page.getFrameTree");
  const world = { frameId: frameTree.frame.id, worldName: "axe" };
  const { executionContextId: contextId } = await devtools.send("Page.createIsolatedWorld", world);
  await devtools.send("Runtime.evaluate", { expression: `${AXE}\n;0`, contextId });
  const expression = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target).join(", ")))`;
  const { result } = await devtools.send("Runtime.evaluate", {
    contextId,
    awaitPromise: true,
    returnByValue: true,
    expression,
  });
  await devtools.detach();
  return result.value as readonly string[];
}
