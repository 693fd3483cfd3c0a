/** Health is counted beside the runs that it is about: whatever ends meanwhile, and whoever asks meanwhile, each run counts once. */
import { describe, expect, test } from "vitest";
import { HealthBook } from "../../../src/actors/endpoints/health-book.js";
import { turnOfLoop } from "../../../src/actors/turns.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import type { ObjectWrite } from "../../../src/persist/store.js";
import { Desk } from "../../operations/endpoints/desk.js";

interface Meanwhile {
  read(): void;
  write(): Promise<void>;
}

type Ended = Parameters<HealthBook["ended"]>;

/** Runs that are on record, and a book that has heard of none of them. */
async function ranTwice() {
  const desk = await Desk.open();
  const ends: Ended[] = [];
  const { health } = desk;
  health.ended = (...ended: Ended) => void ends.push(ended);
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { baselineIntervalMs: MINUTE_MS });
  await desk.world.pass(2 * MINUTE_MS + 10_000);
  const [first, second, ...others] = ends;
  if (first === undefined || second === undefined || others.length > 0) throw new Error("it ran otherwise");
  const { reader, write } = desk.ports;
  /** What happens whenever something of a health is read, and when it is written. */
  const meanwhile: Meanwhile = { read: () => undefined, write: () => Promise.resolve() };
  const book = new HealthBook({
    clock: desk.world.clock,
    reader: Object.assign(Object.create(reader), {
      object: (key: string) => {
        meanwhile.read();
        return reader.object(key);
      },
      ledgerLatest: reader.ledgerLatest.bind(reader),
    }),
    write: async (objects: readonly ObjectWrite[]) => {
      await meanwhile.write();
      await write(objects);
    },
    onFailure: (error) => {
      throw error;
    },
  });
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  const runs = async () => (await book.read(identity)).windows["1h"].runs;
  return { book, first, second, runs, meanwhile };
}

describe("each run counts once", () => {
  test("that ends while those before it are counted for the first time after a start", async () => {
    const { book, first, second, runs, meanwhile } = await ranTwice();
    book.ended(...first);
    meanwhile.read = () => {
      meanwhile.read = () => undefined;
      book.ended(...second);
    };
    await book.flush();
    await book.flush();
    expect(await runs()).toBe(2);
  });

  test("that somebody asks about while it becomes durable, and before and after that", async () => {
    const { book, first, second, runs, meanwhile } = await ranTwice();
    await book.flush();
    let goOn = (): void => undefined;
    const mayGoOn = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    meanwhile.write = () => mayGoOn;
    book.ended(...first);
    book.ended(...second);
    const before = runs();
    const flushed = book.flush();
    const during = runs();
    for (let turn = 0; turn < 20; turn++) await turnOfLoop();
    const late = runs();
    goOn();
    await flushed;
    expect(await Promise.all([before, during, late, runs()])).toEqual([2, 2, 2, 2]);
  });

  test.each([0, 137, 999])("over restarts, %i ms behind a second", async (placeMs) => {
    const desk = await Desk.open({ answer: () => ({ status: 500 }) });
    desk.world.clock.advance(placeMs);
    const { id: jobId } = await desk.job();
    const { id: endpointId } = await desk.endpoint(jobId, { baselineIntervalMs: MINUTE_MS, planner: "off" });
    await desk.world.pass(3 * MINUTE_MS + 10_000);
    const told = () => desk.health.read(`endpoint:acme/${jobId}/${endpointId}`);
    await told();
    await desk.health.flush();
    await desk.world.pass(2 * MINUTE_MS + 10_000);
    const before = await told();
    expect([before.windows["1h"].runs, before.streak.failures, before.lastErrors.length]).toEqual([5, 5, 5]);
    for (let restart = 0; restart < 2; restart++) {
      await desk.health.flush();
      desk.world.kill();
      await desk.boot();
      expect(await told()).toEqual(before);
    }
  });
});
