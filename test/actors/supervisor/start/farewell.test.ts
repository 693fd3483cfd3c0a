/** S13, S16, S29, S44: a start that goes by what the daemon before has left does what one does that reads everything. */
import { describe, expect, test } from "vitest";
import { ALL_JOBS } from "../../../../src/actors/supervisor/rows/job-query.js";
import { JobSet } from "../../../../src/actors/supervisor/rows/job-set.js";
import { farewellOf, readFarewell } from "../../../../src/actors/supervisor/start/farewell.js";
import { ENGINE_VERSION } from "../../../../src/core/base/version.js";
import { SETTINGS_DEFAULTS } from "../../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { STATUS_ANSWER } from "../../../../src/operations/shapes/system.js";
import { documentKey } from "../../../../src/persist/keys.js";
import { requireOk } from "../../../support/results.js";
import { job, World } from "../world.js";

const HOURLY = job("hourly", "0 * * * *", { policy: { deadline: "30m" } });
const DAILY = job("daily", "0 6 * * *");

/** A world whose daemon has ended in order, and what it knew with it. */
async function ended(jobs: readonly JobDefinition[], lifeMs = 10 * SECOND_MS): Promise<World> {
  const world = new World();
  await world.boot(jobs);
  await world.pass(lifeMs);
  await world.stop();
  expect(world.disk.farewell).not.toBe(null);
  return world;
}

/** What a start reads of the store: the farewell tells what it does not have to. */
function documentsRead(world: World): string[] {
  const read: string[] = [];
  const get = world.disk.documents.get.bind(world.disk.documents);
  world.disk.documents.get = (key) => {
    read.push(key);
    return get(key);
  };
  return read;
}

