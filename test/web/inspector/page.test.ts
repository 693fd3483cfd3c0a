/** The inspector's page against a real daemon, in a real browser. */
import * as fs from "node:fs";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createScheduler, memoryStore } from "../../../src/scheduler/index.js";
import { browserPath, browsers, type Shown, seriousFindings } from "../../support/browser.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../../support/krond.js";
import { job, type Place, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);
const { loggedIn } = browsers();

interface Watched {
  readonly here: Place;
  readonly krond: RunningKrond;
  readonly origin: string;
  /** The job t/run ends when it is told so. */
  end(): void;
}

async function daemon(more = ""): Promise<Watched> {
  const mayEnd = path.join(temporary(), "may-end");
  const waits = job("t/run", `until [ -e ${mayEnd} ]; do sleep 0.05; done; exit 3`);
  const here = place(waits + job("x/other", "true") + more);
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
  const { api } = await krond.ready();
  return { here, krond, origin: `http://${String(api)}`, end: () => fs.writeFileSync(mayEnd, "") };
}

async function opened({ origin }: Watched, shown: Shown, query = ""): Promise<Page> {
  const { page } = shown;
  await page.goto(`${origin}/inspector${query}`);
  await page.getByRole("option", { name: /LISTED/ }).waitFor();
  return page;
}

/** Runs the job and ends it, while the page looks on. */
async function lived({ here, end }: Watched, page: Page): Promise<void> {
  expect(here.kron("run", "t/run").status).toBe(0);
  await page.getByRole("option", { name: /STARTED/ }).waitFor();
  end();
  await page.getByRole("option", { name: /REST/ }).waitFor();
}

const chart = (page: Page, said: RegExp) => page.getByRole("img", { name: said });

