/**
 * Traces written by hand, one action a line: `11:00:00 RS x`. A time may be preceded by a day (`1/00:30:00` is the next
 * day). `Clock` and `Pause` name the reading after the jump. Running time follows from the times; `END` closes the trace.
 */
import type { Stamp, Trace, TraceAction, TraceTask } from "../../../../src/scheduler/testing/index.js";

export type WrittenTask = readonly [name: string, cron: string, retryDelayMinutes: number];

export interface WrittenTrace {
  readonly lists: Readonly<Record<string, readonly WrittenTask[]>>;
  readonly timeZone?: string;
  /** Midnight UTC of this date is the origin of all times. */
  readonly date?: string;
}

const TIME = /^(?:(\d+)\/)?(\d\d):(\d\d):(\d\d)$/;
const DAY_MS = 86_400_000;

function readTime(text: string, origin: number): number {
  const match = TIME.exec(text);
  if (match === null) throw new Error(`not a time: ${text}`);
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return origin + (days ?? 0) * DAY_MS + (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000;
}

function readTasks(list: readonly WrittenTask[] | undefined): readonly TraceTask[] {
  if (list === undefined) throw new Error("a list that was not given");
  return list.map(([name, cron, minutes]) => ({ name, cron, retryDelayMs: minutes * 60_000 }));
}

class Reader {
  readonly actions: TraceAction[] = [];
  readonly #written: WrittenTrace;
  readonly #origin: number;
  readonly #stamps = new Map<number, Stamp>();
  #last: Stamp | null = null;
  #currentCall = 0;
  start: Stamp | null = null;
  end: Stamp | null = null;

  constructor(written: WrittenTrace) {
    this.#written = written;
    this.#origin = Date.parse(`${written.date ?? "2026-03-01"}T00:00:00Z`);
  }

  read(line: string): void {
    const [time = "", kind = "", ...rest] = line.split(/\s+/);
    const stamp = this.#advance(readTime(time, this.#origin));
    if (kind === "END") this.end = stamp;
    else this.actions.push(this.#action(kind, rest, stamp));
  }

  #advance(at: number): Stamp {
    const last = this.#last ?? { at, ranMs: 0 };
    const stamp = { at, ranMs: last.ranMs + at - last.at };
    this.start ??= stamp;
    this.#last = stamp;
    this.#stamps.set(at, stamp);
    return stamp;
  }

  #jump(kind: "Clock" | "Pause", to: string, stamp: Stamp): TraceAction {
    this.#last = { at: readTime(to, this.#origin), ranMs: stamp.ranMs };
    return { kind, from: stamp.at, ...this.#last };
  }

  #start(text: string, stamp: Stamp): TraceAction {
    const [task = "", call] = text.split("@");
    return { kind: "RS", task, call: call === undefined ? this.#currentCall : Number(call), ...stamp };
  }

  #action(kind: string, [first = "", second = ""]: readonly string[], stamp: Stamp): TraceAction {
    const call = Number(first);
    switch (kind) {
      case "IS":
        return { kind, call, tasks: readTasks(this.#written.lists[second]), ...stamp };
      case "IEs":
        this.#currentCall = call;
        return { kind, call, ...stamp };
      case "IEf":
        return { kind, call, reason: "Error", ...stamp };
      case "SS":
      case "SE":
        return { kind, call, ...stamp };
      case "RS":
        return this.#start(first, stamp);
      case "REs":
      case "Saved":
        return { kind, task: first, ...stamp };
      case "REf":
        return { kind, task: first, reason: "Error", ...stamp };
      case "Clock":
      case "Pause":
        return this.#jump(kind, first, stamp);
      case "Zone":
        return { kind, timeZone: first, ...stamp };
      case "StoreSlow":
        return { kind, began: this.#stampAt(first), ...stamp };
      case "Crash":
      case "LateWrite":
      case "StoreFailed":
        return { kind, ...stamp };
      default:
        throw new Error(`not an action: ${kind}`);
    }
  }

  #stampAt(time: string): Stamp {
    const stamp = this.#stamps.get(readTime(time, this.#origin));
    if (stamp === undefined) throw new Error(`no action at ${time}`);
    return stamp;
  }
}

export function writtenTrace(written: WrittenTrace, text: string): Trace {
  const reader = new Reader(written);
  for (const line of text.split("\n").map((raw) => raw.trim())) if (line !== "") reader.read(line);
  const { actions, start, end } = reader;
  if (start === null || end === null) throw new Error("a trace needs at least an END");
  return { timeZone: written.timeZone ?? "UTC", start, actions, end };
}
