/** S44: what `why` says of a job that runs at boot. */
import { describe, expect, test } from "vitest";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { type LedgerEntry, readLedgerEntry } from "../../../src/core/why/records.js";
import { whyPeriod } from "../../../src/core/why/why.js";
import { requireOk } from "../../support/results.js";

const at = (text: string): number => Date.parse(`2026-03-01T${text}Z`);
const SLOT = "2026-03-01T12:00:00Z";

function entry(kind: string, content: object): LedgerEntry {
  const read = readLedgerEntry({ at: at("12:00:00"), kind, text: JSON.stringify(content) });
  if (read === null) throw new Error(`no entry: ${kind}`);
  return read;
}

const boot = (slot: string | null): LedgerEntry => entry("boot", { at: SLOT, boot_id: "b", slot });
const run = (more: object): LedgerEntry =>
  entry("run:reboot", { period_id: SLOT, source: "reboot", pid: 7, started_at: SLOT, ...more });
const ENDED = { ended_at: "2026-03-01T12:00:09Z", exit_code: 0, signal: null, reason: null };
const DUE = { Boot: { ID: "b", Due: { Slot: SLOT, Since: SLOT } } };

function why(entries: readonly LedgerEntry[], more: Partial<StateDocument> = {}, suspend = false) {
  const raw = { identity: "a", schedule: "@reboot", command: ["true"], policy: { suspend } };
  return whyPeriod({
    identity: "a",
    daemon: "running",
    nominalAt: at("12:30:00"),
    now: at("12:30:00"),
    versions: [{ definedAt: at("06:00:00"), definition: requireOk(readJobDefinition(raw)) }],
    document: { ...newDocument("a"), ...more },
    entries,
    spans: [{ bootedAt: at("00:00:00"), at: at("23:00:00") }],
    keptFromAt: at("00:00:00"),
  });
}

describe("S44: why", () => {
  test.each<[string, readonly LedgerEntry[], Partial<StateDocument>, string, RegExp]>([
    ["it ran", [boot(SLOT), run(ENDED)], {}, "executed", /^executed at boot: .*exit code 0/],
    [
      "it runs",
      [boot(SLOT), run({ ended_at: null })],
      { ActiveExecution: { PeriodID: SLOT, PID: 7, StartedAt: SLOT, ChosenTime: SLOT, Source: "reboot" } },
      "running",
      /^running since/,
    ],
    [
      "it was missed",
      [boot(SLOT), entry("slot:reboot", { at: SLOT, source: "reboot", outcome: "missed", reason: "deadline" })],
      {},
      "missed",
      /deadline had passed/,
    ],
    ["it is younger", [boot(null)], { Boot: { ID: "b" } }, "before_definition", /waits for the next boot/],
    ["it is due", [boot(SLOT)], DUE, "waiting", /^due since/],
    [
      "it is paused",
      [boot(SLOT)],
      { ...DUE, Pause: { Until: "2026-03-01T13:00:00Z", Reason: "x" } },
      "paused",
      /paused until 2026-03-01T13:00:00Z/,
    ],
    ["the machine went down", [boot(SLOT)], { Boot: { ID: "c" } }, "not_evaluated", /changed again/],
    ["nothing is known", [], {}, "not_yet", /no boot is on record/],
  ])("%s", (_title, entries, document, kind, text) => {
    const answer = why(entries, document);
    expect(answer.kind).toBe(kind);
    expect(answer.text).toMatch(text);
  });

  test("it is suspended; and the answer names the boot that it is about", () => {
    expect(why([boot(SLOT)], DUE, true)).toMatchObject({ kind: "suspended", period_id: SLOT });
  });
});