describe("a start after a farewell", () => {
  test("reads nothing of jobs that rest, and they run when they are due", async () => {
    const world = await ended([HOURLY, DAILY]);
    const read = documentsRead(world);
    await world.boot([HOURLY, DAILY]);
    expect(read).toEqual([]);
    await world.pass(2 * HOUR_MS, MINUTE_MS);
    expect(world.starts("hourly")).toEqual(
      ["2026-03-01T01:00:31", "2026-03-01T02:00:31"].map(() => expect.any(String)),
    );
    expect(world.starts("daily")).toEqual([]);
  });

  test("what was due meanwhile is judged as ever: caught up with by its deadline, told of beyond it (S20)", async () => {
    const world = await ended([HOURLY, DAILY]);
    world.clock.advance(7 * HOUR_MS + 10 * MINUTE_MS);
    await world.boot([HOURLY, DAILY]);
    await world.pass(2 * SECOND_MS);
    expect(world.begun.map(({ identity, periodId }) => `${identity} ${periodId}`)).toEqual([
      "hourly 2026-03-01T07:00:00Z",
    ]);
    expect(world.told("hourly")).toContain("periods_not_evaluated");
    expect(world.told("daily")).toContain("missed_deadline");
  });

  test("what ran goes on and is adopted (S29)", async () => {
    const world = new World({ behaviour: () => ({ runMs: HOUR_MS }) });
    await world.boot([HOURLY, DAILY]);
    await world.supervisor.runNow("hourly");
    await world.pass(2 * SECOND_MS);
    await world.stop();
    expect(world.disk.farewell).not.toBe(null);
    await world.boot([HOURLY, DAILY]);
    expect(world.told("hourly")).toContain("adopted");
    expect(world.supervisor.status().active).toBe(1);
    await world.stop();
    await world.boot("as-stored");
    expect(world.supervisor.status()).toMatchObject({ active: 1, jobs: 2 });
  });

  test("a pause that is over by then is put on record at once (S17)", async () => {
    const world = new World();
    await world.boot([DAILY]);
    await world.supervisor.pause("daily", world.clock.now() + MINUTE_MS, "test");
    await world.stop();
    world.clock.advance(2 * MINUTE_MS);
    await world.boot([DAILY]);
    expect(world.document("daily").Pause).toBe(undefined);
    expect(world.told("daily")).toContain("resumed");
  });

  test("a job that was removed once and comes back repeats nothing (S16)", async () => {
    const world = new World();
    await world.boot([HOURLY, DAILY]);
    await world.pass(HOUR_MS + 5 * MINUTE_MS, 30 * SECOND_MS);
    const before = world.document("hourly").LastHandledPeriodID;
    await world.supervisor.reload([DAILY], SETTINGS_DEFAULTS, []);
    await world.stop();
    expect(world.disk.farewell).not.toBe(null);
    await world.boot([HOURLY, DAILY]);
    await world.pass(2 * MINUTE_MS);
    expect([before, world.document("hourly").LastHandledPeriodID]).toEqual(Array(2).fill("2026-03-01T01:00:00Z"));
    expect(world.begun.map(({ periodId }) => periodId)).toEqual(["2026-03-01T01:00:00Z"]);
  });

  test("jobs that are gone, new or changed are told so (S13, S14)", async () => {
    const world = await ended([HOURLY, DAILY]);
    await world.boot([job("daily", "0 7 * * *"), job("new", "*/5 * * * *")]);
    expect(world.document("hourly").RemovedAt).toBeDefined();
    await world.pass(7 * HOUR_MS, MINUTE_MS);
    expect(world.starts("new").length).toBeGreaterThan(80);
    expect(world.starts("daily").map((at) => at.slice(0, 13))).toEqual(["2026-03-01T07"]);
  });

  test("each start tells jobs of the boot of the machine (S44)", async () => {
    const world = await ended([job("boot", "@reboot"), DAILY], MINUTE_MS);
    world.host.reboot();
    await world.boot([job("boot", "@reboot"), DAILY]);
    await world.pass(2 * SECOND_MS);
    expect(world.begun.map(({ identity, bootId }) => `${identity} ${bootId}`)).toEqual(["boot boot-1", "boot boot-2"]);
  });

  test("it says how many jobs it did not have to look at", async () => {
    const world = await ended([HOURLY, DAILY, job("due", "1 0 * * *"), job("gone", "0 9 * * *")]);
    world.clock.advance(5 * MINUTE_MS);
    await world.boot([HOURLY, DAILY, job("due", "1 0 * * *")]);
    expect(world.supervisor.status()).toMatchObject({ jobs: 3, unread: 2 });
    const told = { ...world.supervisor.status(), pid: 1, version: "1", stateDirectory: "/nowhere" };
    expect(STATUS_ANSWER.parse(told)).toEqual(told);
    world.kill();
    await world.boot([HOURLY, DAILY]);
    expect(world.supervisor.status()).not.toHaveProperty("unread");
  });

  test("a start from the store alone goes by it too", async () => {
    const world = await ended([HOURLY, DAILY]);
    const read = documentsRead(world);
    await world.boot("as-stored");
    expect([...read]).toEqual([]);
    expect((await world.supervisor.list()).map(({ identity }) => identity)).toEqual(["daily", "hourly"]);
  });

  test("a list is sorted by what was known, without a look at a job", async () => {
    const world = await ended([HOURLY, DAILY], HOUR_MS + MINUTE_MS);
    await world.boot([HOURLY, DAILY]);
    const order = { sort: "next", isReversed: false } as const;
    const { rows } = await world.supervisor.find({ filter: ALL_JOBS, order, from: { offset: 0 }, limit: 10 });
    expect(rows.map(({ identity }) => identity)).toEqual(["hourly", "daily"]);
  });
});

const ENDPOINT = requireOk(
  readJobDefinition(
    {
      identity: `endpoint:acme/job_${"a".repeat(16)}/ep_${"a".repeat(16)}`,
      schedule: "0 12 * * *",
      http: { url: "https://hooks.test/a" },
    },
    undefined,
    { mayUseReservedPrefix: true },
  ),
);

interface Chapter {
  readonly name: string;
  readonly world: () => Promise<World>;
  /** How long nobody is there. */
  readonly downMs: number;
  readonly next: (world: World) => Promise<unknown>;
  /** That it happened. */
  readonly expected: unknown;
  /** Of which jobs nothing is said. */
  readonly unsaid: readonly string[];
}

