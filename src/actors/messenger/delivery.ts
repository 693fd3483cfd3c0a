/** One message on its way: a process or a request of the same runners that run jobs, with a bound on how long it takes. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HttpSettings, NotificationSettings } from "../../core/config/settings.js";
import { alertsOf, eventsOf, headline, mailText } from "../../core/notify/bodies.js";
import type { Message, Notice } from "../../core/notify/notice.js";
import { endingText, isSuccess } from "../../core/state/ending.js";
import { formatInstant, SECOND_MS } from "../../core/time/instant.js";
import type { Clock } from "../clock.js";
import type { ArmFailure, ArmRequest, Runner, RunnerEvent } from "../runner/port.js";
import { namedRefusal } from "../supervisor/run/named-refusal.js";
import { identityOf, tenantOf } from "./tenants.js";

export interface DeliveryPorts {
  readonly clock: Clock;
  readonly runner: Runner;
  readonly host: string;
  /** The daemon's account. */
  readonly user: string;
  readonly outputDirectory: string;
  readonly baseEnv: Readonly<Record<string, string>>;
  newId(): string;
  /** What people call the job of a message, beside its identity; absent: nothing else. */
  namesOf?(messages: readonly Message[]): Promise<ReadonlyMap<string, Names>>;
}

/** Of an endpoint. */
export interface Names {
  readonly tenant: string;
  readonly job: string;
  readonly endpoint: string;
}

export interface MessengerSettings {
  readonly http: HttpSettings;
  readonly notifications: NotificationSettings;
}

/** `silent`: there is nothing to say. */
type Delivered =
  | { readonly kind: "taken" }
  | { readonly kind: "silent" }
  | { readonly kind: "refused"; readonly message: string };

const TAKEN: Delivered = { kind: "taken" };

const COMMAND_BOUND_MS = 60 * SECOND_MS;
const KILL_GRACE_MS = 5 * SECOND_MS;
const OPEN_FILES = 1024;
const OUTPUT = { maxBytes: 1_000_000, keep: 20, onExcess: "drop-middle", killGraceMs: KILL_GRACE_MS } as const;
/** Of what a run has printed, in a mail. */
const MAILED_BYTES = 64 * 1024;
/** Beside the directories of jobs, whose names are hashes. */
const OUTPUT_FOLDER = "notifications";

type ProcessRequest = Extract<ArmRequest, { readonly kind: "process" }>;

export class Delivery {
  readonly #ports: DeliveryPorts;
  readonly #settings: () => MessengerSettings;
  readonly #ends = new Map<string, (end: Delivered) => void>();

  constructor(ports: DeliveryPorts, settings: () => MessengerSettings) {
    this.#ports = ports;
    this.#settings = settings;
    ports.runner.subscribe((event) => this.#hear(event));
  }

  /** Of these, what is about the output of a run that has printed nothing: as with cron, that is no news. */
  async silentOf<N extends Notice>(notices: readonly N[]): Promise<readonly N[]> {
    const isSilent = async ({ message, outputPath }: Notice): Promise<boolean> => {
      return message.event === "output" && outputPath !== null && (await sizeOf(outputPath)) === 0;
    };
    const silent = await Promise.all(notices.map(isSilent));
    return notices.filter((_, index) => silent[index] === true);
  }

  /** Resolves in bounded time, whatever is on the other side. */
  async send(notice: Notice): Promise<Delivered> {
    if ((await this.silentOf([notice])).length > 0) return { kind: "silent" };
    const output = notice.outputPath === null ? "" : await beginningOf(notice.outputPath);
    const { clock, runner } = this.#ports;
    const request = await this.#requestOf(notice, output);
    const armed = await runner.arm(request);
    if (!armed.ok) return { kind: "refused", message: refusalText(armed.error, request) };
    const { attemptId } = request;
    const ended = new Promise<Delivered>((resolve) => this.#ends.set(attemptId, resolve));
    const outcome = await runner.go(armed.value, clock.now() + COMMAND_BOUND_MS);
    if (outcome !== "started") {
      this.#ends.delete(attemptId);
      return { kind: "refused", message: `it could not be begun: ${outcome}` };
    }
    const bound = request.kind === "process" ? this.#bound(attemptId) : null;
    try {
      return await ended;
    } finally {
      bound?.cancel();
    }
  }

  #bound(attemptId: string): { cancel(): void } {
    const { clock, runner } = this.#ports;
    return clock.after(COMMAND_BOUND_MS, () => {
      this.#end(attemptId, { kind: "refused", message: `it took longer than ${COMMAND_BOUND_MS / SECOND_MS} s` });
      runner.terminate(attemptId, KILL_GRACE_MS).catch(() => undefined);
    });
  }

  async #requestOf({ message, target }: Notice, output: string): Promise<ArmRequest> {
    const { host, user } = this.#ports;
    const { http: settings, notifications } = this.#settings();
    const attemptId = this.#ports.newId();
    switch (target.kind) {
      case "command":
        return this.#process(attemptId, message, target.argv, `${JSON.stringify(message)}\n`);
      case "mail": {
        const text = mailText(message, target.to, { host, user, from: notifications.mailFrom }, output);
        return this.#process(attemptId, message, notifications.sendmail, text);
      }
      default: {
        const told = tenantOf(message) === null ? { ...message, host } : await this.#named(message);
        const body = JSON.stringify(target.format === "alertmanager" ? alertsOf(message, host) : told);
        const headers = { "content-type": "application/json", ...target.http.headers };
        // Its id stands for the period: a message that is sent again has the key that it had.
        const about = { identity: identityOf(message), periodId: message.id, scheduledFor: message.at };
        return { kind: "request", attemptId, ...about, target: { ...target.http, headers, body }, settings };
      }
    }
  }

