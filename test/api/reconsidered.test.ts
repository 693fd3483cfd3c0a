/** What somebody follows ends with what lets them, and not with the next look at it: no clock moves here. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { Onlookers } from "../../src/api/http/onlookers.js";
import { EventStreams, readTopics } from "../../src/api/http/sse.js";
import { Feed } from "../../src/api/web/feed.js";
import { ok } from "../../src/core/base/result.js";

const STATUS = { jobs: 1, active: 0, armed: 0, nextDueAt: null } as unknown as ReturnType<
  ConstructorParameters<typeof Feed>[0]["status"]
>;

/** As much of a response as a stream needs. */
class Pretended extends EventEmitter {
  readonly req = { socket: { destroyed: false } };
  destroyed = false;
  writableLength = 0;
  text = "";
  writes = 0;
  hasEnded = false;

  writeHead(): void {}

  get writableEnded(): boolean {
    return this.hasEnded;
  }

  write(piece: string, onWritten?: () => void): boolean {
    if (this.hasEnded) throw new Error("written after its end");
    this.text += piece;
    this.writes += 1;
    onWritten?.();
    return true;
  }

  end(): void {
    this.hasEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  get asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

/** Two who follow, of whom one may not any more from a moment on. */
function two() {
  const [good, bad] = [new Pretended(), new Pretended()];
  const allowed = new Set([good, bad]);
  const mayGoOn = (of: Pretended) => async (): Promise<boolean> => {
    if (!allowed.has(of)) throw new Error("the session is over");
    return true;
  };
  return { good, bad, mayGoOn, end: () => allowed.delete(bad) };
}

describe("what an ended session follows ends", () => {
  test("the page's feed", async () => {
    const clock = new SimulatedClock({ startAt: 0 });
    const feed = new Feed({ clock, status: () => STATUS, watchCommits: () => () => undefined });
    const { good, bad, mayGoOn, end } = two();
    for (const it of [good, bad]) {
      feed.open({ response: it.asResponse, holder: "x", tenant: null, mayGoOn: mayGoOn(it) }, {});
    }
    end();
    feed.reconsider();
    await new Promise(setImmediate);
    expect([good.hasEnded, bad.hasEnded]).toEqual([false, true]);
    feed.close();
  });

  test("events", async () => {
    const streams = new EventStreams(new SimulatedClock({ startAt: 0 }));
    const { good, bad, mayGoOn, end } = two();
    for (const it of [good, bad]) {
      const stream = { response: it.asResponse, topics: readTopics(null), tenant: null, holder: "x" };
      streams.open({ ...stream, mayGoOn: mayGoOn(it) }, undefined, {});
    }
    end();
    await streams.reconsider();
    expect([good.hasEnded, bad.hasEnded]).toEqual([false, true]);
    streams.close();
  });

  test("the inspector, and nothing more is made for it", async () => {
    let watching = 0;
    const watch = () => {
      watching += 1;
      return ok(() => {
        watching -= 1;
      });
    };
    const onlookers = new Onlookers({ watch }, new SimulatedClock({ startAt: 0 }));
    const { good, bad, mayGoOn, end } = two();
    for (const it of [good, bad]) {
      onlookers.open({ response: it.asResponse, holder: "x", mayGoOn: mayGoOn(it) }, "", {});
    }
    end();
    await onlookers.reconsider();
    expect([watching, good.hasEnded, bad.hasEnded]).toEqual([1, false, true]);
    onlookers.close();
  });
});

test("what is said in the turn in which a stream is ended goes nowhere", async () => {
  const onlookers = new Onlookers(
    { watch: (_, onlooker) => ok(() => onlooker.send("late", () => undefined)) },
    new SimulatedClock({ startAt: 0 }),
  );
  const response = new Pretended();
  const failures: unknown[] = [];
  const write = response.write.bind(response);
  response.write = (piece, onWritten) => {
    try {
      return write(piece, onWritten);
    } catch (error) {
      failures.push(error);
      return false;
    }
  };
  onlookers.open({ response: response.asResponse, holder: "x", mayGoOn: async () => false }, "", {});
  await onlookers.reconsider();
  await new Promise(setImmediate);
  expect([response.hasEnded, response.text, failures]).toEqual([true, "", []]);
  onlookers.close();
});

test("frames that are said in one turn are one write, in their order; whoever waits for one is told when it has gone", async () => {
  const sent: string[] = [];
  let say: (text: string) => void = () => undefined;
  const onlookers = new Onlookers(
    {
      watch: (_, onlooker) => {
        say = (text) => onlooker.send(text, () => sent.push(text));
        say("early");
        return ok(() => undefined);
      },
    },
    new SimulatedClock({ startAt: 0 }),
  );
  const response = new Pretended();
  onlookers.open({ response: response.asResponse, holder: "x", mayGoOn: async () => true }, "", {});
  expect([response.text, sent]).toEqual(["data: early\n\n", ["early"]]);
  for (const text of ["one", "two", "three"]) say(text);
  expect(sent).toEqual(["early"]);
  await Promise.resolve();
  expect(response.text).toBe("data: early\n\ndata: one\n\ndata: two\n\ndata: three\n\n");
  expect([response.writes, sent]).toEqual([2, ["early", "one", "two", "three"]]);
  onlookers.close();
});
