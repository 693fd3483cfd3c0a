/**
 * Endpoints whose record cannot be read. What they run by is on record beside it, so that they run on; they can be held and
 * taken out all the same, which is the way out.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { EndpointName } from "../../core/endpoint/endpoint-name.js";
import type { StateReader } from "../../persist/store.js";
import { membersOfAll, namesOf, pagesUnder } from "./records.js";

const PAGE = 1_000;

export function isUnreadable(error: unknown): error is KronError {
  return error instanceof KronError && error.code === "object-unreadable";
}

/** null: there is none. All endpoints of the tenant are looked through: nothing else says of which job it is. */
export async function nameOfEndpoint(
  reader: StateReader,
  tenant: string,
  endpointId: string,
): Promise<EndpointName | null> {
  for await (const members of pagesUnder(reader, membersOfAll(tenant), PAGE)) {
    const member = members.find((name) => name.endsWith(`/${endpointId}`));
    if (member !== undefined) return { tenant, jobId: member.slice(0, -endpointId.length - 1), endpointId };
  }
  return null;
}

/** Under which names somebody has it: its own name is in what cannot be read. */
export async function namedAs(reader: StateReader, tenant: string, endpointId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const behind = after === undefined ? {} : { after };
    const page = await reader.objects({ prefix: namesOf(tenant), limit: PAGE, ...behind });
    found.push(...page.filter(({ text }) => text === endpointId).map(({ key }) => key));
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}