  /** Tenants know their endpoints by name, and nothing of the host. */
  async #named(message: Message): Promise<Message> {
    const events = eventsOf(message);
    const names = (await this.#ports.namesOf?.(events)) ?? new Map<string, Names>();
    const [only, ...others] = events.map((event) => ({ ...event, ...names.get(event.identity) }));
    const text = headline(message, (identity) => labelOf(names.get(identity)) ?? identity);
    return message.event === "group" ? { ...message, events: [only, ...others], text } : { ...message, ...only, text };
  }

  #process(attemptId: string, message: Message, argv: readonly string[], stdin: string): ProcessRequest {
    const { baseEnv, clock, outputDirectory } = this.#ports;
    const { event, id, identity } = message;
    const at = formatInstant(clock.now()).replaceAll(":", "");
    const directory = join(outputDirectory, OUTPUT_FOLDER);
    return {
      kind: "process",
      attemptId,
      command: { kind: "argv", argv },
      user: null,
      group: null,
      cwd: null,
      umask: null,
      env: { ...baseEnv, KRON_EVENT: event, KRON_DELIVERY_ID: id, KRON_IDENTITY: identity, KRON_ATTEMPT_ID: attemptId },
      accountEnv: true,
      openFiles: OPEN_FILES,
      stdin,
      output: { to: "file", directory, name: `${at}.${attemptId}.log`, ...OUTPUT },
    };
  }

  #hear(event: RunnerEvent): void {
    if (event.kind === "ended") {
      const message = `it ended with ${endingText(event.ending)}`;
      this.#end(event.attemptId, isSuccess(event.ending) ? TAKEN : { kind: "refused", message });
    } else if (event.kind === "gate-lost") {
      this.#end(event.attemptId, { kind: "refused", message: "it ended before it was begun" });
    }
  }

  #end(attemptId: string, end: Delivered): void {
    this.#ends.get(attemptId)?.(end);
    this.#ends.delete(attemptId);
  }
}

/** Which program it was, where that is the trouble. */
function refusalText(refusal: ArmFailure, request: ArmRequest): string {
  return request.kind === "process" ? namedRefusal(refusal, request.command).message : refusal.message;
}

function labelOf(names: Names | undefined): string | null {
  return names === undefined ? null : `${names.job}/${names.endpoint}`;
}

/** What stands there of an output that has been rotated away. */
const NOT_THERE = "[what the run printed is not there any more]\n";

async function beginningOf(path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAILED_BYTES), 0, MAILED_BYTES, 0);
      const { size } = await file.stat();
      const text = buffer.subarray(0, bytesRead).toString("utf8");
      return size > bytesRead ? `${text}\n[${size - bytesRead} bytes more]\n` : text;
    } finally {
      await file.close();
    }
  } catch {
    return NOT_THERE;
  }
}

/** null: it is not there. */
async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}
