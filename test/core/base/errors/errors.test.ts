import { describe, expect, test } from "vitest";
import { spawnErrorCode } from "../../../../src/core/base/errors/errno.js";
import { exitStatusOf } from "../../../../src/core/base/errors/exit-status.js";
import { errorFields, errorLevel, problemFields } from "../../../../src/core/base/errors/fields.js";
import { KronError } from "../../../../src/core/base/errors/kron-error.js";
import { ERROR_CATEGORIES, ERRORS, type ErrorCode, errorKind } from "../../../../src/core/base/errors/registry.js";

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe("registry", () => {
  test.each(ERROR_CATEGORIES)("ERROR-MODEL categories: %s has codes", (category) => {
    expect(CODES.some((code) => errorKind(code).category === category)).toBe(true);
  });

  test.each<[row: string, code: ErrorCode, category: string, fatal: boolean]>([
    ["syntax is invalid", "cron-syntax", "ConfigurationError", false],
    ["required fields missing", "field-missing", "ConfigurationError", false],
    ["unknown distribution", "distribution-unknown", "ConfigurationError", false],
    ["unknown seed strategy", "seed-strategy-unknown", "ConfigurationError", false],
    ["invalid timezone", "timezone-unknown", "ConfigurationError", false],
    ["negative durations", "duration-negative", "ConfigurationError", false],
    ["window duration too large", "window-overlap", "ValidationError", false],
    ["constraint clauses malformed", "constraint-syntax", "ValidationError", false],
    ["distribution parameters out of range", "distribution-parameter-range", "ValidationError", false],
    ["decision computation cannot proceed", "decision-failed", "SchedulingError", false],
    ["internal invariant violation", "invariant-broken", "SchedulingError", false],
    ["constraint evaluation fails", "constraint-evaluation-failed", "ConstraintError", false],
    ["fork fails", "fork-failed", "ExecutionError", false],
    ["exec fails", "exec-failed", "ExecutionError", false],
    ["permission drop fails", "privilege-drop-failed", "ExecutionError", false],
    ["command not found", "command-not-found", "ExecutionError", false],
    ["process exits with non-zero code", "exit-nonzero", "ExecutionError", false],
    ["state write, fsync or rename fails", "state-write-failed", "PersistenceError", true],
    ["state unreadable", "state-unreadable", "PersistenceError", true],
    ["one corrupt document, recovered", "state-document-corrupt", "PersistenceError", false],
    ["PID verification fails", "pid-unverifiable", "SystemError", false],
    ["resource exhaustion", "memory-exhausted", "SystemError", false],
    ["file descriptor exhaustion", "descriptors-exhausted", "SystemError", false],
    ["lock acquisition fails", "lock-held", "SystemError", true],
    ["state version unsupported, required fields missing", "state-incompatible", "IncompatibleStateError", true],
    ["migration fails", "state-migration-failed", "IncompatibleStateError", true],
    ["replace and termination fails", "replace-not-terminated", "ExecutionError", false],
  ])("ERROR-MODEL: %s", (_row, code, category, fatal) => {
    expect([errorKind(code).category, errorKind(code).fatal]).toEqual([category, fatal]);
  });

  test("ERROR-MODEL: every fatal error is logged at level error", () => {
    expect(CODES.filter((code) => errorKind(code).fatal && errorKind(code).level !== "error")).toEqual([]);
  });

  test("ERROR-MODEL: bad input, decisions and executions never end the daemon", () => {
    const harmless = ["ConfigurationError", "ValidationError", "SchedulingError", "ConstraintError", "ExecutionError"];
    expect(CODES.filter((code) => errorKind(code).fatal && harmless.includes(errorKind(code).category))).toEqual([]);
  });
});

describe("error lines", () => {
  const cause = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const error = new KronError("state-write-failed", "cannot commit", {
    component: "persist",
    operation: "commit",
    identity: "a/b",
    periodId: "2026-03-01T00:00:00Z",
    cause,
  });

  test("ERROR-MODEL logging contract: identity, period_id, component, error_type, operation, message", () => {
    expect(errorFields(error, { component: "scheduler", operation: "tick" })).toEqual({
      identity: "a/b",
      period_id: "2026-03-01T00:00:00Z",
      component: "persist",
      error_type: "PersistenceError",
      operation: "commit",
      message: "cannot commit: ENOSPC: no space left on device",
      error_code: "state-write-failed",
      fatal: true,
    });
  });

  test("ERROR-MODEL logging contract: the keys are there even where they do not apply", () => {
    const bare = new KronError("lock-held", "held", { component: "persist", operation: "lock" });
    expect(errorFields(bare, { component: "scheduler", operation: "boot", identity: "x" })).toMatchObject({
      identity: "x",
      period_id: null,
    });
  });

  test("ERROR-MODEL: what is no known failure is an internal invariant violation", () => {
    expect(errorFields(new Error("invariant broken: x"), { component: "scheduler", operation: "tick" })).toMatchObject({
      error_type: "SchedulingError",
      operation: "tick",
      message: "invariant broken: x",
    });
    expect(errorFields("text", { component: "scheduler", operation: "tick" }).message).toBe("text");
  });

  test("ERROR-MODEL: bad input says where it is", () => {
    const problem = { code: "duration-negative", message: "is negative", path: ["jobs", 3, "window"] } as const;
    expect(problemFields(problem, { component: "config", operation: "load" })).toMatchObject({
      error_type: "ConfigurationError",
      message: "jobs.3.window: is negative",
    });
  });

  test("levels follow the registry", () => {
    const unconfirmed = new KronError("start-unconfirmed", "x", { component: "executor", operation: "recover" });
    expect([errorLevel(error), errorLevel(unconfirmed), errorLevel("?")]).toEqual(["error", "warn", "error"]);
  });
});

describe("tables", () => {
  test.each([
    ["ENOENT", "command-not-found"],
    ["EACCES", "command-not-executable"],
    ["EAGAIN", "fork-failed"],
    ["EMFILE", "descriptors-exhausted"],
    ["ENFILE", "descriptors-exhausted"],
    ["ENOMEM", "memory-exhausted"],
    ["E2BIG", "command-too-long"],
    ["EWHATEVER", "fork-failed"],
    ["constructor", "fork-failed"],
  ])("S24: %s while spawning is %s", (errno, code) => {
    expect(spawnErrorCode(errno)).toBe(code);
  });

  test.each<[code: ErrorCode, status: number]>([
    ["cron-syntax", 2],
    ["window-overlap", 2],
    ["config-unreadable", 2],
    ["state-incompatible", 3],
    ["state-migration-failed", 3],
    ["state-missing", 3],
    ["state-unreadable", 3],
    ["lock-held", 4],
    ["state-write-failed", 5],
    ["invariant-broken", 5],
    ["lock-unavailable", 5],
  ])("exit status of %s is %s", (code, status) => {
    expect(exitStatusOf(code)).toBe(status);
  });
});
