import { type PlanRules, planJob, type StoredJob } from "../../core/restart/resting.js";
import { PageBuilder } from "./page-builder.js";
import type { PlannedPage } from "./types.js";

export function planJobs(jobs: readonly StoredJob[], rules: PlanRules): PlannedPage {
  const page = new PageBuilder(jobs.length);
  for (const job of jobs) page.add(planJob(job, rules), job.key);
  return page.page();
}

/** All of them on one page. `tick` is called between two slices. */
export async function planTogether(
  slices: AsyncIterable<readonly StoredJob[]>,
  rules: PlanRules,
  tick: () => void,
): Promise<PlannedPage> {
  const jobs: StoredJob[] = [];
  for await (const slice of slices) {
    tick();
    jobs.push(...slice);
  }
  tick();
  return planJobs(jobs, rules);
}
