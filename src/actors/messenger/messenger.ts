/**
 * Brings to people what the notices on record say: one at a time to each place, at least once, and never in the way of a job.
 * A notice leaves the record when somebody has it, or when everybody was tried for long enough.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { sha256Hex } from "../../core/decision/seed.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { groupOf, type Message, noticeText, placeOf, readNotice } from "../../core/notify/notice.js";
import type { EpochMs } from "../../core/time/instant.js";
import { instantOrNull, SECOND_MS } from "../../core/time/instant.js";
import type { LockTerm } from "../../persist/lock.js";
import type { MetaWrite, Note, StateStore } from "../../persist/store.js";
import type { Timer } from "../clock.js";
import { Delivery, type DeliveryPorts, type MessengerSettings } from "./delivery.js";
import { NOTICE_PREFIX, type Notices, type Posted, post } from "./notices.js";
import { Place } from "./place.js";
import { TenantPaces, tenantOf } from "./tenants.js";

export interface MessengerPorts extends DeliveryPorts {
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly notices: Notices;
  /** What an earlier daemon has left for this one. */
  left(): Promise<readonly Note[]>;
  /** The definition in force; null: there is no such job any more. */
  definitionOf(identity: string): Promise<JobDefinition | null>;
  /** Nothing is brought to anybody while false. */
  mayStart(): boolean;
  onEvent(event: MessengerEvent): void;
  /** A write failed: nothing may be written any more. */
  onFatal(error: unknown): void;
}

/** What is said of a message. `tries`: how often it was brought, this one included. */
export type MessengerEvent = {
  readonly at: EpochMs;
  readonly identity: string;
  readonly event: string;
  readonly deliveryId: string;
  readonly to: string;
  readonly tries: number;
} & (
  | { readonly kind: "delivered" | "grouped" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "given_up"; readonly error: KronError }
);

const WATCHED_EVERY_MS = 10 * SECOND_MS;
const ID_CHARS = 32;

export class Messenger {
  readonly #ports: MessengerPorts;
  readonly #delivery: Delivery;
  readonly #places = new Map<string, Place>();
  readonly #tenants = new TenantPaces();
  /** By tenant: places that wait until it may send again, in the order in which they came. */
  readonly #lines = new Map<string, Line>();
  /** Of notices that wait: what was on record and what is handed in are partly the same. */
  readonly #keys = new Set<string>();
  #settings: MessengerSettings;
  /** What is posted before the record was read; null: it was. */
  #early: Posted[] | null = [];
  #watchTimer: Timer | null = null;

  constructor(ports: MessengerPorts, settings: MessengerSettings) {
    this.#ports = ports;
    this.#settings = settings;
    this.#delivery = new Delivery(ports, () => this.#settings);
  }

  use(settings: MessengerSettings): void {
    this.#settings = settings;
  }

