/** S36: what `why` says of periods that a killed daemon has left open, from the record that it left behind. */
import { describe, expect, test } from "vitest";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import type { WhyAnswer } from "../../../src/core/why/facts.js";
import { readWhy } from "../../../src/operations/records/why.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { Batch, StateStore } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";
import { Faults } from "./faults.js";
import { job, World } from "./world.js";

const START = "2026-03-01T00:00:01Z";

/** Of what is handed in together the mark of being alive is durable first, as when a slow store was busy in between. */
function markedFirst(ports: SupervisorPorts): SupervisorPorts {
  const { store } = ports;
  const commit: StateStore["commit"] = async (term, { alive, ...rest }) => {
    if (alive !== undefined) await store.commit(term, { alive });
    return store.commit(term, rest);
  };
  const slow = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = name === "commit" ? commit : Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { ...ports, store: slow };
}

class Place {
  readonly world: World;
  readonly faults: Faults;

  constructor() {
    this.faults = new Faults(() => this.world);
    this.world = new World({ startAt: at(START), between: (ports) => markedFirst(this.faults.between(ports)) });
  }

  async until(time: string): Promise<void> {
    const { clock } = this.world;
    while (clock.now() < at(time)) {
      clock.advance(SECOND_MS);
      if (this.world.isRunning) await this.world.settle();
    }
  }

  /** The daemon dies right before it writes the first batch of which this is true. */
  dieBefore(isIt: (batch: Batch) => boolean): void {
    let isNext = false;
    this.faults.onBatch = (batch) => {
      isNext ||= isIt(batch);
    };
    this.faults.plan = ({ name, phase }) =>
      name === "commit" && phase === "before" && isNext ? { kind: "crash" } : null;
  }

  live(): void {
    this.faults.onBatch = () => undefined;
    this.faults.plan = () => null;
  }

  /** As `kron why` reads it while no daemon runs. */
  async why(identity: string, period: string): Promise<WhyAnswer | null> {
    const term = requireOk(acquireMemoryLock(this.world.disk));
    const reader = requireOk(openMemoryStore(term, this.world.disk));
    const request = { identity, periodAt: at(period), now: this.world.clock.now(), isAlive: false };
    const answer = await readWhy(reader, { ...request, ledger: SETTINGS_DEFAULTS.ledger });
    term.release();
    return answer;
  }
}

describe("S36: what a killed daemon has left open", () => {
  test("S16: a job that was taken out of the configuration, killed between the first mark and the removal", async () => {
    const place = new Place();
    const { world } = place;
    await world.boot([job("t/a", "*/4 * * * *")]);
    await place.until("2026-03-01T00:07:50Z");
    world.kill();
    await place.until("2026-03-01T00:08:00Z");
    place.dieBefore(({ ledger = [] }) => ledger.some(({ kind }) => kind === "removed"));
    await world.boot([]);
    expect(world.isRunning).toBe(false);
    const left = await place.why("t/a", "2026-03-01T00:08:00Z");
    expect(left).toMatchObject({ kind: "waiting", reason: "no_daemon" });
    expect(left?.text).toContain("no daemon runs (last sign of life: 2026-03-01T00:08:00Z)");
    expect(left?.text).toContain("if the job is still configured");
    place.live();
    await place.until("2026-03-01T00:09:00Z");
    await world.boot([]);
    world.kill();
    expect(await place.why("t/a", "2026-03-01T00:08:00Z")).toMatchObject({
      kind: "removed",
      text: "the job was removed at 2026-03-01T00:09:00Z, before it was handled",
    });
  });

  test("S13: a machine that stood still for 208 s, with a mark that it was alive, killed before the gap was noted", async () => {
    const place = new Place();
    const { world } = place;
    await world.boot([job("t/a", "* * * * *")]);
    await place.until("2026-03-01T00:05:30Z");
    place.dieBefore(({ ledger = [] }) => ledger.some(({ kind }) => kind === "gap"));
    world.clock.freeze(208 * SECOND_MS);
    await place.until("2026-03-01T00:10:00Z");
    expect(world.isRunning).toBe(false);
    place.live();
    await world.boot([job("t/a", "30 * * * *")]);
    world.kill();
    expect(world.clock.now()).toBeLessThan(at(START) + 11 * MINUTE_MS);
    expect(await place.why("t/a", "2026-03-01T00:07:00Z")).toMatchObject({
      kind: "not_evaluated",
      reason: "daemon_ended",
    });
  });
});
