/**
 * The log of the daemon: events in, lines of JSON or text out. Every line is on its way to the disk when the call
 * returns. There are no transports and no buffers, and nothing to be opened anew on SIGHUP.
 */

import { pino } from "pino";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { LogLevel } from "../../core/base/errors/registry.js";
import type { Fields } from "../../core/base/fields.js";
import type { EpochMs } from "../../core/time/instant.js";
import { redacted } from "../../operations/redaction.js";
import { supervisorFields } from "./event-lines.js";
import { type DaemonEvent, type DaemonLog, daemonFields, errorEvent } from "./log.js";
import type { LineSink } from "./sink.js";
import { textLine, untimedLine } from "./text.js";

export const LOG_FORMATS = ["text", "json", "journal"] as const;
/** `journal`: text without what the journal of systemd keeps by itself, with the priority that it reads. */
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogOptions {
  readonly format: LogFormat;
  readonly sink: LineSink;
  readonly now: () => EpochMs;
  /** Whether each line begins with the priority that the journal reads; with `journal` it always does. */
  readonly hasPriorities?: boolean;
  /** `info` by default. */
  readonly least?: LogLevel;
  /** Command lines often hold secrets: only on demand. */
  readonly mayLogCommands?: boolean;
}

export interface KronLog extends DaemonLog {
  /** Lines that could not be written, since the start. */
  readonly lostLines: number;
}

/** People look at terminals, programs at everything else. */
export function usualLogFormat(isTerminal: boolean): LogFormat {
  return isTerminal ? "text" : "json";
}

export function createLog(options: LogOptions): KronLog {
  return new Log(options);
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

type Formatter = (level: LogLevel, fields: Fields) => string;

class Log implements KronLog {
  readonly #sink: LineSink;
  readonly #now: () => EpochMs;
  readonly #least: number;
  readonly #mayLogCommands: boolean;
  readonly #format: Formatter;
  #lost = 0;
  #reported = 0;

  constructor({ format, sink, now, hasPriorities = false, least = "info", mayLogCommands = false }: LogOptions) {
    this.#sink = sink;
    this.#now = now;
    this.#least = RANK[least];
    this.#mayLogCommands = mayLogCommands;
    const formatter = formatterOf(format);
    this.#format = hasPriorities || format === "journal" ? withPriorities(formatter) : formatter;
  }

  get lostLines(): number {
    return this.#lost;
  }

  supervisor(event: SupervisorEvent): void {
    if (this.#isTold(event.level)) this.#write(event.level, supervisorFields(event));
  }

  daemon(event: DaemonEvent): void {
    if (this.#isTold(event.level)) this.#write(event.level, daemonFields(event));
  }

  /** Asked before a line is made: a first start has events for every job that nobody reads. */
  #isTold(level: LogLevel): boolean {
    return RANK[level] >= this.#least;
  }

  #write(level: LogLevel, fields: Fields): void {
    const isThrough = this.#lost === this.#reported || this.#reportLost();
    if (!isThrough || !this.#sink.write(this.#lineOf(level, fields))) this.#lost += 1;
  }

  #lineOf(level: LogLevel, fields: Fields): string {
    return this.#format(level, redacted(fields, this.#mayLogCommands));
  }

  /** Nothing is lost silently: the first line that gets through again says how many did not. */
  #reportLost(): boolean {
    const message = `${this.#lost - this.#reported} lines of this log could not be written`;
    const about = { component: "scheduler", operation: "log" } as const;
    const event = errorEvent(new KronError("log-unwritable", message, about), about, this.#now());
    const line = this.#lineOf("error", daemonFields(event));
    const isThrough = this.#sink.write(line);
    if (isThrough) this.#reported = this.#lost;
    return isThrough;
  }
}

function formatterOf(format: LogFormat): Formatter {
  switch (format) {
    case "json":
      return jsonFormatter();
    case "text":
      return (_level, fields) => textLine(fields);
    case "journal":
      return (_level, { time: _kept, ...fields }) => untimedLine(fields);
  }
}

/** Of sd-daemon(3); the journal takes them off. */
const PRIORITY: Readonly<Record<LogLevel, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

function withPriorities(formatter: Formatter): Formatter {
  return (level, fields) => `<${PRIORITY[level]}>${formatter(level, fields)}`;
}

/** Allowed raw in JSON, but not on a terminal, nor in front of a reader of lines. */
const RAW_CONTROLS = /[\x7f-\x9f\u2028\u2029]/g;

/** pino makes the line and hands it over at once; where it goes, and what happens if it cannot, is the sink's business. */
function jsonFormatter(): Formatter {
  let line = "";
  const take = (text: string): void => {
    line = text.trimEnd().replace(RAW_CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  };
  const options = {
    base: null,
    timestamp: false,
    level: "debug",
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, { write: take });
  return (level, { level: _said, ...fields }) => {
    logger[level](fields);
    return line;
  };
}