describe.skipIf(!hasBrowser)(`the inspector${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("a run is followed live, and every step of it can be gone through again", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here);
    const page = await opened(watched, shown);
    expect(watched.here.kron("run", "t/run").status).toBe(0);
    await chart(page, /^State chart execution, now in running › confirmed, by STARTED$/).waitFor();
    await page.getByRole("treeitem", { name: /running › confirmed/ }).waitFor();
    watched.end();
    await page.getByRole("option", { name: /REST/ }).waitFor();
    await page.getByRole("treeitem", { name: /ended › recorded/ }).waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText(/^moment \d+ of \d+, paused$/).waitFor();
    await page.getByRole("button", { name: "Back" }).click();
    await chart(page, /now in ended › recorded, by EXITED$/).waitFor();
    await page.getByRole("button", { name: "Document" }).click();
    const changed = page.getByRole("region", { name: "As JSON" });
    await changed.getByText('"ActiveExecution": {').waitFor();
    expect(await changed.locator(".removed").first().innerText()).toContain("ActiveExecution");
    // What has changed is in view: nobody has to look for it.
    const isInView = `(([panel, line]) => line.top >= panel.top && line.bottom <= panel.bottom)(
      [".json", ".json .removed"].map((name) => document.querySelector(name).getBoundingClientRect()))`;
    await expect.poll(() => page.evaluate(isInView)).toBe(true);
    await page.getByLabel(/^Only what its last event changed/).check();
    expect(await changed.locator(".same").count()).toBe(0);

    await page.getByRole("option", { name: /DURABLE/ }).click();
    await chart(page, /now in running › released, by DURABLE$/).waitFor();
    await page.getByRole("button", { name: "Event", exact: true }).click();
    await changed.getByText('"type": "DURABLE"').waitFor();
    await page.getByRole("button", { name: "Step" }).click();
    await page.getByRole("button", { name: "Step" }).click();
    await page.getByRole("button", { name: "Sequence" }).click();
    await page.getByRole("region", { name: "Sequence between actors" }).getByText("DURABLE").waitFor();
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("by keyboard alone: the tree, the events, time and the filter", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here);
    const page = await opened(watched, shown);
    await lived(watched, page);
    await page.getByRole("heading", { level: 1 }).focus();
    const reach = async (role: string): Promise<void> => {
      for (let stop = 0; stop < 40; stop += 1) {
        const at = await page.evaluate("document.activeElement?.getAttribute('role')");
        if (at === role) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`no ${role} is reached by the Tab key`);
    };
    await reach("tree");
    await page.keyboard.press("Home");
    await chart(page, /^State chart supervisor, now in running/).waitFor();
    for (let step = 0; step < 10; step += 1) {
      if ((await chart(page, /^State chart job/).count()) > 0) break;
      await page.keyboard.press("ArrowDown");
    }
    await chart(page, /^State chart job, now in enabled/).waitFor();
    await reach("listbox");
    await page.keyboard.press("Home");
    await page.getByText(/^moment 1 of \d+, paused$/).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByText(/^moment 2 of \d+, paused$/).waitFor();
    await page.getByRole("button", { name: "Live", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("searchbox", { name: /Jobs to watch/ }).focus();
    const asked = page.waitForRequest((request) => request.url().includes("/api/v1/inspect"));
    await page.keyboard.type("x/*");
    await page.keyboard.press("Enter");
    expect(new URL((await asked).url()).searchParams.getAll("identity")).toEqual(["x/*"]);
    await page.getByRole("treeitem", { name: /x\/other/ }).waitFor();
    expect(await page.getByRole("treeitem", { name: /t\/run/ }).count()).toBe(0);
    expect(shown.complaints).toEqual([]);
  });

  test("kinds that are not wanted are not sent, and those that are there are hidden at once", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here);
    const page = await opened(watched, shown, "?identity=t/*");
    await page.getByLabel("launcher", { exact: true }).uncheck();
    expect(await page.getByRole("treeitem", { name: /launcher/ }).count()).toBe(0);
    const asked = page.waitForRequest((request) => request.url().includes("/api/v1/inspect"));
    await page.getByRole("button", { name: "Watch" }).click();
    const wanted = new URL((await asked).url()).searchParams;
    expect([wanted.get("kind"), wanted.get("identity")]).toEqual(["supervisor,job,period,execution", "t/*"]);
    await lived(watched, page);
    expect(await page.getByRole("option", { name: /ARMED/ }).count()).toBe(0);
    await page.getByLabel("Find an actor").fill("nobody is called so");
    await page.getByText(/^Nobody is there/).waitFor();
  });

  test("stopped it stays so when the page is loaded anew, and goes on when somebody wants it", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here);
    const page = await opened(watched, shown);
    await page.getByRole("button", { name: "Stop", exact: true }).press("Enter");
    await page.getByText(/· not watching$/).waitFor();
    // What was recorded stays.
    expect(await page.getByRole("option", { name: /LISTED/ }).count()).toBe(1);
    const asked: string[] = [];
    page.on("request", (request) => void (request.url().includes("/api/v1/inspect") && asked.push(request.url())));
    await page.reload();
    await page.getByText(/· not watching$/).waitFor();
    await page.getByText("Nobody is there yet.").first().waitFor();
    expect(asked).toEqual([]);
    await page.getByRole("button", { name: "Watch" }).click();
    await page.getByRole("option", { name: /LISTED/ }).waitFor();
    expect(asked).toHaveLength(1);
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("a recording is written, and opened again by another page; what is none is refused", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here, { acceptDownloads: true });
    const page = await opened(watched, shown);
    await lived(watched, page);
    const writing = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const file = path.join(temporary(), "recording.jsonl");
    await (await writing).saveAs(file);
    expect(await watched.krond.kill("SIGTERM")).toBe(0);

    const other = await daemon();
    const again = await loggedIn(other.here);
    const elsewhere = await opened(other, again);
    const wrong = path.join(temporary(), "wrong.jsonl");
    fs.writeFileSync(wrong, '{"type":"@xstate.event"}\n');
    const input = elsewhere.locator('input[type="file"]');
    await input.setInputFiles(wrong);
    await elsewhere.getByText("wrong.jsonl is no recording: line 1: sessionId: it names no actor").waitFor();
    await input.setInputFiles(file);
    await elsewhere.getByText("· recording.jsonl").waitFor();
    await elsewhere.getByRole("option", { name: /EXITED run/ }).click();
    await chart(elsewhere, /^State chart execution, now in ended › recorded, by EXITED$/).waitFor();
    await elsewhere.getByRole("button", { name: "Live", exact: true }).click();
    await elsewhere.getByText("· live").waitFor();
    expect(await elsewhere.getByRole("option", { name: /EXITED/ }).count()).toBe(0);
    expect(again.complaints).toEqual([]);
  });

  test("a Declarative Scheduler's recording is shown with its own charts", async () => {
    const file = path.join(temporary(), "scheduler.jsonl");
    const frames: string[] = [];
    const scheduler = createScheduler({ store: memoryStore(), inspect: (frame) => frames.push(JSON.stringify(frame)) });
    await scheduler.initialize([["backup", "0 3 * * *", async () => {}, "PT1M"]]);
    await scheduler.stop();
    fs.writeFileSync(file, `${frames.join("\n")}\n`);
    const watched = await daemon();
    const shown = await loggedIn(watched.here);
    const page = await opened(watched, shown);
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole("option", { name: /DRAINED scheduler/ }).click();
    await chart(page, /^State chart scheduler, now in Stopped, by DRAINED$/).waitFor();
    await page.getByRole("treeitem", { name: /backup/ }).click();
    await chart(page, /^State chart task, now in AwaitingRun$/).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("whoever may only read is told that this takes more", async () => {
    const watched = await daemon();
    const shown = await loggedIn(watched.here, {}, "--scope", "read");
    await shown.page.goto(`${watched.origin}/inspector`);
    await shown.page.getByRole("alert").getByText("scope write").waitFor();
  });

  test.each([
    ["light", {}],
    ["dark", { colorScheme: "dark" as const }],
    ["narrow", { viewport: { width: 400, height: 860 } }],
  ])(
    "%s: axe finds nothing serious, nothing is wider than the window, and the browser has nothing to say",
    async (_, look) => {
      const long = `tenant-00/${"reports-of-the-whole-department/".repeat(3)}monthly`;
      const watched = await daemon(job(long, "true"));
      const shown = await loggedIn(watched.here, look);
      const page = await opened(watched, shown);
      await lived(watched, page);
      await page.getByRole("treeitem", { name: /monthly/ }).click();
      await chart(page, /^State chart job/).waitFor();
      await page.getByRole("heading", { level: 2, name: /monthly/ }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      await page.getByLabel("Follow").check();
      await page.getByRole("button", { name: "Back" }).click();
      for (const name of ["Events", "Sequence"]) {
        await page.getByRole("button", { name, exact: true }).click();
        for (const tab of ["Snapshot", "Event", "Document"]) {
          await page.getByRole("button", { name: tab, exact: true }).click();
          expect(await seriousFindings(shown)).toEqual([]);
        }
      }
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      expect(shown.complaints).toEqual([]);
    },
  );
});

test("the inspector is small, is no part of the first load, and has no layout engine in it", () => {
  const folder = path.resolve(path.dirname(programs().krond), "web");
  const texts = fs
    .readdirSync(path.join(folder, "assets"))
    .map((name) => [name, fs.readFileSync(path.join(folder, "assets", name), "utf8")] as const);
  const own = texts.filter(([name]) => name.startsWith("page-"));
  expect(own.map(([name]) => path.extname(name))).toEqual([".js"]);
  const packed = ([, text]: (typeof texts)[number]): number => gzipSync(text, { level: 9 }).length;
  expect(own.reduce((sum, one) => sum + packed(one), 0)).toBeLessThanOrEqual(15_000);
  // The charts come when one is looked at.
  const charts = texts.filter(([name]) => name.startsWith("kept-layouts-"));
  expect(charts).toHaveLength(1);
  expect(charts.reduce((sum, one) => sum + packed(one), 0)).toBeLessThanOrEqual(4_500);
  const first = fs.readFileSync(path.join(folder, "index.html"), "utf8");
  expect([...own, ...charts].filter(([name]) => first.includes(name))).toEqual([]);
  expect(texts.filter(([, text]) => text.includes("org.eclipse.elk"))).toEqual([]);
});
