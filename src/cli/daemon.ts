/**
 * How commands reach a daemon: over its socket when one runs, and for what only reads, in the store when none does.
 */

import { exitStatusOf } from "../core/base/errors/exit-status.js";
import { KronError } from "../core/base/errors/kron-error.js";
import { ControlClient, ControlError } from "../krond/control/client.js";
import type { ControlRequest } from "../krond/control/protocol.js";
import { socketPathIn } from "../krond/state/directory.js";
import { readMarker } from "../persist/marker.js";
import type { StateReader } from "../persist/store.js";
import type { ParsedArgs } from "./args.js";
import { CliError, EXIT, type ExitCode } from "./exit.js";
import type { CliIo } from "./io.js";
import { stateDirectoryOf } from "./state-options.js";

const EXIT_OF_KIND: Readonly<Record<ControlError["kind"], ExitCode>> = {
  "not-found": EXIT.usage,
  refused: EXIT.usage,
  "bad-request": EXIT.usage,
  forbidden: EXIT.usage,
  "no-answer": EXIT.fatal,
  failed: EXIT.fatal,
};

export function stateFailure(error: KronError): CliError {
  return new CliError(exitStatusOf(error.code), error.message, error.hint);
}

async function connect(directory: string): Promise<ControlClient | null> {
  try {
    return await ControlClient.connect(socketPathIn(directory));
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  return error instanceof ControlError ? new CliError(EXIT_OF_KIND[error.kind], error.message, error.hint) : error;
}

/** For what only a running daemon can do. */
export async function withDaemon<T>(
  args: ParsedArgs,
  io: CliIo,
  use: (client: ControlClient) => Promise<T>,
): Promise<T> {
  const directory = stateDirectoryOf(args, io);
  const client = await connect(directory);
  if (client === null) {
    throw new CliError(
      EXIT.usage,
      `no daemon runs on ${directory}`,
      "start one with 'krond start', or name its --state",
    );
  }
  return talk(client, use);
}

async function talk<T>(client: ControlClient, use: (client: ControlClient) => Promise<T>): Promise<T> {
  try {
    return await use(client);
  } catch (error) {
    throw translated(error);
  } finally {
    client.close();
  }
}

export async function askDaemon(args: ParsedArgs, io: CliIo, request: ControlRequest): Promise<unknown> {
  return withDaemon(args, io, (client) => client.ask(request));
}

/** Asks the daemon as often as it takes, or reads what the last one left behind. */
export async function withDaemonOrStore<T>(
  args: ParsedArgs,
  io: CliIo,
  ask: (client: ControlClient) => Promise<T>,
  read: (reader: StateReader) => Promise<T>,
): Promise<T> {
  const directory = stateDirectoryOf(args, io);
  const client = await connect(directory);
  return client === null ? readStore(directory, read) : talk(client, ask);
}

export interface Reading<T> {
  readonly value: T;
  readonly isLive: boolean;
}

/** Asks the daemon, or reads what the last one left behind. */
export async function askOrRead<T>(
  args: ParsedArgs,
  io: CliIo,
  request: ControlRequest,
  read: (reader: StateReader) => Promise<T | null>,
): Promise<Reading<T>> {
  const directory = stateDirectoryOf(args, io);
  const client = await connect(directory);
  if (client !== null) return { value: (await talk(client, (it) => it.ask(request))) as T, isLive: true };
  const value = await readStore(directory, async (reader) => {
    const found = await read(reader);
    if (found === null && "identity" in request) throw await noJob(reader, request.identity);
    return found;
  });
  if (value !== null) return { value, isLive: false };
  throw new CliError(EXIT.usage, "nothing found");
}

/** As the daemon would say it. */
async function noJob(reader: StateReader, identity: string): Promise<CliError> {
  const { nearIdentity } = await import("../krond/control/near-identity.js");
  const near = await nearIdentity(identity, identitiesOf(reader));
  return new CliError(EXIT.usage, `no job "${identity}"`, near === null ? undefined : `did you mean "${near}"?`);
}

async function* identitiesOf(reader: StateReader): AsyncGenerator<string> {
  const { currentDefinitions } = await import("../persist/store.js");
  for await (const page of currentDefinitions(reader)) {
    for (const { identity } of page) yield identity;
  }
}

export function mustHaveState(directory: string): void {
  const marker = readMarker(directory);
  if (marker.ok && marker.value === null) {
    throw new CliError(
      EXIT.usage,
      `there is no state in ${directory}`,
      "name the daemon's state directory with --state",
    );
  }
}

export async function readStore<T>(directory: string, read: (reader: StateReader) => Promise<T>): Promise<T> {
  mustHaveState(directory);
  // A daemon that answers needs no store: what reads one is not loaded for it.
  const { openStateReader } = await import("../persist/open.js");
  const opened = await openStateReader(directory);
  if (!opened.ok) throw stateFailure(opened.error);
  try {
    return await read(opened.value);
  } catch (error) {
    throw error instanceof KronError ? stateFailure(error) : error;
  } finally {
    await opened.value.close();
  }
}
