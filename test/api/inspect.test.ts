/** The inspector's frames over the API's own door: what is watched is what happens, and whoever may not is not told. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Frame } from "../../src/krond/inspect/frames.js";
import { keyIdOf } from "../../src/operations/keys/secret.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);

const open: AbortController[] = [];
afterEach(() => {
  for (const controller of open.splice(0)) controller.abort();
});

/** What an onlooker has heard by now. */
class Heard {
  readonly frames: Frame[] = [];
  readonly events: string[] = [];
  hasEnded = false;
  #waiters: (() => void)[] = [];

  constructor(body: ReadableStream<Uint8Array>) {
    void this.#read(body.pipeThrough(new TextDecoderStream()).getReader());
  }

  async #read(reader: ReadableStreamDefaultReader<string>): Promise<void> {
    let rest = "";
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        const blocks = (rest + piece.value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#hear(block);
        this.#wake();
      }
    } catch {
      // The test has heard enough.
    }
    this.hasEnded = true;
    this.#wake();
  }

  #hear(block: string): void {
    if (block.startsWith("data: ")) this.frames.push(JSON.parse(block.slice(6)) as Frame);
    else this.events.push(block);
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  async until(is: () => boolean): Promise<void> {
    while (!is()) {
      if (this.hasEnded) throw new Error(`the stream has ended: ${JSON.stringify(this.frames.slice(-5))}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  event(type: string): Promise<void> {
    return this.until(() => this.frames.some((frame) => frame.type === "@xstate.event" && frame.event.type === type));
  }

  /** The states that an actor went through, each once. */
  statesOf(sessionId: string): readonly string[] {
    const values = this.frames.flatMap((frame) => {
      return frame.sessionId === sessionId && "snapshot" in frame ? [pathOf(frame.snapshot.value)] : [];
    });
    return values.filter((value, index) => value !== values[index - 1]);
  }

  kinds(): readonly string[] {
    return [...new Set(this.frames.map((frame) => (frame.sessionId.includes("@") ? "period" : frame.sessionId)))];
  }
}

function pathOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}.${pathOf(inner)}`)
    .join("+");
}

async function ask(address: unknown, query: string, key: string | null, method = "GET"): Promise<Response> {
  const controller = new AbortController();
  open.push(controller);
  const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` };
  return fetch(`http://${String(address)}/api/v1/inspect${query}`, { method, headers, signal: controller.signal });
}

async function watch(address: unknown, query: string, key: string): Promise<Heard> {
  const answer = await ask(address, query, key);
  expect(answer.status).toBe(200);
  if (answer.body === null) throw new Error("no stream");
  return new Heard(answer.body);
}

/** The key is shown once, on a line of its own. */
function keyOf(here: Place, ...options: string[]): string {
  const made = here.krond("keys", "create", ...options);
  const key = /kron_\S+/.exec(made.out)?.[0];
  if (key === undefined) throw new Error(made.out + made.err);
  return key;
}

async function daemon(jobs: string, more: readonly string[] = []) {
  const here = place(jobs);
  const krond = startKrond(here.config, here.state, ["--api", "127.0.0.1:0", ...more]);
  const { api } = await krond.ready();
  return { here, krond, api };
}

describe("GET /api/v1/inspect", () => {
  test("a run is followed from the gate to its end, its launcher too, as the daemon's own record says it", async () => {
    const mayEnd = path.join(temporary(), "may-end");
    const waits = job("t/run", `until [ -e ${mayEnd} ]; do sleep 0.05; done; exit 3`);
    const { here, krond, api } = await daemon(waits + job("x/other", "true"));
    const heard = await watch(api, "?identity=t/*", keyOf(here, "--scope", "write"));
    await heard.event("LISTED");
    expect(here.kron("run", "x/other").status).toBe(0);
    expect(here.kron("run", "t/run").status).toBe(0);
    const { attempt_id: attemptId } = await krond.event("started", { identity: "t/run" });
    await heard.event("STARTED");
    fs.writeFileSync(mayEnd, "");
    await heard.until(() => heard.statesOf(String(attemptId)).at(-1) === "ended.recorded");
    expect(heard.statesOf(String(attemptId))).toEqual([
      "arming",
      "gated.claiming",
      "running.released",
      "running.confirmed",
      "ended.recorded",
    ]);
    const launcher = heard.frames.filter((frame) => frame.sessionId === "launcher" && frame.type === "@xstate.event");
    expect(launcher.map((frame) => (frame as { event: { type: string } }).event.type)).toEqual([
      "ARM",
      "ARMED",
      "GO",
      "WENT",
      "EXITED",
    ]);
    expect(JSON.stringify(heard.frames)).not.toContain("x/other");
  });

  test("each chart is sent once where that is asked for; kinds that are not wanted are not sent", async () => {
    const { here, api } = await daemon([1, 2, 3].map((nth) => job(`t/${nth}`, "true")).join(""));
    const key = keyOf(here, "--scope", "write");
    const heard = await watch(api, "?definitions=once", key);
    await heard.event("LISTED");
    const charts = heard.frames.flatMap((frame) => ("definition" in frame ? [frame.definition ?? ""] : []));
    expect(charts.filter((text) => text.includes('"standing"'))).toHaveLength(1);
    expect(charts.filter((text) => text === '{"id":"job"}')).toHaveLength(2);
    const jobs = await watch(api, "?kind=job&resting=1", key);
    await jobs.event("LISTED");
    expect(jobs.frames.filter(({ sessionId }) => sessionId !== "inspector")).toHaveLength(1);
  });

  test("what docs/inspector.md asks for is answered", async () => {
    const guide = fs.readFileSync(path.resolve(import.meta.dirname, "../../docs/inspector.md"), "utf8");
    const query = /curl .*\/api\/v1\/inspect(\?[^']+)'/.exec(guide)?.[1] ?? "";
    expect(query).toContain("identity=");
    const { here, api } = await daemon(job("prod/a", "true") + job("test/a", "true"));
    const heard = await watch(api, query, keyOf(here, "--scope", "write"));
    await heard.event("LISTED");
    expect(heard.kinds()).toEqual(["prod/a", "inspector"]);
    expect(heard.frames[0]).not.toHaveProperty("definition");
  });

  test("S29: who comes later finds what runs, and the end of the daemon is the end of the stream", async () => {
    const { here, krond, api } = await daemon(job("t/long", "sleep 60"));
    const key = keyOf(here, "--scope", "admin");
    expect(here.kron("run", "t/long").status).toBe(0);
    const { attempt_id: attemptId } = await krond.event("started", { identity: "t/long" });
    for (let round = 0; round < 2; round += 1) {
      const early = await watch(api, "", key);
      await early.event("LISTED");
      expect(early.statesOf(String(attemptId))).toEqual(["running.confirmed"]);
      for (const controller of open.splice(0)) controller.abort();
    }
    const heard = await watch(api, "?kind=supervisor", key);
    await heard.event("LISTED");
    expect(await krond.kill("SIGTERM")).toBe(0);
    await expect.poll(() => heard.hasEnded).toBe(true);
    expect(heard.statesOf("supervisor")).toEqual(["running", "draining", "closing"]);
    expect(heard.events).toContain("event: goodbye\ndata: {}");
  });

  test("ERROR-MODEL: no environment, argument, shell text or input of a job is sent", async () => {
    const canary = "c4n4ry";
    const { here, api } = await daemon(
      job("t/a", `echo ${canary}`, `, env: { TOKEN: "${canary}" }, stdin: "${canary}"`),
    );
    const heard = await watch(api, "", keyOf(here, "--scope", "write"));
    await heard.event("LISTED");
    expect(here.kron("run", "t/a").status).toBe(0);
    await heard.until(() => heard.frames.some((frame) => "event" in frame && frame.event.type === "REST"));
    expect(JSON.stringify(heard.frames)).not.toContain(canary);
  });

  test("who may not, what is not understood, and too many at once", async () => {
    const { here, api } = await daemon(job("t/a", "true"));
    const [reader, tenant] = [keyOf(here, "--scope", "read"), keyOf(here, "--scope", "admin", "--tenant", "acme")];
    const writer = keyOf(here, "--scope", "write");
    const answers = [
      [null, "", 401, "key-missing"],
      ["kron_nobody", "", 401, "key-invalid"],
      [reader, "", 403, "scope-missing"],
      [tenant, "", 403, "key-of-another-kind"],
      [writer, "?kind=jobs", 400, "input-invalid"],
      [writer, "?jobs=1", 400, "input-invalid"],
    ] as const;
    for (const [key, query, status, code] of answers) {
      const answer = await ask(api, query, key);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
    }
    expect((await ask(api, "", writer, "HEAD")).status).toBe(405);
    expect((await ask(api, "", writer, "POST")).status).toBe(405);
    for (let seat = 0; seat < 4; seat += 1) await watch(api, "", writer);
    const fifth = await ask(api, "", writer);
    expect([fifth.status, fifth.headers.get("retry-after")]).toEqual([429, "5"]);
    for (const controller of open.splice(0)) controller.abort();
    await expect.poll(async () => (await ask(api, "", writer)).status).toBe(200);
  });

  test("a key that is taken back ends the stream", async () => {
    const { here, api } = await daemon(job("t/a", "true"));
    const key = keyOf(here, "--scope", "write", "--name", "watcher");
    const heard = await watch(api, "", key);
    await heard.event("LISTED");
    const id = keyIdOf(key) ?? "";
    expect(here.krond("keys", "revoke", id).status).toBe(0);
    await expect.poll(() => heard.hasEnded, { interval: 200 }).toBe(true);
  });
});

test("the daemon does the same things in the same order whether somebody watches or not", async () => {
  const lines = async (isWatched: boolean): Promise<readonly string[]> => {
    const { here, krond, api } = await daemon(job("t/a", "exit 3"));
    if (isWatched) await (await watch(api, "?definitions=once", keyOf(here, "--scope", "write"))).event("LISTED");
    for (let round = 0; round < 3; round += 1) {
      const from = krond.lines.length;
      expect(here.kron("run", "t/a").status).toBe(0);
      await krond.event("completed", { identity: "t/a" }, from);
    }
    expect(await krond.kill("SIGTERM")).toBe(0);
    const document = fs.readdirSync(path.join(here.state)).sort();
    return [...krond.lines.filter((line) => line["identity"] === "t/a").map(wordsOf), ...document];
  };
  const alone = await lines(false);
  expect(alone.length).toBeGreaterThan(6);
  expect(await lines(true)).toEqual(alone);
});

/** A line without what is never the same twice. */
function wordsOf({ event, level, result, exit_code: exitCode }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ event, level, result, exitCode });
}
