/** Jobs that are defined one by one while the daemon runs, beside a configuration that knows nothing of them (S16, S37). */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { runsOf } from "../../../src/core/endpoint/run-index.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { sweepLedger } from "../../../src/persist/retention.js";
import { requireOk } from "../../support/results.js";
import { job, START, World } from "./world.js";

const JOB_ID = `job_${"a".repeat(16)}`;

function identityOf(name: string): string {
  return `endpoint:acme/${JOB_ID}/ep_${name.padEnd(16, "0")}`;
}

function endpoint(name: string, schedule: string, more: Record<string, unknown> = {}): JobDefinition {
  const raw = { identity: identityOf(name), schedule, http: { url: `https://hooks.test/${name}` }, ...more };
  return requireOk(readJobDefinition(raw, undefined, { mayUseReservedPrefix: true }));
}

function kept(name: string, text: string | null = name): { identity: string; key: string; text: string | null } {
  return { identity: identityOf(name), key: `endpoint/${name}`, text };
}

const CONFIGURED = [job("configured", "* * * * *")];

async function booted(world = new World()): Promise<World> {
  await world.boot(CONFIGURED);
  return world;
}

describe("defined and removed one by one", () => {
  test("an endpoint is durable with what is kept of it, and runs from then on", async () => {
    const world = await booted();
    await world.supervisor.define(endpoint("a", "*/2 * * * *"), [kept("a")]);
    expect(world.disk.objects.get("endpoint/a")).toBe("a");
    expect(world.disk.definitions.get(identityOf("a"))?.size).toBe(1);
    await world.pass(5 * MINUTE_MS);
    expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:02:00", "2026-03-01T00:04:00"]);
    expect(world.supervisor.status().jobs).toBe(2);
  });

  test("a change takes the place of what was there, and is a new birth where the rule has changed (S14)", async () => {
    const world = await booted();
    await world.supervisor.define(endpoint("a", "0 12 * * *"), [kept("a", "first")]);
    await world.supervisor.define(endpoint("a", "*/2 * * * *"), [kept("a", "second")]);
    expect(world.disk.objects.get("endpoint/a")).toBe("second");
    expect(world.disk.definitions.get(identityOf("a"))?.size).toBe(2);
    await world.pass(3 * MINUTE_MS);
    expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:02:00"]);
  });

  test("what is removed runs no more; what runs of it goes on to its end and is on record", async () => {
    const world = await booted(new World({ answer: () => ({ answerMs: 20_000 }) }));
    await world.supervisor.define(endpoint("a", "* * * * *"), [kept("a")]);
    await world.pass(MINUTE_MS);
    expect(await world.supervisor.remove(identityOf("a"), [kept("a", null)])).toBe(true);
    expect(world.disk.objects.has("endpoint/a")).toBe(false);
    await world.pass(3 * MINUTE_MS);
    expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:01:00"]);
    expect(world.ledger(identityOf("a")).find(({ kind }) => kind === "run")?.content).toMatchObject({ status: 200 });
    expect(world.supervisor.status().jobs).toBe(1);
  });

  test("removing what there is not writes nothing, and coming back repeats nothing (S16)", async () => {
    const world = await booted();
    expect(await world.supervisor.remove(identityOf("a"), [kept("a")])).toBe(false);
    expect(world.disk.objects.has("endpoint/a")).toBe(false);
    await world.supervisor.define(endpoint("a", "* * * * *"), []);
    await world.pass(MINUTE_MS);
    await world.supervisor.remove(identityOf("a"), []);
    await world.supervisor.define(endpoint("a", "* * * * *"), []);
    await world.pass(MINUTE_MS);
    expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00"]);
  });

  test("a thousand at once are all there", async () => {
    const world = await booted();
    const names = Array.from({ length: 1_000 }, (_, index) => `n${1_000 + index}`);
    await Promise.all(names.map((name) => world.supervisor.define(endpoint(name, "* * * * *"), [kept(name)])));
    expect(world.supervisor.status().jobs).toBe(1_001);
    expect(world.disk.objects.size).toBe(1_000);
    // They become durable together.
    expect(world.disk.commits).toBeLessThan(100);
  });
});

