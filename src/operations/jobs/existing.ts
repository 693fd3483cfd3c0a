/** Of a job that there is not, everybody hears the same. */
import type { StateReader } from "../../persist/store.js";
import { OperationError } from "../operation.js";

export async function mustExist(reader: StateReader, identity: string): Promise<null> {
  const version = await reader.newestVersion(identity);
  if (version === undefined || version.text === null) throw noJob(identity);
  return null;
}

export function found<T>(value: T | null, identity: string): T {
  if (value === null) throw noJob(identity);
  return value;
}

export function done(isDone: boolean, identity: string): null {
  if (!isDone) throw noJob(identity);
  return null;
}

export function noJob(identity: string): OperationError {
  return new OperationError("not-found", `no job "${identity}"`);
}
