import { describe, expect, test } from "vitest";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import type { LogLevel } from "../../../src/core/base/errors/registry.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import { verifyRecord } from "../../../src/core/decision/verify.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { errorEvent, fatalEvent, problemEvent } from "../../../src/krond/log/log.js";
import { createLog, type KronLog, type LogOptions, usualLogFormat } from "../../../src/krond/log/logging.js";
import { LOG_FIELD_LIMITS, redacted } from "../../../src/operations/redaction.js";
import { requireErr } from "../../support/results.js";
import { at, ruleOf } from "../../support/scheduling.js";

interface Captured {
  readonly log: KronLog;
  readonly lines: readonly string[];
}

function captured(options: Partial<LogOptions> = {}): Captured {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) > 0 };
  return { log: createLog({ format: "json", sink, now: () => at("2026-11-18T12:00:00Z"), ...options }), lines };
}

function parsed({ lines }: Captured): Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line));
}

const NOW = at("2026-11-18T12:00:00Z");
const PERIOD = { identity: "prod/db", period_id: "2026-11-18T11:00:00Z" };
const CONTEXT = { component: "executor", operation: "arm", identity: "prod/db", periodId: PERIOD.period_id } as const;

/** What the daemon says of itself. */
function say(log: KronLog, event: string, fields: Record<string, unknown>, level: LogLevel = "info"): void {
  log.daemon({ at: NOW, event, component: "scheduler", level, fields });
}

describe("lines", () => {
  test("JSON: level, time without a fraction (S1), component, event, then the fields", () => {
    const it = captured();
    say(it.log, "before_definition", PERIOD);
    expect(it.lines).toEqual([
      '{"level":"info","time":"2026-11-18T12:00:00Z","component":"scheduler","event":"before_definition",' +
        '"identity":"prod/db","period_id":"2026-11-18T11:00:00Z"}',
    ]);
  });

  test("S1: the time is told to the second, at whatever instant", () => {
    const it = captured();
    it.log.daemon({ at: NOW + 999, event: "draining", component: "scheduler", level: "info" });
    it.log.supervisor({ at: NOW + 1, event: "resumed", component: "scheduler", level: "info", identity: "prod/db" });
    expect(it.lines.map((line) => (JSON.parse(line) as { time: string }).time)).toEqual([
      "2026-11-18T12:00:00Z",
      "2026-11-18T12:00:00Z",
    ]);
  });

  test("text: TIMESTAMP level= component= event= key=value; what needs quotes has them, null is not shown", () => {
    const it = captured({ format: "text" });
    say(it.log, "paused", { identity: "a b", until: "2026-11-19T00:00:00Z", reason: 'say "hi"=\n' });
    say(it.log, "completed", { ...PERIOD, pid: 7, source: null, exit_code: 0, signal: null, reason: null });
    say(it.log, "ready", { pid: 1, jobs: 2, files: ["a.yaml", "b.kron"], state: "/var/lib/krond" });
    expect(it.lines).toEqual([
      '2026-11-18T12:00:00Z level=info component=scheduler event=paused identity="a b" until=2026-11-19T00:00:00Z reason="say \\"hi\\"=\\n"',
      "2026-11-18T12:00:00Z level=info component=scheduler event=completed identity=prod/db period_id=2026-11-18T11:00:00Z pid=7 exit_code=0",
      "2026-11-18T12:00:00Z level=info component=scheduler event=ready pid=1 jobs=2 files=a.yaml,b.kron state=/var/lib/krond",
    ]);
  });

  test.each(["json", "text"] as const)("%s: one line, and nothing in it speaks to the terminal", (format) => {
    const it = captured({ format });
    say(it.log, "removed", { identity: "a\nb\r\u001b[31m\u0085\u009b\u2028\u202e\u007f" });
    expect(it.lines).toHaveLength(1);
    expect(it.lines[0]).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });

  test("below the least level nothing is written", () => {
    const it = captured();
    say(it.log, "constraint_reject", { ...PERIOD, candidate_time: "2026-11-18T11:00:01Z" }, "debug");
    say(it.log, "reschedule", { identity: "a" }, "debug");
    expect(it.lines).toEqual([]);
    const all = captured({ least: "debug" });
    say(all.log, "reschedule", { identity: "a" }, "debug");
    expect(all.lines).toHaveLength(1);
  });

  test("a supervisor's event and a daemon's are lines like any other", () => {
    const it = captured();
    const now = at("2026-11-18T12:00:00Z");
    const error = new KronError("fork-failed", "no process", {
      component: "executor",
      operation: "arm",
      cause: "EAGAIN",
    });
    it.log.supervisor({
      at: now,
      event: "started",
      component: "executor",
      level: "info",
      identity: "a",
      fields: { pid: 3 },
    });
    it.log.supervisor({
      at: now,
      event: "error",
      component: "executor",
      level: "error",
      identity: "a",
      periodId: "p",
      error,
    });
    it.log.daemon({ at: now, event: "ready", component: "scheduler", level: "info", fields: { jobs: 1 } });
    expect(parsed(it)).toMatchObject([
      { event: "started", component: "executor", identity: "a", pid: 3 },
      { event: "error", error_type: "ExecutionError", operation: "arm", message: "no process: EAGAIN", period_id: "p" },
      { event: "ready", jobs: 1 },
    ]);
  });

  test("SPEC Observability: a decision in a line can be recomputed off-line", () => {
    const compiled = compileRule(ruleOf({ window: { mode: "after", durationMs: 3_600_000 } }));
    const versions = { tzVersion: "2025c", engineVersion: "0.1.0" };
    const record = toDecisionRecord(compiled, decide(compiled, at(PERIOD.period_id)), versions);
    const it = captured();
    say(it.log, "decision", { ...PERIOD, decision: record });
    const { decision } = parsed(it)[0] as { decision: Record<string, unknown> };
    expect(verifyRecord(decision, versions)).toMatchObject({ ok: true, differences: [] });
    const text = captured({ format: "text" });
    say(text.log, "decision", { ...PERIOD, decision: record });
    expect(text.lines[0]).toContain(`chosen_time=${record.chosen_time} decision={`);
    expect(text.lines[0]?.split(record.seed_hash)).toHaveLength(2);
    const told: unknown = JSON.parse(text.lines[0]?.split(" decision=").at(-1) ?? "");
    expect(verifyRecord(told, versions)).toMatchObject({ ok: true, differences: [] });
  });

  test.each([
    ["debug", 7],
    ["info", 6],
    ["warn", 4],
    ["error", 3],
  ] as const)("journal: %s has the priority %i, and the time is the journal's own business", (level, priority) => {
    const journal = captured({ format: "journal", least: "debug" });
    const json = captured({ hasPriorities: true, least: "debug" });
    for (const { log } of [journal, json]) say(log, "ready", { jobs: 1 }, level);
    expect(journal.lines).toEqual([`<${priority}>level=${level} component=scheduler event=ready jobs=1`]);
    expect(json.lines[0]).toMatch(`<${priority}>{"level":"${level}","time":"2026-11-18T12:00:00Z"`);
  });

  test("people at a terminal get text, programs JSON", () => {
    expect([usualLogFormat(true), usualLogFormat(false)]).toEqual(["text", "json"]);
  });
});

