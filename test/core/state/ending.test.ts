import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ABORTED_LATE,
  BODY_UNEXPECTED,
  type Ending,
  EXIT_UNSEEN,
  endedFor,
  endingFields,
  endingText,
  isSuccess,
  NODE_LOST,
  readEnding,
  resultOf,
  START_UNCONFIRMED,
} from "../../../src/core/state/ending.js";
import { endingOf } from "../../../src/core/state/past-runs.js";

const TIMINGS = { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 4 };
const EXCHANGE = { durationMs: 12, bytes: 4, timings: TIMINGS, excerpt: "well" };

const ROWS: readonly [title: string, ending: Ending, isSuccess: boolean, result: string, text: string][] = [
  ["exit code 0", { kind: "exited", code: 0, signal: null, reason: null }, true, "success", "0"],
  ["exit code 3", { kind: "exited", code: 3, signal: null, reason: null }, false, "failure", "3"],
  ["a signal", { kind: "exited", code: null, signal: "SIGTERM", reason: "timeout" }, false, "signal", "SIGTERM"],
  [
    "an answer that counts",
    { kind: "answered", status: 404, isExpected: true, reason: null, ...EXCHANGE },
    true,
    "success",
    "HTTP 404",
  ],
  [
    "an answer that does not",
    { kind: "answered", status: 200, isExpected: false, reason: null, ...EXCHANGE, excerpt: null },
    false,
    "failure",
    "HTTP 200",
  ],
  [
    "no answer",
    { kind: "failed", status: null, isSent: true, detail: "why", reason: "timeout", ...EXCHANGE },
    false,
    "failure",
    "no answer",
  ],
  ["a job that completed", { kind: "job", condition: "Complete", reason: null }, true, "success", "Complete"],
  ["a job that failed", { kind: "job", condition: "Failed", reason: "BackoffLimit" }, false, "failure", "Failed"],
  ["an end nobody saw", EXIT_UNSEEN, false, "unknown", "unknown"],
  ["an end with a node that is gone", NODE_LOST, false, "unknown", "unknown"],
  ["no start", START_UNCONFIRMED, false, "unknown", "unknown"],
  ["a start that was too late", ABORTED_LATE, false, "unknown", "unknown"],
];

describe("how a run ended", () => {
  test.each(ROWS)("%s", (_, ending, success, result, text) => {
    expect([isSuccess(ending), resultOf(ending), endingText(ending)]).toEqual([success, result, text]);
    expect(readEnding({ ...endingFields(ending) })).toEqual(ending);
  });

  test.each([
    ["timeout", "node_lost"],
    ["cancelled", "cancelled"],
    ["replaced", "replaced"],
  ])("C15, S43: of a run that is lost, and was to end for %s, the reason is %s", (wanted, reason) => {
    expect(endedFor(NODE_LOST, wanted)).toEqual({ kind: "unseen", reason });
    expect(endedFor(EXIT_UNSEEN, wanted).reason).toBe(wanted);
  });

  test("what the history knows of an answer with another body is an answer, and no success", () => {
    const at = "2026-03-01T00:00:00Z";
    const entry = {
      PeriodID: at,
      Outcome: "executed",
      NominalTime: at,
      ChosenTime: at,
      CompletedAt: at,
      StartedAt: at,
    } as const;
    const answer = { ...entry, ExitCode: null, Holder: "request", Status: 200, Reason: BODY_UNEXPECTED } as const;
    const ending = endingOf(answer, () => true);
    expect([isSuccess(ending), endingText(ending)]).toEqual([false, "HTTP 200, body"]);
  });

  test("S36: of a process it is written as it always was", () => {
    const ending = { kind: "exited", code: 3, signal: null, reason: null } as const;
    expect(JSON.stringify(endingFields(ending))).toBe('{"exit_code":3,"signal":null,"reason":null}');
    expect(JSON.stringify(endingFields(EXIT_UNSEEN))).toBe('{"exit_code":null,"signal":null,"reason":"exit_unseen"}');
  });

  test("whatever stands in a record, reading it assumes no success", () => {
    const anything = fc.dictionary(
      fc.constantFrom("exit_code", "signal", "reason", "status", "sent", "detail", "bytes", "timings", "excerpt"),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(anything, (fields) => {
        const ending = readEnding(fields);
        expect(isSuccess(ending)).toBe(fields["exit_code"] === 0 && typeof fields["sent"] !== "boolean");
      }),
    );
  });
});
