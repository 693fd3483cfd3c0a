/** Schedules that krond knows and that mean nothing to a KronJob: refused, with what to write instead. */
import { expect, test } from "vitest";
import { problemText, readKronJob } from "../../src/operator/definition.js";
import { kronJob } from "./support/samples.js";

test.each([
  ["@reboot", "spec.schedule: @reboot means nothing in a cluster: no machine is its own (write a cron schedule)"],
  [
    "@at 2026-12-01T03:00",
    "spec.schedule: @at names one time, and a KronJob is for times that return (write a cron schedule, or let krond run it)",
  ],
])("what krond knows and no KronJob: %s", (schedule, wanted) => {
  const read = readKronJob(kronJob({ schedule }));
  expect(read.ok ? [] : read.error.map(problemText)).toEqual([wanted]);
});
