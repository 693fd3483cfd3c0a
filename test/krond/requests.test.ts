/** Jobs that are requests, by a real daemon against a real server: what is sent, kept, shown, and never sent twice (R14). */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { answer, type Hit, WELL, wildServers } from "../support/wild-server.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const server = wildServers();
const PRIVATE = ["--allow-private"];

type Row = Readonly<Record<string, unknown>>;

function request(identity: string, url: string, more = ""): string {
  return `  - { identity: ${identity}, schedule: "${NEVER}", http: { url: "${url}"${more} } }\n`;
}

function everyFile(directory: string): string {
  const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), "latin1")).join("\n");
}

describe("a job that is a request", () => {
  test("is sent by kron run, and shown by logs, history and the log", async () => {
    const wild = await server((socket) => answer(socket, 503, "come\u001b[31m back later"));
    const here = place(request("t/h", wild.url, ", method: POST, body: hello"));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    const ran = here.kron("run", "t/h");
    expect([ran.status, ran.out]).toEqual([0, expect.stringContaining("sent the request of t/h")]);
    const completed = await krond.event("completed", { identity: "t/h" });
    expect(completed).toMatchObject({
      level: "error",
      holder: "request",
      status: 503,
      success: false,
      exit_code: null,
    });
    expect(completed).toMatchObject({ error_type: "ExecutionError", error_code: "status-unexpected" });
    expect(wild.hits.map(({ method, body }) => [method, body])).toEqual([["POST", "hello"]]);
    const [row] = JSON.parse(here.kron("history", "t/h", "-o", "json").out) as Row[];
    expect(row).toMatchObject({ outcome: "executed", source: "manual", holder: "request", status: 503, bytes: 20 });
    expect(here.kron("history", "t/h").out).toContain("HTTP 503");
    const logs = here.kron("logs", "t/h").out;
    expect(logs).toMatch(/ended \S+Z: HTTP 503\n/);
    expect(logs).toMatch(/connect \d+ ms, first byte \d+ ms, total \d+ ms; 20 bytes/);
    expect(logs).toContain("come\uFFFD[31m back later");
    await krond.kill("SIGTERM");
    expect(here.kron("logs", "t/h", "-o", "json").out).toContain('"status": 503');
  });

  test("secrets are sent, and are in no file and no line", async () => {
    const wild = await server((socket, { headers }) => answer(socket, 200, JSON.stringify(headers)));
    const more = `, header_env: { Authorization: TOKEN }, excerpt: 4KiB`;
    const here = place(request("t/h", wild.url, more));
    const krond = startKrond(here.config, here.state, PRIVATE, { TOKEN: "Bearer c4n4ry" });
    await krond.ready();
    here.kron("run", "t/h");
    await krond.event("completed", { identity: "t/h", success: true });
    expect(wild.hits[0]?.headers["authorization"]).toBe("Bearer c4n4ry");
    const seen = [here.kron("logs", "t/h").out, here.kron("history", "t/h", "-o", "json").out];
    await krond.kill("SIGTERM");
    expect([everyFile(here.state), JSON.stringify(krond.lines), krond.stderr, ...seen].join("\n")).not.toContain(
      "c4n4ry",
    );
  });

  test("S24: where its address is forbidden nothing is sent, and the message says the way out", async () => {
    const wild = await server(WELL);
    const here = place(request("t/h", `http://machine.test:${wild.port}/`));
    fs.appendFileSync(here.config, `http: { allow: ["10.0.0.0/8"] }\n`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const ran = here.kron("run", "t/h");
    expect(ran.status).toBe(1);
    expect(wild.connections).toBe(0);
    await krond.event("error", { identity: "t/h" });
  });

  test("cancel ends it, and stop --graceful waits for it", async () => {
    const wild = await server((socket, { path: where }) => {
      if (where === "/answers") setTimeout(() => answer(socket, 200, "at last"), 300);
    });
    const here = place(request("t/never", wild.url) + request("t/late", `${wild.url}answers`));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    here.kron("run", "t/never");
    await wild.hitsReached(1);
    expect(here.kron("list").out).toMatch(/request/);
    expect(here.kron("cancel", "t/never", "-o", "json").out).toContain('"ended": 1');
    await krond.event("completed", { identity: "t/never", reason: "cancelled" });
    const client = await ControlClient.connect(socketPathIn(here.state));
    await client?.ask({ op: "run", identity: "t/late" });
    await wild.hitsReached(2);
    await client?.ask({ op: "stop", graceful: true });
    expect(await krond.ended).toBe(0);
    expect(krond.lines.find((line) => line["event"] === "completed" && line["identity"] === "t/late")).toMatchObject({
      status: 200,
      success: true,
    });
  });
});

function runsOf(history: string): readonly Row[] {
  return (JSON.parse(history) as Row[]).filter((row) => row["started_at"] !== null);
}

/** Every slot of every run on record, and how often a handler saw each. */
function accountOf(rows: readonly Row[], hits: readonly Hit[]) {
  const seen = new Map<string, number>();
  for (const { headers } of hits) {
    const slot = headers["x-kron-period-id"] ?? "";
    seen.set(slot, (seen.get(slot) ?? 0) + 1);
  }
  const slots = rows.map((row) => String(row["period_id"]));
  return {
    twice: [...seen].filter(([, count]) => count > 1),
    unknown: [...seen.keys()].filter((slot) => !slots.includes(slot)),
    open: rows.filter((row) => row["ended_at"] === null),
  };
}

describe("R14: kill -9 of the daemon", () => {
  test.each<[string, (hit: Hit, kill: () => void, reply: () => void) => void]>([
    ["between what was sent and its answer", (_, kill) => kill()],
    [
      "right after the answer",
      (_, kill, reply) => {
        reply();
        kill();
      },
    ],
  ])("%s: it is on record as unseen, and never sent again", async (_, act) => {
    let kill = (): void => undefined;
    const wild = await server((socket, hit) => {
      act(hit, kill, () => answer(socket, 200, "well"));
    });
    const here = place(request("t/h", wild.url));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    kill = () => void krond.child.kill("SIGKILL");
    const client = await ControlClient.connect(socketPathIn(here.state));
    await client?.ask({ op: "run", identity: "t/h" }).catch(() => undefined);
    await krond.ended;
    const next = startKrond(here.config, here.state, PRIVATE);
    await next.ready();
    await next.event("completed", { identity: "t/h", reason: "exit_unseen", holder: "request" });
    const rows = runsOf(here.kron("history", "t/h", "-o", "json").out);
    expect([wild.hits.length, rows.length]).toEqual([1, 1]);
    expect(here.kron("logs", "t/h").out).toContain("unknown (exit_unseen)");
  });

  test("at any moment between claim, send and answer: no handler is hit twice, every slot is accounted for", async () => {
    const [rounds, runs] = [8, 12];
    const wild = await server((socket) => {
      setTimeout(() => answer(socket, 200, "well"), Math.random() * 20);
    });
    const here = place(request("t/h", wild.url));
    for (let round = 0; round < rounds; round++) {
      const krond = startKrond(here.config, here.state, PRIVATE);
      await krond.ready();
      const client = await ControlClient.connect(socketPathIn(here.state));
      const asked: Promise<unknown>[] = [];
      for (let run = 0; run < runs; run++) {
        asked.push(client?.ask({ op: "run", identity: "t/h" }).catch(() => undefined) ?? Promise.resolve());
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4));
      }
      // Every other time some more have been received already, unless all were.
      const more = wild.hitsReached(wild.hits.length + 1 + (round % 3));
      if (round % 2 === 0) await Promise.race([more, Promise.all(asked)]);
      await krond.kill("SIGKILL");
    }
    const last = startKrond(here.config, here.state, PRIVATE);
    await last.ready();
    const rows = runsOf(here.kron("history", "t/h", "-n", "1000", "-o", "json").out);
    const account = accountOf(rows, wild.hits);
    const unseen = rows.filter((row) => row["reason"] === "exit_unseen").length;
    console.log(`R14: ${rounds} kills, ${wild.hits.length} hits, ${rows.length} slots, ${unseen} of them unseen`);
    expect(account).toEqual({ twice: [], unknown: [], open: [] });
    expect(wild.hits.length).toBeGreaterThan(0);
  });
});
