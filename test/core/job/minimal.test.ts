import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minimalRaw } from "../../../src/core/job/minimal.js";
import { type RawDefaults, readJobDefaults, readJobDefinition } from "../../../src/core/job/schema.js";
import { FUZZ } from "../../support/fuzz.js";
import { rawJobs } from "../../support/raw-jobs.js";
import { requireOk } from "../../support/results.js";

const DEFAULTS: readonly RawDefaults[] = [
  {},
  { timezone: "Europe/Berlin", policy: { deadline: "1m", concurrency: "forbid" }, env: { A: "1" } },
  { window: { duration: "10m" }, distribution: "skewEarly", shell: true, umask: "027" },
  { output: { to: "discard", max: "1MB" }, dst: { gap: "next" }, constraints: { only: "dow=MON" }, timeout: "1h" },
];

describe("a definition with nothing said that goes without saying", () => {
  const rows: readonly [title: string, raw: object, defaults: RawDefaults, expected: object][] = [
    ["only what it must", {}, {}, {}],
    ["what is as usual goes", { timezone: "UTC", window: { mode: "after", duration: "0s" }, shell: false }, {}, {}],
    ["what is not stays", { window: { duration: "5m" } }, {}, { window: { duration: "5m" } }],
    [
      "of a group only what differs",
      { policy: { deadline: "1m", suspend: false } },
      {},
      { policy: { deadline: "1m" } },
    ],
    ["a default need not be repeated", { timezone: "Asia/Tokyo" }, { timezone: "Asia/Tokyo" }, {}],
    ["a default that does not hold is contradicted", {}, { timezone: "Asia/Tokyo" }, { timezone: "UTC" }],
    ["variables are merged", { env: { A: "1", B: "2" } }, { env: { A: "1" } }, { env: { B: "2" } }],
  ];

  test.each(rows)("%s", (_title, more, rawDefaults, expected) => {
    const base = { identity: "a", schedule: "@daily", command: ["x"] };
    const defaults = requireOk(readJobDefaults(rawDefaults));
    expect(minimalRaw(requireOk(readJobDefinition({ ...base, ...more })), defaults)).toEqual({ ...base, ...expected });
  });

  test.each(DEFAULTS.map((rawDefaults) => [JSON.stringify(rawDefaults), rawDefaults]))(
    "below %s it reads back as the same definition",
    (_text, rawDefaults) => {
      const defaults = requireOk(readJobDefaults(rawDefaults));
      fc.assert(
        fc.property(rawJobs, (raw) => {
          const read = readJobDefinition(raw, defaults);
          fc.pre(read.ok);
          const definition = requireOk(read);
          expect(requireOk(readJobDefinition(minimalRaw(definition, defaults), defaults))).toEqual(definition);
        }),
        { ...FUZZ, numRuns: FUZZ.numRuns / 5 },
      );
    },
  );
});
