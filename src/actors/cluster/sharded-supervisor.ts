/**
 * All jobs of a store with several nodes, asked of one of them: what this node looks after is done here, and for the rest the
 * node that has it is written to. Behind it every shard has an unchanged supervisor of its own.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Settings } from "../../core/config/settings.js";
import type { Hint, HintKind } from "../../core/governor/hint.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText } from "../../core/job/schema.js";
import { endingFields } from "../../core/state/ending.js";
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember } from "../../persist/cluster.js";
import type { Clock } from "../clock.js";
import { NamedTurns } from "../named-turns.js";
import type { Phase } from "../phase.js";
import type {
  DaemonStatus,
  JobPage,
  JobQuery,
  JobStatus,
  ListOptions,
  LiveJob,
  PlannedReload,
  PlanReport,
  RunNowResult,
  Supervisor,
} from "../supervisor/port.js";
import type { AwayEnd, ElsewhereRun, EndAnswer, NodeNews } from "../supervisor/run/away.js";
import type { Gates } from "../supervisor/run/gates.js";
import type { JobObject } from "../supervisor/write/contribution.js";
import { Attendance } from "./attendance.js";
import type { AwayRuns } from "./away-runs.js";
import * as commands from "./commands.js";
import { JobsHere, JobsOfAll } from "./jobs-of-all.js";
import type { Answer, Mailbox, Request } from "./mailbox.js";
import type { Membership } from "./membership.js";
import { SHARED_DEFINITIONS } from "./shared-definitions.js";
import { UnservedJobs } from "./unserved-jobs.js";

/** What a command may take on another node: as long as a start may. */
const COMMAND_WITHIN_MS = 10 * SECOND_MS;

export interface ShardedPorts {
  readonly member: Pick<ClusterMember, "node" | "session" | "shardOf" | "holderOf" | "nodes" | "unserved">;
  readonly membership: Membership;
  readonly mailbox: Pick<Mailbox, "ask" | "close" | "isClosed">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  /** By which jobs go. */
  readonly time: Pick<Clock, "now">;
  readonly phase: Phase;
  readonly gates: Pick<Gates, "armedCount">;
  /** Runs that go on here in shards of others: waited for where a stop is to be graceful. */
  readonly away: Pick<AwayRuns, "ended" | "stop" | "terminate">;
  /** A job of this node was defined, or taken out, as another node has asked. */
  onChanged(identity: string): void;
  /** What nodes ask each other beside what is about jobs. */
  answer(request: Request): Promise<Answer>;
  /** Resolves when nothing is on its way from another node that would be lost if nobody read it. */
  lastLetters(): Promise<void>;
}

export class ShardedSupervisor implements Supervisor {
  readonly failed: Promise<KronError>;
  /** What this node looks after itself. */
  readonly here: commands.Jobs & Pick<Supervisor, "status">;
  readonly #ports: ShardedPorts;
  readonly #attendance: Attendance;
  readonly #jobs: JobsOfAll;
  readonly #bootedAt: EpochMs;
  /** Of changes that others ask for: one that is asked for again may find the first still under way. */
  readonly #changes = new NamedTurns();

  constructor(ports: ShardedPorts) {
    this.#ports = ports;
    this.#bootedAt = ports.time.now();
    this.#attendance = new Attendance(ports);
    const here = new JobsHere(ports);
    this.#jobs = new JobsOfAll(ports, here, this.#attendance, new UnservedJobs(ports));
    this.here = {
      list: (options) => here.list(options),
      find: (query) => here.find(query),
      status: () => this.status(),
    };
    let tellFailed = (_error: KronError): void => {};
    this.failed = new Promise((resolve) => {
      tellFailed = resolve;
    });
    const { membership, phase } = ports;
    phase.carryOut({
      drain: () => {
        this.#drain().catch((error: unknown) => phase.fail(error));
      },
      closeGates: () => {
        if (phase.failure !== null) membership.fail(phase.failure);
      },
      reportError: () => {
        if (phase.failure !== null) tellFailed(phase.failure);
      },
    });
  }

