/** What an endpoint is called: by its tenant, its job and itself (S37). Tenants have names, the others numbers of their own. */
const ENDPOINT = /^endpoint:([a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)\/(job_[0-9a-z]{16})\/(ep_[0-9a-z]{16})$/;

export const JOB_ID = /^job_[0-9a-z]{16}$/;
export const ENDPOINT_ID = /^ep_[0-9a-z]{16}$/;

/** The tenant that is there for those who need no other. */
export const DEFAULT_TENANT = "default";

export interface EndpointName {
  readonly tenant: string;
  readonly jobId: string;
  readonly endpointId: string;
}

export function endpointIdentity({ tenant, jobId, endpointId }: EndpointName): string {
  return `endpoint:${tenant}/${jobId}/${endpointId}`;
}

/** null: it is no endpoint. */
export function endpointName(identity: string): EndpointName | null {
  const [, tenant, jobId, endpointId] = ENDPOINT.exec(identity) ?? [];
  if (tenant === undefined || jobId === undefined || endpointId === undefined) return null;
  return { tenant, jobId, endpointId };
}
