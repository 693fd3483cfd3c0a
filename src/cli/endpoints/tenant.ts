/** Asking a daemon about what is of a tenant. */
import type { Fields } from "../../core/base/fields.js";
import type { Problem } from "../../core/base/problem.js";
import { DEFAULT_TENANT } from "../../core/endpoint/endpoint-name.js";
import { type ControlClient, ControlError } from "../../krond/control/client.js";
import type { OperationRequest } from "../../operations/registry.js";
import type { ParsedArgs } from "../args.js";
import { withDaemon } from "../daemon.js";
import type { CliIo } from "../io.js";

/** What the daemon was asked of one tenant; a rejection is a `ControlError`. */
export type Ask = <Answer>(request: OperationRequest) => Promise<Answer>;

export function tenantOf(args: ParsedArgs): string {
  return args.text("tenant") ?? DEFAULT_TENANT;
}

export function askOf(client: ControlClient, args: ParsedArgs): Ask {
  const tenant = tenantOf(args);
  return async <Answer>(request: OperationRequest) => (await client.ask(request, undefined, tenant)) as Answer;
}

export function withTenant<T>(args: ParsedArgs, io: CliIo, use: (ask: Ask) => Promise<T>): Promise<T> {
  return withDaemon(args, io, (client) => use(askOf(client, args)));
}

/** Asks, and what is wrong with what was written is told where it stands. */
export async function asked<Answer>(
  ask: Ask,
  request: Fields & { readonly op: string },
  refusal: (problems: readonly Problem[]) => Promise<Error>,
): Promise<Answer> {
  try {
    // The daemon judges the fields, and tells what is wrong with them.
    return await ask<Answer>(request as unknown as OperationRequest);
  } catch (error) {
    if (error instanceof ControlError && error.problems.length > 0) throw await refusal(error.problems);
    throw error;
  }
}
