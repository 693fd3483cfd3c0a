import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../../src/actors/clock.js";
import { SimulatedHost } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import { Phase } from "../../../src/actors/phase.js";
import type { LiveJob } from "../../../src/actors/supervisor/port.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { CLIENT_LIMITS } from "../../../src/krond/inspect/client.js";
import type { Frame } from "../../../src/krond/inspect/frames.js";
import type { InspectHub } from "../../../src/krond/inspect/hub.js";
import { Inspection } from "../../../src/krond/inspect/inspection.js";
import type { DaemonLog } from "../../../src/krond/log/log.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { Scenario } from "../../machines/scenario.js";
import { requireOk } from "../../support/results.js";

const SILENT_LOG: DaemonLog = { supervisor: () => undefined, daemon: () => undefined };

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function inspection() {
  const disk = new MemoryDisk("inspection");
  const term = requireOk(acquireMemoryLock(disk, disk.storeId));
  const store = requireOk(openMemoryStore(term, disk));
  const host = new SimulatedHost(systemClock, () => ({ runMs: null, exitCode: 0 }));
  const phase = new Phase();
  const ports = { clock: systemClock, phase, store, runner: host.launcher(), log: SILENT_LOG };
  const subject = new Inspection({ host: "127.0.0.1", port: 0, origins: [] }, ports);
  const url = (await subject.open()) ?? "";
  const live: LiveJob[] = [];
  subject.of({ live: () => live });
  open.push(async () => {
    await subject.close();
    await store.close();
    term.release();
  });
  return { subject, phase, url, live };
}

function client(url: string, query = "") {
  const socket = new WebSocket(`${url}/${query}`);
  const frames: Frame[] = [];
  const waiters: (() => void)[] = [];
  socket.on("message", (data) => {
    frames.push(JSON.parse(String(data)) as Frame);
    for (const waiter of waiters.splice(0)) waiter();
  });
  open.push(async () => socket.terminate());
  const event = async (type: string): Promise<Frame> => {
    for (;;) {
      const found = frames.find((frame) => frame.type === "@xstate.event" && frame.event.type === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
  };
  return { socket, frames, event };
}

describe("the stream over a real socket", () => {
  test("a client that stops taking is sent no more than fits, and hears how much it missed", async () => {
    const { subject, url } = await inspection();
    const slow = client(url);
    await slow.event("LISTED");
    slow.socket.pause();
    const { activation } = new Scenario();
    const FLOOD = 20_000;
    const text = "x".repeat(1_000);
    for (let count = 0; count < FLOOD; count += 1) {
      const raw = { identity: `job/${count}`, schedule: "0 * * * *", command: ["true"], description: text };
      subject.observer.current?.activated(requireOk(readJobDefinition(raw)), activation, 0);
      if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // Frames of a burst are made behind it: here while the client still takes nothing.
    (subject.observer.current as InspectHub).flush(60_000);
    slow.socket.resume();
    const note = await slow.event("FRAMES_LEFT_OUT");
    expect(note).toMatchObject({ sessionId: "inspector" });
    const bytes = slow.frames.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0);
    expect(slow.frames.length).toBeLessThan(FLOOD);
    expect(bytes).toBeLessThan(4 * CLIENT_LIMITS.waitingBytes);
  });

  test("the daemon's own life: what happens to it and what that makes of it", async () => {
    const { subject, phase, url } = await inspection();
    for (const type of ["CONFIGURED", "LOCKED", "OPENED", "RECOVERED", "READY"] as const) phase.tell({ type });
    const one = client(url, "?kind=supervisor");
    await one.event("LISTED");
    phase.tell({ type: "DRAIN", waitsForRuns: true });
    phase.tell({ type: "DRAINED" });
    phase.tell({ type: "CLOSED" });
    const closed = once(one.socket, "close");
    await subject.close();
    expect((await closed)[0]).toBe(1001);
    const values = one.frames.flatMap((frame) => {
      return frame.sessionId === "supervisor" && "snapshot" in frame
        ? [[frame.snapshot.value, frame.snapshot.status]]
        : [];
    });
    expect(values).toEqual([
      ["running", "active"],
      ["draining", "active"],
      ["closing", "active"],
      ["stopped", "done"],
    ]);
  });

  test("after the last client nothing is made any more, and a new one finds what there is", async () => {
    const { subject, url, live } = await inspection();
    expect(subject.observer.current).toBeNull();
    const first = client(url);
    await first.event("LISTED");
    expect(subject.observer.current).not.toBeNull();
    first.socket.terminate();
    await expect.poll(() => subject.observer.current).toBeNull();
    const definition = requireOk(readJobDefinition({ identity: "a", schedule: "0 * * * *", command: ["true"] }));
    live.push({ definition, activation: new Scenario().activation });
    const second = client(url);
    expect(await second.event("LISTED")).toMatchObject({ event: { live: 1 } });
    expect(second.frames.some(({ sessionId }) => sessionId === "a")).toBe(true);
  });
});

describe("the phase", () => {
  test.each([
    ["a fatal error", { code: "state-write-failed" as const }, "failed"],
    ["an error that the registry calls no reason to end", null, "failed"],
  ])("%s ends the daemon, and so does its chart", (_, fatal, value) => {
    const phase = new Phase();
    for (const type of ["CONFIGURED", "LOCKED", "OPENED", "RECOVERED", "READY"] as const) phase.tell({ type });
    const about = { component: "persist", operation: "commit" } as const;
    phase.fail(fatal === null ? new Error("x") : new KronError(fatal.code, "x", about));
    expect([phase.snapshot.value, phase.snapshot.status]).toEqual([value, "done"]);
  });
});
