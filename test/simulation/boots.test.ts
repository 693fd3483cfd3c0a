/** S44 in simulations, and the independent check of it: what it accepts and what it must catch. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { judgeBoots } from "../../src/simulation/boot-oracle.js";
import { type Circumstances, JobHistory } from "../../src/simulation/job-history.js";
import { FROM, job, play } from "./support.js";

const AT_BOOT = { schedule: "@reboot" };

test("the program keeps what the check asks for: three boots, a crash and a clock that is moved are three runs", async () => {
  const { findings, starts } = await play({
    jobs: [job(AT_BOOT)],
    run: { duration: { kind: "fixed", ms: SECOND_MS } },
    acts: {
      60: { do: "crash", forMs: 5_000, step: null },
      600: { do: "reboot", forMs: 10_000 },
      700: { do: "jump", byMs: -HOUR_MS },
      800: { do: "crash", forMs: 5_000, step: null },
      900: { do: "reboot", forMs: 10_000 },
    },
    minutes: 45,
  });
  expect(findings.violations).toEqual([]);
  expect(starts.map(({ source }) => source)).toEqual(["reboot", "reboot", "reboot"]);
  expect(findings.figures).toMatchObject({ at_boot: 3, started: 3, duplicates: 0, unaccounted: 0 });
});

describe("the check finds out", () => {
  const AROUND: Circumstances = {
    fromAt: FROM,
    endAt: FROM + 2 * HOUR_MS,
    settings: SETTINGS_DEFAULTS,
    absences: [{ fromAt: FROM + HOUR_MS - MINUTE_MS, untilAt: FROM + HOUR_MS + 1 }],
    repeats: [],
    boots: [FROM, FROM + HOUR_MS],
  };
  const history = (definedAfterMs: number, startedAfterMs: readonly number[]): JobHistory => {
    const known = new JobHistory("a");
    known.define(job(AT_BOOT), FROM + definedAfterMs);
    for (const after of startedAfterMs) {
      known.slotStarts.push({ source: "reboot", slotAt: FROM + after, startedAt: FROM + after });
    }
    return known;
  };

  test.each<[string, number, readonly number[], string]>([
    ["one that is right", 0, [1_000, HOUR_MS + 1_000], ""],
    ["one that was added later", MINUTE_MS, [HOUR_MS + 1_000], ""],
    ["one that ran twice in a boot", 0, [1_000, 30_000], "ran 2 times"],
    ["one too many", 0, [1_000, 2_000, HOUR_MS + 1_000], "ran 3 times at 2 boots"],
    ["one that did not run", 0, [1_000], "did not run"],
  ])("%s", (_title, defined, started, wrong) => {
    const said = [...judgeBoots(history(defined, started), AROUND)].join();
    expect(wrong === "" ? said === "" : said.includes(wrong)).toBe(true);
  });

  test("one that ran in the boot in which it was added", () => {
    const alone = { ...AROUND, absences: [], boots: [FROM] };
    expect([...judgeBoots(history(MINUTE_MS, [MINUTE_MS]), alone)].join()).toContain("was added after it");
  });
});
