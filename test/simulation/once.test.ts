/** Jobs that run once, under the whole daemon on a virtual clock: everything that holds for a period holds for theirs. */
import { expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { forecastStarts } from "../../src/core/forecast/starts.js";
import { formatInstant, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import type { Act } from "../../src/simulation/scenario.js";
import { FROM, job, play } from "./support.js";

/** FROM is 00:00:30. */
const AT = "2026-03-01T00:05:00";
const QUICK = { duration: { kind: "fixed", ms: SECOND_MS } } as const;
const ONCE = { schedule: undefined, at: AT };

async function startsOf(more: Record<string, unknown>, acts: Readonly<Record<number, Act>> = {}, minutes = 30) {
  const { findings, starts } = await play({ jobs: [job({ ...ONCE, ...more })], run: QUICK, acts, minutes });
  expect(findings.violations).toEqual([]);
  return {
    figures: findings.figures,
    starts: starts.map(({ source, startedAt }) => [source, formatInstant(startedAt)]),
  };
}

test("it runs at its second, once, and never again: not after crashes, restarts, and a clock that goes back", async () => {
  const { starts, figures } = await startsOf(
    { policy: { deadline: "1m" } },
    {
      300: { do: "crash", forMs: 5_000, step: null },
      400: { do: "reboot", forMs: 10_000 },
      500: { do: "jump", byMs: -10 * MINUTE_MS },
      900: { do: "crash", forMs: 5_000, step: null },
    },
  );
  expect(starts).toEqual([[null, "2026-03-01T00:05:00Z"]]);
  expect(figures).toMatchObject({ executed: 1, duplicates: 0, unaccounted: 0 });
});

test("to the second, and by the wall clock of its zone", async () => {
  const { starts } = await startsOf({ at: "2026-03-01T05:35:07", timezone: "Asia/Kolkata" });
  expect(starts).toEqual([[null, "2026-03-01T00:05:07Z"]]);
});

test("within its deadline it is made up for after a time without a daemon", async () => {
  const down = { 200: { do: "down", forMs: 3 * MINUTE_MS } } as const;
  expect((await startsOf({ policy: { deadline: "10m" } }, down)).starts).toEqual([[null, "2026-03-01T00:06:50Z"]]);
  const { starts, figures } = await startsOf({ policy: { deadline: "1m" } }, down);
  expect([starts, figures.missed]).toEqual([[], 1]);
});

test("S14: a time that is over when the job is first seen never comes", async () => {
  const { starts, figures } = await startsOf({ at: "2026-02-28T23:59:00", policy: { deadline: "24h" } });
  expect([starts, figures.executed, figures.missed]).toEqual([[], 0, 0]);
});

test("S17: a pause over it leaves it out, unless the pause catches up", async () => {
  const pause = (catchesUp: boolean) => ({
    120: { do: "pause", job: "job", forMs: 10 * MINUTE_MS, reason: "r", catchesUp } as const,
  });
  expect((await startsOf({ policy: { deadline: "1h" } }, pause(false))).starts).toEqual([]);
  expect((await startsOf({ policy: { deadline: "1h" } }, pause(true))).starts).toEqual([
    [null, "2026-03-01T00:12:30Z"],
  ]);
});

test("S43: a run that fails is tried again, and no next period bounds that", async () => {
  const { findings, starts } = await play({
    jobs: [job({ ...ONCE, retry: { limit: 3, backoff: "2m", max_backoff: "30m" } })],
    run: { ...QUICK, failChance: 1 },
    minutes: 60,
  });
  expect(findings.violations).toEqual([]);
  expect(starts.map(({ source }) => source)).toEqual([null, "retry", "retry", "retry"]);
});

test("S41: a hint takes its place while it is in force, and what passes then is not run", async () => {
  const wish = { intervalMs: 2 * MINUTE_MS, ttlMs: 10 * MINUTE_MS };
  const { starts } = await startsOf({}, { 60: { do: "hint", job: "job", wish } });
  expect(new Set(starts.map(([source]) => source))).toEqual(new Set(["hint-interval"]));
});

test("S16: another time is another period, and one that has run stays done when its text comes back", async () => {
  const config = (at: string) => ({ definitions: [job({ ...ONCE, at })], settings: SETTINGS_DEFAULTS });
  const { starts } = await startsOf(
    {},
    {
      600: { do: "reload", config: config("2026-03-01T00:15:00") },
      1200: { do: "reload", config: config(AT) },
    },
  );
  expect(starts).toEqual([
    [null, "2026-03-01T00:05:00Z"],
    [null, "2026-03-01T00:15:00Z"],
  ]);
});

test("what the forecast says is what comes: windows before, around and after", async () => {
  const jobs = (["before", "around", "after"] as const).flatMap((mode, m) =>
    [1, 60, 600].map((seconds, i) =>
      job({
        ...ONCE,
        identity: `${mode}-${seconds}`,
        at: formatInstant(FROM + HOUR_MS + (m * 3 + i) * 7 * SECOND_MS),
        window: { mode, duration: `${seconds}s` },
      }),
    ),
  );
  const { findings, starts } = await play({ jobs, run: QUICK, minutes: 120 });
  expect(findings.violations).toEqual([]);
  const said = [...forecastStarts(jobs, FROM, FROM + 2 * HOUR_MS)].map(({ identity, starts: its }) => [
    identity,
    [...its].map(({ startAt }) => startAt),
  ]);
  const came = jobs.map(({ identity }) => [
    identity,
    starts.filter((start) => start.identity === identity).map(({ startedAt }) => startedAt),
  ]);
  expect(came).toEqual(said);
});
