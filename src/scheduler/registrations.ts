/**
 * Reads a list of registrations completely before anything else happens. The first error in list order counts; within
 * one registration: shape, name, duplicate, expression, retry delay.
 */

import { err, ok, type Result } from "../core/base/result.js";
import type { CronFields } from "../core/cron/fields.js";
import { zoneOf } from "../core/time/zone.js";
import { type CronDialect, type DialectChoice, parseCron } from "./cron.js";
import {
  CronExpressionInvalidError,
  InvalidCronExpressionError,
  InvalidRegistrationError,
  NegativeRetryDelayError,
  type RegistrationPlace,
  RegistrationShapeError,
  RegistrationsNotArrayError,
  ScheduleDuplicateTaskError,
  type SchedulerError,
} from "./errors.js";
import { typeNameOf } from "./record-errors.js";
import { type RetryDelayProblem, readRetryDelay } from "./retry-delay.js";
import type { Callback } from "./types.js";

/** One registration, read. Equal expressions share one `fields` object. */
export interface RegisteredTask {
  readonly name: string;
  /** As written: configuration identity compares the text. */
  readonly cron: string;
  /** A zone of its own, in the `kron` dialect; absent: that of the scheduler. */
  readonly timeZone?: string;
  readonly fields: CronFields;
  readonly callback: Callback;
  readonly retryDelayMs: number;
}

export interface TaskList {
  readonly tasks: readonly RegisteredTask[];
  /** Position of every task in `tasks`. */
  readonly slotOf: ReadonlyMap<string, number>;
}

/** Expressions repeat; each is parsed once for a list. */
class ExpressionReader {
  readonly #dialect: CronDialect;
  readonly #read = new Map<string, CronFields>();

  constructor(dialect: CronDialect) {
    this.#dialect = dialect;
  }

