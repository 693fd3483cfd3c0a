/**
 * Reads a list of registrations completely before anything else happens. The first error in list order counts; within
 * one registration: shape, name, duplicate, expression, retry delay.
 */

import { err, ok, type Result } from "../core/base/result.js";
import type { CronFields } from "../core/cron/fields.js";
import { parseCron } from "./cron.js";
import {
  CronExpressionInvalidError,
  InvalidCronExpressionError,
  InvalidRegistrationError,
  RegistrationShapeError,
  RegistrationsNotArrayError,
  ScheduleDuplicateTaskError,
  type SchedulerError,
} from "./errors.js";
import { readRetryDelay } from "./retry-delay.js";
import type { Callback } from "./types.js";

/** One registration, read. Equal expressions share one `fields` object. */
export interface RegisteredTask {
  readonly name: string;
  /** As written: configuration identity compares the text. */
  readonly cron: string;
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
  readonly #read = new Map<string, CronFields>();

  read(expression: string): Result<CronFields, SchedulerError> {
    const known = this.#read.get(expression);
    if (known !== undefined) return ok(known);
    try {
      const fields = parseCron(expression);
      this.#read.set(expression, fields);
      return ok(fields);
    } catch (error) {
      if (error instanceof InvalidCronExpressionError) return err(new CronExpressionInvalidError(error));
      throw error;
    }
  }
}

type Tuple = readonly [name: string, cron: string, callback: Callback, retryDelay: unknown];

function isTuple(entry: unknown): entry is Tuple {
  if (!Array.isArray(entry) || entry.length !== 4) return false;
  return typeof entry[0] === "string" && typeof entry[1] === "string" && typeof entry[2] === "function";
}

function readTask(
  entry: unknown,
  index: number,
  taken: ReadonlyMap<string, number>,
  expressions: ExpressionReader,
): Result<RegisteredTask, SchedulerError> {
  if (!isTuple(entry)) return err(new RegistrationShapeError(index, entry));
  const [name, cron, callback, retryDelay] = entry;
  const delay = readRetryDelay(retryDelay);
  if (!delay.ok && delay.error === "wrong-type") return err(new RegistrationShapeError(index, entry));
  if (name === "") return err(new InvalidRegistrationError("name", name, "must be a non-empty string"));
  if (taken.has(name)) return err(new ScheduleDuplicateTaskError(name));
  const fields = expressions.read(cron);
  if (!fields.ok) return fields;
  if (!delay.ok) return err(delay.error as SchedulerError);
  return ok({ name, cron, fields: fields.value, callback, retryDelayMs: delay.value });
}

export function readRegistrations(registrations: unknown): Result<TaskList, SchedulerError> {
  if (!Array.isArray(registrations)) return err(new RegistrationsNotArrayError());
  const expressions = new ExpressionReader();
  const tasks: RegisteredTask[] = [];
  const slotOf = new Map<string, number>();
  // By index: a hole in the list is a malformed registration, not nothing.
  for (let index = 0; index < registrations.length; index++) {
    const task = readTask(registrations[index], index, slotOf, expressions);
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
 * Checks a list as `initialize` would, without a scheduler.
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
export function validateRegistrations(registrations: unknown): readonly RegisteredTask[] {
  const read = readRegistrations(registrations);
  if (!read.ok) throw read.error;
  return read.value.tasks;
}