  /** What is wanted stands in the store. */
  async start(_wanted: unknown, _settings: Settings): Promise<void> {
    const { membership, phase } = this.#ports;
    phase.tell({ type: "RECOVERED" });
    await membership.begin();
  }

  plan(): Promise<PlannedReload> {
    return Promise.reject(applied());
  }

  reload(): Promise<PlanReport> {
    return Promise.reject(applied());
  }

  async define(definition: JobDefinition, objects: readonly JobObject[]): Promise<void> {
    const { identity } = definition;
    const asked = { identity, definition: canonicalDefinitionText(definition), objects: [...objects] };
    await this.#tell(commands.DEFINE, asked);
  }

  remove(identity: string, objects: readonly JobObject[]): Promise<boolean> {
    return this.#tell(commands.REMOVE, { identity, objects: [...objects] });
  }

  runNow(identity: string, onlyIfIdle = false): Promise<RunNowResult> {
    return this.#tell(commands.RUN_NOW, { identity, onlyIfIdle });
  }

  pause(identity: string, untilAt: EpochMs, reason: string, catchesUp = false, by?: string): Promise<boolean> {
    return this.#tell(commands.PAUSE, { identity, untilAt, reason, catchesUp, by: by ?? null });
  }

  resume(identity: string, by?: string): Promise<boolean> {
    return this.#tell(commands.RESUME, { identity, by: by ?? null });
  }

  hint(identity: string, hint: Hint): Promise<"set" | "used" | "held" | "unknown"> {
    return this.#tell(commands.HINT, { identity, hint });
  }

  clearHints(identity: string, kind: HintKind | "all", by?: string): Promise<boolean> {
    return this.#tell(commands.UNHINT, { identity, kind, by: by ?? null });
  }

  ended(identity: string, { attemptId, ending, hasBegun }: AwayEnd): Promise<EndAnswer> {
    return this.#tell(commands.ENDED, { identity, attemptId, ending: { ...endingFields(ending) }, hasBegun });
  }

