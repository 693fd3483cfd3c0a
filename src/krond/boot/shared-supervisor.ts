/**
 * The supervisor of a daemon that shares its store with others, wired to the real ports: one behind it for each shard, letters to
 * the other nodes, and what goes with the jobs from one to another.
 */
import { systemClock } from "../../actors/clock.js";
import { Mailbox } from "../../actors/cluster/mailbox.js";
import { Membership, type MembershipEvent } from "../../actors/cluster/membership.js";
import { shardRunner } from "../../actors/cluster/shard-runner.js";
import { ShardedSupervisor } from "../../actors/cluster/sharded-supervisor.js";
import type { Phase } from "../../actors/phase.js";
import type { RunPlace } from "../../actors/supervisor/run/arm-request.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { ok, unwrap } from "../../core/base/result.js";
import type { Settings } from "../../core/config/settings.js";
import { settingsOfText } from "../../core/config/settings-text.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { ANY_POOL, type ClusterMember, type Shard } from "../../persist/cluster.js";
import type { StateStore } from "../../persist/store.js";
import { type DaemonLog, errorEvent } from "../log/log.js";
import { outputDirectoryIn } from "../state/directory.js";
import type { Sweep } from "../state/housekeeping.js";
import { Among } from "./among-nodes.js";
import { permitted } from "./configuration.js";
import type { DaemonOptions } from "./daemon-parts.js";
import { runsBetween } from "./runs-between.js";
import type { Shared } from "./shared.js";
import { SharedNotices } from "./shared-notices.js";
import { baseEnvOf, type Planning, supervisorOf, type Wired } from "./wiring.js";

interface SharedParts {
  readonly supervisor: ShardedSupervisor;
  readonly membership: Membership;
  readonly mailbox: Mailbox;
  readonly among: Among;
  /** S29: what an earlier daemon of this node began is watched again. Before anything is looked after here. */
  recover(): Promise<void>;
  stopWatching(): void;
}

export function sharedSupervisorOf(
  { options, phase, planning }: { readonly options: DaemonOptions; readonly phase: Phase; readonly planning: Planning },
  wired: Wired,
  shared: Shared,
): SharedParts {
  const { member, time, settings } = shared;
  const onFailure = (error: unknown): void => phase.fail(error);
  const say = teller(
    options.log,
    seriesOf(options, wired, () => supervisor.identities()),
  );
  const onTrouble = (error: unknown): void => say({ event: "trouble", error, shard: null });
  const notices = new SharedNotices({ ...wired, member });
  const mailbox = new Mailbox({
    clock: systemClock,
    member,
    serve: (request) => supervisor.serve(request),
    onFailure: onTrouble,
  });
  const runs = runsBetween({
    ...{ mailbox, member, runner: wired.runner, log: options.log },
    supervisors: () => membership.shards.flatMap((held) => held.supervisor ?? []),
    tell: (identity, end) => supervisor.ended(identity, end),
    onFailure: onTrouble,
  });
  tellTrouble(wired, say);
  const supervisorOfShard = (view: StateStore, own: Phase) => {
    const { runner, letGo } = shardRunner(runs.keeper.runner);
    const parts = { ...wired, store: wired.monitoring.observed(view), runner, between: runs.between };
    return { supervisor: supervisorOf(options, own, parts, planning), letGo };
  };
  const wish = { revision: 0, settings: settings.current };
  const membership = new Membership(
    {
      ...{ member, mailbox, time, onFailure },
      settingsOf: (text) => permitted(settingsOfText(text), options.permit ?? {}),
      clock: systemClock,
      supervisorOf: supervisorOfShard,
      onSettings: (now) => settings.use(now),
      ...movingOf(notices, wired),
      leave: async () => void unwrap((await options.store.backend.cluster?.drain(member.node, true)) ?? ok(undefined)),
      onEvent: say,
    },
    wish,
  );
  const { gates, planners } = wired;
  const status: Among["status"] = () => supervisor.status();
  const place = { shared, mailbox, stateDirectory: options.stateDirectory };
  const among = new Among({ ...wired, ...place, status, onFailure: onTrouble });
  const supervisor: ShardedSupervisor = new ShardedSupervisor({
    ...{ member, membership, mailbox, phase, gates, time, away: runs.away, clock: systemClock },
    ...{ answer: (request) => among.answer(request), lastLetters: () => among.workers.leaveOthers() },
    onChanged: (identity) => planners.known.changed(identity),
  });
  const standing = () => ({ shards: membership.shards.length, revision: membership.revision, offsetMs: time.offsetMs });
  wired.monitoring.watchNode(standing);
  const recover = (): Promise<void> => runs.recover(wired.store, placeOf(options, settings.current));
  return { supervisor, membership, mailbox, among, recover, stopWatching: () => runs.away.stop() };
}

