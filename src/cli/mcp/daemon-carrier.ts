/** Carries operations to the daemon of a state directory, and what only reads to what the last one left behind. */

import { ownerOf } from "../../api/form/asked.js";
import { CursorSeal } from "../../api/http/cursor.js";
import { HttpProblem, internalProblem, problemOf } from "../../api/http/problem.js";
import type { Carrier } from "../../api/mcp/carrier.js";
import { ControlClient, ControlError } from "../../krond/control/client.js";
import { socketPathIn } from "../../krond/state/directory.js";
import { answerStored } from "../../operations/answer.js";
import { type Operation, OperationError, SCOPE_FOR } from "../../operations/operation.js";
import type { OperationRequest } from "../../operations/registry.js";
import { SCOPES, type Scope } from "../../operations/scope.js";
import { readStore } from "../daemon.js";
import { CliError } from "../exit.js";
import type { CliIo } from "../io.js";
import { storePorts } from "../offline.js";

interface Speaking {
  readonly stateDirectory: string;
  readonly scope: Scope;
  readonly tenant: string;
}

/** Whoever can open the socket is the host: what may be asked is what they have said when they started this. */
export class DaemonCarrier implements Carrier {
  readonly instance = null;
  readonly cursors = new CursorSeal();
  readonly #as: Speaking;
  readonly #io: CliIo;

  constructor(as: Speaking, io: CliIo) {
    this.#as = as;
    this.#io = io;
  }

  isAllowed({ access }: Operation): boolean {
    return SCOPES.indexOf(this.#as.scope) >= SCOPES.indexOf(SCOPE_FOR[access]);
  }

  ownerFor({ of }: Operation): string {
    return ownerOf(of === "host" ? null : this.#as.tenant);
  }

  async carryOut(operation: Operation, input: unknown, signal: AbortSignal): Promise<unknown> {
    const { stateDirectory } = this.#as;
    const client = await ControlClient.connect(socketPathIn(stateDirectory));
    if (client !== null) return this.#asked(client, operation, input, signal);
    if (operation.needs === "store") {
      return readStore(stateDirectory, (reader) => answerStored(operation, input, storePorts(reader, this.#io)));
    }
    throw new OperationError("refused", `no daemon runs on ${stateDirectory}`, "it is started with 'krond start'");
  }

  /** A connection of its own: who gives up a request ends it, and nobody else's with it. */
  async #asked(client: ControlClient, operation: Operation, input: unknown, signal: AbortSignal): Promise<unknown> {
    const close = (): void => client.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      const request = { op: operation.name, ...(input as object) } as OperationRequest;
      return await client.ask(request, undefined, operation.of === "tenant" ? this.#as.tenant : undefined);
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  }

  /** The host is told what a command would tell. */
  readonly problemOf = (error: unknown): HttpProblem => {
    if (error instanceof CliError) return new HttpProblem("refused", error.message, hinted(error));
    if (!(error instanceof ControlError)) return problemOf(error) ?? internalProblem(error, true);
    const { kind, message, hint, problems } = error;
    if (kind === "failed" || kind === "no-answer") return new HttpProblem("internal", message, hinted(error));
    return problemOf(new OperationError(kind, message, hint, { problems })) ?? internalProblem(error, true);
  };
}

function hinted({ hint }: { readonly hint?: string | undefined }): { readonly hint?: string } {
  return hint === undefined ? {} : { hint };
}
