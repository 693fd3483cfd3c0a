/** Operations that only read, run over a store while no daemon does. */
import type { KronError } from "../core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS } from "../core/config/settings.js";
import { answerStored, readOperation } from "../operations/answer.js";
import { OperationError } from "../operations/operation.js";
import type { Reading } from "../operations/ports.js";
import { StoredJobs } from "../operations/records/stored-jobs.js";
import type { OperationRequest } from "../operations/registry.js";
import { currentDefinitions, type StateReader } from "../persist/store.js";
import { CliError, EXIT_OF_KIND } from "./exit.js";
import type { CliIo } from "./io.js";

/** A job whose document this version cannot use is refused, and never left out in silence. */
export async function answerOverStore(request: OperationRequest, reader: StateReader, io: CliIo): Promise<unknown> {
  try {
    const { operation, input } = readOperation(request);
    if (operation.needs !== "store") throw new Error(`invariant broken: ${operation.name} takes a daemon`);
    return await answerStored(operation, input, storePorts(reader, io));
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new CliError(EXIT_OF_KIND[error.kind], error.message, error.hint);
  }
}

export function storePorts(reader: StateReader, io: CliIo): Reading {
  const now = (): number => io.now();
  const refuse = (error: KronError): never => {
    throw error;
  };
  return {
    reader,
    jobs: new StoredJobs(reader, now, refuse),
    now,
    ledger: () => SETTINGS_DEFAULTS.ledger,
    presence: () => "none",
    among: null,
    identities: () => identitiesOf(reader),
  };
}

async function* identitiesOf(reader: StateReader): AsyncGenerator<string> {
  for await (const page of currentDefinitions(reader)) {
    for (const { identity } of page) yield identity;
  }
}
