/** R5, the other half: the same check over protocols with one rule taken out. It has to find each of them out. */
import { describe, expect, test } from "vitest";
import type { Concurrency } from "../../src/core/job/definition.js";
import * as controls from "./controls.js";
import { explore } from "./explore.js";
import { type Bounds, EPOCH, settingOf, TICK_MS } from "./world.js";

interface Row {
  readonly title: string;
  readonly protocol: controls.Protocol;
  readonly concurrency: Concurrency;
  readonly violation: string;
  readonly bounds?: Partial<Bounds>;
}

const tick = (n: number): number => EPOCH + n * TICK_MS;
const ONESHOT = { kind: "oneshot", nextRunAt: tick(1), expiresAt: tick(2), reason: "r" } as const;
const INTERVAL = { kind: "interval", intervalMs: TICK_MS, expiresAt: tick(1), reason: "r" } as const;

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
  {
    title: "S23: a request before its claim: it is sent again after a crash",
    protocol: controls.GO_FIRST,
    concurrency: "forbid",
    violation: "began twice",
    bounds: { holder: "request" },
  },
  {
    title: "R14: a request whose answer nobody saw is sent again after a restart",
    protocol: controls.UNSEEN_REOPENS,
    concurrency: "forbid",
    violation: "began twice",
    bounds: { holder: "request" },
  },
  {
    title: "S42: a one-shot that is not consumed: its slot runs again",
    protocol: controls.ONESHOT_KEPT,
    concurrency: "allow",
    violation: "hint-oneshot 2026-03-01T00:00:30Z began twice",
    bounds: { hints: [ONESHOT], lastTick: 1 },
  },
  {
    title: "S41: a hint that survives its TTL",
    protocol: controls.HINT_SURVIVES,
    concurrency: "allow",
    violation: "for a hint that was over",
    bounds: { hints: [INTERVAL] },
  },
];

describe("R5: the check fails without", () => {
  test.each(ROWS)("$title", ({ title, protocol, concurrency, violation, bounds }) => {
    const setting = settingOf({ concurrency }, { lastTick: 2, gateLosses: 0, manualRuns: 0, ...bounds }, protocol);
    const seen = explore(setting, (found) => found.includes(violation));
    console.info(`R5 control "${title}": ${seen.violation} after ${seen.trace.length} steps, ${seen.states} states`);
    expect(seen.violation).toContain(violation);
  });
});
