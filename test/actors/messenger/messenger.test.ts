/** What people are told, over a simulated machine: troubles, lateness, downtime, and a crash at every commit. */
import { describe, expect, test } from "vitest";
import { Messenger } from "../../../src/actors/messenger/messenger.js";
import { Notices } from "../../../src/actors/messenger/notices.js";
import type { ArmRequest, Runner, RunnerEvent } from "../../../src/actors/runner/port.js";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import type { Message } from "../../../src/core/notify/notice.js";
import { HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { job, World } from "../supervisor/world.js";

const RULE = { command: ["tell"] };
const FAILING = [false, true, false, true, true, true];

/** Takes every message at once, unless it is told not to. */
class Ear implements Runner {
  readonly capacity = { process: 100 } as const;
  readonly heard: Message[] = [];
  /** The job whose messages it does not take. */
  refuses: string | null = null;
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  readonly #armed = new Map<string, ArmRequest>();

  async arm(request: ArmRequest) {
    this.#armed.set(request.attemptId, request);
    const holder = { kind: "process", pid: 1, startTicks: 1, bootId: "b" } as const;
    return { ok: true, value: { attemptId: request.attemptId, holder } } as const;
  }

  async go({ attemptId }: { readonly attemptId: string }) {
    const request = this.#armed.get(attemptId);
    const message = JSON.parse((request?.kind === "process" ? request.stdin : null) ?? "{}") as Message;
    const isTaken = message.identity !== this.refuses;
    if (isTaken) this.heard.push(message);
    const ending = { kind: "exited", code: isTaken ? 0 : 1, signal: null, reason: null } as const;
    const ended = { kind: "ended", attemptId, pid: 1, ending, endedAt: 0 } as const;
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(ended);
    });
    return "started" as const;
  }

  async abort() {}
  async adopt() {
    return "gone" as const;
  }
  async terminate() {
    return { survivors: [], wasKilled: false };
  }
  subscribe(listener: (event: RunnerEvent) => void) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  async close() {}
}

interface Telling {
  readonly world: World;
  readonly ear: Ear;
  /** With what is on record, as a daemon's start does it. */
  boot(definitions: Parameters<World["boot"]>[0]): Promise<void>;
  kill(): void;
}

function telling(options: NonNullable<ConstructorParameters<typeof World>[0]> = {}): Telling {
  const ear = new Ear();
  let messenger: Messenger | null = null;
  let ids = 0;
  const between = (ports: SupervisorPorts): SupervisorPorts => {
    const { clock, store, term } = ports;
    const notices: Notices = new Notices({
      now: () => clock.now(),
      outputPathOf: () => null,
      onPosted: (posted) => own.take(posted),
    });
    const own: Messenger = new Messenger(
      {
        clock,
        store,
        term,
        notices,
        left: () => store.notes(),
        runner: ear,
        host: "h",
        user: "u",
        outputDirectory: "/nowhere",
        baseEnv: {},
        newId: () => `message-${++ids}`,
        definitionOf: async (identity) => {
          const version = await store.newestVersion(identity);
          return version?.text == null ? null : definitionFromCanonical(version.text);
        },
        mayStart: () => world.isRunning && messenger === own,
        onEvent: () => undefined,
        onFatal: () => undefined,
      },
      SETTINGS_DEFAULTS,
    );
    messenger = own;
    notices.load([...world.disk.notes].map(([key, text]) => ({ key, text })));
    return { ...ports, notices };
  };
  const world: World = new World({ ...options, between });
  return {
    world,
    ear,
    boot: async (definitions) => {
      await world.boot(definitions);
      // It may have died on the way.
      if (!world.isRunning) return;
      await messenger?.open();
      await world.settle();
    },
    kill: () => {
      messenger?.close();
      world.kill();
    },
  };
}

function words({ heard }: Ear): readonly string[] {
  return heard.map(({ event, period_id, result }) =>
    [event, period_id?.slice(11, 16), result].filter(Boolean).join(" "),
  );
}

