/** What lies ahead and how it was chosen: a daemon says the same as the commands that compute it from the files. */
import { describe, expect, test } from "vitest";
import { DAY_MS } from "../../src/core/time/instant.js";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import type { DefinitionAnswer, ExplainAnswer, LogAnswer, UpcomingAnswer } from "../../src/operations/shapes/ahead.js";
import type { ForecastAnswer, ForecastWhoAnswer } from "../../src/operations/shapes/forecast.js";
import type { NowAnswer } from "../../src/operations/shapes/now.js";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const BACKUP = `  - identity: t/backup
    description: "the token=verysecret1 of the backup"
    schedule: "0 0 * * *"
    timezone: Europe/Berlin
    window: { mode: after, duration: 3h }
    seed: { salt: s }
    constraints: { avoid: ["between=00:00-02:00"] }
    env: { PASSWORD: hunter22 }
    command: [/usr/bin/backup, --password=hunter22]
`;
const HOURLY =
  '  - { identity: t/hourly, schedule: "10 * * * *", window: { mode: around, duration: 20m }, command: ["true"] }\n';
const EVERY = '  - { identity: t/every, schedule: "@every 90m", command: ["true"] }\n';
const PRINTER = job("t/printer", `i=0; while [ $i -lt 9000 ]; do echo "line $i äöü"; i=$((i+1)); done`);
const JOBS = `${BACKUP}${HOURLY}${EVERY}${PRINTER}${job("t/bad", "exit 3")}`;

/** By a command that reads the files. */
function printed(...args: readonly string[]) {
  const { status, out, err } = runProgram(programs().kron, [...args, "-o", "json"]);
  if (status !== 0) throw new Error(err);
  return JSON.parse(out);
}

const AT = "2026-11-19T05:00:00Z";
const FROM = Date.UTC(2027, 0, 10);

