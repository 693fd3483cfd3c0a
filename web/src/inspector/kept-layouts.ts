/** The charts as they were laid out when Kron was built, by their names: together, because packed they take half as much. */
import execution from "../charts/execution.json" with { type: "json" };
import job from "../charts/job.json" with { type: "json" };
import membership from "../charts/membership.json" with { type: "json" };
import period from "../charts/period.json" with { type: "json" };
import polling from "../charts/polling.json" with { type: "json" };
import scheduler from "../charts/scheduler.json" with { type: "json" };
import shard from "../charts/shard.json" with { type: "json" };
import supervisor from "../charts/supervisor.json" with { type: "json" };
import task from "../charts/task.json" with { type: "json" };

export const KEPT_LAYOUTS: Readonly<Record<string, unknown>> = {
  execution,
  job,
  membership,
  period,
  polling,
  scheduler,
  shard,
  supervisor,
  task,
};
