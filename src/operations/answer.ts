/** One request, read, run and answered, whoever carried it here. */
import { problemsOfIssues } from "../core/job/issues.js";
import { maySeeExcerpts, withoutExcerpts } from "./excerpts.js";
import { isUnknown } from "./half-done.js";
import { nearIdentity } from "./jobs/near-identity.js";
import { type Caller, type Operation, OperationError, type StoreOperation } from "./operation.js";
import type { Acting, Reading } from "./ports.js";
import { operationNamed } from "./registry.js";
import { isRehearsal, rehearsed } from "./rehearsal.js";

/** A request as it was understood. */
export interface Asked {
  readonly operation: Operation;
  readonly input: unknown;
}

/** Rejects nothing that an older program asks; what nobody knows is a bad request. */
export function readOperation(request: unknown): Asked {
  const { op, ...input } = fieldsOf(request);
  const operation = operationNamed(op);
  if (operation === null) throw new OperationError("bad-request", "request.op: no such operation");
  const read = operation.input.safeParse(input);
  if (read.success) return { operation, input: read.data };
  const issue = read.error.issues[0];
  const place = ["request", ...(issue?.path ?? [])].join(".");
  const problems = problemsOfIssues(read.error.issues, input, operation.input);
  const [first] = problems;
  throw new OperationError("bad-request", `${place}: ${first?.message ?? "cannot be read"}`, undefined, { problems });
}

function fieldsOf(request: unknown): Readonly<Record<string, unknown>> {
  if (typeof request === "object" && request !== null) return request as Readonly<Record<string, unknown>>;
  throw new OperationError("bad-request", "request: not an object");
}

/** By a daemon: while it drains it answers, and ends what it is asked to end. */
export async function answerAsked({ operation, input }: Asked, ports: Acting, caller: Caller): Promise<unknown> {
  if (operation.needs === "store") return shownTo(caller, await answerStored(operation, input, ports));
  if (isTooLate(operation, ports)) {
    throw new OperationError("refused", "the daemon is stopping: it starts nothing any more");
  }
  if (operation.audited === "before") await ports.audit.note({ operation, input, answer: null }, caller);
  const answer = await noted({ operation, input }, ports, caller, () => carriedOut(operation, input, ports, caller));
  if (operation.audited === undefined) await ports.audit.note({ operation, input, answer }, caller);
  if (isRehearsal(input)) return rehearsed(answer);
  const waited = operation.of === "tenant" ? operation.waitFor?.(answer, input, ports, caller) : undefined;
  return waited ?? answer;
}

/** What may have been done is on record too, where nobody could say whether it was. */
async function noted<T>(
  { operation, input }: Asked,
  { audit }: Acting,
  caller: Caller,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const isMeant = operation.needs === "daemon" && operation.audited === undefined;
    if (isMeant && isUnknown(error)) await audit.note({ operation, input, answer: null }, caller);
    throw error;
  }
}

function carriedOut(
  operation: Exclude<Operation, StoreOperation>,
  input: unknown,
  ports: Acting,
  caller: Caller,
): Promise<unknown> {
  if (operation.of === "tenant") return operation.run(input, ports, caller);
  return withNearName(input, ports, async () => shownTo(caller, await operation.run(input, ports, caller)));
}

/** Of what is the host's: a tenant sees what its own endpoints have got. */
function shownTo({ scope }: Caller, answer: unknown): unknown {
  return maySeeExcerpts(scope) ? answer : withoutExcerpts(answer);
}

/** Nothing begins any more while a daemon drains. */
export function isTooLate(operation: Operation, { presence }: Pick<Reading, "presence">): boolean {
  return operation.needs === "daemon" && operation.beginsSomething && presence() === "stopping";
}

/** By whoever can read the store. */
export function answerStored(operation: StoreOperation, input: unknown, ports: Reading): Promise<unknown> {
  return withNearName(input, ports, () => operation.run(input, ports));
}

/** Of a name that there is not, it adds the one that was probably meant. */
async function withNearName(input: unknown, ports: Reading, run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const identity = identityIn(input);
    if (!(error instanceof OperationError && error.kind === "not-found") || identity === null) throw error;
    const near = await nearIdentity(identity, ports.identities());
    throw near === null ? error : new OperationError(error.kind, error.message, `did you mean "${near}"?`);
  }
}

function identityIn(input: unknown): string | null {
  const isNamed = typeof input === "object" && input !== null && "identity" in input;
  return isNamed && typeof input.identity === "string" ? input.identity : null;
}
