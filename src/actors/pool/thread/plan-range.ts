/** Planning in a thread, which reads the store for itself: no definition is ever cloned. Writes nothing. */
import { unreadable } from "../../../persist/failures.js";
import { type Databases, openDatabases } from "../../../persist/lmdb/environment.js";
import { jobsIn } from "../../../persist/lmdb/scan.js";
import { planJobs } from "../plan-jobs.js";
import type { PlannedPage } from "../types.js";
import type { PlanTask } from "./tasks.js";

export function planRange({ directory, range, rules }: PlanTask, tick: () => void): PlannedPage {
  tick();
  const jobs = readJobs(directory, range);
  tick();
  return planJobs(jobs, rules);
}

function readJobs(directory: string, range: PlanTask["range"]): ReturnType<typeof jobsIn> {
  try {
    return jobsIn(databasesOf(directory), range);
  } catch (error) {
    throw unreadable("read", `the store of ${directory} cannot be read`, error);
  }
}

let open: { readonly directory: string; readonly databases: Databases } | null = null;

/** A daemon has one store: it stays open as long as the thread lives. */
function databasesOf(directory: string): Databases {
  if (open?.directory !== directory) {
    void open?.databases.root.close();
    open = { directory, databases: openDatabases(directory, true) };
  }
  return open.databases;
}
