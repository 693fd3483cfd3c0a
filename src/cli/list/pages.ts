/** The jobs of a daemon, a page at a time. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import type { ControlClient } from "../../krond/control/client.js";
import type { ListFilter } from "../../krond/control/list-filter.js";
import { LIST_LIMITS, type ListPage } from "../../krond/control/list-request.js";

/** A daemon that was started before an update tells less. */
const UNTOLD = {
  lastRun: null,
  lastPeriodRun: null,
  failures: 0,
  lastRunAt: null,
  hints: { interval: null, oneshot: null },
} as const;

export async function* livePages(client: ControlClient, filter: ListFilter): AsyncGenerator<readonly JobStatus[]> {
  let after: string | null = null;
  do {
    const request = { op: "list" as const, after, limit: LIST_LIMITS.rows, filter };
    const page = (await client.ask(request)) as ListPage;
    yield page.rows.map((row) => ({ ...UNTOLD, ...row }));
    after = page.next;
  } while (after !== null);
}
