/** Several jobs at once, times as people say them, and waiting for the end of a run: with a real daemon. */
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const JOBS = [
  job("prod/a", "exit 3", ", tags: [nightly]"),
  job("prod/b", "true", ", tags: [nightly, slow]"),
  job("prod/c", "kill -9 $$"),
  job("stage/a", "sleep 300", ", tags: [slow]"),
];

interface Shown {
  readonly identity: string;
  readonly standing: string;
  readonly paused_until: string | null;
}

function standings(here: Place): Record<string, string> {
  const rows = JSON.parse(here.kron("list", "-o", "json").out) as Shown[];
  return Object.fromEntries(rows.map(({ identity, standing }) => [identity, standing]));
}

async function started(): Promise<{ readonly here: Place; readonly krond: RunningKrond }> {
  const here = place(JOBS.join(""));
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  return { here, krond };
}

const PAUSE = ["--until", "2h", "--reason", "x"] as const;

describe("several jobs at once", () => {
  test("patterns and tags: what is meant is told, and only that is done", async () => {
    const { here } = await started();
    const dry = here.kron("pause", "prod/*", "--tag", "nightly", "--dry-run", ...PAUSE);
    expect([dry.status, dry.out]).toEqual([
      0,
      expect.stringMatching(/^2 jobs would be paused until \S+.*; nothing was done:\n {2}prod\/a\n {2}prod\/b\n$/),
    ]);
    expect(new Set(Object.values(standings(here)))).toEqual(new Set(["enabled"]));
    const paused = here.kron("pause", "prod/*", "--tag", "nightly", ...PAUSE);
    expect(paused.out).toMatch(/^prod\/a is paused until .*\nprod\/b is paused until .*\npaused 2 jobs until .*\n$/);
    expect(standings(here)).toEqual({
      "prod/a": "paused",
      "prod/b": "paused",
      "prod/c": "enabled",
      "stage/a": "enabled",
    });
    expect(JSON.parse(here.kron("resume", "--tag", "slow", "prod/b", "-o", "json").out)).toEqual([
      { identity: "prod/b" },
    ]);
    expect(here.kron("resume", "prod/a", "stage/a").out).toBe("prod/a goes on\nstage/a goes on\nresumed 2 jobs\n");
    expect(here.kron("hint", "prod/?", "--every", "1h", "--ttl", "2h").out).toMatch(/\nhinted 3 jobs\n$/);
    expect(here.kron("hint", "prod/*", "--clear").out).toMatch(/\ncleared the hints of 3 jobs\n$/);
  });

  test.each([
    [["pause", "prdo/*", ...PAUSE], '"prdo/*" matches no job', "did you mean 'prod/*'?"],
    [["resume", "prod/x*"], '"prod/x*" matches no job', "'kron list' shows all jobs"],
    [["resume", "prod/a", "stage/b"], 'no job "stage/b"', 'did you mean "stage/a"?'],
    [["resume", "--tag", "weekly"], "no job has the tag weekly", "kron list"],
    [["resume", "stage/*", "--tag", "nightly"], '"stage/*" matches no job with the tag nightly', "kron list"],
    [["resume", "prod/aa"], 'no job "prod/aa"', 'did you mean "prod/a"?'],
    [["run", "stag/a"], 'no job "stag/a"', 'did you mean "stage/a"?'],
    [["cancel"], "cancel takes a job", "--tag nightly"],
  ])("kron %j: nothing is done", async (args, message, hint) => {
    const { here } = await started();
    const { status, out, err } = here.kron(...args);
    expect([status, out, err]).toEqual([1, "", expect.stringMatching(/^kron: /)]);
    expect(err).toContain(message);
    expect(err).toContain(hint);
    expect(new Set(Object.values(standings(here)))).toEqual(new Set(["enabled"]));
  });

  test("what is nearly called so is named without a daemon, too", async () => {
    const { here, krond } = await started();
    await krond.kill("SIGTERM");
    for (const command of [
      ["history", "prd/a"],
      ["why", "prd/a@2026-01-01T00:00:00Z"],
    ]) {
      expect(here.kron(...command).err).toContain('no job "prd/a"\n  did you mean "prod/a"?');
    }
  });
});

