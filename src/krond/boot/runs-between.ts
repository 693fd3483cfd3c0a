/** C14: runs of this node whose jobs others look after, and runs on other nodes of jobs that are here. */
import { systemClock } from "../../actors/clock.js";
import { type AwayNews, AwayRuns, type AwayRunsPorts } from "../../actors/cluster/away-runs.js";
import { OtherNodes, type OtherNodesPorts } from "../../actors/cluster/other-nodes.js";
import { recordedRuns } from "../../actors/cluster/recovered-runs.js";
import type { ShardedPorts } from "../../actors/cluster/sharded-supervisor.js";
import type { RunPlace } from "../../actors/supervisor/run/arm-request.js";
import type { ClusterMember } from "../../persist/cluster.js";
import type { StateStore } from "../../persist/store.js";
import type { DaemonLog } from "../log/log.js";
import type { Wired } from "./wiring.js";

interface Ports
  extends Pick<AwayRunsPorts, "runner" | "tell">,
    Pick<OtherNodesPorts, "mailbox" | "supervisors" | "onFailure"> {
  readonly member: ClusterMember;
  readonly log: DaemonLog;
}

interface RunsBetween {
  readonly keeper: AwayRuns;
  /** As the supervisor of a shard has it. */
  readonly between: NonNullable<Wired["between"]>;
  /** As all of them together have it. */
  readonly away: ShardedPorts["away"];
  /** S29: what an earlier daemon of this node began is watched again. Before anything is looked after here. */
  recover(store: StateStore, place: RunPlace): Promise<void>;
}

export function runsBetween({ log, mailbox, member, onFailure, runner, supervisors, tell }: Ports): RunsBetween {
  const onNews = ({ kind: what, run: { identity, attemptId: attempt_id } }: AwayNews): void => {
    const fields = { what, identity, attempt_id };
    log.daemon({ at: systemClock.now(), event: "run_away", component: "executor", level: "info", fields });
  };
  const keeper = new AwayRuns({ clock: systemClock, runner, tell, onNews });
  const others = new OtherNodes({ clock: systemClock, mailbox, member, supervisors, onFailure });
  const stop = (): void => {
    others.close();
    keeper.stop();
  };
  return {
    keeper,
    between: { elsewhere: others, onAway: (runs) => keeper.take(runs) },
    away: { ended: () => keeper.ended(), terminate: (id, graceMs) => keeper.terminate(id, graceMs), stop },
    recover: async (store, place) => {
      await keeper.recover(await recordedRuns(member, store, place));
      others.watch();
    },
  };
}