  async hearOfNode(node: string, news: NodeNews): Promise<number> {
    const closed = await Promise.all(this.#serving().map((supervisor) => supervisor.hearOfNode(node, news)));
    return closed.reduce((sum, count) => sum + count, 0);
  }

  elsewhere(): readonly ElsewhereRun[] {
    return this.#serving().flatMap((supervisor) => supervisor.elsewhere());
  }

  cancel(identity: string, periodId?: string): Promise<number> {
    return this.#tell(commands.CANCEL, { identity, periodId: periodId ?? null });
  }

  list(options?: ListOptions): Promise<readonly JobStatus[]> {
    return this.#jobs.list(options);
  }

  find(query: JobQuery): Promise<JobPage> {
    return this.#jobs.find(query);
  }

  /** Of what is here. */
  has(identity: string): boolean {
    return this.#ports.membership.shards.some(({ supervisor }) => supervisor?.has(identity) === true);
  }

  *identities(): Generator<string> {
    for (const { supervisor } of this.#ports.membership.shards) if (supervisor !== null) yield* supervisor.identities();
  }

  *live(): Iterable<LiveJob> {
    for (const { supervisor } of this.#ports.membership.shards) if (supervisor !== null) yield* supervisor.live();
  }

  /** Of what is here. */
  status(): DaemonStatus {
    let [jobs, active, nextDueAt]: [number, number, EpochMs | null] = [0, 0, null];
    for (const { supervisor } of this.#ports.membership.shards) {
      if (supervisor === null) continue;
      const status = supervisor.status();
      jobs += status.jobs;
      active += status.active;
      const dueAt = status.nextDueAt;
      if (dueAt !== null && (nextDueAt === null || dueAt < nextDueAt)) nextDueAt = dueAt;
    }
    return { jobs, active, armed: this.#ports.gates.armedCount, nextDueAt, bootedAt: this.#bootedAt };
  }

  async whenIdle(): Promise<void> {
    await Promise.all(this.#ports.membership.shards.map(({ supervisor }) => supervisor?.whenIdle()));
  }

  async stop({ graceful }: { readonly graceful: boolean }): Promise<void> {
    const { phase } = this.#ports;
    if (phase.failure !== null) throw phase.failure;
    phase.tell({ type: "DRAIN", waitsForRuns: graceful });
  }

  /** What other nodes ask. */
  async serve({ do: name, input }: Request): Promise<Answer> {
    const ofNode = commands.NODE_COMMANDS.find((command) => command.name === name);
    if (ofNode !== undefined) return told(ofNode.serve(this.here, input));
    if (name === commands.TERMINATE.name) return told(commands.TERMINATE.serve(this.#ports.away, input));
    const ofJob = commands.JOB_COMMANDS.find((command) => command.name === name);
    if (ofJob === undefined) return this.#ports.answer({ do: name, input });
    const identity = identityIn(input);
    if (identity === null) return { is: "unreadable" };
    const held = await this.#attendance.heldFor(await this.#ports.member.shardOf(identity));
    if (held?.supervisor == null) return { is: "elsewhere" };
    const { supervisor } = held;
    const serve = (): Promise<Answer> => told(ofJob.serve(supervisor, input));
    if (!commands.CHANGING.has(name)) return held.during(serve);
    const answer = await held.during(() => this.#changes.take(identity, serve));
    this.#ports.onChanged(identity);
    return answer;
  }

  async #drain(): Promise<void> {
    const { away, lastLetters, mailbox, membership, phase } = this.#ports;
    const { waitsForRuns } = phase.snapshot.context;
    const hasHeirs = waitsForRuns ? await this.#servedByOthers() : () => true;
    await membership.giveBack(({ pool }) => !hasHeirs(pool));
    if (waitsForRuns) await away.ended();
    away.stop();
    await lastLetters();
    mailbox.close();
    await membership.close();
    phase.tell({ type: "DRAINED" });
  }

  /** Pools whose jobs are looked after by somebody else as soon as this node gives them up. */
  async #servedByOthers(): Promise<(pool: string) => boolean> {
    const { member } = this.#ports;
    const others = (await member.nodes()).filter(
      ({ isDraining, session }) => session !== member.session && !isDraining,
    );
    const pools = new Set(others.flatMap((node) => node.pools));
    return (pool) => pools.has(pool);
  }

  /** To whoever looks after the job, wherever that is by the time it is done. */
  async #tell<Input extends { readonly identity: string }, Output>(
    command: commands.Command<Supervisor, Input, Output>,
    input: Input,
  ): Promise<Output> {
    return this.#attendance.until(input.identity, async (shard) => {
      const held = await this.#attendance.heldFor(shard);
      const supervisor = held?.supervisor ?? null;
      if (held !== null && supervisor !== null) {
        const act = (): Promise<Output> => command.run(supervisor, input);
        const isChange = commands.CHANGING.has(command.name);
        return { value: await held.during(() => (isChange ? this.#changes.take(input.identity, act) : act())) };
      }
      const holder = await this.#attendance.otherHolderOf(shard);
      if (holder === null) return null;
      try {
        const answer = await this.#ports.mailbox.ask(holder, { do: command.name, input }, COMMAND_WITHIN_MS);
        return answer.is === "elsewhere" ? null : { value: commands.readAnswer(holder, command, answer) };
      } catch (error) {
        if (command.isRepeatable && isSilence(error) && !this.#ports.mailbox.isClosed) return "silent";
        throw error;
      }
    });
  }

  #serving(): readonly Supervisor[] {
    return this.#ports.membership.shards.flatMap(({ supervisor }) => supervisor ?? []);
  }
}

async function told(done: Promise<unknown> | null): Promise<Answer> {
  return done === null ? { is: "unreadable" } : { is: "done", value: (await done) ?? null };
}

function identityIn(input: unknown): string | null {
  const isNamed = typeof input === "object" && input !== null && "identity" in input;
  return isNamed && typeof input.identity === "string" ? input.identity : null;
}

function isSilence(error: unknown): boolean {
  return error instanceof KronError && error.code === "node-silent";
}

function applied(): KronError {
  return new KronError("definitions-shared", SHARED_DEFINITIONS, { component: "config", operation: "apply" });
}
