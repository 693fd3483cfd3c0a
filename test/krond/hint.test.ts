/** S41, S42: hints as an operator gives them, to a real daemon. */
import { describe, expect, test } from "vitest";
import type { HintWish } from "../../src/core/governor/hint.js";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

interface Shown {
  readonly interval: { readonly interval_ms: number; readonly reason: string; readonly expires_at: string } | null;
  readonly oneshot: { readonly next_run_at: string; readonly reason: string } | null;
}

function shown(here: Place, identity = "t/a"): Shown {
  return JSON.parse(here.kron("hint", identity, "-o", "json").out) as Shown;
}

const NONE = { identity: "t/a", interval: null, oneshot: null };

describe("kron hint", () => {
  test("an interval runs the job until it is cleared, and what was hinted is on record", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const set = here.kron("hint", "t/a", "--every", "1s", "--ttl", "2h", "--reason", "errors upstream");
    expect(set.out).toMatch(/^t\/a: every 1s until 20\S+ \(errors upstream\)\n$/);
    const first = await krond.event("completed", { identity: "t/a", source: "hint-interval" });
    const second = await krond.event("completed", { identity: "t/a" }, krond.lines.indexOf(first) + 1);
    expect(second["period_id"]).not.toBe(first["period_id"]);
    expect(shown(here)).toMatchObject({ interval: { interval_ms: 1000, reason: "errors upstream" }, oneshot: null });
    expect(JSON.parse(here.kron("hint", "t/a", "--clear", "-o", "json").out)).toEqual(NONE);
    await krond.event("hint_ended", { identity: "t/a", kind: "interval", how: "cleared" });
    expect(here.kron("history", "t/a").out).toContain("(hint-interval)");
  });

  test("an instant is used up by its run, and cannot be hinted again", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const at = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
    expect(here.kron("hint", "t/a", "--at", at, "--reason", "asked for").status).toBe(0);
    await krond.event("completed", { identity: "t/a", source: "hint-oneshot" });
    expect(shown(here)).toEqual(NONE);
    const again = here.kron("hint", "t/a", "--at", at);
    expect([again.status, again.err]).toEqual([1, expect.stringContaining("was hinted before")]);
    expect(shown(here)).toEqual(NONE);
  });

  test("each kind is kept and cleared by itself, survives the daemon, and is shown without one", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("hint", "t/a", "--every", "4h", "--ttl", "3h");
    expect(here.kron("hint", "t/a", "--at", "2h").out.split("\n")).toEqual([
      expect.stringMatching(/^t\/a: once at 20\S+, good until 20\S+$/),
      expect.stringMatching(/^t\/a: every 4h until 20\S+$/),
      "",
    ]);
    await krond.kill("SIGTERM");
    const kept = shown(here);
    expect(kept).toMatchObject({ interval: { interval_ms: 14_400_000 }, oneshot: { reason: "" } });
    const later = startKrond(here.config, here.state);
    await later.ready();
    expect(shown(here)).toEqual(kept);
    here.kron("hint", "t/a", "--clear", "oneshot");
    expect(shown(here)).toEqual({ ...kept, oneshot: null });
    here.kron("hint", "t/a", "--clear=interval");
    expect(here.kron("hint", "t/a").out).toBe("t/a: no hint in force\n");
  });

  test("a forecast with --state knows pauses and hints as they stand, with a daemon and without", async () => {
    const jobs = ["a", "b", "c"].map(
      (name) => `  - { identity: t/${name}, schedule: "0 0 1 1 *", command: [/bin/true] }\n`,
    );
    const here = place(jobs.join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("hint", "t/a", "--every", "10m", "--ttl", "55m");
    here.kron("hint", "t/b", "--at", "20m");
    here.kron("pause", "t/c", "--until", "1d", "--reason", "x");
    const forecast = () => {
      const argv = ["forecast", here.config, "--horizon", "2h"];
      const { with_windows, state } = JSON.parse(here.kron(...argv, "-o", "json").out) as Record<
        string,
        { starts: number }
      >;
      return [with_windows?.starts, state, here.kron(...argv).out.split("\n")[1]];
    };
    const told = "as things stand: 1 paused, 2 hinted, 0 counted from their last run";
    const expected = [6, { paused: 1, hinted: 2, counted_from_last_run: 0 }, told];
    expect(forecast()).toEqual(expected);
    await krond.kill("SIGTERM");
    expect(forecast()).toEqual(expected);
  });

  test("what is refused names the option and the reason, and changes nothing", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("hint", "t/a", "--every", "4h", "--ttl", "3h");
    const before = shown(here);
    const rows: readonly [args: readonly string[], message: string][] = [
      [["t/a", "--every", "30s", "--at", "1h", "--ttl", "2h"], "--at: a hint is an interval or one instant, not both"],
      [["t/a", "--every", "30s", "--ttl", "0s"], "--ttl: must be longer than 0s"],
      [["t/a", "--every", "30s", "--ttl=-1h"], "--ttl: a duration cannot be negative"],
      [["t/a", "--every", "30s", "--ttl", "745h"], "--ttl: a hint holds for more than 0s and at most 744h"],
      [["t/a", "--every", "30s"], "--ttl: an interval hint says for how long it holds"],
      [["t/a", "--every", "1ms", "--ttl", "1h"], "--every: an interval is from 1s to 8784h, in whole milliseconds"],
      [["t/a", "--every", "30", "--ttl", "1h"], "--every: a duration needs a unit"],
      [["t/a", "--at", "2h", "--ttl", "1h"], "lies beyond the end of the hint"],
      [["t/a", "--at", "someday"], '--at: "someday" is neither an instant nor a duration'],
      [["t/a", "--reason", "x"], "--every: a hint needs an interval or an instant"],
      [["t/a", "--clear", "--every", "1h"], "--clear stands alone"],
      [["t/a", "--clear=both"], '--clear: "both" is neither interval nor oneshot'],
      [["t/none", "--every", "30s", "--ttl", "1h"], 'no job "t/none"'],
      [["t/none", "--clear"], 'no job "t/none"'],
      [["t/none"], 'no job "t/none"'],
      [[], "hint takes a job"],
    ];
    for (const [args, message] of rows) {
      const refused = here.kron("hint", ...args);
      expect([args, refused.status, refused.err]).toEqual([args, 1, expect.stringContaining(message)]);
    }
    expect(shown(here)).toEqual(before);
  });

  test("whoever speaks to the socket directly is held to the same rules", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("the daemon does not listen");
    const none = { intervalMs: null, nextRunAt: null, ttlMs: null, reason: "" };
    const ask = (wish: Partial<HintWish>): Promise<unknown> =>
      client.ask({ op: "hint", identity: "t/a", ...none, ...wish } as OperationRequest);
    await expect(ask({ intervalMs: 0, ttlMs: 0 })).rejects.toThrow(/^intervalMs: .*; ttlMs: /);
    await expect(ask({ intervalMs: 1000, nextRunAt: 0, ttlMs: 1000 })).rejects.toThrow(/^nextRunAt: .*not both/);
    await expect(ask({})).rejects.toThrow(/^intervalMs: a hint needs/);
    client.close();
    expect(shown(here)).toEqual(NONE);
  });
});
