import { describe, expect, test } from "vitest";
import { KRON } from "../../../src/cli/commands/index.js";
import { meanMs } from "../../../src/cli/forecast/past-runs.js";
import { runCaptured } from "../../support/cli.js";
import { stateWithRuns } from "../../support/forecast-state.js";
import { temporaryDirectories } from "../../support/temporary.js";

const directory = temporaryDirectories();
const NIGHT = ["--from", "2026-03-28T20:00:00Z", "--to", "2026-03-29T12:00:00Z"];

describe("durations of past runs", () => {
  test("--state: the mean of the runs on record; jobs that never ran are left out, or take --assume-duration", async () => {
    const state = directory();
    await stateWithRuns(state, "shop/mail", [
      ["2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:30:00Z"],
      ["2026-03-01T00:15:00Z", "2026-03-01T00:15:00Z", "2026-03-01T00:25:00Z"],
      ["2026-03-01T00:30:00Z", "2026-03-01T00:30:00Z", null],
    ]);
    const argv = ["forecast", "test/cli/files/fleet.yaml", ...NIGHT, "--state", state, "-o", "json"];
    const known = JSON.parse((await runCaptured(KRON, argv)).out);
    expect(known.overlap).toMatchObject({ jobs: 1, jobs_without_duration: 4, with_windows: { peak: 1, skipped: 32 } });
    const assumed = JSON.parse((await runCaptured(KRON, [...argv, "--assume-duration", "5s"])).out);
    expect(assumed.overlap).toMatchObject({ jobs: 5, jobs_without_duration: 0, with_windows: { peak: 4 } });
  });

  const row = (started_at: string | null, ended_at: string | null) => ({
    period_id: "",
    source: null,
    outcome: "executed",
    reason: null,
    chosen_time: null,
    started_at,
    ended_at,
    exit_code: 0,
    signal: null,
  });
  const rows: readonly (readonly [name: string, runs: Parameters<typeof meanMs>[0], expected: number | null])[] = [
    ["none", [], null],
    ["one still running", [row("2026-03-01T00:00:00Z", null)], null],
    ["never started", [row(null, null)], null],
    [
      "two",
      [row("2026-03-01T00:00:00Z", "2026-03-01T00:00:03Z"), row("2026-03-01T00:00:00Z", "2026-03-01T00:00:06Z")],
      4500,
    ],
    ["a clock that was put back in between", [row("2026-03-01T00:00:03Z", "2026-03-01T00:00:00Z")], null],
  ];
  test.each(rows)("mean of %s", (_, runs, expected) => {
    expect(meanMs(runs)).toBe(expected);
  });
});
