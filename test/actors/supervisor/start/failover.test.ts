/**
 * C12: a store that has forgotten its last commits, as after a failover, under the supervisor of production: with the fence nothing
 * that ran is run again, whatever it came from; without it everything is.
 */
import { describe, expect, test } from "vitest";
import type { NoticeWriter } from "../../../../src/actors/messenger/notices.js";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import type { MemoryDisk } from "../../../../src/persist/memory/disk.js";
import { CLOCKS_APART_MS } from "../../../../src/persist/store.js";
import { job, World } from "../world.js";

const PATIENT = { policy: { deadline: "30m", concurrency: "allow" } };
const JOBS = [
  ...["m1", "m2", "m3", "m4", "m5"].map((name) =>
    job(name, "* * * * *", { ...PATIENT, window: { mode: "after", duration: "59s" } }),
  ),
  job("paced", "@every 90s", PATIENT),
  job("tried", "*/5 * * * *", { ...PATIENT, retry: { limit: 3, backoff: "40s", max_backoff: "40s" } }),
  job("hinted", "0 0 1 1 *", PATIENT),
];

interface Memory {
  upToAt: EpochMs | null;
}

/** `memory.upToAt`: up to when what is due is to be fenced. */
function worldWith(memory: Memory, notices?: NoticeWriter): World {
  const between = (ports: SupervisorPorts): SupervisorPorts => {
    const failover = {
      dueUpTo: () => Promise.resolve(memory.upToAt),
      upTo: () => Promise.resolve(memory.upToAt),
      settled: () => {
        memory.upToAt = null;
        return Promise.resolve();
      },
    };
    const telling = notices === undefined ? {} : { notices };
    return { ...ports, ...telling, store: Object.assign(ports.store, { failover }) };
  };
  return new World({ between, behaviour: ({ env }) => ({ exitCode: env["KRON_IDENTITY"] === "tried" ? 1 : 0 }) });
}

function copyOf({ documents, ledger, definitions, notes, alive }: MemoryDisk) {
  return structuredClone({ documents, ledger, definitions, notes, alive });
}

/** What was written since is forgotten. */
function putBack(disk: MemoryDisk, copy: ReturnType<typeof copyOf>): void {
  for (const name of ["documents", "ledger", "definitions", "notes", "alive"] as const) {
    const [kept, map] = [copy[name] as Map<unknown, unknown>, disk[name] as Map<unknown, unknown>];
    map.clear();
    for (const [key, value] of kept) map.set(key, value);
  }
}

/** The start waits for its clock. */
async function booted(world: World): Promise<void> {
  let hasEnded = false;
  const booting = world.boot(JOBS).finally(() => {
    hasEnded = true;
  });
  booting.catch(() => undefined);
  while (!hasEnded) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!hasEnded) world.clock.advance(100);
  }
  await booting;
}

/** Further attempts (S43) are occasions of their own. */
function twice({ begun, requests }: World): readonly string[] {
  const attempts = new Map(requests.map(({ attemptId, env }) => [attemptId, env["KRON_ATTEMPT"] ?? "1"]));
  const occasions = begun.map((run) => `${run.identity} ${run.periodId} ${attempts.get(run.attemptId)}`);
  return [...new Set(occasions.filter((one, index) => occasions.indexOf(one) !== index))];
}

/** A life in which the store forgets what the last `lostMs` have brought. */
async function lived(lostMs: number, isFenced: boolean): Promise<World> {
  const memory: Memory = { upToAt: null };
  const world = worldWith(memory);
  await booted(world);
  await world.pass(7 * MINUTE_MS);
  await world.supervisor.hint("hinted", {
    kind: "oneshot",
    nextRunAt: world.clock.now() + 20 * SECOND_MS,
    expiresAt: world.clock.now() + 60 * MINUTE_MS,
    reason: "a test",
  });
  await world.settle();
  const copy = copyOf(world.disk);
  await world.pass(lostMs);
  world.kill();
  putBack(world.disk, copy);
  if (isFenced) memory.upToAt = world.clock.now() + CLOCKS_APART_MS;
  const before = world.begun.length;
  await booted(world);
  await world.pass(7 * MINUTE_MS);
  expect(world.fatal).toBeNull();
  expect(world.begun.length).toBeGreaterThan(before + 20);
  return world;
}

describe("a store that has forgotten", () => {
  test.each([61, 230])("the last %i s: nothing is run again, and everything goes on", async (seconds) => {
    const world = await lived(seconds * SECOND_MS, true);
    expect(twice(world)).toEqual([]);
    const fences = world.events.filter(({ event }) => event === "failover_fenced");
    expect(fences.map(({ fields }) => fields?.["jobs"])).toEqual([JOBS.length]);
    const reasons = world.ledger("m1").filter(({ content }) => content["reason"] === "failover_fenced");
    expect(reasons.length).toBeGreaterThan(0);
    for (const name of ["m1", "paced", "tried"]) {
      const lastAt = Math.max(...world.begun.filter(({ identity }) => identity === name).map(({ at }) => at));
      expect(lastAt, name).toBeGreaterThan(world.clock.now() - 6 * MINUTE_MS);
    }
  });

  test("control: without a fence whatever was forgotten is run again", async () => {
    const world = await lived(230 * SECOND_MS, false);
    const names = new Set(twice(world).map((occasion) => occasion.split(" ")[0]));
    expect([...names]).toEqual(expect.arrayContaining(["hinted", "paced", "tried"]));
  });

  test("whoever is told of missed runs is told of what was fenced, by what becomes durable with it", async () => {
    const memory: Memory = { upToAt: null };
    const posted: string[] = [];
    const notices: NoticeWriter = {
      of: ({ identity }, facts) => {
        const fenced = facts.filter((fact) => "reason" in fact && fact.reason === "failover_fenced");
        if (fenced.length === 0) return null;
        const note = { identity, key: `told.${identity}`, text: fenced.map(({ kind }) => kind).join() };
        return { notes: [note], posted: () => posted.push(identity) };
      },
      defined: () => [],
      removed: () => [],
    };
    const world = worldWith(memory, notices);
    await booted(world);
    await world.pass(90 * SECOND_MS);
    world.kill();
    expect(posted).toEqual([]);
    world.clock.advance(2 * MINUTE_MS);
    memory.upToAt = world.clock.now();
    await booted(world);
    expect(posted).toContain("m1");
    expect(world.disk.notes.get("told.m1")).toMatch(/outcome/);
  });

  test("a definition that cannot be read refuses the start: nobody can tell what was due of it", async () => {
    const memory: Memory = { upToAt: null };
    const world = worldWith(memory);
    await booted(world);
    await world.pass(MINUTE_MS);
    world.kill();
    const versions = world.disk.definitions.get("paced");
    const [[at, version] = []] = [...(versions ?? [])];
    if (at === undefined || version === undefined) throw new Error("no definition");
    versions?.set(at, { ...version, text: '{"nonsense":true}' });
    memory.upToAt = world.clock.now();
    await expect(booted(world)).rejects.toMatchObject({ code: "definition-unreadable", identity: "paced" });
    expect(memory.upToAt).not.toBeNull();
  });
});
