/** A window of 400 pixels, with much in it: long names, endpoints, sessions, keys and a history. */
import { describe, expect, test } from "vitest";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { browserPath, browsers, linkOf, type Shown, seriousFindings } from "../support/browser.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { answer, wildServers } from "../support/wild-server.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const servers = wildServers();
const { loggedIn, window } = browsers();

const NARROW = { viewport: { width: 400, height: 860 } };
const LONG = `tenant-00/${"reports-of-the-whole-department/".repeat(3)}monthly`;
const WORD = "x".repeat(90);
const JOBS = [
  job(LONG, "exit 7"),
  job(WORD, "true"),
  '  - { identity: t/zoned, schedule: "*/30 2-5 * * *", timezone: America/Argentina/Buenos_Aires, window: { mode: after, duration: 20m }, command: ["true"] }\n',
  '  - { identity: t/often, schedule: "@hourly", window: { mode: after, duration: 50m }, command: ["true"] }\n',
  '  - { identity: t/held, schedule: "@hourly", policy: { suspend: true }, command: ["true"] }\n',
].join("");

interface Dense {
  readonly here: Place;
  readonly origin: string;
  readonly endpointId: string;
}

async function ask({ state }: Place, request: object): Promise<{ readonly id: string }> {
  const client = await ControlClient.connect(socketPathIn(state));
  if (client === null) throw new Error("no daemon");
  try {
    return (await client.ask(request as OperationRequest, null, "default")) as { readonly id: string };
  } finally {
    client.close();
  }
}

/** With a hint in force. */
async function endpointOf(here: Place, url: string): Promise<string> {
  const { id: jobId } = await ask(here, { op: "jobs.create", name: "the nightly synchronisation of everything" });
  const wish = { jobId, name: `prices-${"of-all-suppliers-".repeat(4)}daily`, url, planner: "rules" };
  const { id } = await ask(here, { op: "endpoints.create", ...wish, baselineCron: "0 0 1 1 *" });
  const reason = "because errors rose in all of the regions at once";
  await ask(here, { op: "endpoints.hint_interval", endpointId: id, intervalMs: 3_600_000, ttlMinutes: 120, reason });
  return id;
}

async function dense(): Promise<Dense> {
  const server = await servers((socket) => answer(socket, 503, "upstream is down"));
  const here = place(JOBS);
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0", "--allow-private", "--planner", "rules"]);
  const address = String((await krond.ready())["api"]);
  for (const identity of [LONG, LONG, WORD]) {
    const from = krond.lines.length;
    expect(here.kron("run", identity).status).toBe(0);
    await krond.event("completed", { identity }, from);
  }
  here.krond("keys", "create", "--scope", "admin", "--name", WORD);
  const endpointId = await endpointOf(here, server.url);
  const from = krond.lines.length;
  await ask(here, { op: "endpoints.run", endpointId });
  await krond.event("completed", {}, from);
  return { here, origin: `http://${address}`, endpointId };
}

/** What is cut, and what is written so small that nobody reads it. */
const TROUBLES = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the window"] : []),
  ...[...document.querySelectorAll(".panel")].filter((it) => it.scrollWidth > it.clientWidth + 1)
    .map((it) => "cut: " + it.getAttribute("aria-label")),
  ...[...document.querySelectorAll("main svg[viewBox]:not(.mark svg, .mark)")]
    .filter((it) => it.querySelector("text") && it.getBoundingClientRect().width < it.viewBox.baseVal.width * 0.95)
    .map((it) => "small: " + it.getAttribute("aria-label")),
]`;

async function looksWell(shown: Shown, what: string): Promise<void> {
  expect([what, await shown.page.evaluate(TROUBLES), await seriousFindings(shown)]).toEqual([what, [], []]);
}

describe.skipIf(!hasBrowser)(`a narrow window${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("cuts nothing and writes nothing too small, however much there is", async () => {
    const { here, origin, endpointId } = await dense();
    for (let more = 0; more < 3; more += 1) {
      const other = await window(origin);
      await other.page.goto(linkOf(here));
      await other.page.getByRole("navigation").waitFor();
    }
    const shown = await loggedIn(here, NARROW);
    const { page } = shown;
    const jobPage = (identity: string): string => `/jobs/${encodeURIComponent(identity)}`;
    const places: readonly (readonly [path: string, () => Promise<unknown>])[] = [
      ["/", () => page.getByText(/exit code 7, 2 times in a row/).waitFor()],
      ["/jobs", () => page.getByRole("row", { name: /t\/zoned/ }).waitFor()],
      [
        jobPage(LONG),
        () =>
          page
            .getByRole("row", { name: /^failed/ })
            .first()
            .waitFor(),
      ],
      [
        jobPage("t/zoned"),
        () =>
          page
            .getByRole("cell", { name: /^in \d/ })
            .first()
            .waitFor(),
      ],
      ["/forecast", () => page.getByRole("slider", { name: /Starts by hour/ }).waitFor()],
      [
        `/endpoints?tenant=default&endpoint=${endpointId}`,
        () => page.getByRole("cell", { name: "Status 503", exact: true }).waitFor(),
      ],
      [
        "/system",
        () =>
          page
            .getByRole("button", { name: /^End [0-9a-f]{8}$/ })
            .nth(3)
            .waitFor(),
      ],
    ];
    for (const [path, isThere] of places) {
      await page.goto(origin + path);
      await isThere();
      await looksWell(shown, path);
    }
    // A row that is a list of what it says is a row for everybody else, too.
    await page
      .getByRole("row", { name: /a link .*admin/ })
      .first()
      .waitFor();
    expect(shown.complaints).toEqual([]);
  });

  test("has room for the inspector of an endpoint, which it calls as its people do", async () => {
    const { here, origin } = await dense();
    const shown = await loggedIn(here, NARROW);
    const { page } = shown;
    await page.goto(`${origin}/inspector`);
    await page.getByRole("searchbox", { name: "Find an actor" }).fill("synchronisation");
    await page.getByRole("treeitem", { name: /daily/ }).first().click();
    await page.getByRole("heading", { level: 2, name: /^job the nightly.*daily$/ }).waitFor();
    expect(await page.getByRole("treeitem", { name: /endpoint:/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Sequence" }).click();
    await looksWell(shown, "inspector");
    expect(shown.complaints).toEqual([]);
  });
});
