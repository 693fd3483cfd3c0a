/**
 * What happens, as it happens: server-sent events. A client that does not read is ended, not waited for; it comes back with
 * the id of the last event it has seen, and is told what it has missed, or that nobody remembers.
 */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../actors/clock.js";
import { SUPERVISOR_EVENTS, type SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { matchesGlob } from "../../core/job/identity-glob.js";
import { isGone } from "./answer.js";
import { Attention, nobodyElse } from "./attention.js";
import { ClientGone } from "./body.js";
import { EventIds } from "./event-ids.js";
import { eventText, type Listener } from "./event-text.js";
import { HttpProblem, retryAfter, wrongFields } from "./problem.js";

export const STREAM_LIMITS = {
  streams: 64,
  perHolder: 8,
  /** Written and not yet taken. */
  waitingBytes: 256 * 1024,
  keepAliveMs: 15_000,
  /** Events that are remembered for those who come back. */
  remembered: 1_000,
  topics: 32,
  topicChars: 600,
} as const;

export const STREAM_TYPE = "text/event-stream; charset=utf-8";
const RETRY_MS = 5_000;
const SCHEDULE = "schedule:";

/** Which events a stream is about: names of events, and `schedule:` with a pattern of identities. */
interface Topics {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly string[];
}

/** null: nothing in particular, which is everything. */
export function readTopics(text: string | null): Topics {
  if (text === null) return { names: new Set(), patterns: [] };
  const topics = text.split(",").filter((topic) => topic !== "");
  if (topics.length === 0) throw wrongTopic("no topic is named");
  const wrong = topics.find((topic) => topic.length > STREAM_LIMITS.topicChars || !isTopic(topic));
  if (wrong !== undefined) throw wrongTopic(`"${wrong.slice(0, 80)}" is no topic`);
  if (topics.length > STREAM_LIMITS.topics) throw wrongTopic(`more than ${STREAM_LIMITS.topics} topics`);
  const patterns = topics.filter((topic) => topic.startsWith(SCHEDULE)).map((topic) => topic.slice(SCHEDULE.length));
  return { names: new Set(topics.filter((topic) => !topic.startsWith(SCHEDULE))), patterns };
}

function isTopic(topic: string): boolean {
  return SUPERVISOR_EVENTS.some((name) => name === topic) || (topic.startsWith(SCHEDULE) && topic !== SCHEDULE);
}

function isAbout({ names, patterns }: Topics, { event, identity }: SupervisorEvent): boolean {
  if (names.size > 0 && !names.has(event)) return false;
  return patterns.length === 0 || (identity !== undefined && patterns.some((it) => matchesGlob(it, identity)));
}

/** A tenant is told of its own endpoints, and of nothing else. */
function isOf(tenant: string | null, { identity }: SupervisorEvent): boolean {
  return tenant === null || (identity !== undefined && endpointName(identity)?.tenant === tenant);
}

function wrongTopic(message: string): HttpProblem {
  const hint = `topics are, with commas between: schedule:PATTERN, and ${SUPERVISOR_EVENTS.join(", ")}`;
  return wrongFields([{ pointer: "/topics", code: "field-value", message, hint }]);
}

class Remembered {
  readonly #texts = new Map<Listener, string>();

  constructor(
    readonly number: number,
    readonly event: SupervisorEvent,
  ) {}

  /** As it goes out, written once however many follow. */
  text(ids: EventIds, to: Listener): string {
    const { event, number } = this;
    const known = this.#texts.get(to);
    if (known !== undefined) return known;
    const text = `id: ${ids.write(number)}\nevent: ${event.event}\ndata: ${eventText(event, to)}\n\n`;
    this.#texts.set(to, text);
    return text;
  }
}

interface Stream {
  readonly response: ServerResponse;
  readonly topics: Topics;
  /** Nothing but what is its own; null: everything. */
  readonly tenant: string | null;
  readonly holder: string;
  /** Whether whoever follows still may. */
  readonly mayGoOn: () => Promise<boolean>;
}

export class EventStreams {
  readonly #streams = new Set<Stream>();
  readonly #recent: Remembered[] = [];
  readonly #ids = new EventIds();
  #last = 0;
  #keepAlive: Timer | null = null;
  readonly #clock: Clock;
  readonly #attention: Attention;

  /** `follow`: somebody listens, until it is called off. */
  constructor(clock: Clock, follow: () => () => void = nobodyElse) {
    this.#clock = clock;
    this.#attention = new Attention(follow);
  }

  /** Something was told that nobody has heard here: whoever follows is to look for himself. */
  missed(): void {
    this.#recent.length = 0;
    this.#last += 1;
    for (const stream of this.#streams) {
      stream.response.write(this.#gap());
      this.#endIfSlow(stream);
    }
  }

  /** What the supervisor tells. */
  tell(event: SupervisorEvent): void {
    const told = new Remembered(++this.#last, event);
    this.#recent.push(told);
    if (this.#recent.length > STREAM_LIMITS.remembered) this.#recent.shift();
    for (const stream of this.#streams) this.#write(stream, told);
  }

  /** `lastId`: what the client says it has seen last. */
  open(stream: Stream, lastId: string | undefined, headers: Readonly<Record<string, string>>): void {
    const { response } = stream;
    if (isGone(response)) throw new ClientGone();
    this.#mustHaveRoom(stream.holder);
    response.writeHead(200, {
      "Content-Type": STREAM_TYPE,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#streams.add(stream);
    this.#attention.is(true);
    response.once("close", () => {
      this.#streams.delete(stream);
      this.#attention.is(this.#streams.size > 0);
    });
    if (lastId !== undefined) this.#replay(stream, lastId);
    this.#keepAlive ??= this.#clock.after(STREAM_LIMITS.keepAliveMs, () => void this.#beat());
  }

  close(): void {
    this.#keepAlive?.cancel();
    this.#keepAlive = null;
    for (const { response } of this.#streams) response.destroy();
    this.#streams.clear();
    this.#attention.is(false);
  }

  #gap(): string {
    return `id: ${this.#ids.write(this.#last)}\nevent: gap\ndata: {}\n\n`;
  }

  #mustHaveRoom(holder: string): void {
    this.#dropGone();
    const own = [...this.#streams].filter((stream) => stream.holder === holder).length;
    const { streams, perHolder } = STREAM_LIMITS;
    const headers = retryAfter(RETRY_MS);
    if (own >= perHolder)
      throw new HttpProblem("rate-exceeded", `this key follows ${own} streams already`, { headers });
    if (this.#streams.size < streams) return;
    throw new HttpProblem("streams-exceeded", `${streams} streams are followed already`, { headers });
  }

  #dropGone(): void {
    for (const stream of this.#streams) if (isGone(stream.response)) this.#streams.delete(stream);
  }

  /** What was missed, where it is remembered; otherwise that something was. */
  #replay(stream: Stream, lastId: string): void {
    const seen = this.#ids.read(lastId);
    const oldest = this.#recent[0]?.number ?? this.#last + 1;
    if (seen === null || seen < oldest - 1 || seen > this.#last) {
      stream.response.write(this.#gap());
      return;
    }
    for (const told of this.#recent) if (told.number > seen) this.#write(stream, told);
  }

  #write(stream: Stream, told: Remembered): void {
    const { response, tenant, topics } = stream;
    if (!isOf(tenant, told.event) || !isAbout(topics, told.event)) return;
    response.write(told.text(this.#ids, tenant === null ? "host" : "tenant"));
    this.#endIfSlow(stream);
  }

  #end(stream: Stream): void {
    this.#streams.delete(stream);
    stream.response.end();
  }

  /** What waits is memory of ours. */
  #endIfSlow(stream: Stream): void {
    if (!isGone(stream.response) && stream.response.writableLength <= STREAM_LIMITS.waitingBytes) return;
    this.#streams.delete(stream);
    stream.response.destroy();
  }

  /** Somebody may follow no longer: whoever that is, it ends now. */
  async reconsider(): Promise<void> {
    for (const stream of [...this.#streams]) if (!(await stream.mayGoOn().catch(() => false))) this.#end(stream);
  }

  async #beat(): Promise<void> {
    this.#dropGone();
    await this.reconsider();
    for (const stream of this.#streams) {
      stream.response.write(": still here\n\n");
      this.#endIfSlow(stream);
    }
    if (this.#keepAlive === null) return;
    const again = this.#streams.size > 0;
    this.#keepAlive = again ? this.#clock.after(STREAM_LIMITS.keepAliveMs, () => void this.#beat()) : null;
  }
}
