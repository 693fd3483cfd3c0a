/**
 * Schedulers with one deliberate mistake each: what the checker must notice. One row a mistake; the text to be replaced
 * must still be there, exactly once.
 */
import type { PropertyId } from "../../../../src/scheduler/testing/index.js";
import type { Edit } from "./mutation.js";
import type { THEMES } from "./scenario.js";

export interface Mutant {
  readonly name: string;
  /** The property that must be reported as broken. */
  readonly breaks: PropertyId;
  /** Where such a mistake shows soonest. */
  readonly theme: keyof typeof THEMES;
  readonly edits: readonly Edit[];
}

function mutant(
  name: string,
  breaks: PropertyId,
  theme: Mutant["theme"],
  ...edits: readonly (readonly [file: string, find: string, replace: string])[]
): Mutant {
  return { name, breaks, theme, edits: edits.map(([file, find, replace]) => ({ file, find, replace })) };
}

const CLAIMS = "scheduler/claims.ts";
const COMPLETIONS = "scheduler/completions.ts";
const CREATE = "scheduler/lifecycle.ts";
const RECONCILE = "scheduler/reconcile.ts";
const RECORDS = "scheduler/records.ts";
const REGISTRATIONS = "scheduler/registrations.ts";
const RULES = "scheduler/task-rules.ts";
const RUNS = "scheduler/runs.ts";
const SESSION = "scheduler/session.ts";
const AGENDA = "scheduler/agenda.ts";
const SCHEDULE = "core/cron/schedule.ts";

/** Causes: what is owed, when, and how often. */
const CAUSES: readonly Mutant[] = [
  mutant("retry a minute early", "P13", "calendar", [
    RULES,
    "record.pendingRetryUntil !== null && record.pendingRetryUntil <= now,",
    "record.pendingRetryUntil !== null && record.pendingRetryUntil <= now + 60_000,",
  ]),
  mutant("retry without delay", "P13", "calendar", [
    RULES,
    "pendingRetryUntil: now + retryDelayMs,",
    "pendingRetryUntil: now,",
  ]),
  mutant("no retry at all", "L1", "calendar", [RULES, "pendingRetryUntil: now + retryDelayMs,", ""]),
  mutant("a retry is not planned", "L1", "calendar", [
    RULES,
    "record.pendingRetryUntil ?? Number.POSITIVE_INFINITY",
    "Number.POSITIVE_INFINITY",
  ]),
  mutant("a start does not clear the retry", "P15", "calendar", [
    RULES,
    "(record.pendingRetryUntil === null ? record : { ...record, pendingRetryUntil: null })",
    "record",
  ]),
  mutant(
    "an occurrence waits for the backoff",
    "P14",
    "calendar",
    [
      RULES,
      "isOccurrenceDue: cron.nextAfter(settledUntil(record)) <= now,",
      "isOccurrenceDue: record.pendingRetryUntil === null && cron.nextAfter(settledUntil(record)) <= now,",
    ],
    [
      RULES,
      "  return Math.min(cron.nextAfter(settledUntil(record)), record.pendingRetryUntil",
      "  return record.pendingRetryUntil ?? Math.min(cron.nextAfter(settledUntil(record)), record.pendingRetryUntil",
    ],
  ),
  mutant("a thrown error counts as success", "L1", "calendar", [
    RUNS,
    'return { type: "FAILED", error };',
    'return { type: "SUCCEEDED" };',
  ]),
  mutant("twice in the minute: >= for >", "P9", "calendar", [
    RULES,
    "isOccurrenceDue: cron.nextAfter(settledUntil(record)) <= now,",
    "isOccurrenceDue: cron.nextAfter(settledUntil(record) - 1) <= now,",
  ]),
  mutant("twice in the minute: the attempt is remembered a minute too early", "P9", "calendar", [
    RULES,
    "Math.max(record.lastAttemptAt ?? Number.NEGATIVE_INFINITY, record.cronSince)",
    "Math.max((record.lastAttemptAt ?? Number.NEGATIVE_INFINITY) - 60_000, record.cronSince)",
  ]),
  mutant("the attempt is not remembered", "P1", "calendar", [
    RULES,
    "lastAttemptAt: Math.max(record.lastAttemptAt ?? now, now),",
    "lastAttemptAt: record.lastAttemptAt,",
  ]),
  mutant("missed occurrences are counted, not latched", "P11", "crashes", [
    CLAIMS,
    "after: applyEffects(record, effects, { now,",
    'after: applyEffects(record, effects, { now: cause === "cron" ? owedSince : now,',
  ]),
  mutant("an occurrence during a run is dropped when it succeeds", "P12", "calendar", [
    RULES,
    "lastSuccessAt: now }",
    "lastSuccessAt: now, lastAttemptAt: now }",
  ]),
  mutant("an occurrence during a run is dropped when it fails", "P12", "calendar", [
    RULES,
    "lastFailureAt: now,",
    "lastFailureAt: now, lastAttemptAt: now,",
  ]),
  mutant("after the clock went back the past is run again", "P9", "clocks", [
    RULES,
    "lastAttemptAt: Math.max(record.lastAttemptAt ?? now, now),",
    "lastAttemptAt: now,",
  ]),
  mutant("after the clock went back the planned time is believed", "P2", "clocks", [
    SESSION,
    "const now = this.#ports.now();\n    this.#noticeStepBack(now);",
    "const now = Math.max(this.#ports.now(), this.#plannedWakeAt);\n    this.#noticeStepBack(now);",
  ]),
  mutant("a jump of the clock is slept through", "L1", "clocks", [
    SESSION,
    "const boundaryAt = startOfMinute(now) + MINUTE_MS;",
    "const boundaryAt = startOfMinute(now) + 60 * MINUTE_MS;",
  ]),
];

