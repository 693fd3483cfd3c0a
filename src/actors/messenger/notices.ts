/**
 * What people are to be told, written in the transaction that makes it true: a crash loses none and invents none. Which
 * troubles there are, and since when a job has had no success, is on record beside it.
 */
import { sha256Hex } from "../../core/decision/seed.js";
import type { JobDefinition, NotifyOccasion, NotifyTarget } from "../../core/job/definition.js";
import { lateMessage, type Message, messageOf, type Notice, noticeText } from "../../core/notify/notice.js";
import {
  awaitedBy,
  type Happening,
  happeningsOf,
  knownTo,
  lateAfterMs,
  occasionsOf,
  type Trouble,
  toldBy,
} from "../../core/notify/trouble.js";
import type { LedgerFact } from "../../core/state/facts.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Note, StateReader } from "../../persist/store.js";
import type { JobNote } from "../supervisor/write/committer.js";

export interface Noted {
  readonly notes: readonly JobNote[];
  /** They are durable. */
  posted(): void;
}

/** For whoever writes steps. */
export interface NoticeWriter {
  /** null: nobody is to be told of any of it. */
  of(definition: JobDefinition, facts: readonly LedgerFact[]): Noted | null;
  /** A definition comes into force. */
  defined(definition: JobDefinition): readonly JobNote[];
  removed(identity: string): readonly JobNote[];
}

/** A notice, and the note that it is on record by. */
export interface Posted extends Notice {
  readonly key: string;
}

/** When a job last succeeded, or was first asked for a success, and who was told that it is late since. */
interface Watch {
  readonly identity: string;
  readonly sinceAt: EpochMs;
  readonly lateMs: readonly number[];
  readonly told: readonly number[];
}

interface NoticesPorts {
  now(): EpochMs;
  /** Where a run's output is; null: nowhere that can be read. */
  outputPathOf(definition: JobDefinition, happening: Happening): string | null;
  onPosted(posted: readonly Posted[]): void;
}

export const NOTICE_PREFIX = "notice.";
const TROUBLE_PREFIX = "trouble.";
const WATCH_PREFIX = "late.";
const TIME_DIGITS = 15;
const HASH_CHARS = 32;

export class Notices implements NoticeWriter {
  readonly #ports: NoticesPorts;
  readonly #troubles = new Map<string, Trouble>();
  readonly #watches = new Map<string, Watch>();

  constructor(ports: NoticesPorts) {
    this.#ports = ports;
  }

  /** What an earlier daemon has left. */
  load(notes: readonly Note[]): void {
    for (const { key, text } of notes) {
      if (key.startsWith(TROUBLE_PREFIX)) {
        const { identity, ...trouble } = JSON.parse(text) as TroubleNote;
        this.#troubles.set(identity, trouble);
      } else if (key.startsWith(WATCH_PREFIX)) {
        const watch = JSON.parse(text) as Watch;
        this.#watches.set(watch.identity, watch);
      }
    }
  }

