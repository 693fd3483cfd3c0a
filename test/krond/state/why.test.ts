import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { formatInstant, SECOND_MS } from "../../../src/core/time/instant.js";
import { builtPrograms, krondProcesses } from "../../support/krond.js";
import { job, type Place, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const EVERY_MINUTE = `  - { identity: t/m, schedule: "* * * * *", policy: { deadline: 10m }, command: [/bin/true] }\n`;

function nextPeriodOf(here: Place): string {
  const [row] = JSON.parse(here.kron("list", "--identity", "t/m", "-o", "json").out) as Record<string, unknown>[];
  return String(row?.["next_period_id"]);
}

describe("kron why: what is due and open", () => {
  test("S29, S36: while the daemon drains, and after it was killed, it says who will judge the period", async () => {
    const here = place(job("t/long", "sleep 60") + EVERY_MINUTE);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/long");
    children.push(spawn(process.execPath, [programs().krond, "stop", "--graceful", "--state", here.state]));
    await krond.event("draining", { graceful: true });
    const period = nextPeriodOf(here);
    const asked = ["why", `t/m@${period}`, "--at", formatInstant(Date.parse(period) + SECOND_MS), "-o", "json"];
    const limit = formatInstant(Date.parse(period) + 60 * SECOND_MS);
    const drained = JSON.parse(here.kron(...asked).out) as Record<string, unknown>;
    expect(drained).toMatchObject({ kind: "waiting", reason: "stopping" });
    expect(drained["text"]).toContain("the daemon is stopping and starts nothing any more; the next start judges it");
    expect(drained["text"]).toContain(`from ${limit} on the next period takes its place`);
    await krond.kill("SIGKILL");
    const left = JSON.parse(here.kron(...asked).out) as Record<string, unknown>;
    expect(left).toMatchObject({ kind: "down", until: null });
    expect(left["text"]).toContain("it has not been started again; the next start judges it");
  });
});
