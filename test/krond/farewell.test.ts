/** What a daemon that ends in order leaves for the next one, with real daemons: used up by it, and not there after a crash. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const FAREWELL = "kron.farewell";
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("a restart", () => {
  test("after an orderly end goes by what was left, after a crash it reads everything, and says the same", async () => {
    const here = place(job("t/one", "true") + job("t/two", "true", ", policy: { suspend: true }"));
    const farewell = path.join(here.state, FAREWELL);
    const list = (): string => here.kron("list", "-o", "json").out;
    const first = startKrond(here.config, here.state);
    expect(await first.ready()).not.toHaveProperty("unread");
    here.kron("run", "t/one", "--wait");
    const before = list();
    expect(await first.kill("SIGTERM")).toBe(0);
    expect([fs.existsSync(farewell), fs.statSync(farewell).mode & 0o777]).toEqual([true, 0o600]);

    const second = startKrond(here.config, here.state);
    expect(await second.ready()).toMatchObject({ jobs: 2, unread: 2 });
    expect([fs.existsSync(farewell), list()]).toEqual([false, before]);
    expect(await second.kill()).toBe("SIGKILL");
    expect(fs.existsSync(farewell)).toBe(false);

    const third = startKrond(here.config, here.state);
    expect(await third.ready()).not.toHaveProperty("unread");
    expect(list()).toBe(before);
    expect(here.kron("run", "t/one", "--wait").status).toBe(0);
  });
});