describe("no configuration speaks of them", () => {
  test("a reload neither takes them out nor counts them", async () => {
    const world = await booted();
    await world.supervisor.define(endpoint("a", "* * * * *"), []);
    const planned = await world.supervisor.plan([job("other", "* * * * *")], () => false);
    expect(planned.kept).toEqual([]);
    expect(planned.report).toMatchObject({ added: ["other"], removed: ["configured"], changed: [], unchanged: 0 });
    await planned.apply(SETTINGS_DEFAULTS);
    await world.pass(MINUTE_MS);
    expect(world.starts(identityOf("a"))).toHaveLength(1);
  });

  for (const wanted of ["with its configuration", "as stored"] as const) {
    test(`a start ${wanted} finds them where they were`, async () => {
      const world = await booted();
      await world.supervisor.define(endpoint("a", "*/2 * * * *"), [kept("a")]);
      await world.supervisor.define(endpoint("gone", "* * * * *"), []);
      await world.supervisor.remove(identityOf("gone"), []);
      world.kill();
      await world.pass(90_000);
      await world.boot(wanted === "as stored" ? "as-stored" : CONFIGURED);
      await world.pass(3 * MINUTE_MS);
      expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:02:00", "2026-03-01T00:04:00"]);
      expect(world.starts(identityOf("gone"))).toEqual([]);
      expect(world.supervisor.status().jobs).toBe(2);
    });
  }

  test("S29: a request that was under way when the daemon died is closed as unknown, never sent again", async () => {
    const world = await booted(new World({ answer: () => ({ answerMs: 90_000 }) }));
    await world.supervisor.define(endpoint("a", "*/5 * * * *"), []);
    await world.pass(5 * MINUTE_MS);
    world.kill();
    await world.boot(CONFIGURED);
    await world.pass(MINUTE_MS);
    expect(world.starts(identityOf("a"))).toHaveLength(1);
    const [entry] = [...world.disk.objects.keys()].filter((key) => key.startsWith("run/"));
    expect(entry?.startsWith(runsOf("acme", "unknown"))).toBe(true);
  });

  test("S32: a damaged document of an endpoint is fenced, and the endpoint goes on", async () => {
    const world = await booted();
    await world.supervisor.define(endpoint("a", "*/2 * * * *"), []);
    await world.pass(2 * MINUTE_MS);
    world.kill();
    world.disk.damage(documentKey(identityOf("a")), "{");
    await world.boot(CONFIGURED);
    await world.pass(2 * MINUTE_MS);
    expect(world.fatal).toBeNull();
    expect(world.starts(identityOf("a"))).toEqual(["2026-03-01T00:02:00", "2026-03-01T00:04:00"]);
  });

  test("a definition of an endpoint that cannot be read refuses the start: left out it would be forgotten", async () => {
    const world = await booted();
    await world.supervisor.define(endpoint("a", "* * * * *"), []);
    world.kill();
    const versions = world.disk.definitions.get(identityOf("a"));
    for (const [definedAt, version] of versions ?? []) versions?.set(definedAt, { ...version, text: "{}" });
    await expect(world.boot(CONFIGURED)).rejects.toThrow(/cannot be read/);
  });
});

test("R2: a crash in the commit of a definition leaves all of it or nothing", async () => {
  for (const isDurable of [true, false]) {
    const world = await booted();
    world.disk.faults = () => ({ kind: "crash", isDurable });
    world.disk.onCrash = () => world.kill();
    void world.supervisor.define(endpoint("a", "* * * * *"), [kept("a")]).catch(() => undefined);
    await world.settle();
    world.disk.faults = () => null;
    await world.boot(CONFIGURED);
    const found = [world.disk.objects.has("endpoint/a"), world.supervisor.status().jobs];
    expect(found).toEqual(isDurable ? [true, 2] : [false, 1]);
  }
});

describe("runs are found by their tenant and how they ended", () => {
  test("each end has one entry, which goes with its record", async () => {
    const statuses = [200, 500, 200];
    const world = await booted(new World({ answer: () => ({ status: statuses.shift() ?? 200 }) }));
    await world.supervisor.define(endpoint("a", "* * * * *"), []);
    await world.pass(3 * MINUTE_MS + 10_000);
    const entries = (status: "success" | "failure") =>
      [...world.disk.objects.keys()].filter((key) => key.startsWith(runsOf("acme", status)));
    expect([entries("success").length, entries("failure").length]).toEqual([2, 1]);
    world.kill();
    const term = requireOk(acquireMemoryLock(world.disk));
    const store = requireOk(openMemoryStore(term, world.disk));
    const rule = { olderThan: START + 2 * MINUTE_MS, keepPerIdentity: 100 };
    await sweepLedger(store, term, rule, null);
    expect([entries("success").length, entries("failure").length]).toEqual([1, 0]);
    term.release();
  });

  test("jobs of a configuration have none", async () => {
    const world = await booted();
    await world.pass(3 * MINUTE_MS);
    expect(world.disk.objects.size).toBe(0);
  });
});
