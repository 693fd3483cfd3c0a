/** The page of one node of several, in a real browser: it shows what all of them look after. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { browserPath, browsers, seriousFindings } from "../support/browser.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { type ApiMember, apiMembers, witnesses } from "../support/member-api.js";
import { Members } from "../support/member-daemons.js";
import { NEVER } from "../support/place.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const server = postgresServer();
const temporary = temporaryDirectories();
const start = krondProcesses(programs);
const started = apiMembers();
const witnessed = witnesses();
const { window } = browsers();

const NAMES = Array.from({ length: 8 }, (_, index) => `job-${index}`);

/** Two nodes with a page each, jobs of the host on both of them, and endpoints of a tenant. */
async function twoPages() {
  const cluster = new Members(temporary(), server().address(await server().newDatabase()), programs, start);
  const one = await started(cluster, "one", "--web");
  await cluster.want(NAMES.map((name) => cluster.job(name, NEVER, `echo "out of ${name}"`)));
  await one.member.daemon.event("revision_applied");
  const two = await started(cluster, "two", "--web");
  while (
    Object.values(await cluster.shares())
      .sort()
      .join() !== "33,33"
  )
    await sleep(50);
  const witness = await witnessed();
  const { key } = await one.key("acme", "admin");
  const { id } = await one.must(201, "POST", "/jobs", { key, body: { name: "billing" } });
  for (const name of ["sync", "remind", "report", "clean"]) {
    const body = { name, url: `${witness.url}/${name}`, baselineIntervalMs: 3_600_000 };
    await two.must(201, "POST", `/jobs/${id}/endpoints`, { key, body });
  }
  return { one, two };
}

async function loggedIn(node: ApiMember) {
  const { url } = await node.ask<{ url: string }>({ op: "login_link", scope: "admin" });
  const shown = await window(url);
  await shown.page.goto(url);
  await shown.page.getByRole("navigation").waitFor();
  return shown;
}

describe.skipIf(!hasBrowser)(`the page of a node${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("shows the jobs of all nodes, live, and who the nodes are; every page without a complaint", async () => {
    const { one, two } = await twoPages();
    const shown = await loggedIn(one);
    const { page } = shown;
    const origin = `http://${one.address}`;
    for (const [path, title] of [
      ["/", "Now"],
      ["/jobs", "Jobs"],
      ["/forecast", "Forecast"],
      ["/endpoints", "Endpoints"],
      ["/inspector", "Inspector"],
      ["/jobs/job-0", "job-0"],
      ["/system", "System"],
    ] as const) {
      await page.goto(origin + path);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await page.getByText("live", { exact: true }).waitFor();
    }
    const nodes = page.getByRole("region", { name: "Nodes" });
    for (const name of [/^one this one/, "two"]) await nodes.getByRole("cell", { name }).first().waitFor();
    expect(await seriousFindings(shown)).toEqual([]);
    // Of each job it is told that it runs and has ended, whichever node has it, and whichever was asked to run it.
    await page.goto(`${origin}/jobs`);
    await page.getByText("12 jobs", { exact: false }).first().waitFor();
    for (const name of NAMES) {
      await two.ask({ op: "run", identity: name });
      await page.getByRole("row", { name: new RegExp(`${name}.*executed`) }).waitFor();
    }
    await page.getByRole("row", { name: /billing \/ sync/ }).waitFor();
    expect(shown.complaints).toEqual([]);
  });
});
