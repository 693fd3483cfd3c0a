/**
 * The runner of requests. Made ready means: secrets are read, the name is looked up, every address is judged. GO sends it,
 * once. A request lives and dies with the daemon: there is none of an earlier one to adopt, and none is ever sent again.
 */

import { err, ok, type Result } from "../../core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { isHeaderValue } from "../../core/job/http-reader.js";
import { isPast } from "../../core/period/lateness.js";
import type { Ending } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock } from "../clock.js";
import type { AdoptOutcome, Armed, ArmFailure, GoOutcome, RunnerEvent, Termination } from "../runner/port.js";
import { Admission, type Lane } from "./admission.js";
import { admit } from "./admit.js";
import { Exchange, type Prepared, waitedField } from "./exchange.js";
import { DISPATCHER_LIMITS } from "./limits.js";
import { Lines, type Place } from "./lines.js";
import { headersOf } from "./message.js";
import type { Dispatcher, RequestArm } from "./port.js";
import { type Resolver, SystemResolver } from "./resolver.js";
import { isSealed } from "./seal.js";
import { type Environment, readSecret, readSigningKey, TlsProfiles, type Unseal } from "./secrets.js";

export interface DispatcherOptions {
  readonly clock: Clock;
  /** Where secrets that are named by a variable are found. */
  readonly env: Environment;
  readonly resolver?: Resolver;
  /** Opens values of headers that were sealed for this daemon; without it, none can be opened. */
  readonly unseal?: Unseal;
  /** The daemon's own: it stands for its requests on record. */
  readonly pid?: number;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new HttpDispatcher(options);
}

interface Held {
  readonly lines: Lines;
  readonly prepared: Prepared;
  readonly place: Place;
  phase: "armed" | "waiting" | "sending";
  /** Of GO, by the clock that never jumps. */
  goMs: number;
  exchange: Exchange | null;
}

const NOT_SENT = { durationMs: 0, bytes: 0, excerpt: null, status: null, isSent: false } as const;

class HttpDispatcher implements Dispatcher {
  readonly capacity = { request: DISPATCHER_LIMITS.armed } as const;
  readonly #clock: Clock;
  readonly #env: Environment;
  readonly #unseal: NonNullable<DispatcherOptions["unseal"]>;
  readonly #pid: number;
  readonly #resolver: Resolver;
  readonly #tls = new TlsProfiles();
  /** null: there was no request yet. */
  #lines: Promise<Result<Lines, string>> | null = null;
  readonly #admission = new Admission(SETTINGS_DEFAULTS.http);
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  #isClosed = false;

  constructor({ clock, env, resolver, unseal, pid = process.pid }: DispatcherOptions) {
    this.#clock = clock;
    this.#env = env;
    this.#unseal = unseal ?? (() => err("there is no key to open it with"));
    this.#pid = pid;
    this.#resolver = resolver ?? new SystemResolver(clock);
  }

