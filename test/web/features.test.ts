/** What the page shows of jobs to which all kinds of things have happened, in a real browser. */
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { browserPath, browsers, type Shown, seriousFindings } from "../support/browser.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const { loggedIn } = browsers();

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const AWAY_MS = 2 * HOUR_MS;
const SKEWED_CLOCK = new URL("../support/skewed-clock.mjs", import.meta.url).href;

/** Of which `t/slow` takes its time from the moment on when a file is there. */
function jobsOf(root: string): string {
  const otherHour = (new Date(Date.now() - AWAY_MS).getUTCHours() + 12) % 24;
  const impossible = `constraints: { only: ["hours=${otherHour}"] }`;
  return [
    `  - { identity: t/minutely, schedule: "* * * * *", command: ["true"] }\n`,
    `  - { identity: t/impossible, schedule: "* * * * *", ${impossible}, command: ["true"] }\n`,
    `  - { identity: t/often, schedule: "@every 3s", command: ["true"] }\n`,
    `  - { identity: t/busy, schedule: "* * * * *", policy: { concurrency: forbid }, command: ["sleep", "600"] }\n`,
    `  - { identity: t/zoned, schedule: "30 2 1 * *", timezone: America/New_York, window: { mode: after, duration: 2h }, constraints: { avoid: ["between=02:30-03:30"] }, command: ["true"] }\n`,
    job("t/slow", `if [ -e ${root}/slow ]; then sleep 600; fi`),
    job("t/bad", "echo broken; exit 7"),
    job("t/held", "true", ", policy: { suspend: true }"),
  ].join("");
}

interface Served {
  readonly here: Place;
  readonly krond: RunningKrond;
  readonly origin: string;
}

/** After one minute in which a daemon was there, two hours in which none was. */
async function lived(): Promise<Served> {
  const here = place("  []\n");
  here.write(jobsOf(here.root));
  // Shortly before a minute begins: nobody has to wait long for what is due in it.
  const skewMs = -AWAY_MS - ((Date.now() + 10_000) % MINUTE_MS) + MINUTE_MS;
  const env = { NODE_OPTIONS: `--import ${SKEWED_CLOCK}`, KRON_TEST_SKEW_MS: `${skewMs}` };
  const before = startKrond(here.config, here.state, [], env);
  await before.ready();
  // Whether this or the next minute starts it: the one after that finds it running.
  here.kron("run", "t/busy");
  await before.event("completed", { identity: "t/minutely" });
  await before.event("unschedulable", { identity: "t/impossible" });
  await before.line(({ event, identity }) => identity === "t/busy" && `${event}`.startsWith("skipped"));
  await before.kill("SIGTERM");
  return servedAt(here);
}

function served(): Promise<Served> {
  const here = place("  []\n");
  here.write(jobsOf(here.root));
  return servedAt(here);
}

async function servedAt(here: Place): Promise<Served> {
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
  const { api } = await krond.ready();
  return { here, krond, origin: `http://${String(api)}` };
}

async function ran({ here, krond }: Served, identity: string): Promise<void> {
  const from = krond.lines.length;
  expect(here.kron("run", identity).status).toBe(0);
  await krond.event("completed", { identity }, from);
}

async function opened({ page }: Shown, origin: string, path: string, title: string): Promise<void> {
  await page.goto(origin + path);
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
}