const STOPPING = job("daily", "0 6 * * *", { stop: { at: "2026-03-01T02:00:00Z" } });
const RETRIED = job("hourly", "0 * * * *", {
  policy: { deadline: "30m" },
  retry: { limit: 3, backoff: "20m", max_backoff: "20m" },
});

async function failedOnce(): Promise<World> {
  const world = new World({ behaviour: () => ({ runMs: 1_000, exitCode: 1 }) });
  await world.boot([RETRIED]);
  await world.pass(HOUR_MS + 5 * MINUTE_MS, 5 * SECOND_MS);
  await world.supervisor.pause("hourly", world.clock.now() + 10 * HOUR_MS, "test");
  return world;
}

async function damaged(identity: string, jobs: readonly JobDefinition[] | "as-stored"): Promise<World> {
  const world = new World();
  await world.boot([HOURLY, DAILY]);
  await world.supervisor.define(ENDPOINT, []);
  await world.pass(5 * SECOND_MS);
  world.kill();
  world.disk.damage(documentKey(identity), "{");
  await world.boot(jobs);
  expect(world.told(identity)).toContain("state_recovered");
  await world.pass(5 * SECOND_MS);
  return world;
}

const CHAPTERS: readonly Chapter[] = [
  {
    name: "an endpoint that was recovered stays (S32)",
    world: () => damaged(ENDPOINT.identity, [HOURLY, DAILY]),
    downMs: MINUTE_MS,
    next: async (world) => {
      await world.boot([HOURLY, DAILY]);
      return [world.supervisor.status().jobs, world.document(ENDPOINT.identity).RemovedAt ?? null];
    },
    expected: [3, null],
    unsaid: [],
  },
  {
    name: "a job that was recovered from the store alone runs when it is due (S32)",
    world: () => damaged("hourly", "as-stored"),
    downMs: HOUR_MS + MINUTE_MS,
    next: async (world) => {
      await world.boot("as-stored");
      await world.pass(2 * SECOND_MS);
      return [world.supervisor.status().jobs, world.starts("hourly").length];
    },
    expected: [3, 1],
    unsaid: [],
  },
  {
    name: "a last instant that passes meanwhile is put on record, and a later one is not taken up (S51)",
    world: async () => {
      const world = new World();
      await world.boot([STOPPING]);
      return world;
    },
    downMs: 3 * HOUR_MS,
    next: async (world) => {
      await world.boot([STOPPING]);
      await world.supervisor.reload(
        [job("daily", "0 6 * * *", { stop: { at: "2027-03-01T02:00:00Z" } })],
        SETTINGS_DEFAULTS,
        [],
      );
      await world.pass(4 * HOUR_MS, MINUTE_MS);
      return [world.told("daily").includes("paused"), world.starts("daily")];
    },
    expected: [true, []],
    unsaid: ["daily"],
  },
  {
    name: "a retry that is given up while its job is held is told at once (S43)",
    world: failedOnce,
    downMs: 3 * HOUR_MS,
    next: async (world) => {
      await world.boot([RETRIED]);
      return [world.told("hourly").includes("retry_dropped"), world.document("hourly").Retry ?? null];
    },
    expected: [true, null],
    unsaid: ["hourly"],
  },
  {
    name: "a pause of no length is taken back (S17)",
    world: async () => {
      const world = new World();
      await world.boot([DAILY]);
      await world.supervisor.pause("daily", world.clock.now(), "test");
      return world;
    },
    downMs: MINUTE_MS,
    next: async (world) => {
      await world.boot([DAILY]);
      return world.document("daily").Pause ?? null;
    },
    expected: null,
    unsaid: ["daily"],
  },
];

