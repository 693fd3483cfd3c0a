/** What a configuration says of addresses that requests may not go to, as far as its files alone can tell. */
import type { AddressPolicy } from "../../core/base/address.js";
import type { LocatedJob } from "../../core/config/located.js";
import { literalAddressProblems } from "../../core/job/http-address.js";
import type { ConfigFinding } from "../../persist/config-files.js";

export function literalAddressFindings(job: LocatedJob, policy: AddressPolicy): ConfigFinding[] {
  const { definition, file, line, column } = job;
  const { identity } = definition;
  return literalAddressProblems(definition, policy).map((problem) => {
    return { located: { problem, file, line, column, length: 1, identity }, sourceLine: null };
  });
}
