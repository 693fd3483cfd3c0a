/** What an open page is told: the host of everything, a tenant of its own and of nothing else. */
import * as http from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import type { DaemonStatus } from "../../src/actors/supervisor/port.js";
import type { SupervisorEvent } from "../../src/actors/supervisor/write/events.js";
import { Bunches, MOST_NAMES } from "../../src/api/web/bunches.js";
import { Feed } from "../../src/api/web/feed.js";
import { Pulse } from "../../src/api/web/pulse.js";
import { RecentStarts } from "../../src/api/web/recent-starts.js";
import { endpointIdentity } from "../../src/core/endpoint/endpoint-name.js";
import { formatInstant } from "../../src/core/time/instant.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { ask, logIn, withBoth } from "../support/page.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

/** What one page hears, as it came. */
class Heard {
  text = "";
  #wake: () => void = () => undefined;

  static async of(address: string, headers: http.OutgoingHttpHeaders): Promise<Heard> {
    const heard = new Heard();
    const [host = "", port = ""] = address.split(/:(?=\d+$)/);
    const request = http.get({ host, port, path: "/web/feed", headers, agent: false });
    onTestFinished(() => void request.destroy());
    request.on("error", () => undefined);
    const response = await new Promise<http.IncomingMessage>((resolve) => request.once("response", resolve));
    expect(response.statusCode).toBe(200);
    response.setEncoding("utf8").on("data", (piece: string) => {
      heard.text += piece;
      heard.#wake();
    });
    return heard;
  }

