/** A daemon that keeps its state in a database, as a user meets it: real processes, a real server. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { META_FILE } from "../../src/persist/files/meta.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { LOCKED_PASSWORD, LOCKED_ROLE, postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const server = postgresServer();
const newPlace = placesIn(temporaryDirectories(), programs);
const start = krondProcesses(programs);

async function newStore(owner?: string): Promise<readonly [flag: string, address: string]> {
  return ["--store", server().address(await server().newDatabase(owner), owner)];
}

/** A run by hand, seen to its end. */
function ranOnce(here: Place, identity: string): string {
  const { status, out, err } = here.kron("run", identity, "--wait");
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return out;
}

describe("krond start --store postgres://...", () => {
  test("runs jobs, and what became of them is there for the next one, wherever it starts", async () => {
    const store = await newStore();
    const here = newPlace(job("greet", "echo hello"));
    const first = start(here.config, here.state, store);
    await first.ready();
    ranOnce(here, "greet");
    expect(here.kron("history", "greet", "--output", "json").out).toContain('"outcome": "executed"');
    expect(await first.kill("SIGTERM")).toBe(0);

    // While none runs the commands read the database that the directory names.
    expect(here.kron("list").out).toContain("greet");
    expect(here.kron("history", "greet", "--output", "json").out).toContain('"outcome": "executed"');
    expect(here.kron("why", "greet").status).toBe(0);
    expect(here.krond("state", "check").out).toContain("everything is in order");

    const elsewhere = newPlace(job("greet", "echo hello"));
    const second = start(elsewhere.config, elsewhere.state, store);
    await second.ready();
    expect(elsewhere.kron("history", "greet", "--output", "json").out).toContain('"outcome": "executed"');
    expect(await second.kill("SIGTERM")).toBe(0);
  });

  test("one that was killed is followed at once by the next of its directory", async () => {
    const store = await newStore();
    const here = newPlace(job("greet", "echo hello"));
    const first = start(here.config, here.state, [...store, "--store-lease", "60s"]);
    await first.ready();
    await first.kill("SIGKILL");
    const second = start(here.config, here.state, store);
    await second.ready();
    expect(await second.kill("SIGTERM")).toBe(0);
  });

  test("a second one on the same database is refused, and told who has it", async () => {
    const store = await newStore();
    const [here, there] = [newPlace(job("greet", "echo hello")), newPlace(job("greet", "echo hello"))];
    const first = start(here.config, here.state, [...store, "--store-lease", "5s"]);
    await first.ready();
    const refused = there.krond("start", "--config", there.config, ...store);
    expect([refused.status, refused.err]).toEqual([4, expect.stringContaining(`process ${first.pid} on `)]);
    ranOnce(here, "greet");
  });

  test("whose session was taken away starts nothing any more, and ends", async () => {
    const [flag, address] = await newStore();
    const here = newPlace(job("greet", "echo hello"));
    const daemon = start(here.config, here.state, [flag, address, "--store-lease", "5s"]);
    await daemon.ready();
    await server().admin("delete from kron.session", databaseOf(address));
    expect(await daemon.ended).toBe(5);
    expect(daemon.lines.at(-1)).toMatchObject({ event: "fatal", error_code: "lease-lost" });
  });

  test("a password comes from a file, which the directory remembers, and is shown nowhere", async () => {
    const [flag, address] = await newStore(LOCKED_ROLE);
    const here = newPlace(job("greet", "echo hello"));
    const file = path.join(here.root, "password");
    fs.writeFileSync(file, `${LOCKED_PASSWORD}\n`, { mode: 0o600 });
    const daemon = start(here.config, here.state, [flag, address, "--store-password-file", file]);
    await daemon.ready();
    expect(await daemon.kill("SIGTERM")).toBe(0);
    const listed = here.kron("list");
    expect([listed.status, listed.out]).toEqual([0, expect.stringContaining("greet")]);
    const told = [JSON.stringify(daemon.lines), daemon.stderr, listed.out, listed.err];
    expect(told.join()).not.toContain(LOCKED_PASSWORD);
    fs.writeFileSync(file, "wrong\n");
    const refused = here.kron("list");
    expect([refused.status, refused.err]).toEqual([5, expect.stringContaining("password authentication failed")]);
    expect(refused.err).toContain("--store-password-file");
  });
});

describe("the doctor", () => {
  test("measures the server, and says what a start would be refused for", async () => {
    const here = newPlace(job("greet", "echo hello"));
    const stored = async (address: string): Promise<unknown> => {
      const { out } = here.krond("doctor", "--output", "json", "--store", address);
      return (JSON.parse(out) as { check: string }[]).find(({ check }) => check === "store");
    };
    const [, address] = await newStore();
    // The server of these tests does not sync.
    expect(await stored(address)).toMatchObject({ verdict: "bad", message: expect.stringMatching(/^PostgreSQL \d/) });
    expect(await stored(server().address("nowhere"))).toMatchObject({
      verdict: "bad",
      message: expect.stringContaining('has no database "nowhere"'),
      advice: expect.stringContaining("create database"),
    });
  });
});

describe("moving", () => {
  test("from LMDB to a database and on to files, without loss", async () => {
    const here = newPlace(job("greet", "echo hello"));
    const daemon = start(here.config, here.state);
    await daemon.ready();
    ranOnce(here, "greet");
    await daemon.kill("SIGTERM");
    const [flag, address] = await newStore();
    const [one, two, three] = ["one", "two", "three"].map((name) => path.join(here.root, name)) as [
      string,
      string,
      string,
    ];
    const moved = path.join(here.root, "moved");
    const krond = (...args: string[]) => {
      const { status, stderr } = spawnSync(process.execPath, [programs().krond, ...args], { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    };
    krond("state", "export", one, "--state", here.state);
    krond("state", "import", one, flag, address, "--state", moved);
    krond("state", "export", two, "--state", moved);
    krond("state", "import", two, "--store", "files", "--state", path.join(here.root, "files"));
    krond("state", "export", three, "--state", path.join(here.root, "files"));
    expect([filesIn(two), filesIn(three)]).toEqual([filesIn(one), filesIn(one)]);
    const after = start(here.config, moved, [flag, address]);
    await after.ready();
    expect(await after.kill("SIGTERM")).toBe(0);
  });

  test("a directory of another backend is refused, and told how", async () => {
    const here = newPlace(job("greet", "echo hello"));
    const daemon = start(here.config, here.state);
    await daemon.ready();
    await daemon.kill("SIGTERM");
    const refused = here.krond("start", "--config", here.config, ...(await newStore()));
    expect([refused.status, refused.err]).toEqual([3, expect.stringContaining("holds a store of the lmdb backend")]);
    expect(refused.err).toContain("krond state export");
  });
});

/** All files with their content, less what differs from store to store. */
function filesIn(directory: string): Readonly<Record<string, string>> {
  const names = fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => fs.statSync(path.join(directory, name)).isFile());
  const read = (name: string): string => fs.readFileSync(path.join(directory, name), "utf8");
  const told = (name: string): string =>
    name === META_FILE
      ? read(name)
          .replace(/"sum":\d+/, "")
          .replace(/"storeId":"[^"]*"/, "")
      : read(name);
  return Object.fromEntries(files.map((name) => [name, told(name)]));
}

function databaseOf(address: string): string {
  return new URL(address).pathname.slice(1);
}