/** What runs of an earlier daemon of this node are known by. */
function placeOf(options: DaemonOptions, { killGraceMs, http }: Settings): RunPlace {
  const outputDirectory = outputDirectoryIn(options.stateDirectory);
  return { outputDirectory, baseEnv: baseEnvOf(options), killGraceMs, http };
}

/** What goes with the jobs from node to node. */
function movingOf(notices: SharedNotices, { books: { health } }: Wired) {
  return {
    onTaking: async (shards: readonly Shard[]): Promise<void> => {
      await notices.take(shards);
      health.moved();
    },
    onGivingUp: async (shards: readonly Shard[]): Promise<void> => {
      await notices.leave(shards);
      // What is on its way is on record before somebody else counts on from it.
      await health.flush();
      health.moved();
    },
  };
}

/** Trouble of the one runner is that of the node, and told once. */
function tellTrouble({ runner }: Wired, say: (event: MembershipEvent) => void): void {
  runner.subscribe((event) => {
    if (event.kind !== "trouble") return;
    const error = new KronError(event.code, event.message, { component: "executor", operation: "launch" });
    say({ event: "trouble", error, shard: null });
  });
}

/** Each shard by itself; what is too old is dropped by whoever has the first of them. */
export function sweepsOf(member: ClusterMember, membership: Membership): readonly Sweep[] {
  return membership.shards.map((held) => {
    const { pool, number } = held.shard;
    const dropsOld = pool === ANY_POOL && number === 0;
    return { store: member.storeOf(held.shard), dropsOld, jobs: () => held.supervisor?.status().jobs ?? 0 };
  });
}

/** Jobs with series of their own are this node's; a while after some have come or gone, because more are likely to. */
function seriesOf(
  { metricsJobs = [] }: DaemonOptions,
  { monitoring, store }: Wired,
  identities: () => Iterable<string>,
): () => void {
  let isAwaited = metricsJobs.length === 0;
  return () => {
    if (isAwaited) return;
    isAwaited = true;
    systemClock.after(SECOND_MS, () => {
      isAwaited = false;
      // What is only shown is no reason to end; the next change shows it.
      monitoring.jobsAre(identities(), store).catch(() => undefined);
    });
  };
}

function teller(log: DaemonLog, onMoved: () => void): (event: MembershipEvent) => void {
  return (event) => {
    if (event.event !== "trouble" && event.event !== "node_drained") onMoved();
    if (event.event === "trouble") {
      const { error, shard } = event;
      const told = errorEvent(error, { component: "scheduler", operation: "shard" }, systemClock.now());
      const where = shard === null ? {} : { pool: shard.pool, shard: shard.number };
      log.daemon({ ...told, fields: { ...told.fields, ...where } });
      return;
    }
    const { event: name, ...about } = event;
    const fields = "shard" in about ? shardFields(about) : about;
    log.daemon({ at: systemClock.now(), event: name, component: "scheduler", level: "info", fields });
  };
}

function shardFields({ shard, ...rest }: { readonly shard: { readonly pool: string; readonly number: number } }) {
  return { pool: shard.pool, shard: shard.number, ...rest };
}
