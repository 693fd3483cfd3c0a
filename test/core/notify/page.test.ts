/** docs/notifications.md says what messages have in them, and shows rules that can be written so. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readConfigText } from "../../../src/core/config/readers.js";
import type { NotifyOccasion } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { groupOf, lateMessage, type Message, messageOf } from "../../../src/core/notify/notice.js";
import { happeningOf } from "../../../src/core/notify/trouble.js";
import type { Ending } from "../../../src/core/state/ending.js";
import type { LedgerFact } from "../../../src/core/state/facts.js";
import { requireOk } from "../../support/results.js";

const PAGE = readFileSync("docs/notifications.md", "utf8");
const AT = Date.parse("2026-03-01T00:00:00Z");
const JOB = requireOk(
  readJobDefinition({ identity: "j", schedule: "@daily", command: ["true"], description: "d", tags: ["t"] }),
);
const EXCHANGE = {
  durationMs: 1,
  bytes: 1,
  timings: { dnsMs: 1, connectMs: 1, tlsMs: null, firstByteMs: null },
  excerpt: "said",
  reason: null,
};

function ended(ending: Ending): LedgerFact {
  const run = { attemptId: "a", source: "manual", periodId: "p", pid: 7 } as const;
  return { kind: "run_ended", identity: "j", at: AT, run, holder: "process", ending, endedAt: AT };
}

function told(event: NotifyOccasion, fact: LedgerFact): Message {
  const happening = happeningOf(fact);
  if (happening === null) throw new Error(`nothing to tell: ${fact.kind}`);
  return messageOf("id", event, JOB, happening, { kind: "failure", sinceAt: AT });
}

const messages: readonly Message[] = [
  told("failure", ended({ kind: "exited", code: 7, signal: null, reason: null })),
  told("success", ended({ kind: "answered", status: 200, isExpected: true, ...EXCHANGE })),
  told("failure", ended({ kind: "failed", status: null, isSent: false, detail: "d", ...EXCHANGE, reason: "r" })),
  told("missed", {
    kind: "periods_not_evaluated",
    identity: "j",
    at: AT,
    firstAt: AT,
    lastAt: AT,
    count: 2,
    isCountExact: true,
  }),
  told("missed", {
    kind: "outcome",
    identity: "j",
    at: AT,
    periodId: "p",
    outcome: "missed",
    reason: "deadline",
    nominalAt: AT,
    chosenAt: AT,
  }),
  lateMessage("id", JOB, AT, AT),
  groupOf("id", [], { kind: "mail", to: ["root"] }),
];

describe("docs/notifications.md", () => {
  test("names every field of a message, and none that there is not", () => {
    const [, section = ""] = PAGE.split("## The message");
    const rows = [...(section.split("## ")[0] ?? "").matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
    const named = rows.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name));
    // Only whoever delivers knows the machine.
    const there = [...new Set([...messages.flatMap((message) => Object.keys(message)), "host"])];
    expect([...named].sort()).toEqual(there.sort());
  });

  test("shows rules that can be written so", () => {
    const blocks = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    expect(blocks).toHaveLength(4);
    const readings = blocks.map((text) => readConfigText("yaml", "page.yaml", text));
    expect(readings.flatMap(({ problems }) => problems)).toEqual([]);
    const rules = readings.flatMap(({ jobs }) => jobs.flatMap(({ definition }) => definition.notify));
    expect(new Set(rules.map(({ target }) => target.kind))).toEqual(new Set(["command", "webhook", "mail"]));
  });

  test("its example of a message is one", () => {
    const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? "") as Message;
    const { description: _, tags: __, source: ___, ...like } = messages[0] ?? ({} as Message);
    expect(Object.keys(example)).toEqual(Object.keys(like));
  });
});
