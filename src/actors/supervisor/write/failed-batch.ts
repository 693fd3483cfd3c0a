/**
 * A commit that failed, told with whom it was about: of one job its identity, of one period that too, of several how many
 * they are. The error model asks for the names, and a group commit knows them best.
 */
import { KronError } from "../../../core/base/errors/kron-error.js";
import { formatSecond } from "../../../core/time/instant.js";
import type { Batch } from "../../../persist/store.js";

/** Records that belong to a period or to an occasion; the others tell of a job as a whole. */
const OF_A_PERIOD = /^(?:period|run|slot)\b/;

/** The error as it is where it names somebody already, or the batch is about nobody. */
export function aboutBatch(error: unknown, batch: Batch): unknown {
  if (!(error instanceof KronError) || error.identity !== undefined) return error;
  const identities = identitiesIn(batch);
  const [identity] = identities;
  if (identity === undefined) return error;
  const { code, component, operation, hint, cause } = error;
  const told = { component, operation, cause, ...(hint === undefined ? {} : { hint }) };
  if (identities.size > 1)
    return new KronError(code, `${error.message} (a commit about ${identities.size} jobs)`, told);
  const [periodId, ...others] = periodsIn(batch);
  const isOne = periodId !== undefined && others.length === 0;
  return new KronError(code, error.message, { ...told, identity, ...(isOne ? { periodId } : {}) });
}

function identitiesIn({ documents = [], ledger = [], definitions = [] }: Batch): ReadonlySet<string> {
  const named = [...ledger, ...definitions].map(({ identity }) => identity);
  return new Set([...named, ...documents.flatMap(({ text }) => (text === null ? [] : identityOf(text)))]);
}

/** Documents are ours and well-formed: this one was about to be written. */
function identityOf(text: string): string[] {
  const { Identity } = JSON.parse(text) as { readonly Identity?: unknown };
  return typeof Identity === "string" ? [Identity] : [];
}

function periodsIn({ ledger = [] }: Batch): string[] {
  const about = ledger.filter(({ kind }) => OF_A_PERIOD.test(kind));
  return [...new Set(about.map(({ at }) => formatSecond(at)))];
}
