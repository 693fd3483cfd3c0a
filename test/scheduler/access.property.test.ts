import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createScheduler,
  memoryStore,
  type Registration,
  type Scheduler,
  type TaskStore,
} from "../../src/scheduler/index.js";
import { MONDAY, manualTask, plainStore, recordsOf, settle, silentLogger, VirtualHost } from "./support.js";

type Command =
  | { readonly kind: "initialize"; readonly crons: readonly string[]; readonly retryDelayMs: number }
  | { readonly kind: "stop" | "crash" }
  | { readonly kind: "advance" | "jump"; readonly ms: number }
  | { readonly kind: "end"; readonly fails: boolean }
  | { readonly kind: "zone"; readonly timeZone: string };

const MINUTE = 60_000;
const CRONS = ["* * * * *", "0,1,30 * * * *", "2 0 * * *", "0 * * * *", "59 23 * * *", "0 0 30 2 *"];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York"];
const ms = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("advance" as const), ms: ms(5 * MINUTE) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), fails: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("initialize" as const),
      crons: fc.array(fc.constantFrom(...CRONS), { maxLength: 4 }),
      retryDelayMs: fc.constantFrom(0, 1, 30_000, MINUTE, 10 * MINUTE),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("stop" as const, "crash" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("jump" as const), ms: fc.integer({ min: -3_600_000, max: 86_400_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("zone" as const), timeZone: fc.constantFrom(...ZONES) }) },
);

/** Plays the commands against one store, and returns everything that could be seen. */
class World {
  readonly #seen: unknown[] = [];
  readonly #store: TaskStore;
  #host = new VirtualHost(MONDAY + 30_000);
  #scheduler: Scheduler;
  #task = manualTask(() => this.#host.now);
  #ids = 0;

  constructor(store: TaskStore) {
    this.#store = store;
    this.#scheduler = this.#create();
  }

  async play(commands: readonly Command[]): Promise<readonly unknown[]> {
    for (const next of commands) {
      await this.#carryOut(next);
      await settle(3);
      const records = await recordsOf(this.#store);
      this.#seen.push([...records].sort((a, b) => (a.name < b.name ? -1 : 1)));
    }
    return [...this.#seen];
  }

  #create(): Scheduler {
    const host = this.#host;
    return createScheduler({
      clock: host.clock,
      sleeper: host.sleeper,
      store: this.#store,
      logger: silentLogger,
      newId: () => `id ${++this.#ids}`,
      onEvent: (event) => void this.#seen.push({ ...event, error: null }),
    });
  }

  async #carryOut(next: Command): Promise<void> {
    switch (next.kind) {
      case "initialize":
        // Not awaited: during a stop it waits for runs that only a later command ends.
        this.#scheduler.initialize(this.#listOf(next.crons, next.retryDelayMs)).catch(() => {});
        break;
      case "stop":
        void this.#scheduler.stop();
        break;
      case "crash": {
        // The old host stands still for ever, and so does everything on it; its open runs never end.
        const { now, timeZone } = this.#host;
        this.#host = new VirtualHost(now, timeZone);
        this.#task = manualTask(() => this.#host.now);
        this.#scheduler = this.#create();
        break;
      }
      case "advance":
        await this.#host.advance(next.ms);
        break;
      case "jump":
        await this.#host.jumpTo(this.#host.now + next.ms);
        break;
      case "end":
        if (next.fails) this.#task.fail();
        else this.#task.succeed();
        break;
      case "zone":
        this.#host.timeZone = next.timeZone;
        break;
    }
  }

  #listOf(crons: readonly string[], retryDelayMs: number): readonly Registration[] {
    const task = this.#task;
    return crons.map((cron, i) => [`task ${i}`, cron, () => task.callback(), retryDelayMs]);
  }
}

test("Deterministic behaviour: a store that reaches single records and one that hands out all lead to the same trace", async () => {
  const property = fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
    const byName = await new World(memoryStore()).play(commands);
    expect(byName).toEqual(await new World(plainStore()).play(commands));
  });
  await fc.assert(property, { seed: 11, numRuns: process.env["KRON_TEST_LONG"] === "1" ? 5000 : 120 });
});
