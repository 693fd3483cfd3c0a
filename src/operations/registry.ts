/** All operations, by name: there is no other list of what may be asked. */
import type { z } from "zod";
import { AUDIT, AUDIT_OF_HOST } from "./audit/audit.js";
import { ENDPOINT_OPERATIONS } from "./endpoints/registry.js";
import { FORECAST, FORECAST_WHO } from "./forecast/forecast.js";
import { CANCEL, HINT, PAUSE, RESUME, RUN, UNHINT } from "./jobs/commands.js";
import { JOB } from "./jobs/job.js";
import { LIST } from "./jobs/list.js";
import { LOG } from "./jobs/log.js";
import { DEFINITION, EXPLAIN, UPCOMING } from "./jobs/looks-ahead.js";
import { HINTS, HISTORY, HISTORY_OF_ALL, WHY } from "./jobs/records.js";
import { CREATE_KEY, LIST_KEYS, REVOKE_KEY, ROTATE_KEY } from "./keys/keys.js";
import { NOW } from "./now/now.js";
import type { Operation } from "./operation.js";
import { LOGIN_LINK } from "./page/login-link.js";
import { PLANNER_OPERATIONS } from "./planner/operations.js";
import { CHRONICLE, PLAN, RELOAD, STATUS, STOP } from "./system/system.js";

export const OPERATIONS = [
  STATUS,
  CHRONICLE,
  NOW,
  FORECAST,
  FORECAST_WHO,
  LIST,
  JOB,
  DEFINITION,
  UPCOMING,
  EXPLAIN,
  LOG,
  PLAN,
  RELOAD,
  STOP,
  LOGIN_LINK,
  RUN,
  CANCEL,
  PAUSE,
  RESUME,
  HINT,
  UNHINT,
  HINTS,
  HISTORY,
  HISTORY_OF_ALL,
  WHY,
  CREATE_KEY,
  LIST_KEYS,
  REVOKE_KEY,
  ROTATE_KEY,
  AUDIT,
  AUDIT_OF_HOST,
  ...ENDPOINT_OPERATIONS,
  ...PLANNER_OPERATIONS,
] as const;

type Known = (typeof OPERATIONS)[number];
export type OperationName = Known["name"];

/** What is asked of one operation: `op` names it, and the rest is its input. */
export type OperationRequest = {
  readonly [Name in OperationName]: { readonly op: Name } & Named<
    z.input<Extract<Known, { readonly name: Name }>["input"]>
  >;
}[OperationName];

/** Where nothing is taken, nothing is there: not any field without a value. */
type Named<T> = { readonly [Field in keyof T as string extends Field ? never : Field]: T[Field] };

const BY_NAME: ReadonlyMap<string, Operation> = new Map<string, Operation>(
  OPERATIONS.map((operation) => [operation.name, operation as unknown as Operation]),
);

export function operationNamed(name: unknown): Operation | null {
  return typeof name === "string" ? (BY_NAME.get(name) ?? null) : null;
}