  told(name: string): readonly Readonly<Record<string, unknown>>[] {
    const blocks = this.text.split("\n\n").slice(0, -1);
    const own = blocks.filter((block) => block.startsWith(`event: ${name}\n`));
    return own.map(
      (block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)) as Readonly<Record<string, unknown>>,
    );
  }

  changed(): readonly unknown[] {
    return this.told("changed").flatMap(({ identities }) => identities);
  }

  async until(is: () => boolean): Promise<void> {
    while (!is()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

interface Tenant {
  readonly key: string;
  readonly endpointId: string;
  readonly identity: string;
}

async function tenantAt(here: Place, address: string, name: string): Promise<Tenant> {
  const { key } = JSON.parse(here.krond("keys", "create", "--tenant", name, "--scope", "write", "-o", "json").out);
  const headers = { Authorization: `Bearer ${key}` };
  const post = async (path: string, body: object): Promise<string> => {
    const told = await ask(address, `/api/v1${path}`, { method: "POST", headers, body });
    expect([path, told.status, told.body]).toEqual([path, 201, expect.any(String)]);
    return JSON.parse(told.body).id;
  };
  const jobId = await post("/jobs", { name: "sync" });
  const wish = { name: "prices", url: "http://127.0.0.1:9/", baselineCron: "0 0 1 1 *" };
  const endpointId = await post(`/jobs/${jobId}/endpoints`, wish);
  return { key, endpointId, identity: endpointIdentity({ tenant: name, jobId, endpointId }) };
}

async function runsOnce(address: string, { key, endpointId }: Tenant): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  const told = await ask(address, `/api/v1/endpoints/${endpointId}/run`, { method: "POST", headers, body: {} });
  expect([told.status < 300, told.body]).toEqual([true, expect.any(String)]);
}

test("a tenant's page hears of its own endpoints, and nothing of the host or of another tenant", async () => {
  const here = place(job("t/one", "true"));
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0", "--allow-private"]);
  const address = String((await krond.ready())["api"]);
  const [acme, beta] = [await tenantAt(here, address, "acme"), await tenantAt(here, address, "beta")];
  const { key: hostKey } = JSON.parse(here.krond("keys", "create", "--scope", "read", "-o", "json").out);
  const own = await Heard.of(address, withBoth(await logIn(address, { key: acme.key })));
  const host = await Heard.of(address, withBoth(await logIn(address, { key: hostKey })));
  // What is others' happens first: who is told of their own afterwards was not told of it.
  expect(here.kron("run", "t/one").status).toBe(0);
  await runsOnce(address, beta);
  await krond.event("completed", { identity: "t/one" });
  await krond.event("completed", { identity: beta.identity });
  await host.until(() => host.changed().includes("t/one") && host.changed().includes(beta.identity));
  await runsOnce(address, acme);
  await own.until(() => own.changed().includes(acme.identity));
  await host.until(() => host.changed().includes(acme.identity));
  expect(new Set(own.changed())).toEqual(new Set([acme.identity]));
  expect(own.text).not.toMatch(/t\/one|beta/);
  expect(new Set(own.told("tick").flatMap((tick) => Object.keys(tick)))).toEqual(new Set(["at", "daemon"]));
  expect(own.told("tick").every(({ daemon }) => daemon === null)).toBe(true);
  expect(host.told("tick")[0]).toMatchObject({ daemon: { jobs: 3, pulse: { loopMs: expect.any(Number) } } });
});

describe("what has changed, until it is told", () => {
  const ofAcme = (index: number): string =>
    endpointIdentity({
      tenant: "acme",
      jobId: `job_${"0".repeat(16)}`,
      endpointId: `ep_${String(index).padStart(16, "0")}`,
    });

  test("is noted for those who look on, and for nobody else", () => {
    const bunches = new Bunches();
    expect(bunches.note("t/one", new Set(["acme"]))).toBe(false);
    expect(bunches.note(ofAcme(1), new Set(["beta"]))).toBe(false);
    expect(bunches.note(ofAcme(1), new Set([null, "acme"]))).toBe(true);
    expect(bunches.note("t/one", new Set([null, "acme"]))).toBe(true);
    expect(bunches.take()).toEqual(
      new Map([
        [null, [ofAcme(1), "t/one"]],
        ["acme", [ofAcme(1)]],
      ]),
    );
    expect(bunches.take()).toEqual(new Map());
  });

  test("is told as too much for the host, and still by name to a tenant who has little of it", () => {
    const bunches = new Bunches();
    const audiences = new Set([null, "acme"]);
    for (let index = 0; index <= MOST_NAMES; index++) bunches.note(`t/${index}`, audiences);
    bunches.note(ofAcme(1), audiences);
    expect(bunches.take()).toEqual(
      new Map<string | null, readonly string[] | null>([
        [null, null],
        ["acme", [ofAcme(1)]],
      ]),
    );
  });
});

test("the pulse has the commits since it was felt last, and watches none when nobody looks", () => {
  const watching = new Set<(durationMs: number) => void>();
  const pulse = new Pulse((listener) => {
    watching.add(listener);
    return () => watching.delete(listener);
  });
  expect(watching.size).toBe(0);
  pulse.start();
  pulse.start();
  expect(pulse.read(0).commitMs).toBeNull();
  for (let ms = 1; ms <= 100; ms++) for (const tell of watching) tell(ms);
  expect([pulse.read(0).commitMs, pulse.read(0).commitMs]).toEqual([99, null]);
  pulse.stop();
  expect(watching.size).toBe(0);
});

describe("starts of the last minute", () => {
  const started = (at: number, index: number): SupervisorEvent => {
    return { level: "info", at, component: "executor", event: "started", identity: `t/${index}`, periodId: "p" };
  };
  const claimed = (at: number, index: number, dueAt: number): SupervisorEvent => ({
    ...started(at, index),
    event: "trigger",
    fields: { decision: { chosen_time: formatInstant(dueAt) } },
  });

  test("are counted before anybody looks on, with how late they were", () => {
    const pulse = new Pulse(() => () => undefined);
    for (let index = 0; index < 100; index += 1) {
      pulse.tell(claimed(10_000, index, 10_000));
      pulse.tell(started(10_000 + (index < 99 ? 20 : 5_000), index));
    }
    const { started: count, latenessMs } = pulse.read(20_000);
    expect(count).toBe(100);
    // What 99 of 100 did not exceed, and at most a tenth more.
    expect(latenessMs).toBeGreaterThanOrEqual(20);
    expect(latenessMs).toBeLessThanOrEqual(22);
    expect(pulse.read(80_000)).toMatchObject({ started: 0, latenessMs: null });
  });

  test("of runs that nobody has chosen a second for are counted, and are neither late nor in time", () => {
    const pulse = new Pulse(() => () => undefined);
    pulse.tell(started(1_000, 1));
    expect(pulse.read(1_000)).toMatchObject({ started: 1, latenessMs: null });
  });

  test("are as many as there were, however many; a clock that is set back begins anew", () => {
    const starts = new RecentStarts();
    for (let second = 0; second < 60; second += 1) {
      for (let index = 0; index < 1_000; index += 1) starts.note(second * 1_000, second);
    }
    expect(starts.read(59_999).started).toBe(60_000);
    expect(starts.read(60_000).started).toBe(59_000);
    expect(starts.read(10_500).started).toBe(11_000);
    starts.note(10_500, 1);
    expect(starts.read(10_500).started).toBe(11_001);
  });
});

test("whoever comes in between is told what was felt last, and takes nothing from the others", () => {
  let tell: (durationMs: number) => void = () => undefined;
  const clock = new SimulatedClock({ startAt: 0 });
  const status = () => ({ jobs: 1, active: 0, armed: 0, nextDueAt: null }) as unknown as DaemonStatus;
  const watchCommits = (listener: (durationMs: number) => void) => {
    tell = listener;
    return () => undefined;
  };
  const feed = new Feed({ clock, status, watchCommits });
  const commits = new Map<string, (number | null)[]>();
  const follow = (name: string): void => {
    const told: (number | null)[] = [];
    commits.set(name, told);
    const write = (text: string): void => {
      told.push(JSON.parse(text.slice(text.indexOf("data: ") + 6)).daemon.pulse.commitMs);
    };
    const of = { write, writeHead: () => undefined, once: () => undefined, destroy: () => undefined };
    const response = { ...of, destroyed: false, writableLength: 0, req: { socket: { destroyed: false } } };
    const mayGoOn = async (): Promise<boolean> => true;
    feed.open({ response: response as unknown as http.ServerResponse, holder: name, tenant: null, mayGoOn }, {});
  };
  follow("first");
  tell(5);
  follow("second");
  clock.advance(1_000);
  follow("third");
  feed.close();
  expect(Object.fromEntries(commits)).toEqual({ first: [null, 5], second: [null, 5], third: [5] });
});
