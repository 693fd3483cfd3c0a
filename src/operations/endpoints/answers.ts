/** Endpoints as they are told of: what each is, and where it stands. */
import type { Acting } from "../ports.js";
import { statusesOf } from "../records/attended-status.js";
import { readHints } from "../records/hints.js";
import { type EndpointRecord, identityIn } from "./records.js";
import type { EndpointAnswer } from "./shapes.js";
import { endpointAnswer } from "./view.js";

export async function answerOf(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<EndpointAnswer> {
  const [answer] = await answersOf(ports, tenant, [endpoint]);
  if (answer === undefined) throw new Error("invariant broken: an endpoint without an answer");
  return answer;
}

export async function answersOf(
  ports: Acting,
  tenant: string,
  endpoints: readonly EndpointRecord[],
): Promise<EndpointAnswer[]> {
  const now = ports.now();
  const { limits } = await ports.quotas.use(tenant);
  const identities = endpoints.map((endpoint) => identityIn(tenant, endpoint));
  const statuses = new Map((await statusesOf(ports, identities)).map((status) => [status.identity, status]));
  const answers = endpoints.map(async (endpoint) => {
    const identity = identityIn(tenant, endpoint);
    const status = statuses.get(identity) ?? null;
    const hasHints = status !== null && (status.hints.interval !== null || status.hints.oneshot !== null);
    const hints = hasHints ? await readHints(ports.reader, identity, now) : null;
    return endpointAnswer(endpoint, { status, hints, limits, now });
  });
  return Promise.all(answers);
}
