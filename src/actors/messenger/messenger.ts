/**
 * Brings to people what the notices on record say: one at a time to each place, at least once, and never in the way of a job.
 * A notice leaves the record when somebody has it, or when everybody was tried for long enough.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { sha256Hex } from "../../core/decision/seed.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { groupOf, noticeText, placeOf, readNotice } from "../../core/notify/notice.js";
import type { EpochMs } from "../../core/time/instant.js";
import { parseInstant, SECOND_MS } from "../../core/time/instant.js";
import type { LockTerm } from "../../persist/lock.js";
import type { MetaWrite, StateStore } from "../../persist/store.js";
import type { Timer } from "../clock.js";
import { Delivery, type DeliveryPorts, type MessengerSettings } from "./delivery.js";
import { NOTICE_PREFIX, type Notices, type Posted, post } from "./notices.js";
import { Place } from "./place.js";

export interface MessengerPorts extends DeliveryPorts {
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly notices: Notices;
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
    const notes = await this.#ports.store.notes();
    const early = this.#early ?? [];
    this.#early = null;
    const left = notes.filter(({ key }) => key.startsWith(NOTICE_PREFIX)).sort((a, b) => (a.key < b.key ? -1 : 1));
    this.take(left.flatMap(({ key, text }) => noticeAt(key, text)));
    this.take(early);
    this.#keepWatch();
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
    for (const { timer } of this.#places.values()) timer?.cancel();
  }

  #placeOf({ target }: Posted): Place {
    const name = placeOf(target);
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = new Place();
    this.#places.set(name, place);
    return place;
  }

  #goOn(place: Place): void {
    const { clock } = this.#ports;
    if (!this.#ports.mayStart() || place.isBusy || place.timer !== null || place.first === null) return;
    const pace = place.pace(this.#settings.notifications.perMinute, clock.now());
    if (pace.kind === "wait") {
      this.#later(place, pace.untilAt - clock.now());
      return;
    }
    place.isBusy = true;
    const act = pace.kind === "group" ? this.#group(place) : this.#bring(place);
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
    if (first === undefined || others.length === 0) return this.#bring(place);
    const messages = told.map(({ message }) => message);
    const id = sha256Hex(messages.map((message) => message.id).join("\n")).slice(0, ID_CHARS);
    const grouped = post(groupOf(id, messages, first.target), first.target, this.#ports.clock.now(), null);
    await this.#write([...told.map(gone), { key: grouped.key, text: noticeText(grouped) }]);
    place.replace(told, grouped);
    for (const { key } of told) this.#keys.delete(key);
    this.#keys.add(grouped.key);
    this.#say(grouped, 0, { kind: "grouped" });
    await this.#bring(place);
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
      this.#later(place, place.failed(notice));
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
    const at = parseInstant(message.at);
    const { giveUpMs } = this.#settings.notifications;
    return at.ok && this.#ports.clock.now() - at.value > giveUpMs;
  }

  #keepWatch(): void {
    this.#watchTimer = this.#ports.clock.after(WATCHED_EVERY_MS, () => {
      this.#lookForLate().then(
        () => this.#ports.mayStart() && this.#keepWatch(),
        (error: unknown) => this.#failed(error),
      );
    });
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
    const until = Pause?.Until === undefined ? null : parseInstant(Pause.Until);
    return until?.ok === true ? until.value : null;
  }

  async #write(meta: readonly MetaWrite[]): Promise<void> {
    await this.#ports.store.commit(this.#ports.term, { meta: meta.map(({ key, text }) => ({ key, text })) });
  }

  #say({ message, target }: Posted, tries: number, what: Told): void {
    const { id: deliveryId, identity, event } = message;
    this.#ports.onEvent({ at: this.#ports.clock.now(), identity, event, deliveryId, to: target.kind, tries, ...what });
  }
}

type Told =
  | { readonly kind: "delivered" | "grouped" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "given_up"; readonly error: KronError };

function gone({ key }: Posted): MetaWrite {
  return { key, text: null };
}

function noticeAt(key: string, text: string): readonly Posted[] {
  const notice = readNotice(text);
  return notice === null ? [] : [{ key, ...notice }];
}