describe("kron run --wait and --if-idle", () => {
  test("the exit code is that of the job", async () => {
    const { here } = await started();
    const ended = (...args: string[]) => {
      const { status, out } = here.kron("run", ...args, "--wait");
      return [status, out.replace(/slot \S+:/, "slot _:")];
    };
    expect(ended("prod/a")).toEqual([3, "prod/a, slot _: ended, exit 3\n"]);
    expect(ended("prod/b")).toEqual([0, "prod/b, slot _: ended\n"]);
    expect(ended("prod/c")).toEqual([137, "prod/c, slot _: ended, SIGKILL\n"]);
    const group = here.kron("run", "prod/*", "--wait", "-o", "json");
    const codes = (JSON.parse(group.out) as { exit_code: number }[]).map(({ exit_code }) => exit_code);
    expect([group.status, codes]).toEqual([3, [3, 0, 137]]);
  });

  test("what runs already refuses --if-idle, and a cancel of nothing says so", async () => {
    const { here, krond } = await started();
    expect(here.kron("run", "stage/a", "--if-idle").status).toBe(0);
    await krond.event("started", { identity: "stage/a" });
    const refused = here.kron("run", "stage/a", "--if-idle");
    expect([refused.status, refused.err]).toEqual([
      1,
      expect.stringMatching(/stage\/a is running already: PID \d+, since /),
    ]);
    expect(here.kron("cancel", "stage/*").out).toBe("asked 1 run of stage/a to end\nasked 1 run of 1 job to end\n");
    await krond.event("completed", { identity: "stage/a" });
    const nothing = here.kron("cancel", "stage/a");
    expect([nothing.status, nothing.out]).toEqual([1, "nothing of stage/a is running: there is nothing to cancel\n"]);
  });
});

describe("times as people say them", () => {
  test("a pause until a day and a time, in the zone that is named, with the instant told", async () => {
    const { here } = await started();
    const paused = here.kron("pause", "prod/a", "--until", "tomorrow 09:00", "--tz", "Asia/Tokyo", "--reason", "x");
    expect(paused.err).toMatch(/^--until tomorrow 09:00 is \S+T00:00:00Z \(\S+ 09:00:00 \+09:00 Asia\/Tokyo\)\n$/);
    expect(paused.out).toMatch(/^prod\/a is paused until \S+T00:00:00Z \(\S+ 09:00:00 \+09:00 Asia\/Tokyo\)\n$/);
    expect(here.kron("pause", "prod/a", "--until", "1d12h", "--reason", "x").status).toBe(0);
    const wrong = here.kron("pause", "prod/a", "--until", "whenever", "--reason", "x");
    expect([wrong.status, wrong.err]).toEqual([
      1,
      expect.stringContaining('--until: "whenever" is neither an instant'),
    ]);
    const past = here.kron("pause", "prod/a", "--until", "yesterday", "--reason", "x");
    expect([past.status, past.err]).toEqual([1, expect.stringContaining("lies in the past")]);
  });

  test("JOB@09:00 is the nearest period at or before that time of day", async () => {
    const here = place(`  - { identity: t/hourly, schedule: "0 * * * *", command: [/bin/true] }\n`);
    await startKrond(here.config, here.state).ready();
    for (const time of ["00:30", "00:00"]) {
      const { status, out, err } = here.kron("why", `t/hourly@${time}`, "--tz", "UTC");
      expect([status, out]).toEqual([0, expect.stringMatching(/^t\/hourly@\d{4}-\d\d-\d\dT00:00:00Z: /)]);
      expect(err).toContain(`@ ${time} is `);
    }
    expect(here.kron("why", "t/hourly@25:00").err).toContain('"25:00" is no period');
    for (const written of ["lunch", "2026", ""]) {
      const { status, err } = here.kron("why", `t/hourly@${written}`);
      const what = written === "" ? "there is no period behind the @" : `"${written}" is no period`;
      const hint = "write a period like 2026-03-01T00:00:00Z, or 09:00";
      expect([status, err]).toEqual([1, `kron: ${what}, and no job is called "t/hourly@${written}"\n  ${hint}\n`]);
    }
    expect(here.kron("why", "t/hurly").err).toBe('kron: no job "t/hurly"\n  did you mean "t/hourly"?\n');
  });
});

describe("JSON", () => {
  test("every key of every answer is in small letters and underscores", async () => {
    const { here, krond } = await started();
    here.kron("run", "prod/*", "--wait");
    here.kron("run", "stage/a");
    await krond.event("started", { identity: "stage/a" });
    here.kron("hint", "prod/a", "--every", "1h", "--ttl", "2h");
    here.kron("pause", "prod/b", ...PAUSE);
    here.write(JOBS.join("").replace("0 0 1 1 *", "0 0 2 1 *"));
    const answers = [
      ...[
        ["list"],
        ["history"],
        ["history", "prod/a"],
        ["hint", "prod/a"],
        ["plan"],
        ["why", "prod/a@2026-01-01T00:00:00Z"],
      ].map((args) => here.kron(...args, "-o", "json").out),
      here.krond("status", "-o", "json").out,
      here.krond("state", "check", "-o", "json").out,
    ];
    for (const text of answers) {
      const keys = [...text.matchAll(/"([^"]+)":/g)].map(([, key]) => key ?? "");
      expect(keys.length).toBeGreaterThan(1);
      expect(keys.filter((key) => !/^[a-z][a-z0-9_]*$/.test(key))).toEqual([]);
    }
    expect(answers[4]).toContain('"moves_from"');
  });
});
