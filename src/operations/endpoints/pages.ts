/** Endpoints as they are listed: in pages, each with what of it is wanted. */
import { turnOfLoop } from "../../actors/turns.js";
import type { Acting } from "../ports.js";
import { answersOf } from "./answers.js";
import { refusedFor } from "./change.js";
import { ENDPOINTS, type EndpointRecord, endpointIn, membersOf, nameKey, readEndpoint } from "./records.js";
import type { EndpointAnswer } from "./shapes.js";

/** Of those that are looked at for one answer few may be wanted: it says where to go on all the same. */
const MOST_LOOKED_AT = 5_000;

interface WantedPage {
  readonly of: string | undefined;
  readonly cursor: string | null;
  readonly limit: number;
  readonly isWanted: (endpoint: EndpointRecord) => boolean;
}

export async function endpointsBehind(
  ports: Acting,
  tenant: string,
  { of, cursor, limit, isWanted }: WantedPage,
): Promise<{ readonly endpoints: readonly EndpointRecord[]; readonly next: string | null }> {
  const prefix = of === undefined ? `${ENDPOINTS}${tenant}/` : membersOf(tenant, of);
  const endpoints: EndpointRecord[] = [];
  let [place, looked] = [cursor, 0];
  for (;;) {
    const behind = place === null ? {} : { after: prefix + place };
    const found = await ports.reader.objects({ prefix, ...behind, limit: limit + 1 });
    const read = found.map((stored) => {
      return of === undefined
        ? endpointIn(stored)
        : readEndpoint(ports.reader, tenant, stored.key.slice(prefix.length));
    });
    for (const [at, endpoint] of (await Promise.all(read)).entries()) {
      if (endpoints.length === limit || (at === limit && looked >= MOST_LOOKED_AT)) return { endpoints, next: place };
      if (endpoint !== null && isWanted(endpoint)) endpoints.push(endpoint);
      place = found[at]?.key.slice(prefix.length) ?? place;
      looked += 1;
    }
    if (found.length <= limit) return { endpoints, next: null };
    await turnOfLoop();
  }
}

export async function endpointsNamed(
  ports: Acting,
  tenant: string,
  of: string | undefined,
  name: string,
): Promise<readonly EndpointAnswer[]> {
  if (of === undefined) {
    const message = "names are unique among the endpoints of a job: say of which";
    throw refusedFor([{ code: "field-missing", message, path: ["jobId"] }]);
  }
  const known = await ports.reader.object(nameKey(tenant, of, name));
  const endpoint = known === undefined ? null : await readEndpoint(ports.reader, tenant, known.text);
  return endpoint === null ? [] : answersOf(ports, tenant, [endpoint]);
}
