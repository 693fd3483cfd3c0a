/**
 * How commands reach a daemon: over its socket when one runs, and for what only reads, in the store when none does.
 */

import { exitStatusOf } from "../core/base/errors/exit-status.js";
import { KronError } from "../core/base/errors/kron-error.js";
import type { Result } from "../core/base/result.js";
import { ControlClient, ControlError } from "../krond/control/client.js";
import { socketPathIn } from "../krond/state/directory.js";
import type { OperationRequest } from "../operations/registry.js";
import type { StorePlace } from "../persist/backends.js";
import { readMarker } from "../persist/marker.js";
import type { StateReader } from "../persist/store.js";
import type { ParsedArgs } from "./args.js";
import { CliError, EXIT, EXIT_OF_KIND } from "./exit.js";
import type { CliIo } from "./io.js";
import { stateDirectoryOf } from "./state-options.js";

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

export async function askDaemon(args: ParsedArgs, io: CliIo, request: OperationRequest): Promise<unknown> {
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

/** Asks the daemon, or runs the same operation over what the last one left behind. */
export async function askOrRun<T>(args: ParsedArgs, io: CliIo, request: OperationRequest): Promise<T> {
  const directory = stateDirectoryOf(args, io);
  const client = await connect(directory);
  if (client !== null) return (await talk(client, (it) => it.ask(request))) as T;
  // A daemon that answers needs no operation: they are not loaded for it.
  const { answerOverStore } = await import("./offline.js");
  return (await readStore(directory, (reader) => answerOverStore(request, reader, io))) as T;
}

function mustHaveState(directory: string): void {
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
  return readOpened(await openStateReader(directory), read);
}

/** A database says for itself that nothing is in it. */
export function mustHaveStore({ backend, at }: StorePlace): void {
  if (backend.name !== "postgres") mustHaveState(at);
}

/** The same of a store that need not lie in the state directory. */
export async function readPlace<T>(place: StorePlace, read: (reader: StateReader) => Promise<T>): Promise<T> {
  mustHaveStore(place);
  return readOpened(await place.backend.openReader(place.at), read);
}

async function readOpened<T>(
  opened: Result<StateReader, KronError>,
  read: (reader: StateReader) => Promise<T>,
): Promise<T> {
  if (!opened.ok) throw stateFailure(opened.error);
  try {
    return await read(opened.value);
  } catch (error) {
    throw error instanceof KronError ? stateFailure(error) : error;
  } finally {
    await opened.value.close();
  }
}
