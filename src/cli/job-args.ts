import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";

export function oneJob(args: ParsedArgs, verb: string): string {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError(`${verb} takes one job`, `kron ${verb} JOB`);
  return identity;
}
