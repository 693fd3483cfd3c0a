/** What a list needs of the supervisor, and the one order in which jobs are listed. */
import type { JobStatus, Supervisor } from "../../actors/supervisor/port.js";

export type JobLister = Pick<Supervisor, "list">;

export function byIdentity(one: JobStatus, other: JobStatus): number {
  return one.identity < other.identity ? -1 : 1;
}
