/**
 * The part of this node among several: several times a second it looks at what the store says, takes up shards that are its own
 * by now, gives back those that are to go, and puts in force what is wanted. It decides nothing of that: who is to have what is
 * worked out in the store, where all nodes see the same.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Settings } from "../../core/config/settings.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { ChartDriver } from "../../machines/chart-driver.js";
import {
  isDraining,
  isLooking,
  type MembershipEffect,
  type MembershipPart,
  mayBegin,
  mayTake,
  membershipMachine,
} from "../../machines/membership.machine.js";
import type { ClusterMember, HeldShard as HeldRow, Pulse, Shard } from "../../persist/cluster.js";
import type { Clock, Timer } from "../clock.js";
import { AtMost } from "./at-most.js";
import type { ClusterClock } from "./clock.js";
import { type Applied, HeldShard, type ShardPorts, type Wish } from "./held-shard.js";
import type { Mailbox } from "./mailbox.js";

const PULSE_MS = 250;
/** After something has happened more is likely to come. */
const SOON_MS = 20;
const SOON_FOR_MS = SECOND_MS;
/** So long a shard that is to go is kept until a calm moment comes. */
const PATIENCE_MS = 30 * SECOND_MS;
/** One that could not be begun is begun anew after this long; what could not be done is told as seldom. */
const AGAIN_MS = 30 * SECOND_MS;
/** Shards that are begun, changed or given back at a time. */
const AT_ONCE = 4;

export type MembershipEvent =
  | { readonly event: "shard_taken"; readonly shard: Shard; readonly jobs: number }
  | { readonly event: "shard_given_up"; readonly shard: Shard; readonly heir: string | null }
  | { readonly event: "node_drained" }
  | ({ readonly event: "revision_applied"; readonly revision: number; readonly shards: number } & Omit<
      Applied,
      "unreadable"
    >)
  | { readonly event: "trouble"; readonly error: unknown; readonly shard: Shard | null };

interface MembershipPorts extends Pick<ShardPorts, "supervisorOf"> {
  readonly member: ClusterMember;
  readonly mailbox: Pick<Mailbox, "take">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly time: Pick<ClusterClock, "now" | "take">;
  /** What the settings that go with a revision say. */
  settingsOf(text: string | null): Settings;
  /** From now on. */
  onSettings(settings: Settings): void;
  /** Before they are begun, and before they are given back. */
  onTaking(shards: readonly Shard[]): Promise<void>;
  onGivingUp(shards: readonly Shard[]): Promise<void>;
  /** This node is not to be counted among those that take shards any more: others may have more then. */
  leave(): Promise<void>;
  onEvent(event: MembershipEvent): void;
  onFailure(error: unknown): void;
}

export class Membership {
  readonly #ports: MembershipPorts;
  readonly #shards = new Map<string, HeldShard>();
  /** Since when they are to go, by the clock of this machine, and to whom. */
  readonly #leaving = new Map<string, { readonly sinceMs: number; heir: string | null }>();
  readonly #lanes = new AtMost(AT_ONCE);
  readonly #applied = new AppliedSum();
  readonly #toldMs = new Map<string, number>();
  #wish: Wish;
  #timer: Timer | null = null;
  #beating: Promise<void> = Promise.resolve();
  #soonUntilMs = 0;
  readonly #busy = new Set<HeldShard>();
  readonly #chart: ChartDriver<typeof membershipMachine, MembershipEffect>;

