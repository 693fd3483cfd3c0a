/** The tenants of a host: whoever has a job, a limit or a key. They are not made; they are there as soon as something is theirs. */
import { z } from "zod";
import { fieldsIn } from "../../core/base/fields.js";
import { DEFAULT_TENANT } from "../../core/endpoint/endpoint-name.js";
import type { StateReader } from "../../persist/store.js";
import { KEYS_PREFIX } from "../keys/record.js";
import { daemonOperation } from "../operation.js";
import { listOf } from "../shapes/words.js";
import { tenantName } from "../tenant.js";
import { LIMITS_ANSWER, limitsOf } from "./health.js";
import { JOBS, pagesUnder } from "./records.js";

const PAGE = 1_000;
/** Of one answer: the endpoints of each are counted. */
const MOST_ROWS = 200;
const LIMITS = "limits/";
/** Sorts right behind a slash. */
const BEHIND_SLASH = "0";

const TENANTS_ANSWER = z.strictObject({ rows: listOf(LIMITS_ANSWER), next: tenantName.nullable() });
type TenantsAnswer = z.output<typeof TENANTS_ANSWER>;

export const LIST_TENANTS = daemonOperation({
  name: "tenants.list",
  summary: "the tenants of the host: what each may use, and has used",
  http: { method: "GET", path: "/tenants", isPaged: true },
  access: "admin",
  beginsSomething: false,
  input: z.strictObject({ cursor: tenantName.nullable(), limit: z.int().min(1).max(MOST_ROWS) }),
  output: TENANTS_ANSWER,
  run: async ({ cursor, limit }, ports): Promise<TenantsAnswer> => {
    const all = [...(await tenantsOf(ports.reader))].sort();
    const behind = cursor === null ? all : all.filter((tenant) => tenant > cursor);
    const page = behind.slice(0, limit);
    const rows = await Promise.all(page.map((tenant) => limitsOf(ports, tenant)));
    return { rows, next: behind.length > limit ? (page.at(-1) ?? null) : null };
  },
});

/** There are few beside what they have. */
async function tenantsOf(reader: StateReader): Promise<ReadonlySet<string>> {
  const tenants = new Set([DEFAULT_TENANT]);
  for await (const names of pagesUnder(reader, LIMITS, PAGE)) for (const name of names) tenants.add(name);
  for (let after: string | undefined; ; ) {
    const keys = await reader.objects({ prefix: KEYS_PREFIX, limit: PAGE, ...(after === undefined ? {} : { after }) });
    // A key that cannot be read keeps nobody from being told of the others.
    for (const { text, isIntact } of keys) {
      const tenant = isIntact ? fieldsIn(text)?.["tenant"] : null;
      if (typeof tenant === "string") tenants.add(tenant);
    }
    after = keys.at(-1)?.key;
    if (keys.length < PAGE) break;
  }
  // Of jobs one look for each tenant: the rest of what is theirs is stepped over.
  for (let after: string | undefined; ; ) {
    const [job] = await reader.objects({ prefix: JOBS, limit: 1, ...(after === undefined ? {} : { after }) });
    if (job === undefined) return tenants;
    const [tenant = ""] = job.key.slice(JOBS.length).split("/");
    tenants.add(tenant);
    after = `${JOBS}${tenant}${BEHIND_SLASH}`;
  }
}
