/** S43: what `why` says of a period whose run was tried again. */
import { describe, expect, test } from "vitest";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import type { RetryState } from "../../../src/core/state/document.js";
import { newDocument } from "../../../src/core/state/document.js";
import { type LedgerEntry, readLedgerEntry } from "../../../src/core/why/records.js";
import { whyPeriod } from "../../../src/core/why/why.js";
import { requireOk } from "../../support/results.js";

const at = (text: string): number => Date.parse(`2026-03-01T${text}Z`);
const NOON = "2026-03-01T12:00:00Z";

function entry(kind: string, about: number, content: object): LedgerEntry {
  const read = readLedgerEntry({ at: about, kind, text: JSON.stringify(content) });
  if (read === null) throw new Error(`no entry: ${kind}`);
  return read;
}

const outcome = entry("period", at("12:00:00"), { outcome: "executed", reason: null, at: NOON, decision: null });
const ended = (code: number) => ({
  pid: 7,
  ended_at: "2026-03-01T12:00:09Z",
  exit_code: code,
  signal: null,
  reason: null,
});
const first = entry("run", at("12:00:00"), { period_id: NOON, source: null, started_at: NOON, ...ended(1) });
const retry = (attempt: number, more: object): LedgerEntry => {
  const slot = `2026-03-01T12:0${attempt}:00Z`;
  const about = { period_id: slot, source: "retry", retry_of: NOON, attempt, started_at: slot };
  return entry("run:retry", Date.parse(slot), { ...about, ...more });
};

function why(entries: readonly LedgerEntry[], more: { readonly retry?: RetryState; readonly running?: boolean } = {}) {
  const raw = { identity: "a", schedule: "0 * * * *", command: ["true"], retry: { limit: 3 } };
  const definition = requireOk(readJobDefinition(raw));
  const active = { PeriodID: "2026-03-01T12:02:00Z", PID: 7, StartedAt: NOON, ChosenTime: NOON, Source: "retry" };
  return whyPeriod({
    identity: "a",
    daemon: "running",
    nominalAt: at("12:00:00"),
    now: at("12:30:00"),
    versions: [{ definedAt: at("06:00:00"), definition }],
    document: {
      ...newDocument("a"),
      LastHandledPeriodID: NOON,
      LastOutcome: "executed",
      ...(more.retry === undefined ? {} : { Retry: more.retry }),
      ActiveExecution: more.running === true ? { ...active, RetryOf: NOON, Attempt: 2 } : null,
    },
    entries: [outcome, ...entries],
    spans: [{ bootedAt: at("00:00:00"), at: at("23:00:00") }],
    keptFromAt: at("00:00:00"),
  });
}

describe("S43: why", () => {
  test("says which attempts there were, and of how many", () => {
    const answer = why([first, retry(3, ended(0)), retry(2, ended(1))]);
    expect([answer.kind, answer.attempts?.length]).toEqual(["executed", 2]);
    expect(answer.text).toMatch(/exit code 1; 2nd of 4 attempts: .*exit code 1; 3rd of 4 attempts: .*exit code 0$/);
  });

  test("says when the next one is due", () => {
    const pending = { PeriodID: NOON, Attempt: 2, At: "2026-03-01T12:31:00Z" };
    expect(why([first], { retry: pending }).text).toMatch(/; the 2nd of 4 attempts is due at 2026-03-01T12:31:00Z$/);
  });

  test("says that one runs", () => {
    const answer = why([first, retry(2, { pid: 7, ended_at: null })], { running: true });
    expect([answer.kind, answer.run?.exit_code]).toEqual(["running", 1]);
  });

  test("says that there is to be none, and that there were enough", () => {
    expect(why([first]).text).toMatch(/not tried again: the next period/);
    const all = [first, retry(2, ended(1)), retry(3, ended(1)), retry(4, ended(1))];
    expect(why(all).text).toMatch(/4th of 4 attempts: .*that was the last of them$/);
  });
});