  constructor(ports: MembershipPorts, wish: Wish) {
    this.#ports = ports;
    this.#wish = wish;
    const acts: Readonly<Record<MembershipEffect, () => void>> = {
      rest: () => this.#rest(),
      look: () => this.#later(),
      sayDrained: () => ports.onEvent({ event: "node_drained" }),
    };
    this.#chart = new ChartDriver<typeof membershipMachine, MembershipEffect>(membershipMachine, (effect) => {
      acts[effect]();
    });
  }

  /** Where in its life among the others this node is. */
  get #part(): MembershipPart {
    return this.#chart.snapshot.value;
  }

  /** Resolves when what is due to this node at first is looked after. */
  async begin(): Promise<void> {
    const first = this.#beat();
    this.#beating = first.catch(() => undefined);
    await first;
    if (isLooking(this.#part)) this.#later();
    await Promise.all([...this.#shards.values()].map(({ ready }) => ready));
  }

  /** null: it is not this node's. */
  shard({ pool, number }: Shard): HeldShard | null {
    return this.#shards.get(nameOf({ pool, number })) ?? null;
  }

  get shards(): readonly HeldShard[] {
    return [...this.#shards.values()];
  }

  /** What is in force in all that is held. */
  get revision(): number {
    return this.shards.reduce((least, { revision }) => Math.min(least, revision), this.#wish.revision);
  }

  /** Something has happened: more is likely to come. */
  hurry(): void {
    this.#soonUntilMs = this.#ports.clock.monotonicMs() + SOON_FOR_MS;
    if (this.#timer !== null) this.#later();
  }

  /**
   * All of it is given back at once, whatever is due: whoever takes it goes on from what is on record. `waitsForRuns`: of
   * shards that nobody else could take now what runs is waited for. It goes on looking.
   */
  async giveBack(waitsForRuns: (shard: Shard) => boolean): Promise<void> {
    const kept = this.shards.filter(({ shard }) => waitsForRuns(shard));
    await this.#handing(async () => {
      await this.#ports.leave().catch((error: unknown) => this.#failed(error, null));
      const others = this.shards.filter((held) => !kept.includes(held));
      await Promise.all(others.map((held) => this.#lanes.run(() => this.#stop(held))));
    });
    await Promise.all(kept.map((held) => this.#stop(held, true)));
    await this.#handing(() => Promise.resolve());
  }

  async #handing(act: () => Promise<void>): Promise<void> {
    this.#chart.send({ type: "LEAVE" });
    await this.#beating;
    await act();
    await this.#handBack();
    this.#chart.send({ type: "HANDED" });
  }

  async close(): Promise<void> {
    this.#chart.send({ type: "CLOSE" });
    await this.#beating;
  }

  /** Something fatal has happened: gates close, and nothing more is begun. */
  fail(error: KronError): void {
    this.#chart.send({ type: "CLOSE" });
    for (const held of this.#shards.values()) held.fail(error);
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #later(): void {
    this.#rest();
    const { clock } = this.#ports;
    const isSoon = clock.monotonicMs() < this.#soonUntilMs;
    this.#timer = clock.after(isSoon ? SOON_MS : PULSE_MS, () => {
      this.#timer = null;
      this.#beating = this.#look();
    });
  }

  async #look(): Promise<void> {
    try {
      await this.#beat();
    } catch (error) {
      this.#failed(error, null);
    }
    if (isLooking(this.#part)) this.#later();
  }

  /** What was given back is the first: a look that was begun before would show it as ours still. */
  async #beat(): Promise<void> {
    const { mailbox, member, time } = this.#ports;
    await this.#handBack();
    const pulse = await member.pulse(mayTake(this.#part));
    time.take(pulse.time);
    if (pulse.letters.length > 0) this.#soonUntilMs = this.#ports.clock.monotonicMs() + SOON_FOR_MS;
    try {
      if (this.#part !== "closed") await this.#takeUp(pulse);
    } finally {
      // Whoever asks knows what is held here by now.
      mailbox.take(pulse.letters);
    }
    if (this.#part === "closed") return;
    this.#giveUp(pulse);
    if (this.#shards.size === 0) this.#chart.send({ type: "EMPTIED" });
  }

  async #takeUp({ held, isDraining: isAskedTo, revision }: Pulse): Promise<void> {
    this.#chart.send({ type: isAskedTo ? "DRAIN" : "UNDRAIN" });
    await this.#follow(revision);
    await this.#keep(held);
  }

  /** The settings of a revision are read once, for all that is held. */
  async #follow(revision: number): Promise<void> {
    if (revision <= this.#wish.revision) return;
    const { member, onSettings, settingsOf } = this.#ports;
    const settings = settingsOf(await member.settings());
    this.#wish = { revision, settings };
    onSettings(settings);
  }

  async #keep(rows: readonly HeldRow[]): Promise<void> {
    const names = new Set(rows.map(nameOf));
    const lost = this.shards.find((held) => !names.has(nameOf(held.shard)));
    if (lost !== undefined) throw taken(lost.shard);
    for (const row of rows) this.#shards.get(nameOf(row))?.heard(row.revision);
    const fresh = rows.filter((row) => !this.#shards.has(nameOf(row)));
    if (fresh.length > 0) await this.#ports.onTaking(fresh);
    for (const row of fresh) {
      const held = new HeldShard(row, { ...this.#ports, onFailure: (error) => this.#ports.onFailure(error) });
      this.#shards.set(nameOf(row), held);
      this.#work(held, () => this.#begin(held));
    }
    for (const held of this.#shards.values()) {
      if (held.life === "broken" && this.#isTime(nameOf(held.shard))) this.#work(held, () => this.#begin(held));
      else if (held.life === "serving" && held.revision < this.#wish.revision)
        this.#work(held, () => this.#apply(held));
    }
  }

  /** One thing at a time is done to a shard. */
  #work(held: HeldShard, act: () => Promise<void>): void {
    if (this.#busy.has(held)) return;
    this.#busy.add(held);
    const done = this.#lanes.run(act);
    done.catch((error: unknown) => this.#failed(error, held.shard)).finally(() => this.#busy.delete(held));
  }

  async #begin(held: HeldShard): Promise<void> {
    if (!mayBegin(this.#part)) return;
    this.#toldMs.set(nameOf(held.shard), this.#ports.clock.monotonicMs());
    this.#sum(held, await held.begin(this.#wish));
    const jobs = held.supervisor?.status().jobs ?? 0;
    this.#ports.onEvent({ event: "shard_taken", shard: held.shard, jobs });
  }

  async #apply(held: HeldShard): Promise<void> {
    this.#sum(held, await held.apply(this.#wish));
  }

  #sum({ shard }: HeldShard, applied: Applied | null): void {
    if (applied === null) return;
    const { revision } = this.#wish;
    this.#applied.add(applied);
    for (const identity of applied.unreadable) this.#failed(unreadable(identity), shard);
    if (this.revision < revision) return;
    this.#ports.onEvent({ event: "revision_applied", revision, ...this.#applied.taken() });
  }

  #giveUp({ surplus }: Pulse): void {
    const heirs = new Map(surplus.map(({ heir, ...shard }) => [nameOf(shard), heir]));
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [name, held] of this.#shards) {
      if (!isDraining(this.#part) && !heirs.has(name)) {
        this.#leaving.delete(name);
        continue;
      }
      const leaving = this.#leaving.get(name) ?? { sinceMs: nowMs, heir: null };
      leaving.heir = heirs.get(name) ?? null;
      this.#leaving.set(name, leaving);
      const isPatient = nowMs - leaving.sinceMs < PATIENCE_MS;
      const isRipe = held.life === "broken" || (held.life === "serving" && (!isPatient || this.#isCalm(held)));
      if (isRipe) this.#work(held, () => this.#stop(held));
    }
  }

  #isCalm(held: HeldShard): boolean {
    return held.isCalm(this.#ports.time.now());
  }

  /** It is handed back with the next look, before that asks anything. */
  async #stop(held: HeldShard, graceful = false): Promise<void> {
    await held.stop(graceful);
    this.hurry();
  }

  async #handBack(): Promise<void> {
    const stopped = this.shards.filter(({ life }) => life === "stopped");
    if (stopped.length === 0) return;
    const { member, onEvent, onGivingUp } = this.#ports;
    await onGivingUp(stopped.map(({ shard }) => shard));
    await Promise.all(
      stopped.map(async ({ shard }) => {
        const name = nameOf(shard);
        const heir = this.#leaving.get(name)?.heir ?? null;
        await member.giveUp(shard, heir);
        this.#shards.delete(name);
        this.#leaving.delete(name);
        onEvent({ event: "shard_given_up", shard, heir });
      }),
    );
  }

  /** What can be tried again is; the rest is the end of this node. */
  #failed(error: unknown, shard: Shard | null): void {
    if (this.#part === "closed" && !(error instanceof KronError && error.isFatal)) return;
    const isLasting = !(error instanceof KronError) || (error.isFatal && error.code !== "definition-unreadable");
    if (isLasting) this.#ports.onFailure(error);
    else if (this.#isTime(`${error.code} ${shard === null ? "" : nameOf(shard)}`)) {
      this.#ports.onEvent({ event: "trouble", error, shard });
    }
  }

  /** Not more often than it makes sense. */
  #isTime(what: string): boolean {
    const nowMs = this.#ports.clock.monotonicMs();
    const lastMs = this.#toldMs.get(what) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - lastMs < AGAIN_MS) return false;
    this.#toldMs.set(what, nowMs);
    return true;
  }
}

/** What has become of the jobs of all shards since it was told. */
class AppliedSum {
  #sum = { shards: 0, added: 0, changed: 0, removed: 0 };

  add({ added, changed, removed }: Applied): void {
    const { shards, ...sum } = this.#sum;
    this.#sum = {
      shards: shards + 1,
      added: sum.added + added,
      changed: sum.changed + changed,
      removed: sum.removed + removed,
    };
  }

  taken(): { readonly shards: number; readonly added: number; readonly changed: number; readonly removed: number } {
    const sum = this.#sum;
    this.#sum = { shards: 0, added: 0, changed: 0, removed: 0 };
    return sum;
  }
}

export function nameOf({ pool, number }: Shard): string {
  return `${pool}/${number}`;
}

/** Whoever was too slow to keep it finds out by its next commit too. */
function taken(shard: Shard): KronError {
  const message = `the shard ${nameOf(shard)} is not this node's any more, and it was not given up`;
  const hint = "the next start goes on from what is on record; nothing was started twice";
  return new KronError("lease-lost", message, { component: "persist", operation: "pulse", hint });
}

function unreadable(identity: string): KronError {
  const message = `the definition that is wanted of ${identity} cannot be read by this version: the job goes on as it is`;
  const details = { component: "config", operation: "apply", identity } as const;
  return new KronError("object-unreadable", message, details);
}