describe("the dead man's switch", () => {
  const nightly = (more: object = {}) => [job("a", "0 * * * *", { notify: [{ ...RULE, late: "150m" }], ...more })];

  test("tells once when no run has succeeded for too long, and when one does again", async () => {
    let code = 0;
    const { world, ear, boot } = telling({ behaviour: () => ({ exitCode: code }) });
    await boot(nightly({ notify: [{ on: ["late", "recovered"], late: "150m", command: ["tell"] }] }));
    await world.pass(2 * HOUR_MS, MINUTE_MS);
    code = 1;
    await world.pass(5 * HOUR_MS, MINUTE_MS);
    expect(words(ear)).toEqual(["late late"]);
    code = 0;
    await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS);
    expect(words(ear).map((word) => word.split(" ")[0])).toEqual(["late", "recovered"]);
  });

  test("each rule has its own time", async () => {
    const { world, ear, boot } = telling({ behaviour: () => ({ exitCode: 1 }) });
    const rule = (late: string) => ({ on: ["late"], late, command: ["tell", late] });
    await boot([job("a", "0 * * * *", { notify: [rule("2h"), rule("26h")] })]);
    await world.pass(3 * HOUR_MS, MINUTE_MS);
    expect(words(ear)).toHaveLength(1);
    await world.pass(24 * HOUR_MS, MINUTE_MS);
    expect(words(ear)).toHaveLength(2);
  });

  test("S52: whoever waits for more failures, and is not told that it is late, hears of them and of the end", async () => {
    let code = 1;
    const { world, ear, boot, kill } = telling({ behaviour: () => ({ exitCode: code }) });
    const jobs = [
      job("a", "0 * * * *", {
        notify: [
          { after: 4, command: ["patient"] },
          { after: 4, late: "150m", command: ["strict"] },
        ],
      }),
    ];
    await boot(jobs);
    await world.pass(3 * HOUR_MS, MINUTE_MS);
    // The strict one knows.
    expect(words(ear)).toEqual(["late late"]);
    kill();
    await boot(jobs);
    await world.pass(3 * HOUR_MS, MINUTE_MS);
    expect(words(ear)).toEqual(["late late", "failure 04:00 exit 1"]);
    code = 0;
    await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS);
    expect(words(ear).map((word) => word.split(" ")[0])).toEqual(["late", "failure", "recovered", "recovered"]);
  });

  test("a restart neither forgets it nor tells it twice", async () => {
    const { world, ear, boot, kill } = telling({ behaviour: () => ({ exitCode: 1 }) });
    await boot(nightly({ notify: [{ on: ["late"], late: "150m", command: ["tell"] }] }));
    for (let hour = 0; hour < 6; hour++) {
      await world.pass(HOUR_MS, MINUTE_MS);
      kill();
      await boot(nightly({ notify: [{ on: ["late"], late: "150m", command: ["tell"] }] }));
    }
    expect(words(ear)).toEqual(["late late"]);
  });

  test("a pause is an excuse, and so is a suspension", async () => {
    const { world, ear, boot } = telling();
    await boot(nightly());
    await world.supervisor.pause("a", world.clock.now() + 10 * HOUR_MS, "moving");
    await world.pass(10 * HOUR_MS, MINUTE_MS);
    expect(words(ear).filter((word) => word.startsWith("late"))).toEqual([]);
    const suspended = telling();
    await suspended.boot(nightly({ policy: { suspend: true } }));
    await suspended.world.pass(10 * HOUR_MS, MINUTE_MS);
    expect(words(suspended.ear)).toEqual([]);
  });
});

test("what nobody was there for is told as missed, when somebody is there again", async () => {
  const { world, ear, boot, kill } = telling();
  const jobs = [job("a", "*/10 * * * *", { notify: [RULE], policy: { deadline: "1m" } })];
  await boot(jobs);
  await world.pass(15 * MINUTE_MS, MINUTE_MS);
  kill();
  world.clock.advance(HOUR_MS);
  await boot(jobs);
  expect(ear.heard[0]).toMatchObject({ event: "missed", identity: "a" });
  await world.pass(20 * MINUTE_MS, MINUTE_MS);
  expect(words(ear).at(-1)).toContain("recovered");
});

test("a job that nobody asked about costs no note", async () => {
  const { world, boot } = telling({ behaviour: () => ({ exitCode: 1 }) });
  await boot([job("a", "* * * * *")]);
  await world.pass(5 * MINUTE_MS);
  expect([...world.disk.notes.keys()].filter((key) => /^(?:notice|trouble|late)\./.test(key))).toEqual([]);
});

test("a job that is taken out while it runs is told of to its end, and leaves nothing behind", async () => {
  const { world, ear, boot } = telling({ behaviour: () => ({ runMs: 5 * MINUTE_MS, exitCode: 1 }) });
  await boot([job("a", "0 * * * *", { notify: [{ ...RULE, late: "24h" }] })]);
  await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS);
  expect(await world.supervisor.remove("a", [])).toBe(true);
  await world.pass(10 * MINUTE_MS, MINUTE_MS);
  expect(words(ear)).toEqual(["failure 01:00 exit 1"]);
  expect([...world.disk.notes.keys()].filter((key) => /^(?:notice|trouble|late)\./.test(key))).toEqual([]);
});

