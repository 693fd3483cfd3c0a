/**
 * Brings to people what the notices on record say: one at a time to each place, at least once, and never in the way of a job.
 * A notice leaves the record when somebody has it, or when everybody was tried for long enough.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import { sha256Hex } from "../../core/decision/seed.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { groupOf, noticeText, placeOf, readNotice } from "../../core/notify/notice.js";
import { paceOf, retryAfterMs } from "../../core/notify/pacing.js";
import type { EpochMs } from "../../core/time/instant.js";
import { MINUTE_MS, parseInstant, SECOND_MS } from "../../core/time/instant.js";
import type { LockTerm } from "../../persist/lock.js";
import type { MetaWrite, StateStore } from "../../persist/store.js";
import type { Timer } from "../clock.js";
import { Delivery, type DeliveryPorts, type MessengerSettings } from "./delivery.js";
import { NOTICE_PREFIX, type Notices, type Posted, post, type Watch } from "./notices.js";

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

/** Whoever is told by the same command, address or mailbox. */
interface Place {
  readonly queue: Posted[];
  sentAt: EpochMs[];
  tries: number;
  timer: Timer | null;
  isBusy: boolean;
}

const WATCHED_EVERY_MS = 10 * SECOND_MS;
const ID_CHARS = 32;

export class Messenger {
  readonly #ports: MessengerPorts;
  readonly #delivery: Delivery;
  readonly #places = new Map<string, Place>();
  /** Of notices that wait: what was on record and what is handed in are partly the same. */
  readonly #keys = new Set<string>();
  #settings: MessengerSettings = SETTINGS_DEFAULTS;
  #watchTimer: Timer | null = null;

  constructor(ports: MessengerPorts) {
    this.#ports = ports;
    this.#delivery = new Delivery(ports, () => this.#settings);
  }

  use(settings: MessengerSettings): void {
    this.#settings = settings;
  }

  /** Notices that nobody has yet. */
  get waiting(): number {
    return [...this.#places.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** Goes on with what an earlier daemon has left. */
  async open(): Promise<void> {
    const notes = await this.#ports.store.notes();
    const left = notes.filter(({ key }) => key.startsWith(NOTICE_PREFIX)).sort((a, b) => (a.key < b.key ? -1 : 1));
    this.take(
      left.flatMap(({ key, text }) => {
        const notice = readNotice(text);
        return notice === null ? [] : [{ key, ...notice }];
      }),
    );
    this.#keepWatch();
  }

  /** These are on record from now on. */
  take(posted: readonly Posted[]): void {
    for (const notice of posted) {
      if (this.#keys.has(notice.key)) continue;
      this.#keys.add(notice.key);
      const place = this.#placeOf(notice);
      place.queue.push(notice);
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
    const place: Place = { queue: [], sentAt: [], tries: 0, timer: null, isBusy: false };
    this.#places.set(name, place);
    return place;
  }

  #goOn(place: Place): void {
    const { clock } = this.#ports;
    if (!this.#ports.mayStart() || place.isBusy || place.timer !== null || place.queue.length === 0) return;
    const { notifications } = this.#settings;
    const pace = paceOf(place.queue.length, place.sentAt, notifications.perMinute, clock.now());
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
    const { clock } = this.#ports;
    const all = [...place.queue];
    const first = all[0];
    if (first === undefined) return;
    const now = clock.now();
    const id = sha256Hex(all.map(({ message }) => message.id).join("\n")).slice(0, ID_CHARS);
    const grouped = post(
      groupOf(
        id,
        now,
        all.map(({ message }) => message),
      ),
      first.target,
      now,
      null,
    );
    await this.#write([...all.map(gone), { key: grouped.key, text: noticeText(grouped) }]);
    place.queue.splice(0, all.length, grouped);
    for (const { key } of all) this.#keys.delete(key);
    this.#keys.add(grouped.key);
    this.#say(grouped, place, { kind: "grouped" });
    await this.#bring(place);
  }

  async #bring(place: Place): Promise<void> {
    const [notice] = place.queue;
    if (notice === undefined) return;
    const { clock } = this.#ports;
    place.tries += 1;
    const trouble = await this.#delivery.send(notice);
    // Told to stop meanwhile: whoever comes next goes by the record.
    if (!this.#ports.mayStart()) return;
    if (trouble === null) {
      await this.#write([gone(notice)]);
      this.#say(notice, place, { kind: "delivered" });
      place.sentAt = [...place.sentAt.filter((at) => at > clock.now() - MINUTE_MS), clock.now()];
      this.#done(place);
      return;
    }
    if (this.#isTooOld(notice)) {
      await this.#write([gone(notice)]);
      const about = { component: "notifier", operation: "notify", identity: notice.message.identity } as const;
      this.#say(notice, place, { kind: "given_up", error: new KronError("notify-failed", trouble, about) });
      this.#done(place);
      return;
    }
    this.#say(notice, place, { kind: "failed", message: trouble });
    this.#later(place, retryAfterMs(place.tries));
  }

  /** A store that is closed meanwhile is no trouble. */
  #failed(error: unknown): void {
    if (this.#ports.mayStart()) this.#ports.onFatal(error);
  }

  #done(place: Place): void {
    const notice = place.queue.shift();
    if (notice !== undefined) this.#keys.delete(notice.key);
    place.tries = 0;
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
    for (const watch of notices.overdue(clock.now())) {
      if (!this.#ports.mayStart()) return;
      const definition = await this.#ports.definitionOf(watch.identity);
      if (definition !== null) await this.#tellLate(definition, watch);
    }
  }

  async #tellLate(definition: JobDefinition, watch: Watch): Promise<void> {
    const { clock, notices } = this.#ports;
    const pausedUntilAt = await this.#pausedUntil(watch.identity);
    const now = clock.now();
    if (pausedUntilAt !== null && pausedUntilAt > now) {
      await this.#write([notices.excuse(watch, pausedUntilAt)]);
      return;
    }
    const { notes, posted } = notices.late(definition, watch, now);
    await this.#write(notes);
    posted();
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

  #say({ message, target }: Posted, { tries }: Place, what: Told): void {
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
