/** The page of a real daemon in a real browser. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { browserPath, browsers, linkOf, type Shown, seriousFindings } from "../support/browser.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const hasBrowser = browserPath() !== null;
const isOurs = process.env["CI"] !== undefined;

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const { loggedIn, window } = browsers();

const PAGES = [
  ["/", "Now"],
  ["/jobs", "Jobs"],
  ["/forecast", "Forecast"],
  ["/endpoints", "Endpoints"],
  ["/system", "System"],
  ["/inspector", "Inspector"],
] as const;
const JOB_PAGES = [
  ["/jobs/t%2Fwindow", "t/window"],
  ["/jobs/t%2Fbad", "t/bad"],
] as const;

const LOOKS = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: { width: 400, height: 860 } }],
] as const;

const WINDOW =
  '  - { identity: t/window, schedule: "0 0 * * *", window: { mode: after, duration: 3h }, constraints: { avoid: ["between=00:00-01:00"] }, command: ["true"] }\n';
const OFTEN = '  - { identity: t/often, schedule: "@every 2s", shell: true, command: "echo line; sleep 1" }\n';
const TWELVE = [
  WINDOW,
  job("t/bad", "echo broken; exit 7"),
  job("t/long", "echo begun; sleep 600"),
  job("t/good", "echo done"),
  ...Array.from({ length: 8 }, (_, index) => job(`t/more-${index}`, "true")),
].join("");

async function served(
  jobs: string,
): Promise<{ readonly here: Place; readonly krond: RunningKrond; readonly origin: string }> {
  const here = place(jobs);
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
  const { api } = await krond.ready();
  return { here, krond, origin: `http://${String(api)}` };
}

async function shows({ page }: Shown, origin: string, path: string, title: string): Promise<void> {
  await page.goto(origin + path);
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
}

test.runIf(isOurs)("there is a browser to look with", () => {
  expect(browserPath()).not.toBeNull();
});

describe.skipIf(!hasBrowser)(`the page${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test.each([
    [0, "  []\n", PAGES],
    [12, TWELVE, [...PAGES, ...JOB_PAGES]],
  ])("with %i jobs: every page, light, dark and narrow, without a complaint", async (_count, jobs, pages) => {
    const { here, krond, origin } = await served(jobs);
    if (jobs === TWELVE) {
      for (const name of ["bad", "good", "long"]) here.kron("run", `t/${name}`);
      await krond.event("completed", { identity: "t/bad" });
    }
    for (const [look, options] of LOOKS) {
      const shown = await loggedIn(here, options);
      for (const [path, title] of pages) {
        await shows(shown, origin, path, title);
        const width = await shown.page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([look, path, width, await seriousFindings(shown)]).toEqual([look, path, 0, []]);
      }
      expect([look, shown.complaints]).toEqual([look, []]);
    }
  });

  test("a job is followed from its promise over its run to its end, without a look at anything else", async () => {
    const { here, origin } = await served(OFTEN);
    const shown = await loggedIn(here);
    await shows(shown, origin, "/jobs/t%2Foften", "t/often");
    const { page } = shown;
    await page.getByText(/^enabled · next start/).waitFor();
    await page.getByRole("button", { name: "Cancel run…" }).waitFor();
    await page.getByRole("log").getByText("line").waitFor();
    await page.getByRole("row", { name: /^running/ }).waitFor();
    await page
      .getByRole("row", { name: /^executed/ })
      .first()
      .waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("by mouse: run, cancel, pause with a reason, undo, hint, clear", async () => {
    const { here, krond, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    await shows(shown, origin, "/jobs/t%2Flong", "t/long");
    const { page } = shown;
    await page.getByRole("button", { name: "Run now" }).click();
    await krond.event("started", { identity: "t/long" });
    await page.getByRole("log").getByText("begun").waitFor();
    await page.getByRole("button", { name: "Cancel run…" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await krond.event("completed", { identity: "t/long" });
    await page.getByRole("row", { name: /^failed.*SIGTERM/ }).waitFor();
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.getByLabel("because").fill("an upgrade");
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText(/paused until .*: an upgrade/).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await krond.event("resumed", { identity: "t/long" });
    await page.getByText(/^enabled · next start/).waitFor();
    await page.getByRole("button", { name: "Hint…" }).click();
    await page.getByLabel("Minutes").fill("7");
    await page.getByRole("button", { name: "Set" }).click();
    await krond.event("hint_set", { identity: "t/long", interval_ms: 7 * 60_000 });
    await page.getByRole("button", { name: "Clear hints" }).click();
    await krond.event("hint_ended", { identity: "t/long" });
    expect(shown.complaints).toEqual([]);
  });

  test("by keyboard: search, move, run with a second press, open, pause and resume", async () => {
    const { here, krond, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    await shows(shown, origin, "/jobs", "Jobs");
    const { page } = shown;
    await page.getByText("12 jobs").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("t/more-*");
    await page.getByText("8 jobs").waitFor();
    await page.waitForURL(/q=t%2Fmore-/);
    await page.getByRole("grid").focus();
    for (const key of ["End", "ArrowUp", "ArrowUp", "r"]) await page.keyboard.press(key);
    await page.getByText("Run: t/more-5? Press r again.").waitFor();
    await page.keyboard.press("r");
    await krond.event("completed", { identity: "t/more-5" });
    await page.getByRole("row", { name: /t\/more-5.*executed/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "t/more-5" }).waitFor();
    await page.getByRole("button", { name: "Pause…" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("because").focus();
    await page.keyboard.type("later");
    await page.keyboard.press("Enter");
    await krond.event("paused", { identity: "t/more-5" });
    await page.getByRole("button", { name: "Resume" }).focus();
    await page.keyboard.press("Enter");
    await krond.event("resumed", { identity: "t/more-5" });
    await page.getByRole("slider", { name: /Periods/ }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByText(/kron why 't\/more-5@/).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("by keyboard alone: a hint and a cancel, from the list and on the page of the job", async () => {
    const { here, krond, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    await shows(shown, origin, "/jobs?q=t%2Flong", "Jobs");
    const { page } = shown;
    await page.getByText("1 job", { exact: true }).waitFor();
    await page.getByRole("grid").focus();
    for (const key of ["r", "r"]) await page.keyboard.press(key);
    await krond.event("started", { identity: "t/long" });
    await page.getByRole("row", { name: /^running/ }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("End what runs of it: t/long? Press c again.").waitFor();
    await page.keyboard.press("c");
    await krond.event("completed", { identity: "t/long" });
    await page.keyboard.press("h");
    await page.getByRole("heading", { level: 1, name: "t/long" }).waitFor();
    // The form is open and has the focus: every, five minutes.
    await page.getByRole("combobox", { name: "run" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("9");
    await page.keyboard.press("Enter");
    await krond.event("hint_set", { identity: "t/long", interval_ms: 9 * 60_000 });
    await page.getByRole("button", { name: "Clear hints" }).waitFor();
    const before = krond.lines.length;
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "Run it" }).waitFor();
    await page.keyboard.press("Enter");
    await krond.event("started", { identity: "t/long" }, before);
    await page.getByRole("button", { name: "Cancel run…" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "Let it run" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("button", { name: "Let it run" }).count()).toBe(0);
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "End it" }).waitFor();
    await page.keyboard.press("Enter");
    await krond.event("completed", { identity: "t/long" }, before);
    expect(shown.complaints).toEqual([]);
  });

  test("the daemon itself: a reload is told with what it changed, and one that failed with why", async () => {
    const { here, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    await shows(shown, origin, "/system", "System");
    const { page } = shown;
    await page.getByText("Nothing was reloaded.").waitFor();
    await page.getByText("never jumped").waitFor();
    await page.getByText(here.state, { exact: true }).first().waitFor();
    here.write(TWELVE + job("t/new", "true"));
    await page.getByRole("button", { name: "Look again" }).first().click();
    await page.getByText("+ t/new").waitFor();
    await page.getByRole("button", { name: "Reload", exact: true }).click();
    await page.getByRole("cell", { name: "1 added, 12 as they were" }).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("keys and sessions: made, shown once, replaced and revoked; whoever is logged in is ended", async () => {
    const { here, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    const other = await loggedIn(here, {}, "--scope", "read");
    await shows(shown, origin, "/system", "System");
    const { page } = shown;
    await page.getByText("Nobody has one.").waitFor();
    await page.getByRole("button", { name: "New key…" }).click();
    await page.getByLabel("name", { exact: true }).fill("dashboard");
    await page.getByLabel("tenant", { exact: true }).fill("acme");
    await page.getByRole("button", { name: "Make it" }).click();
    const once = page.getByRole("status").getByText(/^kron_/);
    const key = (await once.innerText()).trim();
    const id = key.split("_")[1] ?? "";
    expect(id).toMatch(/^[a-z2-7]{8}$/);
    await page.getByRole("button", { name: "I have it" }).click();
    expect(await page.content()).not.toContain(key);
    await page.getByRole("row", { name: new RegExp(`${id} dashboard acme read not yet never`) }).waitFor();
    await page.getByRole("button", { name: `Replace ${id}` }).click();
    await page.getByRole("button", { name: "Replace", exact: true }).press("Enter");
    await page.getByRole("cell", { name: /replaced by/ }).waitFor();
    await page.getByRole("button", { name: `Revoke ${id}` }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    await page.getByRole("cell", { name: /^revoked/ }).waitFor();
    const reader = page.getByRole("row", { name: /a link read/ });
    await reader.getByRole("button", { name: /^End/ }).click();
    await reader.getByRole("button", { name: "End", exact: true }).press("Enter");
    await reader.waitFor({ state: "detached" });
    await other.page.reload();
    await other.page.getByLabel("Or an API key").waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("nothing is told before a login; a link opens once, a second tab goes on, and whoever logs out is out", async () => {
    const { here, origin } = await served(TWELVE);
    const stranger = await window(origin);
    await stranger.page.goto(`${origin}/jobs`);
    await stranger.page.getByLabel("Or an API key").fill("kron_aaaaaaaa_nothing");
    await stranger.page.getByRole("button", { name: "Log in" }).click();
    await stranger.page.getByText("this opens nothing").waitFor();
    expect(await stranger.page.getByText("t/good").count()).toBe(0);
    const link = linkOf(here);
    await stranger.page.goto(link);
    await stranger.page.getByRole("navigation").waitFor();
    expect(new URL(stranger.page.url()).hash).toBe("");
    const tab = await stranger.context.newPage();
    await tab.goto(`${origin}/jobs`);
    await tab.getByText("12 jobs").waitFor();
    await tab.goto(link);
    await tab.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    const late = await window(origin);
    await late.page.goto(link);
    await late.page.getByText("this opens nothing").waitFor();
    await stranger.page.getByRole("button", { name: "Log out" }).click();
    await stranger.page.getByLabel("Or an API key").waitFor();
    await stranger.page.reload();
    await stranger.page.getByLabel("Or an API key").waitFor();
  });

  test("whoever may only look is offered nothing to do", async () => {
    const { here, origin } = await served(TWELVE);
    const shown = await loggedIn(here, {}, "--scope", "read");
    await shows(shown, origin, "/jobs/t%2Fgood", "t/good");
    await shown.page.getByText(/^enabled · next start/).waitFor();
    for (const name of ["Run now", "Pause…", "Hint…", "Download"]) {
      expect(await shown.page.getByRole("button", { name }).count()).toBe(0);
    }
    for (const key of ["r", "p", "c", "h"]) await shown.page.keyboard.press(key);
    expect(await shown.page.getByRole("button", { name: /^(Run it|End it|Pause|Set)$/ }).count()).toBe(0);
    await shows(shown, origin, "/system", "System");
    await shown.page.getByRole("heading", { name: "Since it started" }).waitFor();
    expect(await shown.page.getByRole("heading", { name: /API keys|Who is logged in/ }).count()).toBe(0);
    expect(shown.complaints).toEqual([]);
  });

  test("a page of another port of this machine gets the cookie, and nothing by it", async () => {
    const { here, krond, origin } = await served(TWELVE);
    const shown = await loggedIn(here);
    const seen: string[] = [];
    const stranger = http.createServer((request, response) => {
      seen.push(request.headers.cookie ?? "");
      response.setHeader("Content-Type", "text/html").end("<h1>elsewhere</h1>");
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void stranger.close());
    await shown.page.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`);
    expect(seen[0]).toMatch(/^kron-\d+=/);
    const run = `${origin}/api/v1/schedules/t%2Fgood/run`;
    const tried = await shown.page.evaluate(async (url) => {
      const simple = await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }).catch(
        () => "refused",
      );
      const read = await fetch(url.replace(/\/[^/]*\/run$/, ""), { credentials: "include" }).catch(() => "refused");
      const headers = { "Content-Type": "application/json", "X-Kron-Page": "x" };
      const full = await fetch(url, { method: "POST", credentials: "include", headers, body: "{}" }).catch(
        () => "refused",
      );
      return [simple, read, full];
    }, run);
    expect(tried).toEqual(["refused", "refused", "refused"]);
    expect(here.kron("run", "t/bad").status).toBe(0);
    await krond.event("completed", { identity: "t/bad" });
    expect(krond.lines.filter((line) => line["event"] === "started").map((line) => line["identity"])).toEqual([
      "t/bad",
    ]);
  });
});
