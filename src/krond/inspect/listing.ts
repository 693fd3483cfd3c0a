/**
 * What a client is told when it comes: the supervisor, the launcher, every job that lives, and the jobs that rest. There
 * may be a million of those: they are read in pages and told in slices, as fast as the client takes them and no faster
 * than the daemon can spare.
 */
import type { Clock } from "../../actors/clock.js";
import type { RawJob } from "../../core/job/shape.js";
import { newDocument } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import { jobSnapshotOf } from "../../machines/job.machine.js";
import { currentDefinitions, type DocumentEntry, type StateReader, type StoredVersion } from "../../persist/store.js";
import { type InspectClient, Outgoing } from "./client.js";
import { wantsIdentity } from "./filter.js";
import type { PublicSnapshot, Said } from "./frames.js";
import { HUB_LIMITS, type InspectHub } from "./hub.js";
import { restingFrame } from "./life.js";
import { jobSnapshot, publicRaw, unreadableSnapshot } from "./public-view.js";

interface ListingPorts {
  readonly clock: Clock;
  readonly hub: InspectHub;
  readonly store: StateReader;
}

export class Listing {
  #sliceEndMs: number;
  #live = 0;
  #resting = 0;
  #isComplete = true;
  readonly #ports: ListingPorts;
  readonly #client: InspectClient;

  constructor(ports: ListingPorts, client: InspectClient) {
    this.#ports = ports;
    this.#client = client;
    this.#sliceEndMs = ports.clock.monotonicMs() + HUB_LIMITS.sliceMs;
  }

  async run(): Promise<void> {
    const client = this.#client;
    await this.#listLive();
    if (client.filter.kinds.has("job") && client.filter.resting > 0) await this.#listResting();
    const live = this.#live;
    const resting = this.#resting;
    const isComplete = this.#isComplete;
    const hint = isComplete ? {} : { hint: "attach with ?resting=all for every job" };
    client.note({ type: "LISTED", live, resting, isComplete, ...hint });
  }

  async #listLive(): Promise<void> {
    for (const identity of [...this.#client.unlisted]) {
      await this.#turn();
      if (this.#client.isClosed) return;
      if (!this.#client.unlisted.has(identity)) continue;
      this.#ports.hub.list(this.#client, identity);
      this.#live += 1;
    }
  }

  async #listResting(): Promise<void> {
    const { hub, store } = this.#ports;
    const woken = hub.collectActivated();
    try {
      for await (const page of currentDefinitions(store)) {
        woken.identities.clear();
        for (const version of page) {
          if (!(await this.#listOne(version, woken.identities))) return;
        }
      }
    } finally {
      woken.stop();
    }
  }

  /** Whether to go on. */
  async #listOne({ identity, text, isIntact }: StoredVersion, woken: ReadonlySet<string>): Promise<boolean> {
    const client = this.#client;
    const ports = this.#ports;
    await this.#turn();
    if (client.isClosed) return false;
    if (text === null || !wantsIdentity(client.filter, identity) || ports.hub.live.has(identity)) return true;
    if (this.#resting >= client.filter.resting) {
      this.#isComplete = false;
      return false;
    }
    const said = await this.#frameOf(identity, isIntact ? text : null);
    // It may have come to life while it was read: then it was told of already, and by newer words.
    if (ports.hub.live.has(identity) || woken.has(identity)) return true;
    client.offer(new Outgoing(said));
    this.#resting += 1;
    return true;
  }

  async #frameOf(identity: string, text: string | null): Promise<Said> {
    const { clock, store } = this.#ports;
    const raw = text === null ? null : (JSON.parse(text) as RawJob);
    const stored = await store.get(identity);
    return restingFrame(identity, restingSnapshot(identity, raw, stored), clock.now());
  }

  /** Waits for the client to have room, and leaves the loop to others after each slice. */
  async #turn(): Promise<void> {
    const { clock } = this.#ports;
    if (!this.#client.hasRoom) await this.#client.room();
    if (clock.monotonicMs() < this.#sliceEndMs) return;
    await new Promise<void>((resolve) => clock.after(HUB_LIMITS.pauseMs, resolve));
    this.#sliceEndMs = clock.monotonicMs() + HUB_LIMITS.sliceMs;
  }
}

function restingSnapshot(identity: string, raw: RawJob | null, stored: DocumentEntry | undefined): PublicSnapshot {
  const definition = raw === null ? null : publicRaw(raw);
  const parsed = stored === undefined ? null : parseDocument(stored.text, stored.key);
  if (stored?.isIntact === false || parsed?.ok === false) return unreadableSnapshot(definition);
  const document = parsed?.value ?? newDocument(identity);
  const isSuspended = raw?.policy?.suspend === true;
  const job = jobSnapshotOf({ document, historyLimit: document.History.length, isSuspended });
  return jobSnapshot({ job, definition, undecided: null, isResting: true });
}