  async arm(request: RequestArm): Promise<Result<Armed, ArmFailure>> {
    if (this.#isClosed) return err(CLOSED);
    this.#admission.use(request.settings);
    const fromMs = this.#clock.monotonicMs();
    const url = new URL(request.target.url);
    const admitted = await admit(url, request.settings, this.#resolver);
    if (!admitted.ok) return admitted;
    const dnsMs = this.#clock.monotonicMs() - fromMs;
    const read = await this.#secretsOf(request);
    if (!read.ok) return read;
    const tls = await this.#tls.read(request.target.tls);
    if (!tls.ok) return tls;
    if (this.#isClosed) return err(CLOSED);
    this.#lines ??= Lines.open(this.#clock);
    const lines = await this.#lines;
    if (!lines.ok) {
      this.#lines = null;
      return err({ code: "launcher-unavailable", message: `what sends requests cannot be loaded: ${lines.error}` });
    }
    if (this.#isClosed) return err(CLOSED);
    const { attemptId } = request;
    if (this.#held.has(attemptId)) throw new Error(`invariant broken: attempt ${attemptId} exists already`);
    const place = { url, addresses: admitted.value, tlsKey: tls.value.key, context: tls.value.context };
    const prepared = { request, ...read.value, dnsMs };
    this.#held.set(attemptId, { lines: lines.value, prepared, place, phase: "armed", goMs: fromMs, exchange: null });
    return ok({ attemptId, holder: { kind: "request", pid: this.#pid } });
  }

  /** From here on it is under way; when its turn comes, its lateness is judged once more. */
  async go({ attemptId }: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const held = this.#held.get(attemptId);
    if (held?.phase !== "armed") return "gone";
    if (isPast(latestAt, this.#clock.now())) {
      this.#held.delete(attemptId);
      return "late";
    }
    held.phase = "waiting";
    held.goMs = this.#clock.monotonicMs();
    this.#admission.enter(laneOf(held), attemptId, () => this.#send(attemptId, held, latestAt));
    return "started";
  }

  async abort({ attemptId }: Armed): Promise<void> {
    if (this.#held.get(attemptId)?.phase === "armed") this.#held.delete(attemptId);
  }

  async adopt(): Promise<AdoptOutcome> {
    return "gone";
  }

  async terminate(attemptId: string): Promise<Termination> {
    const held = this.#held.get(attemptId);
    if (held?.exchange != null) held.exchange.fail("cancelled", "it was ended before there was a whole answer");
    else if (held?.phase === "waiting" && this.#admission.withdraw(laneOf(held), attemptId)) {
      const detail = "it was ended before it was sent";
      const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
      const waited = waitedField(this.#waitedMs(held));
      this.#ended(attemptId, { kind: "failed", reason: "cancelled", detail, timings, ...NOT_SENT, ...waited });
    }
    return { survivors: [], wasKilled: false };
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [attemptId, held] of this.#held) {
      this.#admission.withdraw(laneOf(held), attemptId);
      held.exchange?.drop();
    }
    this.#held.clear();
    const lines = await this.#lines;
    if (lines?.ok === true) lines.value.close();
  }

  #send(attemptId: string, held: Held, latestAt: EpochMs): void {
    const { lines, place, prepared } = held;
    const line = lines.take(place);
    const onEnd = (ending: Ending, isLineSound: boolean): void => {
      if (isLineSound) lines.giveBack(line);
      else line.destroy();
      this.#ended(attemptId, ending);
      this.#admission.leave(laneOf(held));
    };
    held.phase = "sending";
    const turn = { latestAt, waitedMs: this.#waitedMs(held) };
    held.exchange = new Exchange(prepared, line, turn, this.#clock, onEnd);
    held.exchange.send();
  }

  #waitedMs({ goMs }: Held): number {
    return this.#clock.monotonicMs() - goMs;
  }

  #ended(attemptId: string, ending: Ending): void {
    if (!this.#held.delete(attemptId)) return;
    const event = { kind: "ended", attemptId, pid: this.#pid, ending } as const;
    for (const listener of this.#listeners) listener(event);
  }

  async #secretsOf(
    request: RequestArm,
  ): Promise<Result<Pick<Prepared, "headers" | "secrets" | "signingKey">, ArmFailure>> {
    const { headers, secretHeaders, signature } = request.target;
    const values: Record<string, string> = {};
    for (const [header, value] of Object.entries(headers)) {
      if (!isSealed(value)) continue;
      const opened = this.#unseal(value);
      if (!opened.ok) return err(notOpened(header, opened.error));
      // One that was sealed when nobody looked: to be said here, or it would break the sending of it.
      if (!isHeaderValue(opened.value)) return err(unfit(header));
      values[header] = opened.value;
    }
    for (const [header, secret] of Object.entries(secretHeaders)) {
      const read = await readSecret(secret, this.#env, this.#unseal);
      if (!read.ok) return read;
      if (!isHeaderValue(read.value)) return err(unfit(header));
      values[header] = read.value;
    }
    const signing = signature === null ? ok(null) : await readSigningKey(signature, this.#env, this.#unseal);
    if (!signing.ok) return signing;
    const { key: signingKey = null, text } = signing.value ?? {};
    const secrets = [...Object.values(values), ...(text === undefined ? [] : [text])];
    return ok({ headers: headersOf(request, values), secrets, signingKey });
  }
}

/** Tenants have endpoints; everything else is the host's own. */
function laneOf({ prepared, place }: Held): Lane {
  return { owner: endpointName(prepared.request.identity)?.tenant ?? null, origin: place.url.origin };
}

const CLOSED: ArmFailure = { code: "launcher-unavailable", message: "the daemon is stopping" };

function notOpened(header: string, why: string): ArmFailure {
  return { code: "secret-unreadable", message: `what is to be sent as ${header} cannot be unsealed: ${why}` };
}

function unfit(header: string): ArmFailure {
  return {
    code: "secret-unreadable",
    message: `what is to be sent as ${header} holds characters that headers cannot have`,
  };
}
