/** Endpoints of tenants on the page: under their own names, with who looks at them and what was proposed. */
import { describe, expect, test } from "vitest";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { browserPath, browsers, seriousFindings } from "../support/browser.js";
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

type Fields = Readonly<Record<string, unknown>>;

async function ask<T = Fields>({ state }: Place, request: Fields, tenant: string): Promise<T> {
  const client = await ControlClient.connect(socketPathIn(state));
  if (client === null) throw new Error("no daemon");
  try {
    return (await client.ask(request as unknown as OperationRequest, null, tenant)) as T;
  } finally {
    client.close();
  }
}

/** An endpoint of acme's whose server is down, and that was run often enough for a planner to see it. */
async function failing() {
  const server = await servers((socket) => answer(socket, 503, "upstream is down"));
  const here = place(job("t/one", "true"));
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0", "--allow-private", "--planner", "rules"]);
  const { api } = await krond.ready();
  const { id: jobId } = await ask<{ id: string }>(here, { op: "jobs.create", name: "nightly sync" }, "acme");
  const wish = { op: "endpoints.create", jobId, name: "prices", url: server.url, baselineIntervalMs: 3_600_000 };
  const { id } = await ask<{ id: string }>(here, { ...wish, planner: "rules" }, "acme");
  const run = async (): Promise<void> => {
    const from = krond.lines.length;
    await ask(here, { op: "endpoints.run", endpointId: id }, "acme");
    await krond.event("completed", {}, from);
  };
  return { here, krond, origin: `http://${String(api)}`, id, run };
}

describe.skipIf(!hasBrowser)(`endpoints${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("are in the list of jobs by the names of their people, and lead to what planners have proposed", async () => {
    const { here, krond, origin, run } = await failing();
    for (let times = 0; times < 3; times += 1) await run();
    await krond.event("planner_session");
    const shown = await loggedIn(here);
    const { page } = shown;
    await page.goto(`${origin}/jobs`);
    const row = page.getByRole("row", { name: /nightly sync \/ prices/ });
    await row.getByRole("link", { name: "endpoint of acme" }).click();
    await page.getByRole("heading", { name: "Planner of prices" }).waitFor();
    await page.getByRole("heading", { name: "Runs of prices" }).waitFor();
    const session = page.getByRole("row", { name: /planner:rules every .* “failure-streak: .*” put in force/ });
    await session.getByRole("button").click();
    await page.getByText("What it was told").click();
    await page.getByText(/"name": "prices"/).waitFor();
    await page.getByRole("cell", { name: /^every .* left, by planner:rules/ }).waitFor();
    await page.getByRole("button", { name: "What would it propose now?" }).click();
    await page.getByText("planner:rules, and nothing is changed:").waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    await page.goto(`${origin}/`);
    await page.getByRole("link", { name: "nightly sync / prices" }).first().click();
    await page.getByRole("heading", { level: 1, name: "nightly sync / prices" }).waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("are found by a part of their name, on their page and among the jobs", async () => {
    const { here, origin } = await failing();
    const shown = await loggedIn(here);
    const { page } = shown;
    await page.goto(`${origin}/endpoints?tenant=acme`);
    await page.getByRole("button", { name: "prices" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("nobody");
    await page.getByText("None is called so.").waitFor();
    await page.getByRole("searchbox").fill("pri");
    await page.getByRole("button", { name: "prices" }).waitFor();
    await page.goto(`${origin}/jobs?q=sync+%2F+pri`);
    await page.getByText("1 job", { exact: true }).waitFor();
    await page.getByRole("row", { name: /nightly sync \/ prices/ }).waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test("what is refused because so much is asked at once is asked for again", async () => {
    const { here, origin, run } = await failing();
    await run();
    const { page } = await loggedIn(here);
    let refused = 0;
    await page.route("**/health", (route) => {
      refused += 1;
      if (refused > 2) return route.continue();
      const json = { status: 429, code: "rate-exceeded", detail: "this key may ask once a second" };
      return route.fulfill({ status: 429, headers: { "Retry-After": "1" }, json });
    });
    await page.goto(`${origin}/endpoints?tenant=acme`);
    await page.getByRole("cell", { name: "0.0 %" }).waitFor();
    expect(refused).toBeGreaterThan(2);
  });

  test("a tenant's page is live, and shows its own alone", async () => {
    const { here, origin, run } = await failing();
    const { key } = JSON.parse(here.krond("keys", "create", "--tenant", "acme", "--scope", "write", "-o", "json").out);
    const shown = await window(origin);
    const { page } = shown;
    await page.goto(`${origin}/endpoints`);
    await page.getByLabel("Or an API key").fill(key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "prices" }).click();
    await page.getByText("None yet.").waitFor();
    await run();
    // Nobody has asked for it anew.
    await page.getByRole("cell", { name: "503", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: /System|Jobs|Now/ }).count()).toBe(0);
    expect(await page.getByText(/\d+ running/).count()).toBe(0);
    expect(await seriousFindings(shown)).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });
});
