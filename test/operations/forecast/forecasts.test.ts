import { expect, test } from "vitest";
import type { StoreForecast } from "../../../src/actors/pool/types.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { FORECAST } from "../../../src/operations/forecast/forecast.js";
import { Forecasts } from "../../../src/operations/forecast/forecasts.js";
import type { Acting } from "../../../src/operations/ports.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";

const COUNTS = { counts: new Uint32Array(1), total: 0, who: [] };
const COMPUTED = {
  jobs: 0,
  suspended: 0,
  unschedulable: 0,
  chosen: COUNTS,
  nominal: COUNTS,
} as unknown as StoreForecast;
const CHANGED = { event: "config_reloaded" } as SupervisorEvent;

const upTo = (toAt: number) => ({ fromAt: 0, toAt, bucketMs: 1_000, buckets: toAt / 1_000 });

/** Forecasts that are computed when somebody says so. */
function held() {
  const disk = new MemoryDisk();
  const store = requireOk(openMemoryStore(requireOk(acquireMemoryLock(disk)), disk));
  const ends: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const forecast = (): Promise<StoreForecast> =>
    new Promise((resolve, reject) => ends.push({ done: () => resolve(COMPUTED), fail: reject }));
  return { forecasts: new Forecasts({ forecast }, store), ends };
}

test("two forecasts are computed at a time: another is not begun", async () => {
  const { forecasts, ends } = held();
  const first = forecasts.of(upTo(1_000));
  const second = forecasts.of(upTo(2_000));
  expect(forecasts.of(upTo(3_000))).toBeNull();
  // Whoever asks is told when to come again.
  const ports = { forecasts, now: () => 0 } as unknown as Acting;
  const refused = { kind: "exhausted", retryAfterMs: expect.any(Number) };
  const asked = FORECAST.run({ hours: 1, bucketMs: 60_000 }, ports, { keyId: null });
  await expect(asked).rejects.toMatchObject(refused);
  // Who asks for what is being computed waits for that.
  const same = forecasts.of(upTo(1_000));
  expect(ends).toHaveLength(2);
  ends[0]?.done();
  expect(await Promise.all([first, same])).toEqual([COMPUTED, COMPUTED]);
  const third = forecasts.of(upTo(3_000));
  ends[1]?.fail(new Error("a thread has died"));
  await expect(second).rejects.toThrow("a thread has died");
  const again = forecasts.of(upTo(2_000));
  for (const { done } of ends) done();
  expect(await Promise.all([third, again])).toEqual([COMPUTED, COMPUTED]);
});

test("what is computed of old definitions counts too, however often they change", async () => {
  const { forecasts, ends } = held();
  const old = [forecasts.of(upTo(1_000)), forecasts.of(upTo(2_000))];
  forecasts.tell(CHANGED);
  expect(forecasts.of(upTo(1_000))).toBeNull();
  expect(ends).toHaveLength(2);
  for (const { done } of ends) done();
  expect(await Promise.all(old)).toHaveLength(2);
});