describe("what every start has to look at comes to the same, whether all is read or not", () => {
  const cases = CHAPTERS.flatMap((chapter) => [true, false].map((isRead) => ({ ...chapter, isRead })));
  test.each(cases)("$name; all is read: $isRead", async ({ world: begun, downMs, next, expected, unsaid, isRead }) => {
    const world = await begun();
    await world.stop();
    expect(readFarewell(world.disk.farewell as Buffer, world.clock.now())?.unsaid).toEqual(unsaid);
    if (isRead) world.disk.farewell = null;
    world.clock.advance(downMs);
    expect(await next(world)).toEqual(expected);
  });
});

describe("no farewell is said", () => {
  test("by a daemon that was killed, and what it was left itself is used up", async () => {
    const world = await ended([HOURLY]);
    await world.boot([HOURLY]);
    world.kill();
    expect(world.disk.farewell).toBe(null);
  });

  test("by a daemon that is stopped while it starts: it does not know all jobs", async () => {
    const world = await ended([HOURLY, DAILY]);
    world.kill();
    world.disk.farewell = null;
    const booting = world.boot("as-stored").catch(() => undefined);
    await world.stop();
    await booting;
    expect(world.disk.farewell).toBe(null);
    await world.boot("as-stored");
    expect(world.supervisor.status().jobs).toBe(2);
  });

  test("after the clock went back, seen or unseen (S6)", async () => {
    for (const seenMs of [0, 40 * SECOND_MS]) {
      const world = new World();
      await world.boot([HOURLY]);
      await world.pass(5 * SECOND_MS);
      world.clock.jump(-HOUR_MS);
      await world.pass(seenMs);
      await world.stop();
      expect(world.disk.farewell).toBe(null);
    }
  });

  test("by a daemon that began behind what is on record", async () => {
    const world = await ended([HOURLY], MINUTE_MS);
    world.clock.jump(-10 * MINUTE_MS);
    await world.boot([HOURLY]);
    await world.stop();
    expect(world.disk.farewell).toBe(null);
  });
});

describe("where much is to be read", () => {
  /** Jobs that nobody has looked at. */
  function unseen(count: number): JobSet {
    const jobs = new JobSet();
    for (let index = 0; index < count; index++) jobs.rows.add(`job/${index}`);
    return jobs;
  }

  test("nothing is said: all of it may as well be", () => {
    const few = farewellOf(unseen(10_000), 0);
    expect([few === null ? null : readFarewell(few, 0)?.unsaid.length, farewellOf(unseen(10_001), 0)]).toEqual([
      10_000,
      null,
    ]);
  });
});

describe("a farewell counts", () => {
  const wordsOf = async (): Promise<{ words: Buffer; world: World }> => {
    const world = await ended([HOURLY, DAILY]);
    return { words: world.disk.farewell as Buffer, world };
  };
  const replaced = (words: Buffer, from: string, to: string): Buffer => {
    const at = words.indexOf(from);
    return Buffer.concat([words.subarray(0, at), Buffer.from(to), words.subarray(at + from.length)]);
  };

  test("only for the version and the zone data that wrote it, and not before its time", async () => {
    const { words, world } = await wordsOf();
    const now = world.clock.now();
    const engine = `"engine":"${ENGINE_VERSION}"`;
    const other = replaced(words, engine, engine.replace(/.(?="$)/, "~"));
    const zones = replaced(words, `"zones":"2`, `"zones":"1`);
    expect([words, other, zones].map((it) => readFarewell(it, now) !== null)).toEqual([true, false, false]);
    expect(readFarewell(words, now - 1)).toBe(null);
  });

  test("only if it can be read: whatever else it is, it is none", () => {
    const words = ["", "x", "\0\0\0\0\0\0\0\0", "\0\0\0\x02\0\0\0\0{}"];
    expect(words.map((it) => readFarewell(Buffer.from(it), 0))).toEqual(words.map(() => null));
  });

  test("after the clock went back since, everything is read", async () => {
    const { world } = await wordsOf();
    world.clock.jump(-2 * MINUTE_MS);
    const read = documentsRead(world);
    await world.boot([HOURLY, DAILY]);
    expect(read).toContain(documentKey("hourly"));
    expect(world.told()).toContain("clock_jump");
  });
});
