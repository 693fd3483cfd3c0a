/** R17 in short: what is watched for hours by `npm run torture -- soak`, and how that is judged. */
import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { builtPrograms } from "../support/krond.js";
import { ALLOWED, grown, type Sample } from "./soak-judge.mjs";

const programs = builtPrograms();
const SOAK = path.resolve(import.meta.dirname, "soak.mjs");
const MINUTES = "2";
/** Their outputs are as many as are kept before it is over. */
const JOBS = "16";

const [MEMORY = ""] = Object.keys(ALLOWED);

/** So many samples, one a minute. */
function samplesOf(valueAt: (minute: number) => number): readonly Sample[] {
  return Array.from({ length: 60 }, (_, minute) => ({ minute, values: { [MEMORY]: valueAt(minute) } }));
}

describe("what is watched is judged", () => {
  test.each<[name: string, valueAt: (minute: number) => number, isGrown: boolean]>([
    ["what stays as it is", () => 100, false],
    ["what goes up and down", (minute) => 100 + (minute % 10) * 20, false],
    ["what grows at the beginning alone", (minute) => Math.min(300, 100 + 20 * minute), false],
    ["what grows a little", (minute) => 100 + minute / 2, false],
    ["what grows and grows", (minute) => 100 + 3 * minute, true],
    ["what grows by leaps", (minute) => 100 + Math.floor(minute / 15) * 60, true],
    ["what grows while it goes up and down", (minute) => 100 + 5 * minute + (minute % 10) * 2, true],
  ])("R17: a slope: %s", (_, valueAt, isGrown) => {
    expect(grown(samplesOf(valueAt)).length > 0).toBe(isGrown);
  });
});

test("R17: memory, descriptors, files and lateness of a daemon do not grow in minutes of jobs, endpoints and messages", async () => {
  const args = ["--minutes", MINUTES, "--jobs", JOBS, "--slack", "4", "--programs", path.dirname(programs().krond)];
  // Something has grown: it ends with 1, which rejects with all that it has said.
  const { stdout } = await promisify(execFile)(process.execPath, [SOAK, ...args]);
  console.log(stdout);
  const [, runs = "0", messages = "0"] = /(\d+) runs, (\d+) messages/.exec(stdout) ?? [];
  expect([Number(runs) > 50, Number(messages) > 0]).toEqual([true, true]);
});
