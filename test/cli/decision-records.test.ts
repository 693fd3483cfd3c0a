import { describe, expect, test } from "vitest";
import { recordsInLine } from "../../src/cli/decision-records.js";

const RECORD = {
  identity: "a",
  period_id: "2026-03-01T00:00:00Z",
  seed_hash: "00",
  salt: 'with "quotes", {braces} and \\',
};
const TEXT = JSON.stringify(RECORD);

describe("where a record is found", () => {
  const ledger = {
    identity: "a",
    at: 0,
    kind: "period",
    text: JSON.stringify({ outcome: "executed", decision: RECORD }),
  };
  test.each([
    ["alone", TEXT],
    ["in a line of the log", JSON.stringify({ event: "trigger", decision: RECORD })],
    ["as a text in a line of the log", JSON.stringify({ event: "trigger", decision: TEXT })],
    ["spread over a line", JSON.stringify({ event: "decision", ...RECORD })],
    ["in the ledger of an export", JSON.stringify({ sum: 1, body: JSON.stringify(ledger) })],
    [
      "in a text log, in quotes",
      `2026-03-01T00:00:00Z level=info event=trigger decision=${JSON.stringify(TEXT)} pid=1`,
    ],
    ["in a text log, bare", `2026-03-01T00:00:00Z level=info event=trigger decision=${TEXT} pid=1`],
    ["at the end of a line", `level=info decision=${TEXT}`],
  ])("%s", (_title, line) => {
    const [found, ...more] = recordsInLine(line);
    expect([found, more]).toEqual([expect.objectContaining(RECORD), []]);
  });

  test.each([
    ["a line of text", "level=info event=ready"],
    ["a record that was cut off", `level=info decision=${TEXT.slice(0, -5)}`],
    [
      "a run in a ledger",
      JSON.stringify({ sum: 1, body: JSON.stringify({ ...ledger, kind: "run", text: '{"pid":1}' }) }),
    ],
    ["a record of the ledger that is no JSON", JSON.stringify({ sum: 1, body: "{" })],
    ["a row of a history without one", JSON.stringify({ period_id: "x", decision: null })],
    ["nothing", ""],
  ])("not in %s", (_title, line) => {
    expect(recordsInLine(line)).toEqual([]);
  });
});
