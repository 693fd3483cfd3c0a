import { readFileSync } from "node:fs";
import * as path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import * as library from "../../src/scheduler/index.js";
import { temporaryDirectories } from "../support/temporary.js";
import { examplesOf, matches, removeExamples, run } from "./testing/support/examples.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const GUIDE = readFileSync(path.join(ROOT, "docs/scheduler.md"), "utf8");
const EXAMPLES = examplesOf(GUIDE).map((example, i) => ({ name: `docs/scheduler.md ${i + 1}`, example }));
const TYPES = readFileSync(path.join(ROOT, "src/scheduler/types.ts"), "utf8");

/** One error of every exported class, made as the library makes it. */
const cause = new Error("for a reason");
const place = { registrationIndex: 0, taskName: "backup" };
const ERRORS: readonly library.SchedulerError[] = [
  new library.RegistrationsNotArrayError(),
  new library.RegistrationShapeError(place, null, "must be an array, got null"),
  new library.InvalidRegistrationError("name", "", "must be a non-empty string", place),
  new library.ScheduleDuplicateTaskError("backup", 1),
  new library.CronExpressionInvalidError(new library.InvalidCronExpressionError("", "expression", "is empty"), place),
  new library.NegativeRetryDelayError(-1, place),
  new library.SchedulerAlreadyActiveError("running"),
  new library.TaskUnavailableError("backup", "the scheduler is not running"),
  new library.SchedulerInitializationError(cause),
  new library.TaskStoreError("reconcile", cause),
  new library.InvalidCronExpressionError("", "expression", "is empty"),
  new library.FieldParseError("minute field is empty", "", "minute"),
  new library.CronCalculationError("0 0 30 2 *", "2026-01-01T00:00:00.000Z", cause),
  new library.TaskTryDeserializeError("unreadable", {}),
  new library.TaskMissingFieldError("cron"),
  new library.TaskInvalidTypeError("cron", 1, "string"),
  new library.TaskInvalidValueError("cron", "", "must not be empty"),
  new library.TaskInvalidStructureError("no record", null),
];

/** The cells of all table rows below a heading, without their backquotes. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = GUIDE.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim()));
}

function quoted(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

describe("the guide", () => {
  const temporary = temporaryDirectories();
  const home = process.cwd();
  // The default store lies in the working directory.
  beforeEach(() => process.chdir(temporary()));
  afterEach(() => process.chdir(home));
  afterAll(removeExamples);

  test.each(EXAMPLES)("$name prints what it says", async ({ name, example }) => {
    const printed = await run(name, example);
    const unexpected = printed.filter((line, i) => !matches(line, example.prints[i] ?? ""));
    expect({ unexpected, lines: printed.length }).toEqual({ unexpected: [], lines: example.prints.length });
  });

  test("names every event of the Declarative Scheduler with its fields", () => {
    const union = TYPES.split("export type SchedulerEvent")[1]?.split("export type RunCause")[0] ?? "";
    const members = union.split(/\n {2}\| /).slice(1);
    const types = members.map((member) => /type: "(\w+)"/.exec(member)?.[1]);
    const fieldsOf = (member: string) => [...member.matchAll(/readonly (\w+):/g)].map(([, name]) => name).slice(1);
    const ours = members.map((member, i) => [types[i], fieldsOf(member)]);
    const inherited = new Map([["Reconciled", ["added", "removed", "modified", "orphaned", "changes"]]]);
    const expected = ours.map(([type, fields]) => [type, inherited.get(String(type)) ?? fields]);
    const told = rowsOf("Events").map(([, type, fields]) => [quoted(type)[0], quoted(fields)]);
    expect(told.sort()).toEqual(expected.sort());
  });

  test("names every option", () => {
    const options = TYPES.split("export interface SchedulerOptions {")[1]?.split("\n}")[0] ?? "";
    const names = [...options.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name);
    expect(rowsOf("Options").map(([, name]) => quoted(name)[0])).toEqual(expect.arrayContaining(names));
    expect(rowsOf("Options")).toHaveLength(names.length);
  });

  test("names every error of the Declarative Scheduler with its code and its facts", () => {
    const classes = Object.keys(library).filter((name) => name.endsWith("Error") && name !== "SchedulerError");
    expect(ERRORS.map(({ name }) => name).sort()).toEqual(classes.sort());
    const told = rowsOf("Errors").map(([, name, code, facts]) => [quoted(name)[0], quoted(code)[0], quoted(facts)]);
    expect(told).toEqual(ERRORS.map((error) => [error.name, error.code, Object.keys(error.details)]));
  });
});