/** First sight, changed and removed tasks. */
const LISTS: readonly Mutant[] = [
  mutant("first sight fires the last hour", "P17", "calendar", [
    RECORDS,
    "cronSince: startOfMinute(now) - 1,",
    "cronSince: startOfMinute(now) - 3_600_000,",
  ]),
  mutant("first sight fires the last occurrence ever", "P17", "calendar", [
    RECORDS,
    "cronSince: startOfMinute(now) - 1,",
    "cronSince: 0,",
  ]),
  mutant("first sight never fires", "P17", "calendar", [
    RECORDS,
    "cronSince: startOfMinute(now) - 1,",
    "cronSince: now,",
  ]),
  mutant("a changed expression fires its past", "P1", "calendar", [
    RECONCILE,
    "isSameSchedule ? record.cronSince : startOfMinute(now) - 1,",
    "record.cronSince,",
  ]),
  mutant("a changed delay forgets the occurrence", "P18", "calendar", [
    RECONCILE,
    "isSameSchedule ? record.cronSince : startOfMinute(now) - 1,",
    "startOfMinute(now) - 1,",
  ]),
  mutant("a change forgets the retry", "P18", "calendar", [
    RECONCILE,
    "retryDelayMs: task.retryDelayMs,\n    cronSince: isSameSchedule",
    "retryDelayMs: task.retryDelayMs,\n    pendingRetryUntil: null,\n    cronSince: isSameSchedule",
  ]),
  mutant("a removed task keeps its causes", "P16", "crashes", [
    RECONCILE,
    "if (attemptedAt === null || attemptedAt < startOfMinute(this.#context.now)) this.#remove.add(name);",
    "if (attemptedAt === null) this.#remove.add(name);\n    else if (attemptedAt < Infinity) return;",
  ]),
  mutant("removed and added again in one minute: run twice", "P1", "calendar", [
    RECONCILE,
    "{ ...freshRecord(task, now), lastAttemptAt: record.lastAttemptAt }",
    "freshRecord(task, now)",
  ]),
  mutant(
    "the callback of the first list is kept",
    "P7",
    "calendar",
    [CREATE, "  #session: Session | null = null;", "  #session: Session | null = null;\n  #known = new Map();"],
    [
      CREATE,
      "new Session(this.#ports, this.#reporter, this.#inspector, list.tasks);",
      "new Session(this.#ports, this.#reporter, this.#inspector, list.tasks.map((task) => {\n        if (!this.#known.has(task.name)) this.#known.set(task.name, task.callback);\n        return { ...task, callback: this.#known.get(task.name) };\n      }));",
    ],
  ),
  mutant("a name may occur twice", "P21", "calendar", [
    REGISTRATIONS,
    "if (context.taken.has(name)) return err(new ScheduleDuplicateTaskError(name, index));",
    "",
  ]),
  mutant("an invalid list counts as an empty one", "P21", "calendar", [
    CREATE,
    "const list = readList(registrations, this.#dialect);\n    if (!list.ok) return this.#refuse(list.error);",
    "const read = readList(registrations, this.#dialect);\n    const list = read.ok ? read : { value: { tasks: [], slotOf: new Map() } };",
  ]),
  mutant("an invalid list is noticed after the store was changed", "P18", "calendar", [
    CREATE,
    "if (!list.ok) return this.#refuse(list.error);",
    "if (!list.ok) {\n      const { error } = list;\n      const nothing = { tasks: [], slotOf: new Map() };\n      return new Session(this.#ports, this.#reporter, this.#inspector, []).reconcile(nothing).then(() => this.#refuse(error));\n    }",
  ]),
];

