/** What people call endpoints: in lists of jobs they lie under identities of ours, which say nothing to anybody. */
import { KronError } from "../../core/base/errors/kron-error.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import type { StateReader } from "../../persist/store.js";
import type { EndpointTold } from "../shapes/job.js";
import { readEndpoint, readJob } from "./records.js";

export type Named<Row> = Row & { readonly endpoint?: EndpointTold };

/** Rows of jobs, those of endpoints with their names; of one that is gone, or cannot be read, there is none. */
export async function withEndpointNames<Row extends { readonly identity: string }>(
  reader: StateReader,
  rows: readonly Row[],
): Promise<readonly Named<Row>[]> {
  const jobs = new Map<string, Promise<string | null>>();
  const jobNamed = (tenant: string, jobId: string): Promise<string | null> => {
    const key = `${tenant}/${jobId}`;
    const known = jobs.get(key) ?? orNull(readJob(reader, tenant, jobId)).then((job) => job?.name ?? null);
    jobs.set(key, known);
    return known;
  };
  return Promise.all(
    rows.map(async (row): Promise<Named<Row>> => {
      const name = endpointName(row.identity);
      if (name === null) return row;
      const { tenant, jobId, endpointId: id } = name;
      const endpoint = await orNull(readEndpoint(reader, tenant, id));
      const job = await jobNamed(tenant, jobId);
      return endpoint === null || job === null
        ? row
        : { ...row, endpoint: { tenant, id, job, name: endpoint.spec.name } };
    }),
  );
}

async function orNull<T>(reading: Promise<T | null>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof KronError && error.code === "object-unreadable") return null;
    throw error;
  }
}