  /** Notices that nobody has yet. */
  get waiting(): number {
    return [...this.#places.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** Goes on with what an earlier daemon has left, before anything that is new. */
  async open(): Promise<void> {
    const left = noticesIn(await this.#ports.left());
    const early = this.#early ?? [];
    this.#early = null;
    this.take(left);
    this.take(early);
    this.#keepWatch();
  }

  /** What was to be told of this job and nobody has yet, and why they have not. */
  undeliveredOf(identity: string): Undelivered {
    let [count, error]: [number, string | null] = [0, null];
    for (const place of this.#places.values()) {
      const own = place.waiting.filter(({ message }) => isAbout(message, identity));
      count += own.length;
      if (own.length > 0) error = place.lastError ?? error;
    }
    return { count, error };
  }

  /** Of whom something waits. */
  identities(): readonly string[] {
    const waiting = [...(this.#early ?? []), ...[...this.#places.values()].flatMap((place) => place.waiting)];
    return waiting.map(({ message }) => message.identity);
  }

  /** What waits for these jobs is somebody else's to bring: it stays on record. */
  leave(identities: ReadonlySet<string>): void {
    const isLeft = ({ message }: Posted): boolean => identities.has(message.identity);
    if (this.#early !== null) this.#early = this.#early.filter((notice) => !isLeft(notice));
    for (const place of this.#places.values()) {
      const left = place.waiting.filter(isLeft);
      place.remove(left);
      for (const { key } of left) this.#keys.delete(key);
    }
  }

  /** These are on record from now on. */
  take(posted: readonly Posted[]): void {
    if (this.#early !== null) {
      this.#early.push(...posted);
      return;
    }
    for (const notice of posted) {
      if (this.#keys.has(notice.key)) continue;
      this.#keys.add(notice.key);
      const place = this.#placeOf(notice);
      place.add(notice);
      this.#goOn(place);
    }
  }

  /** What is under way may still come to its end; nothing new is begun. */
  close(): void {
    this.#watchTimer?.cancel();
    for (const { timer } of [...this.#places.values(), ...this.#lines.values()]) timer?.cancel();
  }

  /** Tenants share none: what one of them has to say neither waits for another's nor comes to it. */
  #placeOf({ message, target }: Posted): Place {
    const name = `${tenantOf(message) ?? ""} ${placeOf(target)}`;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = new Place();
    this.#places.set(name, place);
    return place;
  }

  /** `isTurn`: it is the first in the line of its tenant. */
  #goOn(place: Place, isTurn = false): void {
    if (!this.#ports.mayStart() || place.isBusy || place.first === null) return;
    const tenant = tenantOf(place.first.message);
    if (place.isCrowded(tenant === null ? "host" : "tenant")) {
      this.#busy(place, this.#group(place));
      return;
    }
    if (place.timer !== null || place.isInLine) return;
    const now = this.#ports.clock.now();
    const pace = place.pace(this.#settings.notifications.perMinute, now);
    if (pace.kind === "wait") {
      this.#later(place, pace.untilAt - now);
      return;
    }
    if (tenant !== null && !isTurn && (this.#lines.has(tenant) || this.#tenants.waitsUntil(tenant, now) !== null)) {
      this.#lineUp(tenant, place);
      return;
    }
    this.#tenants.tried(tenant, now);
    const grouped = pace.kind === "group" ? this.#group(place) : Promise.resolve();
    this.#busy(
      place,
      grouped.then(() => this.#bring(place)),
    );
  }

  #lineUp(tenant: string, place: Place): void {
    const line = this.#lines.get(tenant) ?? { places: new Set(), timer: null };
    this.#lines.set(tenant, line);
    line.places.add(place);
    place.isInLine = true;
    if (line.timer === null) this.#moveUp(tenant, line);
  }

  /** One timer for all of them: a tenant may have very many. */
  #moveUp(tenant: string, line: Line): void {
    const { clock } = this.#ports;
    for (const place of line.places) {
      const now = clock.now();
      const untilAt = this.#tenants.waitsUntil(tenant, now);
      if (untilAt !== null) {
        line.timer = clock.after(Math.max(1, untilAt - now), () => {
          line.timer = null;
          this.#moveUp(tenant, line);
        });
        return;
      }
      line.places.delete(place);
      place.isInLine = false;
      this.#goOn(place, true);
    }
    this.#lines.delete(tenant);
  }

  #busy(place: Place, act: Promise<void>): void {
    place.isBusy = true;
    act.then(
      () => {
        place.isBusy = false;
        this.#goOn(place);
      },
      (error: unknown) => this.#failed(error),
    );
  }

  #later(place: Place, delayMs: number): void {
    place.timer = this.#ports.clock.after(Math.max(1, delayMs), () => {
      place.timer = null;
      this.#goOn(place);
    });
  }

  /** What waits becomes one message, for good: whoever is told again after a crash is told the same. */
  async #group(place: Place): Promise<void> {
    const all = place.waiting;
    const silent = await this.#delivery.silentOf(all);
    await this.#forget(place, silent);
    const told = all.filter((notice) => !silent.includes(notice));
    const [first, ...others] = told;
    if (first === undefined || others.length === 0) return;
    const messages = told.map(({ message }) => message);
    const id = sha256Hex(messages.map((message) => message.id).join("\n")).slice(0, ID_CHARS);
    const grouped = post(groupOf(id, messages, first.target), first.target, this.#ports.clock.now(), null);
    await this.#write([...told.map(gone), { key: grouped.key, text: noticeText(grouped) }]);
    place.replace(told, grouped);
    for (const { key } of told) this.#keys.delete(key);
    this.#keys.add(grouped.key);
    this.#say(grouped, 0, { kind: "grouped" });
  }

  async #bring(place: Place): Promise<void> {
    const notice = place.first;
    if (notice === null) return;
    const { clock } = this.#ports;
    const tries = place.tried(notice);
    const delivered = await this.#delivery.send(notice);
    // Told to stop meanwhile: whoever comes next goes by the record.
    if (!this.#ports.mayStart()) return;
    if (delivered.kind === "silent") {
      await this.#forget(place, [notice]);
    } else if (delivered.kind === "taken") {
      await this.#write([gone(notice)]);
      this.#keys.delete(notice.key);
      place.sent(notice, clock.now());
      this.#say(notice, tries, { kind: "delivered" });
    } else if (this.#isTooOld(notice)) {
      await this.#forget(place, [notice]);
      const about = { component: "notifier", operation: "notify", identity: notice.message.identity } as const;
      this.#say(notice, tries, { kind: "given_up", error: new KronError("notify-failed", delivered.message, about) });
    } else {
      this.#say(notice, tries, { kind: "failed", message: delivered.message });
      this.#later(place, place.failed(notice, delivered.message));
    }
  }

  async #forget(place: Place, notices: readonly Posted[]): Promise<void> {
    if (notices.length === 0) return;
    await this.#write(notices.map(gone));
    place.remove(notices);
    for (const { key } of notices) this.#keys.delete(key);
  }

  /** A store that is closed meanwhile is no trouble. */
  #failed(error: unknown): void {
    if (this.#ports.mayStart()) this.#ports.onFatal(error);
  }

  #isTooOld({ message }: Posted): boolean {
    const at = instantOrNull(message.at);
    const { giveUpMs } = this.#settings.notifications;
    return at !== null && this.#ports.clock.now() - at > giveUpMs;
  }

  #keepWatch(): void {
    this.#watchTimer = this.#ports.clock.after(WATCHED_EVERY_MS, () => {
      this.#sweep();
      this.#lookForLate().then(
        () => this.#ports.mayStart() && this.#keepWatch(),
        (error: unknown) => this.#failed(error),
      );
    });
  }

  /** Places are named by whoever makes endpoints: those that have nothing to wait for are forgotten. */
  #sweep(): void {
    const now = this.#ports.clock.now();
    this.#tenants.sweep(now);
    for (const [name, place] of this.#places) if (place.isIdle(now)) this.#places.delete(name);
  }

  async #lookForLate(): Promise<void> {
    const { clock, notices } = this.#ports;
    for (const identity of notices.overdue(clock.now())) {
      if (!this.#ports.mayStart()) return;
      const definition = await this.#ports.definitionOf(identity);
      if (definition !== null) await this.#tellLate(definition);
    }
  }

  async #tellLate(definition: JobDefinition): Promise<void> {
    const { clock, notices } = this.#ports;
    const { identity } = definition;
    const pausedUntilAt = await this.#pausedUntil(identity);
    const now = clock.now();
    if (pausedUntilAt !== null && pausedUntilAt > now) {
      await this.#write(notices.excuse(identity, pausedUntilAt));
      return;
    }
    // By what is known now: it may have succeeded meanwhile.
    const noted = notices.late(definition, now);
    if (noted === null) return;
    await this.#write(noted.notes);
    noted.posted();
  }

  async #pausedUntil(identity: string): Promise<EpochMs | null> {
    const entry = await this.#ports.store.get(identity);
    if (entry === undefined || !entry.isIntact) return null;
    const { Pause } = JSON.parse(entry.text) as { readonly Pause?: { readonly Until?: string } };
    return instantOrNull(Pause?.Until);
  }

  async #write(meta: readonly MetaWrite[]): Promise<void> {
    await this.#ports.store.commit(this.#ports.term, { meta: meta.map(({ key, text }) => ({ key, text })) });
  }

  #say({ message, target }: Posted, tries: number, what: Told): void {
    const { id: deliveryId, identity, event } = message;
    this.#ports.onEvent({ at: this.#ports.clock.now(), identity, event, deliveryId, to: target.kind, tries, ...what });
  }
}

interface Line {
  readonly places: Set<Place>;
  timer: Timer | null;
}

/** `error`: of the last try; null: there was none. */
export interface Undelivered {
  readonly count: number;
  readonly error: string | null;
}

function isAbout({ identity, events }: Message, about: string): boolean {
  return identity === about || ((events ?? []) as readonly Message[]).some((event) => event.identity === about);
}

type Told =
  | { readonly kind: "delivered" | "grouped" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "given_up"; readonly error: KronError };

function gone({ key }: Posted): MetaWrite {
  return { key, text: null };
}

/** Oldest first. */
export function noticesIn(notes: readonly Note[]): readonly Posted[] {
  const left = notes.filter(({ key }) => key.startsWith(NOTICE_PREFIX)).sort((a, b) => (a.key < b.key ? -1 : 1));
  return left.flatMap(({ key, text }) => noticeAt(key, text));
}

function noticeAt(key: string, text: string): readonly Posted[] {
  const notice = readNotice(text);
  return notice === null ? [] : [{ key, ...notice }];
}
