/** R5, the other half: the same check over protocols with one rule taken out. It has to find each of them out. */
import { describe, expect, it } from "vitest";
import type { Concurrency } from "../../src/core/job/definition.js";
import * as controls from "./controls.js";
import { explore } from "./explore.js";
import { settingOf } from "./world.js";

interface Row {
  readonly title: string;
  readonly protocol: controls.Protocol;
  readonly concurrency: Concurrency;
  readonly violation: string;
}

const ROWS: readonly Row[] = [
  {
    title: "S12: == for <=: the period runs again",
    protocol: controls.EQUALITY_ONLY,
    concurrency: "forbid",
    violation: "began twice",
  },
  {
    title: "S12: == for <=: the last handled period goes back",
    protocol: controls.EQUALITY_ONLY,
    concurrency: "allow",
    violation: "went back",
  },
  {
    title: "S22: not handled at the start: the period runs again",
    protocol: controls.HANDLED_NEVER,
    concurrency: "forbid",
    violation: "began twice",
  },
  {
    title: "S22: not handled at the start: a second outcome",
    protocol: controls.HANDLED_NEVER,
    concurrency: "replace",
    violation: "second outcome",
  },
  {
    title: "S22: handled at the end: the last handled period goes back",
    protocol: controls.HANDLED_AT_END,
    concurrency: "allow",
    violation: "went back",
  },
  {
    title: "S23: GO before the claim: the period runs again after a crash",
    protocol: controls.GO_FIRST,
    concurrency: "forbid",
    violation: "began twice",
  },
  {
    title: "S23: GO before the claim: a run that is not on record",
    protocol: controls.GO_FIRST,
    concurrency: "replace",
    violation: "runs unrecorded",
  },
  {
    title: "S22: own only: the end of one run takes another off the record",
    protocol: controls.CLEARS_ANY,
    concurrency: "allow",
    violation: "runs unrecorded",
  },
  {
    title: "S13: a gap that is not said passes in silence",
    protocol: controls.SILENT_GAPS,
    concurrency: "forbid",
    violation: "passed over in silence",
  },
];

describe("R5: the check fails without", () => {
  it.each(ROWS)("$title", ({ title, protocol, concurrency, violation }) => {
    const setting = settingOf({ concurrency }, { lastTick: 2, gateLosses: 0, manualRuns: 0 }, protocol);
    const seen = explore(setting, (found) => found.includes(violation));
    console.info(`R5 control "${title}": ${seen.violation} after ${seen.trace.length} steps, ${seen.states} states`);
    expect(seen.violation).toContain(violation);
  });
});