describe.skipIf(!hasBrowser)(`what has happened${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("is on Now and in the list: troubles with reasons, what runs beside what is usual, and every order", async () => {
    const at = await lived();
    const { here, krond, origin } = at;
    for (let times = 0; times < 3; times += 1) await ran(at, "t/slow");
    await ran(at, "t/bad");
    await ran(at, "t/bad");
    here.kron("pause", "t/held", "--until", "1h", "--reason", "an upgrade");
    fs.writeFileSync(`${here.root}/slow`, "");
    const from = krond.lines.length;
    here.kron("run", "t/slow");
    await krond.event("started", { identity: "t/slow" }, from);
    const shown = await loggedIn(here);
    const { page } = shown;
    await opened(shown, origin, "/", "Now");
    await page.getByText(/Everything due was started\. \d jobs need a look\./).waitFor();
    const troubles = page.getByRole("region", { name: "Jobs that need a look" });
    await troubles.getByRole("row", { name: /t\/bad exit code 7, 2 times in a row/ }).waitFor();
    await troubles.getByRole("row", { name: /t\/impossible its constraints leave no second/ }).waitFor();
    // Longer than ever, and longer than half as much again.
    await page.getByRole("row", { name: /t\/slow for .*, usually .* overdue/ }).waitFor();
    const timeline = page.getByRole("img", { name: /When \d+ jobs start within 24 hours/ });
    expect(await timeline.count()).toBe(1);
    // Those that start all the time share a line, and what is held is dashed.
    await page.getByText(/^\d jobs all the time/).waitFor();
    expect(await page.locator("rect.held").count()).toBeGreaterThan(0);
    // Twenty are shown, and those that start all the time take the place of the others.
    await ran(at, "t/bad");
    const ended = page.getByRole("region", { name: "Just ended" });
    await ended
      .getByRole("button", { name: /What happened to t\/bad/ })
      .first()
      .press("Enter");
    await ended
      .getByText(/claimed and started/)
      .first()
      .waitFor();
    await ended
      .getByText(/ended: exit code 7/)
      .first()
      .waitFor();
    expect(await seriousFindings(shown)).toEqual([]);

    await opened(shown, origin, "/jobs", "Jobs");
    for (const [button, sort, first] of [
      ["Took", "duration", /t\//],
      ["Outcome", "failures", /t\/bad/],
    ] as const) {
      await page.getByRole("button", { name: button }).press("Enter");
      await page.waitForURL(new RegExp(`sort=${sort}`));
      // What there is most of comes first, and the heading says so.
      await page.locator('[aria-sort="descending"]').filter({ hasText: button }).waitFor();
      await page.locator('[aria-rowindex="2"]').filter({ hasText: first }).waitFor();
    }
    await page.getByRole("button", { name: "Late by" }).press("Enter");
    await page.waitForURL(/sort=lateness/);
    // What has never run is last, whichever way round.
    await page.getByRole("button", { name: "Late by" }).press("Enter");
    await page.waitForURL(/sort=lateness&order=down/);
    await page
      .locator('[aria-rowindex="9"]')
      .filter({ hasText: /t\/(held|impossible|zoned)/ })
      .waitFor();
    await page
      .getByRole("row", { name: /every minute \* \* \* \* \* UTC/ })
      .first()
      .waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("is on the page of its job: periods that did not run, four times of one that did, opened in its place", async () => {
    const { here, origin } = await lived();
    const shown = await loggedIn(here);
    const { page } = shown;
    await opened(shown, origin, "/jobs/t%2Fbusy", "t/busy");
    const periods = page.getByRole("region", { name: "Periods" });
    await periods
      .getByRole("row", { name: /^skipped .*an earlier run was still going/ })
      .first()
      .waitFor();
    await opened(shown, origin, "/jobs/t%2Fminutely", "t/minutely");
    await periods
      .getByRole("row", { name: /^(missed|not evaluated).*krond was down/ })
      .first()
      .waitFor();
    const clock = "\\d\\d:\\d\\d:\\d\\d";
    const whole = periods.getByRole("row", { name: new RegExp(`^executed ${clock} ${clock} ${clock} ${clock} `) });
    const opener = whole.last().getByRole("button", { name: "executed" });
    await opener.press("Enter");
    expect(await opener.getAttribute("aria-expanded")).toBe("true");
    for (const what of ["meant for", "the second that was chosen", "claimed and started", "ended: exit code 0"]) {
      await periods.getByRole("listitem").filter({ hasText: what }).waitFor();
    }
    const strip = page.getByRole("slider", { name: /Periods/ });
    await strip.focus();
    for (const key of ["Home", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: /^Why \d/ }).waitFor();
    await periods.getByRole("button", { name: /How its second was chosen/ }).press("Enter");
    await page.getByText(/kron why 't\/minutely@/).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("chosen");
    await opener.press("Enter");
    expect(await opener.getAttribute("aria-expanded")).toBe("false");
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("lies ahead: in the job's zone and the reader's, with windows, draws that were refused and changes of clocks", async () => {
    const { here, origin } = await served();
    const shown = await loggedIn(here);
    const { page } = shown;
    await opened(shown, origin, "/jobs/t%2Fzoned", "t/zoned");
    await page.getByText(/^enabled · next start .*\(.* America\/New_York\), in \d+/).waitFor();
    const ahead = page.getByRole("region", { name: "Next starts" });
    await ahead.getByText("The clocks of America/New_York change here, from GMT-5 to GMT-4.").first().waitFor();
    // Twenty starts, a heading, and a line for each change of the clocks.
    expect(await ahead.getByRole("img").count()).toBe(20);
    const chosen = page.getByRole("region", { name: "How it was chosen" });
    await chosen
      .getByText(/SHA-256/i)
      .first()
      .waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("of all jobs: who is in a minute of the forecast, by keyboard; and what a run has printed, as a file", async () => {
    const here = await served();
    const { origin } = here;
    await ran(here, "t/bad");
    const shown = await loggedIn(here.here);
    const { page } = shown;
    await opened(shown, origin, "/forecast", "Forecast");
    const heat = page.getByRole("slider", { name: /Starts by hour/ });
    await heat.focus();
    for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    await page.getByText(/01:01 · \d+ starts/).waitFor();
    await page.getByRole("link", { name: "t/often" }).first().waitFor();
    const asBefore = await heat.locator("path").count();
    await page.getByRole("button", { name: "without" }).press("Enter");
    // One scale for both: the same levels are drawn.
    expect(await heat.locator("path").count()).toBe(asBefore);
    await opened(shown, origin, "/jobs/t%2Fbad", "t/bad");
    await page.getByRole("log").getByText("broken").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).press("Enter");
    expect(fs.readFileSync(await (await download).path(), "utf8")).toContain("broken");
    expect(shown.complaints).toEqual([]);
  });

  test("a question is left by Esc, and the focus goes back to what had asked it", async () => {
    const { here, origin } = await served();
    const shown = await loggedIn(here);
    const { page } = shown;
    await opened(shown, origin, "/jobs/t%2Fslow", "t/slow");
    for (const [name, field] of [
      ["Pause…", page.getByLabel("because")],
      ["Hint…", page.getByLabel("Minutes")],
    ] as const) {
      await page.getByRole("button", { name }).press("Enter");
      await field.focus();
      await page.keyboard.press("Escape");
      await field.waitFor({ state: "detached" });
      expect(await page.evaluate("document.activeElement.textContent")).toBe(name);
    }
    await opened(shown, origin, "/system", "System");
    const end = page.getByRole("button", { name: /^End [0-9a-f]{8}$/ });
    await end.press("Enter");
    await page.getByRole("button", { name: "End", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await end.waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/^End [0-9a-f]{8}$/);
    expect(shown.complaints).toEqual([]);
  });
});
