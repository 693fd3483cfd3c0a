/**
 * The runner of requests. Made ready means: secrets are read, the name is looked up, every address is judged. GO sends it,
 * once. A request lives and dies with the daemon: there is none of an earlier one to adopt, and none is ever sent again.
 */
import { err, ok, type Result } from "../../core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import { isPast } from "../../core/period/lateness.js";
import type { Ending } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock } from "../clock.js";
import type { AdoptOutcome, Armed, ArmFailure, GoOutcome, RunnerEvent, Termination } from "../runner/port.js";
import { Admission } from "./admission.js";
import { admit } from "./admit.js";
import { Exchange, type Prepared } from "./exchange.js";
import { DISPATCHER_LIMITS } from "./limits.js";
import { Lines, type Place } from "./lines.js";
import { headersOf } from "./message.js";
import type { Dispatcher, RequestArm } from "./port.js";
import { type Resolver, SystemResolver } from "./resolver.js";
import { type Environment, readSecret, TlsProfiles } from "./secrets.js";

export interface DispatcherOptions {
  readonly clock: Clock;
  /** Where secrets that are named by a variable are found. */
  readonly env: Environment;
  readonly resolver?: Resolver;
  /** The daemon's own: it stands for its requests on record. */
  readonly pid?: number;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new HttpDispatcher(options);
}

interface Held {
  readonly prepared: Prepared;
  readonly place: Place;
  phase: "armed" | "waiting" | "sending";
  exchange: Exchange | null;
}

const NOT_SENT = { durationMs: 0, bytes: 0, excerpt: null, status: null, isSent: false } as const;

class HttpDispatcher implements Dispatcher {
  readonly capacity = { request: DISPATCHER_LIMITS.armed } as const;
  private readonly clock: Clock;
  private readonly env: Environment;
  private readonly pid: number;
  private readonly resolver: Resolver;
  private readonly tls = new TlsProfiles();
  private readonly lines: Lines;
  private readonly admission = new Admission(SETTINGS_DEFAULTS.http);
  private readonly held = new Map<string, Held>();
  private readonly listeners = new Set<(event: RunnerEvent) => void>();
  private isClosed = false;

  constructor({ clock, env, resolver, pid = process.pid }: DispatcherOptions) {
    this.clock = clock;
    this.env = env;
    this.pid = pid;
    this.resolver = resolver ?? new SystemResolver(clock);
    this.lines = new Lines(clock);
  }

  async arm(request: RequestArm): Promise<Result<Armed, ArmFailure>> {
    if (this.isClosed) return err(CLOSED);
    this.admission.use(request.settings);
    const fromMs = this.clock.monotonicMs();
    const url = new URL(request.target.url);
    const admitted = await admit(url, request.settings, this.resolver);
    if (!admitted.ok) return admitted;
    const dnsMs = this.clock.monotonicMs() - fromMs;
    const read = await this.secretsOf(request);
    if (!read.ok) return read;
    const tls = await this.tls.read(request.target.tls);
    if (!tls.ok) return tls;
    if (this.isClosed) return err(CLOSED);
    const { attemptId } = request;
    if (this.held.has(attemptId)) throw new Error(`invariant broken: attempt ${attemptId} exists already`);
    const place = { url, addresses: admitted.value, tlsKey: tls.value.key, context: tls.value.context };
    const prepared = { request, ...read.value, dnsMs };
    this.held.set(attemptId, { prepared, place, phase: "armed", exchange: null });
    return ok({ attemptId, holder: { kind: "request", pid: this.pid } });
  }

  /** From here on it is under way; when its turn comes, its lateness is judged once more. */
  async go({ attemptId }: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const held = this.held.get(attemptId);
    if (held?.phase !== "armed") return "gone";
    if (isPast(latestAt, this.clock.now())) {
      this.held.delete(attemptId);
      return "late";
    }
    held.phase = "waiting";
    this.admission.enter(held.place.url.origin, attemptId, () => this.send(attemptId, held, latestAt));
    return "started";
  }

  async abort({ attemptId }: Armed): Promise<void> {
    if (this.held.get(attemptId)?.phase === "armed") this.held.delete(attemptId);
  }

  async adopt(): Promise<AdoptOutcome> {
    return "gone";
  }

  async terminate(attemptId: string): Promise<Termination> {
    const held = this.held.get(attemptId);
    if (held?.exchange != null) held.exchange.fail("cancelled", "it was ended before there was a whole answer");
    else if (held?.phase === "waiting" && this.admission.withdraw(held.place.url.origin, attemptId)) {
      const detail = "it was ended before it was sent";
      const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
      this.ended(attemptId, { kind: "failed", reason: "cancelled", detail, timings, ...NOT_SENT });
    }
    return { survivors: [], wasKilled: false };
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const [attemptId, { exchange, place }] of this.held) {
      this.admission.withdraw(place.url.origin, attemptId);
      exchange?.drop();
    }
    this.held.clear();
    this.lines.close();
  }

  private send(attemptId: string, held: Held, latestAt: EpochMs): void {
    const { place, prepared } = held;
    const line = this.lines.take(place);
    const onEnd = (ending: Ending, isLineSound: boolean): void => {
      if (isLineSound) this.lines.giveBack(line);
      else line.destroy();
      this.ended(attemptId, ending);
      this.admission.leave(place.url.origin);
    };
    held.phase = "sending";
    held.exchange = new Exchange(prepared, line, latestAt, this.clock, onEnd);
    held.exchange.send();
  }

  private ended(attemptId: string, ending: Ending): void {
    if (!this.held.delete(attemptId)) return;
    const event = { kind: "ended", attemptId, pid: this.pid, ending } as const;
    for (const listener of this.listeners) listener(event);
  }

  private async secretsOf(
    request: RequestArm,
  ): Promise<Result<Pick<Prepared, "headers" | "secrets" | "signingSecret">, ArmFailure>> {
    const { secretHeaders, signature } = request.target;
    const values: Record<string, string> = {};
    for (const [header, secret] of Object.entries(secretHeaders)) {
      const read = await readSecret(secret, this.env);
      if (!read.ok) return read;
      if (!HEADER_VALUE.test(read.value)) return err(unfit(header));
      values[header] = read.value;
    }
    const signing = signature === null ? ok(null) : await readSecret(signature, this.env);
    if (!signing.ok) return signing;
    const secrets = [...Object.values(values), ...(signing.value === null ? [] : [signing.value])];
    return ok({ headers: headersOf(request, values), secrets, signingSecret: signing.value });
  }
}

const CLOSED: ArmFailure = { code: "launcher-unavailable", message: "the daemon is stopping" };
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function unfit(header: string): ArmFailure {
  return {
    code: "secret-unreadable",
    message: `what is to be sent as ${header} holds characters that headers cannot have`,
  };
}