describe("ERROR-MODEL Error Logging Contract", () => {
  const CONTRACT = ["identity", "period_id", "component", "error_type", "operation", "message"];

  test("every error line carries all of it, whatever was thrown", () => {
    const it = captured();
    const unusable = new KronError("cwd-unusable", "no such directory", { component: "executor", operation: "arm" });
    it.log.daemon(errorEvent(unusable, CONTEXT, NOW));
    it.log.daemon(errorEvent(new TypeError("x is undefined"), { component: "planner", operation: "plan" }, NOW));
    it.log.daemon(errorEvent("just a text", { component: "api", operation: "listen" }, NOW));
    const problem = { code: "cron-range", message: "25 is out of range", path: ["schedule"] } as const;
    it.log.daemon(problemEvent(problem, CONTEXT, NOW, { line: 3 }));
    for (const line of parsed(it)) expect(Object.keys(line)).toEqual(expect.arrayContaining(CONTRACT));
    expect(parsed(it)).toMatchObject([
      {
        event: "error",
        level: "error",
        identity: "prod/db",
        period_id: PERIOD.period_id,
        error_type: "ExecutionError",
      },
      {
        event: "error",
        component: "planner",
        error_type: "SchedulingError",
        identity: null,
        message: "x is undefined",
      },
      { event: "error", component: "api", message: "just a text" },
      { event: "error", error_type: "ValidationError", message: "schedule: 25 is out of range", line: 3 },
    ]);
  });

  test("Fatal errors are logged at ERROR before the exit", () => {
    const it = captured();
    const failed = new KronError("state-write-failed", "EIO", { component: "persist", operation: "commit" });
    it.log.daemon(fatalEvent(failed, CONTEXT, NOW));
    it.log.daemon(fatalEvent(new Error("anything"), { component: "scheduler", operation: "run" }, NOW));
    expect(parsed(it)).toMatchObject([
      { event: "fatal", level: "error", component: "persist", operation: "commit", fatal: true },
      { event: "fatal", level: "error", component: "scheduler", operation: "run", fatal: true },
    ]);
  });

  test("an error that is none of the program's fault has its own level", () => {
    const it = captured();
    const unconfirmed = new KronError("start-unconfirmed", "?", { component: "executor", operation: "go" });
    it.log.daemon(errorEvent(unconfirmed, CONTEXT, NOW));
    expect(parsed(it)).toMatchObject([{ event: "error", level: "warn" }]);
  });
});

