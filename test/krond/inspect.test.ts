import { spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { createWebSocketReceiver, type StatelyInspectionEvent } from "@statelyai/inspect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { floorToSecond, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, NEVER, placesIn } from "../support/place.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const CANARY = "c4n4ry";

/** A job whose chosen second is about to come: the nominal time is half an hour away, the window before it long. */
function dueIn(seconds: number): string {
  const nominal = new Date(Date.now() + 30 * MINUTE_MS);
  const identity = `t/in-${seconds}-seconds`;
  const wantedAt = floorToSecond(Date.now()) + seconds * SECOND_MS;
  for (let salt = 0; ; salt += 1) {
    const raw = {
      identity,
      schedule: `${nominal.getUTCMinutes()} ${nominal.getUTCHours()} * * *`,
      window: { mode: "before", duration: "1h" },
      seed: { salt: String(salt) },
      shell: true,
      command: "exit 3",
    };
    const rule = requireOk(readJobDefinition(raw));
    const nominalAt = nominal.getTime() - (nominal.getTime() % MINUTE_MS);
    if (decide(compileRule(rule), nominalAt).chosenAt === wantedAt) return `  - ${JSON.stringify(raw)}\n`;
  }
}

/** What a client has heard, and the next thing that it hears. */
class Heard {
  readonly frames: StatelyInspectionEvent[] = [];
  #waiters: (() => void)[] = [];

  add(frame: StatelyInspectionEvent): void {
    this.frames.push(frame);
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  async until(is: (frame: StatelyInspectionEvent) => boolean): Promise<StatelyInspectionEvent> {
    for (;;) {
      const found = this.frames.find(is);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  event(type: string): Promise<StatelyInspectionEvent> {
    return this.until((frame) => frame.type === "@xstate.event" && frame.event.type === type);
  }

  /** The states that an actor went through, each once. */
  statesOf(name: (frame: StatelyInspectionEvent) => boolean): readonly string[] {
    const values = this.frames.filter(name).flatMap((frame) => {
      return "snapshot" in frame ? [pathOf((frame.snapshot as { value?: unknown }).value)] : [];
    });
    return values.filter((value, index) => value !== values[index - 1]);
  }
}

function pathOf(value: unknown): string {
  return typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([key, inner]) => `${key}.${pathOf(inner)}`)
        .join("+")
    : String(value);
}

/** Attaches with the standard client's own receiver. */
function receive(url: unknown, query = ""): Heard {
  const heard = new Heard();
  createWebSocketReceiver({ server: `${String(url)}/${query}` }).subscribe((frame) => heard.add(frame));
  return heard;
}

/** Attaches with a socket that the test holds in its hands. */
function attach(url: unknown, query = ""): { readonly heard: Heard; readonly socket: WebSocket } {
  const heard = new Heard();
  const socket = new WebSocket(`${String(url)}/${query}`);
  sockets.push(socket);
  socket.on("message", (data) => heard.add(JSON.parse(String(data)) as StatelyInspectionEvent));
  return { heard, socket };
}

const sockets: WebSocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

describe("krond start --inspect", () => {
  test("SPEC: the standard client follows a period from planned to completed, and the daemon to its end", async () => {
    // However long the daemon takes to start, one of them is still to come when the client attaches.
    const here = place(`${[5, 10, 20, 40].map(dueIn).join("")}${job("x/other", "true")}`);
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const { inspect } = await krond.ready();
    expect(inspect).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    const heard = receive(inspect, "?identity=t/*");
    await heard.event("LISTED");
    const { sessionId } = await heard.until((frame) => {
      const states = heard.statesOf((other) => other.sessionId === frame.sessionId);
      return states[0] === "planned" && states.at(-1) === "terminal.executed.completed";
    });
    expect(sessionId).toMatch(/^t\/in-\d+-seconds@\d{4}-\d\d-\d\dT/);
    expect(heard.statesOf((frame) => frame.sessionId === sessionId)).toEqual([
      "planned",
      "eligible.starting",
      "terminal.executed.running",
      "terminal.executed.completed",
    ]);
    expect(new Set(heard.frames.map((frame) => frame.sessionId.split("@")[0]))).not.toContain("x/other");
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(heard.statesOf((frame) => frame.sessionId === "supervisor")).toEqual(["running", "draining", "closing"]);
  });

  test("a manual run is an execution of its job; its launcher and its end are told", async () => {
    const here = place(job("t/run", "until [ -e $MAY_END ]; do sleep 0.05; done; exit 3"));
    const mayEnd = path.join(here.root, "may-end");
    fs.writeFileSync(here.config, fs.readFileSync(here.config, "utf8").replace("env: {", `env: { MAY_END: ${mayEnd},`));
    const krond = startKrond(here.config, here.state, ["--inspect", "0"]);
    const heard = receive((await krond.ready())["inspect"]);
    await heard.event("LISTED");
    expect(here.kron("run", "t/run").status).toBe(0);
    await heard.event("STARTED");
    fs.writeFileSync(mayEnd, "");
    const over = (frame: StatelyInspectionEvent): boolean =>
      frame.type === "@xstate.snapshot" && pathOf((frame.snapshot as { value?: unknown }).value) === "ended.recorded";
    const { sessionId } = await heard.until(over);
    const mine = (frame: StatelyInspectionEvent): boolean => frame.sessionId === sessionId;
    expect(heard.frames.find(mine)).toMatchObject({ type: "@xstate.actor", parentId: "t/run", rootId: "supervisor" });
    expect(heard.statesOf(mine)).toEqual([
      "arming",
      "gated.claiming",
      "running.released",
      "running.confirmed",
      "ended.recorded",
    ]);
    const launcher = heard.frames.filter((frame) => frame.sessionId === "launcher" && frame.type === "@xstate.event");
    const names = launcher.map((frame) => (frame as { event: { type: string } }).event.type);
    expect(names).toEqual(["ARM", "ARMED", "GO", "WENT", "EXITED"]);
  });

  test("S29: who attaches later finds what runs, even what an earlier daemon started", async () => {
    const here = place(job("t/long", "sleep 60"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    expect(here.kron("run", "t/long").status).toBe(0);
    const { attempt_id: attemptId } = await first.event("started", { identity: "t/long" });
    await first.kill();
    const second = startKrond(here.config, here.state, ["--inspect"]);
    const heard = receive((await second.ready())["inspect"]);
    expect(await heard.event("LISTED")).toMatchObject({ event: { live: 1, resting: 0 } });
    expect(heard.frames.find((frame) => frame.sessionId === attemptId)).toMatchObject({
      type: "@xstate.actor",
      parentId: "t/long",
      snapshot: { status: "active", value: { running: "confirmed" } },
    });
    expect(heard.frames.find((frame) => frame.sessionId === "t/long")).toMatchObject({
      snapshot: { context: { definition: { identity: "t/long" }, isResting: false } },
    });
  });

  test("every resting job is listed; a filter leaves out the others, and kinds that are not wanted", async () => {
    const here = place([1, 2, 3].map((nth) => job(`prod/${nth}`, "true")).join("") + job("test/1", "true"));
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const { inspect } = await krond.ready();
    const all = receive(inspect);
    expect(await all.event("LISTED")).toMatchObject({ event: { resting: 4, isComplete: true } });
    const some = receive(inspect, "?identity=prod/*&kind=job&resting=2");
    expect(await some.event("LISTED")).toMatchObject({ event: { resting: 2, isComplete: false } });
    const actors = some.frames.filter((frame) => frame.type === "@xstate.actor");
    expect(actors.map((frame) => frame.sessionId).filter((name) => !name.startsWith("prod/"))).toEqual(["inspector"]);
    expect(all.frames.map((frame) => frame.sessionId)).toEqual(
      expect.arrayContaining(["supervisor", "launcher", "prod/1", "prod/2", "prod/3", "test/1"]),
    );
  });

  test("ERROR-MODEL: no environment, argument, shell text, input or output of a job is ever sent", async () => {
    const more = `, env: { TOKEN_OF_MINE: "${CANARY}" }, stdin: "${CANARY}"`;
    const here = place(
      `${job("t/shell", `echo ${CANARY}; exit 1`, more)}  - { identity: t/argv, schedule: "${NEVER}", command: [echo, ${CANARY}] }\n`,
    );
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const heard = receive((await krond.ready())["inspect"], "?resting=all");
    await heard.event("LISTED");
    for (const identity of ["t/shell", "t/argv"]) {
      expect(here.kron("run", identity).status).toBe(0);
      await heard.until(
        (frame) => frame.type === "@xstate.snapshot" && frame.sessionId === identity && frame.event.type === "REST",
      );
    }
    expect(heard.frames.length).toBeGreaterThan(20);
    expect(JSON.stringify(heard.frames)).not.toContain(CANARY);
    expect(here.kron("logs", "t/shell").out).toContain(CANARY);
  });

  test("S16: a reload is followed: the daemon's own states, and the jobs that come and go", async () => {
    const here = place(job("t/old", "true"));
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const heard = receive((await krond.ready())["inspect"]);
    await heard.event("LISTED");
    here.write(job("t/new", "true"));
    expect(here.krond("reload").status).toBe(0);
    await heard.event("RELOADED");
    await heard.until((frame) => frame.sessionId === "t/new" && frame.type === "@xstate.actor");
    await heard.until(
      (frame) => frame.sessionId === "t/old" && "snapshot" in frame && frame.snapshot.status === "stopped",
    );
    expect(heard.statesOf((frame) => frame.sessionId === "supervisor")).toEqual([
      "running",
      "reloading.reading",
      "reloading.changing",
      "running",
    ]);
  });

  test("a client that takes nothing slows nobody, and does not hinder the end", async () => {
    const here = place(job("t/run", "true"));
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const { inspect } = await krond.ready();
    const stuck = net.connect(Number(String(inspect).split(":").at(-1)), "127.0.0.1");
    stuck.on("error", () => undefined);
    await once(stuck, "connect");
    stuck.write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    stuck.pause();
    const { heard } = attach(inspect);
    await heard.event("LISTED");
    for (let round = 0; round < 3; round += 1) expect(here.kron("run", "t/run").status).toBe(0);
    await heard.until(
      (frame) => frame.type === "@xstate.snapshot" && frame.sessionId === "t/run" && frame.event.type === "REST",
    );
    stuck.destroy();
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  test("clients are told goodbye when the daemon ends", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--inspect"]);
    const { heard, socket } = attach((await krond.ready())["inspect"]);
    await heard.event("LISTED");
    const closed = once(socket, "close");
    expect(await krond.kill("SIGTERM")).toBe(0);
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, String(reason)]).toEqual([1001, "the daemon has stopped"]);
  });

  test("beyond this machine only when told so, and with a warning", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--inspect", "0.0.0.0:0"]);
    const { inspect } = await krond.ready();
    expect(inspect).toMatch(/^ws:\/\/0\.0\.0\.0:\d+$/);
    expect(await krond.event("inspector_exposed")).toMatchObject({ level: "warn", inspect });
  });

  test.each([
    ["no address", ["--inspect", "here"], '--inspect: "here" is no address'],
    ["no origin", ["--inspect", "--inspect-origin", "stately.ai"], '--inspect-origin: "stately.ai" is no origin'],
    ["an origin for nothing", ["--inspect-origin", "https://stately.ai"], "--inspect-origin is for --inspect"],
  ])("%s: exits with 1 and says so", async (_, options, message) => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, options);
    expect(await krond.ended).toBe(1);
    expect(krond.stderr).toContain(message);
  });
});

describe("without --inspect", () => {
  let poisoned = "";
  beforeAll(() => {
    poisoned = path.join(path.dirname(programs().krond), "../node_modules/ws");
    fs.mkdirSync(poisoned, { recursive: true });
    fs.writeFileSync(
      path.join(poisoned, "package.json"),
      JSON.stringify({ name: "ws", type: "module", main: "index.js" }),
    );
    fs.writeFileSync(
      path.join(poisoned, "index.js"),
      'export const WebSocketServer = (() => { throw new Error("ws was loaded"); })();',
    );
  });
  afterAll(() => fs.rmSync(path.dirname(poisoned), { recursive: true, force: true }));

  test("nothing of it is loaded: a ws that cannot be loaded hinders only a daemon that is asked for inspectors", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    expect(await krond.ready()).not.toHaveProperty("inspect");
    expect(await krond.kill("SIGTERM")).toBe(0);
    const args = ["start", "--inspect", "--config", here.config, "--state", here.state];
    const asked = spawnSync(process.execPath, [programs().krond, ...args], { encoding: "utf8", timeout: 30_000 });
    expect(asked.status).not.toBe(0);
    expect(asked.stderr).toContain("ws was loaded");
  });
});