/** Crashes and stores: what is durable when. */
const DURABILITY: readonly Mutant[] = [
  mutant(
    "an orphan is forgotten",
    "P19",
    "crashes",
    [RULES, "isOrphaned: record.runningBy !== undefined,", "isOrphaned: false,"],
    [RULES, "if (record.runningBy !== undefined) return Number.NEGATIVE_INFINITY;", ""],
  ),
  mutant("an orphan is restarted again and again", "P19", "crashes", [
    RULES,
    "...atRest(record), lastSuccessAt: now",
    "...record, lastSuccessAt: now",
  ]),
  mutant("a run is not durable before it begins", "P19", "crashes", [RULES, "    runningBy: schedulerId,\n", ""]),
  mutant("claims are not written", "P19", "crashes", [
    SESSION,
    "(name) => view.get(name));\n        return { put: result.put, result: {",
    "(name) => view.get(name));\n        return { put: [], result: {",
  ]),
  mutant("a late completion writes", "P26", "crashes", [
    COMPLETIONS,
    "return record.runningBy === after.runningBy && record.lastAttemptAt === after.lastAttemptAt ? record : null;",
    "return after === undefined ? null : record;",
  ]),
  mutant("an orphan stays in the name of the dead", "P26", "crashes", [
    RECONCILE,
    "{ ...configured, runningBy: this.#context.schedulerId }",
    "configured",
  ]),
  mutant("an end that could not be written is dropped", "L1", "stores", [
    RUNS,
    'this.#work.storeFailed("complete", error);\n',
    'this.#work.storeFailed("complete", error);\n      this.#unwritten = [];\n',
  ]),
  mutant("the first failure of the store ends the loop", "L1", "stores", [
    SESSION,
    'this.#triggers.refuseAll(() => new TaskStoreError("claim", error));\n      return null;',
    "void this.#loop.stop();\n      return null;",
  ]),
  mutant(
    "the store is given up for an hour",
    "L1",
    "stores",
    ["scheduler/limits.ts", "storeRetryFirstMs: 1_000,", "storeRetryFirstMs: 3_600_000,"],
    ["scheduler/limits.ts", "storeRetryMaxMs: 30_000,", "storeRetryMaxMs: 3_600_000,"],
  ),
  mutant(
    "a failed claim is started all the same",
    "P9",
    "stores",
    [
      SESSION,
      "let claimed: Claimed;\n    try {",
      "let claimed: Claimed;\n    let seen: Claimed | null = null;\n    try {",
    ],
    [
      SESSION,
      "const result = this.#evaluateTasks(now, slots, (name) => view.get(name));",
      "const result = this.#evaluateTasks(now, slots, (name) => view.get(name));\n        seen = { ...result, isEverything: view.isForeign };",
    ],
    [
      SESSION,
      'this.#triggers.refuseAll(() => new TaskStoreError("claim", error));\n      return null;',
      "return seen;",
    ],
  ),
  mutant("a store that failed at initialize is never asked again", "P22", "stores", [
    CREATE,
    'this.#chart.send({ type: "INITIALIZATION_FAILED", error });\n      throw error;',
    "throw error;",
  ]),
  mutant("initialize never answers when the store fails", "L2", "stores", [
    CREATE,
    "await this.#session?.release();",
    "await new Promise(() => {});",
  ]),
];