describe("what is never logged", () => {
  const CANARY = "canary-5up3r";

  const secrets: readonly [title: string, fields: Record<string, unknown>][] = [
    ["an environment", { env: { PASSWORD: CANARY } }],
    ["an environment deep inside", { job: { target: { environment: { A: CANARY } } } }],
    ["header values", { headers: { Authorization: CANARY } }],
    ["a header by its name", { Authorization: `Bearer ${CANARY}` }],
    ["a cookie", { "Set-Cookie": CANARY }],
    ["keys", { api_key: CANARY, apiKey: CANARY, keys: [CANARY] }],
    ["passwords and tokens", { password: CANARY, accessToken: CANARY, clientSecret: CANARY }],
    ["a command line", { command: `backup --password ${CANARY}` }],
    ["arguments", { argv: ["backup", CANARY] }],
    ["standard input", { stdin: CANARY }],
    ["a request's body", { body: CANARY }],
    ["an address with a password in a message", { message: `cannot reach https://bob:${CANARY}@example.org/x` }],
    ["a bearer token in a message", { message: `sent Authorization: Bearer ${CANARY}` }],
    ["password=... in a message", { message: `ran x --password=${CANARY} y` }],
    ["--token ... in a message", { message: `ran x --token ${CANARY} y` }],
    ["a quoted secret in a message", { message: `api_key: "${CANARY} and more"` }],
    ["the cause of an error", { cause: new Error(`token=${CANARY}`) }],
    ["inside a list", { jobs: [{ env: { A: CANARY } }] }],
  ];

  test.each(secrets)("%s", (_title, fields) => {
    for (const format of ["json", "text"] as const) {
      const it = captured({ format });
      it.log.daemon({ at: 0, event: "x", component: "config", level: "info", fields });
      expect(it.lines).toHaveLength(1);
      expect(it.lines[0]).not.toContain(CANARY);
      expect(it.lines[0]).toContain("[redacted]");
    }
  });

  const definitions: readonly [title: string, raw: Record<string, unknown>][] = [
    ["a variable of the wrong type", { env: { PASSWORD: 987654321 } }],
    ["a variable with a bad name", { env: { "987654321": "x" } }],
    ["a command in one text", { command: "backup --pw 987654321" }],
    ["an argument of the wrong type", { command: ["backup", 987654321] }],
    [
      "a header of the wrong type",
      { command: undefined, http: { url: "https://example.org", headers: { K: 987654321 } } },
    ],
    ["an address that is none", { command: undefined, http: { url: "987654321" } }],
    ["input of the wrong type", { stdin: 987654321 }],
  ];

  test.each(definitions)("the words of a problem that quote it: %s", (_title, raw) => {
    const problems = requireErr(readJobDefinition({ identity: "a", schedule: "@daily", command: ["x"], ...raw }));
    const it = captured();
    const context = { component: "config", operation: "start" } as const;
    for (const problem of problems) it.log.daemon(problemEvent(problem, context, NOW));
    expect(JSON.stringify(problems)).toContain("987654321");
    expect(it.lines.join("\n").replace(/"env\.987654321: /, "")).not.toContain("987654321");
    expect(parsed(it)[0]).toMatchObject({
      event: "error",
      message: expect.stringMatching(/^\w+(?:\.\w+|\[\d\])*: \w+/),
    });
  });

  test("command lines are logged when they are allowed, environments never", () => {
    const it = captured({ mayLogCommands: true });
    const fields = { command: ["backup", "--full"], env: { A: CANARY } };
    it.log.daemon({ at: 0, event: "x", component: "config", level: "info", fields });
    expect(parsed(it)).toMatchObject([{ command: ["backup", "--full"], env: "[redacted]" }]);
  });

  test("a decision's salt and keys of periods are no secrets: without them nothing could be recomputed", () => {
    const fields = { period_key: "2026-11-18", salt: "backup", seed_hash: "00ff" };
    expect(redacted(fields, false)).toEqual(fields);
  });

  test("what is no secret stays: absence, numbers, words that only sound like one", () => {
    const fields = { env: null, keyboard: "x", message: "the passenger list, tokens spent: none", pid: 1, ok: true };
    expect(redacted(fields, false)).toEqual(fields);
  });

  test("a line has bounds", () => {
    const deep: Record<string, unknown> = {};
    deep["self"] = deep;
    const fields = { text: "x".repeat(100_000), list: Array.from({ length: 1000 }, () => 1), deep };
    const it = captured();
    it.log.daemon({ at: 0, event: "x", component: "config", level: "info", fields });
    expect(it.lines[0]?.length).toBeLessThan(LOG_FIELD_LIMITS.textChars + 1000);
    expect(parsed(it)[0]).toMatchObject({ text: expect.stringMatching(/x\[91808 more\]$/) });
  });
});