  /** Jobs of which something is known. */
  identities(): readonly string[] {
    return [...new Set([...this.#troubles.keys(), ...this.#watches.keys()])];
  }

  /** They are somebody else's from now on: what is on record of them stays. */
  leave(identities: ReadonlySet<string>): void {
    for (const known of [this.#troubles, this.#watches]) for (const identity of identities) known.delete(identity);
  }

  of(definition: JobDefinition, facts: readonly LedgerFact[]): Noted | null {
    const happenings = happeningsOf(facts);
    const posted: Posted[] = [];
    const notes: JobNote[] = [...this.#resumed(definition, facts)];
    if (happenings.length === 0 && notes.length === 0) return null;
    for (const happening of happenings) {
      posted.push(...this.#tell(definition, happening, notes));
      notes.push(...this.#watched(definition, happening));
    }
    const { identity } = definition;
    notes.push(...posted.map((notice) => ({ identity, key: notice.key, text: noticeText(notice) })));
    return notes.length === 0 ? null : { notes, posted: () => this.#ports.onPosted(posted) };
  }

  defined(definition: JobDefinition): readonly JobNote[] {
    const { identity, notify, policy } = definition;
    if (notify.length === 0) return this.removed(identity);
    const known = this.#watches.get(identity);
    const lateMs = policy.suspend ? [] : lateAfterMs(notify);
    if (lateMs.length === 0) return this.#forget(this.#watches, WATCH_PREFIX, identity);
    if (known !== undefined && String(known.lateMs) === String(lateMs)) return [];
    const told = (known?.told ?? []).filter((each) => lateMs.includes(each));
    return [this.#watch({ identity, sinceAt: known?.sinceAt ?? this.#ports.now(), lateMs, told })];
  }

  removed(identity: string): readonly JobNote[] {
    return [
      ...this.#forget(this.#watches, WATCH_PREFIX, identity),
      ...this.#forget(this.#troubles, TROUBLE_PREFIX, identity),
    ];
  }

  /** Jobs that have had no success for too long, of whom somebody is to be told. */
  overdue(now: EpochMs): readonly string[] {
    return [...this.#watches.values()].filter((watch) => dueOf(watch, now).length > 0).map(({ identity }) => identity);
  }

  /** As `of`, for a job that is late. null: it is not, or not any more. */
  late(definition: JobDefinition, now: EpochMs): Noted | null {
    const { identity, notify } = definition;
    const watch = this.#watches.get(identity);
    const due = watch === undefined ? [] : dueOf(watch, now);
    if (watch === undefined || due.length === 0) return null;
    const { sinceAt } = watch;
    const notes = [this.#watch({ ...watch, told: [...watch.told, ...due] })];
    // One that fails is in trouble already; that it is late ends with the same success.
    const told = notify.filter(({ on, lateMs }) => on.includes("late") && lateMs !== null && due.includes(lateMs));
    const trouble = this.#troubles.get(identity);
    if (trouble === undefined) notes.push(this.#trouble(identity, { kind: "late", sinceAt }));
    // Whoever waits for more failures, and is told this, knows by it that something is wrong.
    else if (trouble.counted !== undefined) {
      notes.push(this.#trouble(identity, knownTo(trouble, awaitedBy(told), awaitedBy(notify))));
    }
    const posted = told.map(({ target, lateMs }, index) => {
      const id = idOf(identity, "late", `${sinceAt}/${lateMs}`, index);
      return post(lateMessage(id, definition, now, sinceAt), target, now, null);
    });
    notes.push(...posted.map((notice) => ({ identity, key: notice.key, text: noticeText(notice) })));
    return { notes, posted: () => this.#ports.onPosted(posted) };
  }

  /** It is not to be asked for a success before this: the job is paused. */
  excuse(identity: string, untilAt: EpochMs): readonly JobNote[] {
    const watch = this.#watches.get(identity);
    return watch === undefined ? [] : [this.#watch({ ...watch, sinceAt: untilAt })];
  }

  #tell(definition: JobDefinition, happening: Happening, notes: JobNote[]): readonly Posted[] {
    const { identity, notify } = definition;
    const before = this.#troubles.get(identity) ?? null;
    const { trouble, ...what } = occasionsOf(happening, before, awaitedBy(notify));
    if (trouble === null) notes.push(...this.#forget(this.#troubles, TROUBLE_PREFIX, identity));
    else if (before === null || isOther(trouble, before)) notes.push(this.#trouble(identity, trouble));
    return toldBy(notify, what).map(({ rule, occasion }, index) => {
      const { attemptId, at, periodId } = happening;
      const id = idOf(identity, occasion, `${attemptId ?? periodId}/${at}`, index);
      const isAboutTrouble = occasion === "recovered" || occasion === "failure" || occasion === "missed";
      const about = isAboutTrouble ? (trouble ?? before) : null;
      const path =
        occasion === "output" || rule.target.kind === "mail" ? this.#ports.outputPathOf(definition, happening) : null;
      return post(messageOf(id, occasion, definition, happening, about), rule.target, at, path);
    });
  }

  /** S51: it was excused until the end of its pause, which may never have come. */
  #resumed({ identity }: JobDefinition, facts: readonly LedgerFact[]): readonly JobNote[] {
    const watch = this.#watches.get(identity);
    const resumed = facts.find(({ kind }) => kind === "resumed");
    if (watch === undefined || resumed === undefined || watch.sinceAt <= resumed.at) return [];
    return [this.#watch({ ...watch, sinceAt: resumed.at, told: [] })];
  }

  #watched({ identity }: JobDefinition, { kind, at }: Happening): readonly JobNote[] {
    const watch = this.#watches.get(identity);
    return watch === undefined || kind !== "succeeded" ? [] : [this.#watch({ ...watch, sinceAt: at, told: [] })];
  }

  #watch(watch: Watch): JobNote {
    this.#watches.set(watch.identity, watch);
    return { identity: watch.identity, key: noteKey(WATCH_PREFIX, watch.identity), text: JSON.stringify(watch) };
  }

  #trouble(identity: string, trouble: Trouble): JobNote {
    this.#troubles.set(identity, trouble);
    return { identity, key: noteKey(TROUBLE_PREFIX, identity), text: JSON.stringify({ identity, ...trouble }) };
  }

  #forget(known: Map<string, unknown>, prefix: string, identity: string): readonly JobNote[] {
    return known.delete(identity) ? [{ identity, key: noteKey(prefix, identity), text: null }] : [];
  }
}

/** Since when it has been one does not change while it is one. */
function isOther(one: Trouble, other: Trouble): boolean {
  const isSame = one.kind === other.kind && one.isUnstartable === other.isUnstartable;
  return !isSame || one.counted?.failures !== other.counted?.failures;
}

type TroubleNote = Trouble & { readonly identity: string };

/** What a job is in by what is on record; null: in nothing that anybody is told of. */
export async function troubleOnRecord(reader: Pick<StateReader, "meta">, identity: string): Promise<Trouble | null> {
  const text = await reader.meta(noteKey(TROUBLE_PREFIX, identity));
  if (text === undefined) return null;
  const { identity: _, ...trouble } = JSON.parse(text) as TroubleNote;
  return trouble;
}

/** For how long it has been late enough for somebody who was not told yet. */
function dueOf({ sinceAt, lateMs, told }: Watch, now: EpochMs): readonly number[] {
  return lateMs.filter((each) => now > sinceAt + each && !told.includes(each));
}

function noteKey(prefix: string, identity: string): string {
  return `${prefix}${sha256Hex(identity).slice(0, HASH_CHARS)}`;
}

/** The same whenever the same is told: whoever receives it twice knows it for one. */
function idOf(identity: string, occasion: NotifyOccasion, what: string, index: number): string {
  return sha256Hex(`${identity}\n${occasion}\n${what}\n${index}`).slice(0, HASH_CHARS);
}

/** Sorts by time. */
export function post(message: Message, target: NotifyTarget, at: EpochMs, outputPath: string | null): Posted {
  const key = `${NOTICE_PREFIX}${String(Math.max(0, at)).padStart(TIME_DIGITS, "0")}.${message.id}`;
  return { key, message, target, outputPath };
}
