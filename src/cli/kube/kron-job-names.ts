/** KronJobs among the jobs of a configuration: how they are named, and what is to be said of those that no server knows. */
import type { LocatedJob } from "../../core/config/located.js";
import { usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import type { LocatedKronJob } from "./kron-job-file.js";

/** Of a KronJob without a uid every second is another one than the cluster will choose. */
export async function noteMissingUids(jobs: readonly LocatedJob[], io: CliIo): Promise<void> {
  const without = jobs.filter(isKronJob).filter(({ kronJob }) => !kronJob.hasUid);
  const [first] = without;
  if (first === undefined) return;
  const { name } = first.kronJob;
  const more = without.length === 1 ? "" : ` and ${without.length - 1} more`;
  await io.err(
    `kron: note: ${first.file}: ${name}${more} has no metadata.uid. The API server gives one, and chosen times depend on ` +
      `it: these are only examples\n  hint: kubectl get kronjob ${name} -o yaml shows the one in the cluster\n`,
  );
}

/** By NAME or NAMESPACE/NAME, as long as that says which. */
export function findKronJob(jobs: readonly LocatedJob[], wanted: string): LocatedJob | undefined {
  const named = jobs
    .filter(isKronJob)
    .filter(({ kronJob: { name, namespace } }) => name === wanted || `${namespace}/${name}` === wanted);
  if (named.length < 2) return named[0];
  const identities = named.map(({ definition }) => definition.identity).join(", ");
  throw usageError(`"${wanted}" may be any of ${identities}`, "write NAMESPACE/NAME");
}

function isKronJob(job: LocatedJob): job is LocatedKronJob {
  return "kronJob" in job;
}