/** The two calls, and runs beside each other. */
const LIFE: readonly Mutant[] = [
  mutant("the first poll comes before initialize has answered", "P3", "calendar", [
    CREATE,
    'this.#chart.send({ type: "INITIALIZED", schedulerId: this.#session.schedulerId });',
    'this.#chart.send({ type: "INITIALIZED", schedulerId: this.#session.schedulerId });\n    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));',
  ]),
  mutant("stop does not wait for running tasks", "P20", "calendar", [SESSION, "await this.#runs.drain();", ""]),
  mutant("stop never notices the last end", "L3", "calendar", [RUNS, "if (this.#running === 0) this.#idle?.();", ""]),
  mutant(
    "what was claimed is started after stop was called",
    "P4",
    "stores",
    [SESSION, "if (this.#isStopping) return claims.slice(i);", ""],
    [
      SESSION,
      "if (this.#isStopping) {\n        this.#inspector",
      "if (this.#isStopping && i < 0) {\n        this.#inspector",
    ],
  ),
  mutant("stop during initialize is forgotten", "P5", "calendar", [
    CREATE,
    'if (this.#isStopWanted && this.#chart.state === "Running") this.#stop();',
    "",
  ]),
  mutant("stop does not wait for initialize", "P20", "stores", [
    CREATE,
    "return this.#initializing.then(() => this.#stopping);",
    "return Promise.resolve();",
  ]),
  mutant("a second initialize succeeds", "P23", "calendar", [
    CREATE,
    'if (state === "Running" || state === "Initializing") return Promise.reject(this.#refusal());',
    'if (state === "Running") return this.#establish((readList(registrations, this.#dialect) as { value: TaskList }).value);',
  ]),
  mutant("a hanging task holds up the others", "L4", "calendar", [
    SESSION,
    "    this.#runs.flush();\n  }",
    "    this.#runs.flush();\n    await this.#runs.drain();\n  }",
  ]),
  mutant(
    "a task may overlap itself",
    "P8",
    "calendar",
    [CLAIMS, "if (!input.isBusy(slot)) lookAt(slot, input, found);", "lookAt(slot, input, found);"],
    [AGENDA, "    this.#timeline.remove(slot);\n    this.#busy.add(slot);", "    this.#busy.add(slot);"],
  ),
  mutant("after a run the next occurrence is not planned", "L1", "calendar", [
    AGENDA,
    "    else this.plan(slot, at);\n",
    "",
  ]),
];

/** Calendar: zones and the hours that vanish and repeat. */
const CALENDAR: readonly Mutant[] = [
  mutant("the zone is read once", "L1", "clocks", [
    "scheduler/zoned-crons.ts",
    "if (zoneId === this.#zoneId) return false;",
    "if (this.#zoneId !== null) return false;",
  ]),
  mutant("a repeated hour counts once", "L1", "calendar", [SCHEDULE, 'overlap: "both" };', 'overlap: "first" };']),
  mutant("a vanished time fires after the gap", "P1", "calendar", [SCHEDULE, '{ gap: "skip",', '{ gap: "next",']),
  mutant("day and weekday must both match", "L1", "calendar", [
    "scheduler/registrations.ts",
    "fields: fields.value, callback,",
    "fields: { ...fields.value, dayIsStar: true }, callback,",
  ]),
];

export const MUTANTS: readonly Mutant[] = [...CAUSES, ...LISTS, ...DURABILITY, ...LIFE, ...CALENDAR];
