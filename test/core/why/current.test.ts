/** `kron why JOB`, without a period: what holds the job now is said beside what became of the last one. */
import { describe, expect, test } from "vitest";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import type { WhyFacts, WhyVersion } from "../../../src/core/why/facts.js";
import { type LedgerEntry, readLedgerEntry } from "../../../src/core/why/records.js";
import { whyCurrent, whyPeriod } from "../../../src/core/why/why.js";
import { requireOk } from "../../support/results.js";

const at = (text: string): number => Date.parse(`2026-03-01T${text}Z`);

function version(policy: object): WhyVersion {
  const raw = { identity: "t/job", schedule: "0 * * * *", command: ["/bin/true"], policy };
  return { definedAt: at("06:00:00"), definition: requireOk(readJobDefinition(raw)) };
}

function entry(kind: string, about: string, content: object): LedgerEntry {
  const read = readLedgerEntry({ at: at(about), kind, text: JSON.stringify(content) });
  if (read === null) throw new Error(`no entry: ${kind}`);
  return read;
}

const MISSED = entry("period", "12:00:00", { outcome: "missed", reason: "deadline", at: "then", decision: null });
const PAUSED = entry("paused", "12:30:00", {
  at: "2026-03-01T12:30:00Z",
  until: "2026-03-01T15:00:00Z",
  reason: "work",
});
const RESUMED = entry("resumed", "12:40:00", { at: "2026-03-01T12:40:00Z" });

const FACTS: WhyFacts = {
  identity: "t/job",
  daemon: "running",
  nominalAt: at("12:00:00"),
  now: at("12:50:00"),
  versions: [version({})],
  document: null,
  entries: [MISSED],
  spans: [{ bootedAt: at("00:00:00"), at: at("23:00:00") }],
  keptFromAt: at("00:00:00"),
};

describe("asked about no period in particular", () => {
  test.each<[name: string, facts: Partial<WhyFacts>, said: string]>([
    ["paused since", { entries: [MISSED, PAUSED] }, "; now it is paused until 2026-03-01T15:00:00Z (work)"],
    [
      "paused for a reason that would speak to a terminal",
      { entries: [MISSED, { ...PAUSED, reason: "ok\u001b]0;x\u0007\nfree" } as typeof PAUSED] },
      "; now it is paused until 2026-03-01T15:00:00Z (ok\ufffd]0;x\ufffd\ufffdfree)",
    ],
    ["paused, and lifted", { entries: [MISSED, PAUSED, RESUMED] }, ""],
    ["a pause that is over", { entries: [MISSED, PAUSED], now: at("15:00:00") }, ""],
    ["suspended", { versions: [version({ suspend: true })] }, "; now it is suspended by its configuration"],
    ["held by nothing", {}, ""],
  ])("%s", (_, facts, said) => {
    const answer = whyCurrent({ ...FACTS, ...facts });
    expect({ ...answer, text: "" }).toEqual({ ...whyPeriod({ ...FACTS, ...facts }), text: "" });
    expect(answer.text).toBe(`${whyPeriod({ ...FACTS, ...facts }).text}${said}`);
  });

  test("what speaks of the pause already is not repeated", () => {
    const facts = { ...FACTS, entries: [PAUSED], nominalAt: at("13:00:00") };
    expect(whyCurrent(facts)).toEqual(whyPeriod(facts));
    expect(whyPeriod(facts).text).toContain("paused until");
  });
});