describe("of the definitions in force", () => {
  test("each question is answered as the command answers it", async () => {
    const here = place(JOBS);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("no daemon");
    const ask = async <T>(request: OperationRequest): Promise<T> => (await client.ask(request)) as T;

    const told = printed("explain", "t/backup", "--at", AT, "--config", here.config);
    const explained = await ask<ExplainAnswer>({ op: "explain", identity: "t/backup", at: Date.parse(AT) });
    expect([explained.periodId, explained.seedHash, explained.chosen, explained.draws.length]).toEqual([
      told.period_id,
      told.seed_hash,
      told.chosen_time,
      told.attempts,
    ]);
    expect(explained.draws.at(-1)?.rejectedBy).toBeNull();
    expect(explained.draws.slice(0, -1).every(({ rejectedBy }) => rejectedBy?.startsWith("avoid ") === true)).toBe(
      true,
    );
    await expect(ask({ op: "explain", identity: "t/every" })).rejects.toThrow("nothing to decide");

    for (const identity of ["t/backup", "t/hourly"]) {
      const next = printed("next", identity, "--count", "30", "--config", here.config);
      const { rows } = await ask<UpcomingAnswer>({ op: "upcoming", identity, count: 30 });
      // The command begins with the next nominal time, the daemon with what is still to come: of a window that is open now
      // that may be one earlier, or one later.
      const ahead = rows.filter(({ periodId }) => periodId !== null && periodId >= next[0].period_id);
      const expected = next.filter(({ period_id }: { period_id: string }) => period_id >= (ahead[0]?.periodId ?? ""));
      const count = Math.min(ahead.length, expected.length);
      expect(ahead.slice(0, count).map(({ periodId, chosen }) => [periodId, chosen])).toEqual(
        expected
          .slice(0, count)
          .map((row: { period_id: string; chosen_time: string }) => [row.period_id, row.chosen_time]),
      );
      expect(count).toBeGreaterThan(27);
    }
    const { rows: intervals } = await ask<UpcomingAnswer>({ op: "upcoming", identity: "t/every", count: 3 });
    expect(intervals.map(({ periodId, windowStart }) => [periodId, windowStart])).toEqual(Array(3).fill([null, null]));

    const definition = await ask<DefinitionAnswer>({ op: "definition", identity: "t/backup" });
    expect(definition).toMatchObject({
      target: "/usr/bin/backup",
      avoid: "between=00:00-02:00",
      timezone: "Europe/Berlin",
    });
    expect(JSON.stringify(definition)).not.toMatch(/verysecret|hunter22/);
    client.close();
  });

  test("the forecast is that of the files, computed once for many, and anew after a reload", async () => {
    const here = place(`${BACKUP}${HOURLY}`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("no daemon");
    const asked = { op: "forecast", fromAt: FROM, hours: 24 } as const;
    const answers = (await Promise.all([client.ask(asked), client.ask(asked)])) as ForecastAnswer[];
    const [forecast] = answers;
    if (forecast === undefined) throw new Error("no answer");
    expect(answers[1]).toEqual(forecast);
    const from = new Date(FROM).toISOString();
    const told = JSON.parse(
      here.kron("forecast", here.config, "--from", from, "--horizon", "24h", "--bucket", "1m", "-o", "json").out,
    );
    expect(forecast.chosen.total).toBe(told.with_windows.starts);
    expect(forecast.nominal.total).toBe(told.without_windows.starts);
    expect(forecast.chosen.counts).toHaveLength(1_440);
    expect(forecast.chosen.counts.reduce((sum, count) => sum + count, 0)).toBe(forecast.chosen.total);
    const [peak] = forecast.chosen.peaks;
    if (peak === undefined) throw new Error("no peak");
    const who = (await client.ask({ ...asked, op: "forecast_who", at: Date.parse(peak.at) })) as ForecastWhoAnswer;
    expect(who.chosen).toEqual(peak.who);
    await expect(client.ask({ ...asked, op: "forecast_who", at: FROM - 1 })).rejects.toThrow("outside");
    await expect(client.ask({ ...asked, bucketMs: 1_000, hours: 168 })).rejects.toThrow("more than");
    here.write(HOURLY);
    await client.ask({ op: "reload" });
    const after = (await client.ask(asked)) as ForecastAnswer;
    expect([after.jobs, after.chosen.total]).toEqual([1, forecast.chosen.total - 1]);
    client.close();
  });

  test("what a run has printed comes in pieces that are whole characters; and now says what needs a look", async () => {
    const here = place(JOBS);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (const name of ["printer", "bad"]) here.kron("run", `t/${name}`);
    for (const name of ["printer", "bad"]) await krond.event("completed", { identity: `t/${name}` });
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("no daemon");
    let [text, next, pieces] = ["", 0, 0];
    for (let size = 1; next < size; pieces += 1) {
      const piece = (await client.ask({ op: "log", identity: "t/printer", from: next })) as LogAnswer;
      expect(piece.from).toBe(next);
      [text, next, size] = [text + piece.text, piece.next, piece.size];
    }
    const lines = Array.from({ length: 9_000 }, (_, index) => `line ${index} äöü\n`);
    expect([pieces > 1, text === lines.join("")]).toEqual([true, true]);
    const end = (await client.ask({ op: "log", identity: "t/printer" })) as LogAnswer;
    expect([end.next, end.text.endsWith("line 8999 äöü\n")]).toEqual([end.size, true]);
    expect(await client.ask({ op: "log", identity: "t/hourly" })).toMatchObject({ file: null, size: 0 });
    const now = (await client.ask({ op: "now" })) as NowAnswer;
    expect(now.counts).toEqual({ jobs: 5, running: 0, failing: 1, held: 0 });
    expect(now.problems.map(({ identity }) => identity)).toEqual(["t/bad"]);
    expect(now.ended.find(({ identity }) => identity === "t/bad")).toMatchObject({
      outcome: "failed",
      reason: "exit code 3",
    });
    // In the hour of its window the next start of the nightly one may lie behind the coming day.
    const listed = JSON.parse(here.kron("list", "-o", "json").out) as { identity: string; next_chosen_time: string }[];
    const isNear = (next: string): boolean => Date.parse(next) <= Date.parse(now.at) + DAY_MS;
    const near = listed.filter(({ next_chosen_time: next }) => isNear(next)).map(({ identity }) => identity);
    expect(near).toEqual(expect.arrayContaining(["t/every", "t/hourly"]));
    expect(now.lanes.map(({ identity }) => identity).sort()).toEqual(near.sort());
    client.close();
  });
});