  read(expression: string, place: RegistrationPlace): Result<CronFields, SchedulerError> {
    const known = this.#read.get(expression);
    if (known !== undefined) return ok(known);
    try {
      const fields = parseCron(expression, { dialect: this.#dialect });
      this.#read.set(expression, fields);
      return ok(fields);
    } catch (error) {
      if (error instanceof InvalidCronExpressionError) return err(new CronExpressionInvalidError(error, place));
      throw error;
    }
  }
}

type Tuple = readonly [name: string, cron: string, callback: Callback, retryDelay: unknown, options?: unknown];

const ELEMENTS = 4;
/** Of the first elements of a registration: what each is, and its type. */
const TYPES = [
  ["the task name", "string"],
  ["the cron expression", "string"],
  ["the callback", "function"],
] as const;

/** Why an entry is no tuple, or null. In the `kron` dialect a fifth element may hold options. */
function shapeProblem(entry: unknown, dialect: CronDialect): string | null {
  if (!Array.isArray(entry)) return `must be an array, got ${typeNameOf(entry)}`;
  const most = dialect === "kron" ? ELEMENTS + 1 : ELEMENTS;
  if (entry.length < ELEMENTS || entry.length > most) return `must have ${ELEMENTS} elements, got ${entry.length}`;
  for (const [i, [what, type]] of TYPES.entries()) {
    const found = typeNameOf(entry[i]);
    if (found !== type) return `element ${i}, ${what}, must be a ${type}, got ${found}`;
  }
  return null;
}

function placeOf(entry: unknown, registrationIndex: number): RegistrationPlace {
  const name: unknown = Array.isArray(entry) ? entry[0] : undefined;
  return typeof name === "string" && name !== "" ? { registrationIndex, taskName: name } : { registrationIndex };
}

function wrongDelayType(value: unknown): string {
  const found = typeNameOf(value);
  const lacks = found === "object" ? "an object without toMillis() or total()" : found;
  return `element 3, the retry delay, must be a duration, got ${lacks}`;
}

function delayError(problem: RetryDelayProblem, value: unknown, place: RegistrationPlace): SchedulerError {
  if (problem.kind === "negative") return new NegativeRetryDelayError(problem.retryDelayMs, place);
  const error = new InvalidRegistrationError("retryDelay", value, problem.reason, place);
  if (problem.cause !== undefined) error.cause = problem.cause;
  return error;
}

/** The zone that the options name, or undefined when they name none. */
function readTimeZone(options: unknown, place: RegistrationPlace): Result<string | undefined, SchedulerError> {
  if (options === undefined) return ok(undefined);
  const refuse = (field: string, value: unknown, reason: string): Result<never, SchedulerError> =>
    err(new InvalidRegistrationError(field, value, reason, place));
  if (typeNameOf(options) !== "object") return refuse("options", options, "must be an object like { timeZone }");
  const unknown = Object.keys(options as object).find((name) => name !== "timeZone");
  if (unknown !== undefined) return refuse("options", options, `must not have ${unknown}: there is only timeZone`);
  const { timeZone } = options as { readonly timeZone?: unknown };
  if (timeZone === undefined) return ok(undefined);
  if (typeof timeZone === "string" && zoneOf(timeZone).ok) return ok(timeZone);
  return refuse("timeZone", timeZone, "must be the IANA id of a zone, like Europe/Berlin");
}

interface ReadingContext {
  readonly dialect: CronDialect;
  readonly taken: ReadonlyMap<string, number>;
  readonly expressions: ExpressionReader;
}

function readTask(entry: unknown, index: number, context: ReadingContext): Result<RegisteredTask, SchedulerError> {
  const place = placeOf(entry, index);
  const misshapen = shapeProblem(entry, context.dialect);
  if (misshapen !== null) return err(new RegistrationShapeError(place, entry, misshapen));
  const [name, cron, callback, retryDelay, options] = entry as Tuple;
  const delay = readRetryDelay(retryDelay);
  if (!delay.ok && delay.error === "wrong-type") {
    return err(new RegistrationShapeError(place, entry, wrongDelayType(retryDelay)));
  }
  if (name === "") return err(new InvalidRegistrationError("name", name, "must be a non-empty string", place));
  if (context.taken.has(name)) return err(new ScheduleDuplicateTaskError(name, index));
  const fields = context.expressions.read(cron, place);
  if (!fields.ok) return fields;
  if (!delay.ok) return err(delayError(delay.error as RetryDelayProblem, retryDelay, place));
  const timeZone = readTimeZone(options, place);
  if (!timeZone.ok) return timeZone;
  const task = { name, cron, fields: fields.value, callback, retryDelayMs: delay.value };
  return ok(timeZone.value === undefined ? task : { ...task, timeZone: timeZone.value });
}

export function readRegistrations(registrations: unknown, dialect: CronDialect): Result<TaskList, SchedulerError> {
  if (!Array.isArray(registrations)) return err(new RegistrationsNotArrayError());
  const tasks: RegisteredTask[] = [];
  const slotOf = new Map<string, number>();
  const context = { dialect, taken: slotOf, expressions: new ExpressionReader(dialect) };
  // By index: a hole in the list is a malformed registration, not nothing.
  for (let index = 0; index < registrations.length; index++) {
    const task = readTask(registrations[index], index, context);
    if (!task.ok) return task;
    slotOf.set(task.value.name, index);
    tasks.push(task.value);
  }
  return ok({ tasks, slotOf });
}

/**
 * The same tasks, neighbours where stores keep them as neighbours: what is claimed together then lies together, and a
 * transaction for a part of the tasks touches a part of the store. Equal inputs start in equal order, whatever the list's.
 */
export function inNameOrder(list: TaskList): TaskList {
  const tasks = [...list.tasks].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { tasks, slotOf: new Map(tasks.map(({ name }, slot) => [name, slot])) };
}

/**
 * Checks a list as `initialize` would, without a scheduler. `{ dialect: "kron" }`: as that of a `createKronScheduler`.
 *
 * @throws the error with which `initialize` would reject
 * @example
 * ```ts
 * import { validateRegistrations } from "kron/scheduler";
 *
 * const [task] = validateRegistrations([["report", "0 9 * * 1-5", async () => {}, "PT5M"]]);
 * console.log(task?.retryDelayMs); // 300000
 * ```
 */
export function validateRegistrations(
  registrations: unknown,
  { dialect = "posix" }: DialectChoice = {},
): readonly RegisteredTask[] {
  const read = readRegistrations(registrations, dialect);
  if (!read.ok) throw read.error;
  return read.value.tasks;
}