test("what one job has to say and nobody takes does not keep others from being told", async () => {
  const { world, ear, boot } = telling({ behaviour: () => ({ exitCode: 1 }) });
  ear.refuses = "a";
  await boot(["a", "b", "c"].map((identity) => job(identity, "0 * * * *", { notify: [RULE] })));
  await world.pass(HOUR_MS + 5 * MINUTE_MS);
  expect(ear.heard.map(({ identity }) => identity).sort()).toEqual(["b", "c"]);
  ear.refuses = null;
  await world.pass(10 * MINUTE_MS);
  expect(ear.heard.map(({ identity }) => identity).sort()).toEqual(["a", "b", "c"]);
});

test("what an earlier daemon has left is told before what is new", async () => {
  const { world, ear, boot, kill } = telling({ behaviour: () => ({ exitCode: 1 }) });
  const jobs = [job("a", "*/10 * * * *", { notify: [RULE], policy: { deadline: "1m" } })];
  ear.refuses = "a";
  await boot(jobs);
  await world.pass(11 * MINUTE_MS);
  kill();
  world.clock.advance(HOUR_MS);
  ear.refuses = null;
  await boot(jobs);
  await world.pass(MINUTE_MS);
  expect(ear.heard.map(({ event }) => event)).toEqual(["failure", "missed"]);
});

describe.each([
  [1, "at once"],
  [2, "of two in a row"],
])("a crash at every commit, where failures are told %s", (after) => {
  const jobs = [job("a", "* * * * *", { notify: [{ ...RULE, after }], policy: { deadline: "30s" } })];

  /** Fails in some minutes, alone and in a row; a crash at this commit, if any. */
  async function played(crashAt: number | null, isDurable: boolean) {
    let runs = 0;
    const { world, ear, boot, kill } = telling({
      behaviour: () => ({ runMs: 2_000, exitCode: FAILING[++runs % FAILING.length] ? 1 : 0 }),
    });
    let hasCrashed = false;
    world.disk.faults = (commit) => (commit === crashAt ? { kind: "crash", isDurable } : null);
    world.disk.onCrash = () => {
      hasCrashed = true;
      kill();
    };
    await boot(jobs);
    for (let second = 0; second < 7 * 60; second += 5) {
      if (!world.isRunning) await boot(jobs);
      await world.pass(5_000);
    }
    await world.pass(30_000);
    if (!world.isRunning) await boot(jobs);
    await world.pass(10_000);
    const left = [...world.disk.notes.keys()].filter((key) => key.startsWith("notice."));
    return { ear, left, hasCrashed, commits: world.disk.commits, ledger: world.disk.ledger.get("a") };
  }

  /** What has to be told, from the record of what became of the runs alone. */
  function owed(
    ledger: ReadonlyMap<string, { readonly text: string; readonly at: number }> | undefined,
  ): readonly string[] {
    const rows = [...(ledger?.values() ?? [])].sort((a, b) => a.at - b.at).map(({ text }) => JSON.parse(text));
    const out: string[] = [];
    let failures = 0;
    for (const row of rows) {
      if (typeof row.ended_at !== "string") continue;
      const failed = row.exit_code !== 0;
      if (failed && ++failures === after) out.push(`failure ${row.period_id}`);
      if (!failed && failures >= after) out.push(`recovered ${row.period_id}`);
      if (!failed) failures = 0;
    }
    return out;
  }

  test("everything that is on record is told, under one id however often", async () => {
    const whole = await played(null, true);
    expect(owed(whole.ledger).length).toBeGreaterThan(3 - after);
    expect(whole.ear.heard.map(({ event, period_id }) => `${event} ${period_id}`)).toEqual(owed(whole.ledger));
    let crashes = 0;
    for (let commit = 2; commit <= whole.commits; commit++) {
      for (const isDurable of [true, false]) {
        const { ear, left, hasCrashed, ledger } = await played(commit, isDurable);
        if (hasCrashed) crashes += 1;
        const byId = new Map(ear.heard.map((message) => [message.id, `${message.event} ${message.period_id}`]));
        const told = [...byId.values()].filter((word) => !word.startsWith("missed"));
        expect([commit, isDurable, told, left]).toEqual([commit, isDurable, owed(ledger), []]);
      }
    }
    expect(crashes).toBeGreaterThan(20);
  });
});
