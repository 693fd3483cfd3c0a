/** `kron apply` and `kron node` with daemons that do what they are told: real processes, a real server. */
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { canonicalDefinitionText } from "../../src/core/job/schema.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { type Member, Members } from "../support/member-daemons.js";
import { NEVER } from "../support/place.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const server = postgresServer();
const newDirectory = temporaryDirectories();
const start = krondProcesses(programs);

async function members(): Promise<Members> {
  return new Members(newDirectory(), server().address(await server().newDatabase()), programs, start);
}

/** Until it is so; the test's own bound ends what never comes. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(50);
}

/** What an operator has in a file. */
function fileOf(...jobs: readonly JobDefinition[]): string {
  const file = path.join(newDirectory(), "jobs.jsonl");
  fs.writeFileSync(file, `${jobs.map((job) => canonicalDefinitionText(job)).join("\n")}\n`, { mode: 0o600 });
  return file;
}

function executed({ kron }: Member, identity: string): number {
  const { out, err, status } = kron("history", identity, "-o", "json", "-n", "1000");
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return (JSON.parse(out) as readonly { outcome: string }[]).filter(({ outcome }) => outcome === "executed").length;
}

const BUSY = 'echo "begin" >> "$WITNESS"; sleep 0.2; echo "end" >> "$WITNESS"';

test("S50: a job that is moved from node to node again and again runs in one place at a time", async () => {
  const cluster = await members();
  const [one, two] = [await cluster.started("one"), await cluster.started("two")];
  const at = (node: string) =>
    fileOf(cluster.job("moving", "@every 1s", BUSY, { node }), cluster.job("other", NEVER, "true"));
  let runs = 0;
  for (const node of ["one", "two", "one", "two"]) {
    const { status, out, err } = one.kron("apply", at(node));
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain("in force on 2 nodes");
    const before = runs;
    await until(() => {
      runs = executed(two, "moving");
      return runs > before;
    });
  }
  await two.daemon.kill("SIGTERM");
  await one.daemon.kill("SIGTERM");
  const wrong = cluster.seen.findIndex((line, index) => line !== (index % 2 === 0 ? "begin" : "end"));
  expect([wrong, cluster.seen.length]).toEqual([-1, expect.any(Number)]);
  expect(cluster.seen.length).toBeGreaterThan(6);
});

test("S50: a job that runs stays where it is, says so, and moves when its run has ended", async () => {
  const cluster = await members();
  const [one, two] = [await cluster.started("one"), await cluster.started("two")];
  const gate = path.join(newDirectory(), "go-on");
  const command = `echo begun >> "$WITNESS"; while [ ! -e ${gate} ]; do sleep 0.05; done`;
  const at = (node: string) => fileOf(cluster.job("long", NEVER, command, { node }));
  expect(one.kron("apply", at("one")).status).toBe(0);
  expect(two.kron("run", "long").status).toBe(0);
  await until(() => cluster.seen.length > 0);
  const refused = two.kron("apply", "--wait", "1s", at("two"));
  expect([refused.status, refused.out]).toEqual([
    1,
    expect.stringContaining("! long stays in the pool of node one: it runs; apply again later"),
  ]);
  expect(one.kron("list", "-o", "json").out).toContain('"long"');
  fs.writeFileSync(gate, "");
  await until(() => executed(one, "long") === 1);
  const moved = two.kron("apply", at("two"));
  expect([moved.status, moved.err]).toEqual([0, ""]);
  expect(one.kron("run", "long", "--wait").status).toBe(0);
  expect(two.kron("logs", "long").status).toBe(0);
});

test("nodes are drained, serve again, and are evicted by name, and jobs go on", async () => {
  const cluster = await members();
  const [one, two] = [await cluster.started("one"), await cluster.started("two")];
  expect(one.kron("apply", fileOf(cluster.job("steady", "@every 1s", "true"))).status).toBe(0);
  await until(() => executed(one, "steady") > 0);
  expect(one.kron("node", "drain", "two").status).toBe(0);
  await until(() => one.kron("node", "list").out.includes("drained"));
  const before = executed(one, "steady");
  await until(() => executed(one, "steady") > before);
  expect(one.kron("node", "undrain", "two").status).toBe(0);
  await until(async () => ((await cluster.shares())["two"] ?? 0) > 30);

  expect(one.kron("node", "evict", "two").status).toBe(0);
  expect(await two.daemon.ended).toBe(5);
  await until(async () => (await cluster.shares())["one"] === 65);
  const then = executed(one, "steady");
  await until(() => executed(one, "steady") > then);
  expect(one.kron("node", "forget", "two").status).toBe(0);
  const history = JSON.parse(one.kron("history", "steady", "-o", "json", "-n", "1000").out) as { period_id: string }[];
  expect(new Set(history.map(({ period_id }) => period_id)).size).toBe(history.length);
});

test("a node lets requests go where its start says, beside what the applied settings say", async () => {
  const cluster = await members();
  const one = await cluster.started("one", "--allow-private");
  let heard = (): void => undefined;
  const received = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const target = createServer((_request, response) => {
    response.writeHead(204).end();
    heard();
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const { port } = target.address() as AddressInfo;
  const file = path.join(newDirectory(), "jobs.jsonl");
  const job = { identity: "ask", schedule: NEVER, http: { url: `http://127.0.0.1:${port}/` } };
  fs.writeFileSync(file, `${JSON.stringify(job)}\n`, { mode: 0o600 });
  expect(one.kron("apply", file).status).toBe(2);
  expect(one.kron("apply", "--allow-private", file).status).toBe(0);
  expect(one.kron("run", "ask").status).toBe(0);
  await received;
  target.closeAllConnections();
  target.close();
});
