import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import { sha256Hex } from "../../src/core/decision/seed.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText, readJobDefinition } from "../../src/core/job/schema.js";
import { cronOccasion } from "../../src/core/period/occasion.js";
import { nextPeriod } from "../../src/core/period/periods.js";
import { expectedBy, glanceOf, type PackedGlance, packGlance } from "../../src/core/restart/glance.js";
import { type PlannedRow, type PlanRules, planJob, STANDINGS, type StoredJob } from "../../src/core/restart/resting.js";
import { type HistoryEntry, newDocument, type StateDocument } from "../../src/core/state/document.js";
import { stateFileName } from "../../src/core/state/file-name.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { DAY_MS, formatInstant, MINUTE_MS } from "../../src/core/time/instant.js";
import { activate, isResting, liveNominalAt, nextWakeAt } from "../../src/machines/activation.js";
import { step } from "../../src/machines/step.js";
import { rawJobs } from "../support/raw-jobs.js";

const BASE_AT = Date.UTC(2026, 2, 28);
/** Around the clock change of Berlin, and a leap day. */
const now = fc.integer({ min: BASE_AT, max: BASE_AT + 800 * DAY_MS });

const schedules = fc.constantFrom("* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0 0 1 * *", "0 0 29 2 *");
const zones = fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "+05:30");

const busy = fc.record(
  {
    identity: fc.constantFrom("job", "a/“b” \\ c", 'x","schedule":"y', ',"policy":{'),
    schedule: schedules,
    timezone: zones,
    window: fc.record({ mode: fc.constantFrom("after", "around", "before"), duration: fc.constantFrom("0s", "1m") }),
    dst: fc.record({ gap: fc.constantFrom("skip", "next"), overlap: fc.constantFrom("both", "first", "last") }),
    constraints: fc.record({ only: fc.constantFrom("dow=MON-FRI", "hours=3", "dates=2026-12-24..2026-12-31") }),
    seed: fc.record({ strategy: fc.constantFrom("stable", "daily"), salt: fc.constantFrom("", '","policy":{"') }),
    policy: fc.record({ suspend: fc.boolean(), deadline: fc.constantFrom("0s", "2h") }),
    command: fc.constant(["/bin/true", ',"policy":{"suspend":true']),
  },
  { requiredKeys: ["identity", "schedule", "command"] },
);

const definitions: fc.Arbitrary<JobDefinition> = fc.oneof({ weight: 3, arbitrary: busy }, rawJobs).map((raw) => {
  const read = readJobDefinition(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
});

interface Past {
  /** How many periods before or after now the last handled one lies; null: none was. */
  readonly handledSteps: number | null;
  readonly definedBeforeMs: number | null;
  readonly pauseEndsInMs: number | null;
  readonly isHashKnown: boolean;
  readonly hasRuns: boolean;
  readonly isRemoved: boolean;
  readonly isCarried: boolean;
  readonly history: number;
  /** Where among the ways in which periods end the history begins. */
  readonly ends: number;
  readonly hasReason: boolean;
}

const rarely = fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0);
const past: fc.Arbitrary<Past> = fc.record({
  handledSteps: fc.option(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -40, max: 3 }))),
  definedBeforeMs: fc.option(fc.oneof(fc.integer({ min: -DAY_MS, max: DAY_MS }), fc.constant(900 * DAY_MS))),
  pauseEndsInMs: fc.option(fc.integer({ min: -DAY_MS, max: DAY_MS }), { freq: 3 }),
  isHashKnown: rarely.map((it) => !it),
  hasRuns: rarely,
  isRemoved: rarely,
  isCarried: rarely,
  history: fc.constantFrom(0, 0, 3, 20),
  ends: fc.nat({ max: 20 }),
  hasReason: rarely,
});

function handledAt(definition: JobDefinition, steps: number, from: number): number | null {
  const { schedule, leadMs } = compileRule(definition);
  let at = schedule.previous(from + leadMs);
  for (let step = 0; step > steps && at !== null; step--) at = schedule.previous(at - 1);
  for (let step = 0; step < steps && at !== null; step++) at = nextPeriod(compileRule(definition), at);
  return at;
}

const ENDS: readonly Partial<HistoryEntry>[] = [
  { Outcome: "missed", ExitCode: null },
  { Outcome: "executed", ExitCode: 0 },
  { Outcome: "executed", ExitCode: 1 },
  { Outcome: "executed", ExitCode: 0 },
  { Outcome: "executed", ExitCode: null, Signal: "SIGKILL" },
  { Outcome: "executed", ExitCode: null, Holder: "request", Status: 204 },
  { Outcome: "executed", ExitCode: null, Holder: "request", Status: 304 },
];

function endOf(index: number, at: string): Pick<HistoryEntry, "Outcome" | "ExitCode"> {
  const end = { Outcome: "skipped", ExitCode: null, ...ENDS[index % ENDS.length] } as const;
  return end.Outcome === "executed" ? { ...end, ...{ StartedAt: at, Reason: undefined } } : end;
}

/** What the job's status would say of it. */
function glanceIn(definition: JobDefinition, document: StateDocument, liveAt: number | null, at: number): PackedGlance {
  const compiled = compileRule(definition);
  const { suspend: isSuspended, deadlineMs, stop } = definition.policy;
  const live = liveAt === null ? null : cronOccasion(decide(compiled, liveAt));
  const rule = { compiled, isSuspended, isRemoved: false, deadlineMs, stopAt: stop?.at ?? null, live };
  return packGlance(glanceOf(rule, document, expectedBy(definition), at));
}

function documentOf(definition: JobDefinition, it: Past, from: number): StateDocument {
  const lastAt = it.handledSteps === null ? null : handledAt(definition, it.handledSteps, from);
  const last = lastAt === null ? "" : formatInstant(lastAt);
  const second = (at: number): string => formatInstant(Math.floor(at / 1000) * 1000);
  const about = { PeriodID: last, NominalTime: last, ChosenTime: last, CompletedAt: last, Reason: '],"DefinedAt":"' };
  const active = { PeriodID: last, PID: 42, StartedAt: last, ChosenTime: last };
  return {
    ...newDocument(definition.identity),
    LastHandledPeriodID: last,
    LastOutcome: last === "" ? "" : "missed",
    LastChosenTime: last,
    LastNominalTime: last,
    ActiveExecution: it.hasRuns && last !== "" ? active : null,
    History: Array.from({ length: it.history }, (_, index) => ({ ...about, ...endOf(it.ends + index, last) })),
    ...(it.hasReason ? { LastReason: "deadline" } : {}),
    ...(it.definedBeforeMs === null ? {} : { DefinedAt: second(from - it.definedBeforeMs) }),
    DefinitionHash: it.isHashKnown ? sha256Hex(canonicalRuleText(definition)) : "other",
    ...(it.isCarried && last !== "" ? { CarriedPeriodID: last } : {}),
    ...(it.pauseEndsInMs === null ? {} : { Pause: { Until: second(from + it.pauseEndsInMs), Reason: "work" } }),
    ...(it.isRemoved ? { RemovedAt: second(from) } : {}),
  };
}

function storedJob(definition: JobDefinition, document: StateDocument): StoredJob {
  return {
    key: stateFileName(definition.identity),
    documentText: serialiseDocument(document),
    isDocumentIntact: true,
    identity: definition.identity,
    definitionText: canonicalDefinitionText(definition),
    isDefinitionIntact: true,
  };
}

type Expected = Pick<PlannedRow, "standing" | "liveAt" | "wakeAt">;

/** What the machines say. */
function expected(definition: JobDefinition, document: StateDocument, at: number): Expected {
  if (document.ActiveExecution !== null) return { standing: "RUNNING", liveAt: null, wakeAt: null };
  const isKnown = document.DefinitionHash === sha256Hex(canonicalRuleText(definition));
  if (!isKnown || document.RemovedAt !== undefined) return { standing: "DEFINE", liveAt: null, wakeAt: null };
  const compiled = compileRule(definition);
  const graces = { timeoutMs: null, startGraceMs: 60_000, killGraceMs: 10_000, historyLimit: 20 };
  const scope = { compiled, policy: definition.policy, ...graces };
  const wake = { type: "WAKE", isReturning: true, nominalAt: null } as const;
  const { activation, effects, successorDueAt } = step(scope, activate(document, scope), wake, {
    now: at,
    gate: null,
    freshId: () => "x",
  });
  if (effects.length > 0 || !isResting(activation)) return { standing: "STEP", liveAt: null, wakeAt: null };
  return { standing: "QUIET", liveAt: liveNominalAt(activation), wakeAt: nextWakeAt(activation, successorDueAt) };
}

const RULES = [
  { isChecked: true, isCurrent: true },
  { isChecked: true, isCurrent: false },
  { isChecked: false, isCurrent: true },
] as const;

describe("a job at rest, planned without its machines", () => {
  test("S13, S17: is quiet exactly where a step on return changes nothing and rests, and is due at the same instants", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(definitions, past, now, (definition, it, at) => {
        const document = documentOf(definition, it, at);
        const wanted = expected(definition, document, at);
        for (const rules of RULES) {
          const { standing, liveAt, wakeAt, glance } = planJob(storedJob(definition, document), { ...rules, now: at });
          expect({ standing, liveAt, wakeAt }).toEqual(wanted);
          expect(glance).toEqual(standing === "QUIET" ? glanceIn(definition, document, liveAt, at) : null);
        }
        seen.set(wanted.standing, (seen.get(wanted.standing) ?? 0) + 1);
      }),
      { numRuns: 4_000, seed: 20261118 },
    );
    expect([...seen.keys()].sort()).toEqual(["DEFINE", "QUIET", "RUNNING", "STEP"]);
    expect(Math.min(...seen.values())).toBeGreaterThan(200);
  });
});

const RULE: PlanRules = { now: BASE_AT + 30 * MINUTE_MS, isChecked: true, isCurrent: true };
const DEFINITION = definitionAt("0 * * * *");
const QUIET = documentOf(
  DEFINITION,
  {
    handledSteps: 0,
    definedBeforeMs: DAY_MS,
    pauseEndsInMs: null,
    isHashKnown: true,
    hasRuns: false,
    isRemoved: false,
    isCarried: false,
    history: 0,
    hasReason: false,
    ends: 0,
  },
  RULE.now,
);
const STORED = storedJob(DEFINITION, QUIET);

function definitionAt(schedule: string): JobDefinition {
  const read = readJobDefinition({ identity: "job", schedule, command: ["/bin/true"] });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

const removed = { ...STORED, definitionText: null };
const text = (changes: Partial<StateDocument>): string => serialiseDocument({ ...QUIET, ...changes });
const unreadable = STORED.definitionText?.replace('"0 * * * *"', '"99 * * * *"') ?? "";

describe("what else a store can hold of a job", () => {
  test.each<[string, Partial<PlannedRow>, StoredJob]>([
    ["nothing to do", { standing: "QUIET", identity: "job" }, STORED],
    [
      "S14: a definition without a document",
      { standing: "DEFINE", identity: "job" },
      { ...STORED, documentText: null },
    ],
    ["S16: a document whose definition was removed", { standing: "MISSING" }, removed],
    ["a document and never a definition", { standing: "MISSING", identity: "job" }, { ...removed, identity: null }],
    ["S16: removed", { standing: "GONE" }, { ...removed, documentText: text({ RemovedAt: "2026-03-01T00:00:00Z" }) }],
    ["S16: removed before it had a document", { standing: "GONE" }, { ...removed, documentText: null }],
    [
      "S32: no JSON",
      {
        standing: "CORRUPT",
        identity: "job",
        trouble: { code: "state-document-corrupt", message: "the state document is not JSON" },
      },
      { ...STORED, documentText: "{" },
    ],
    [
      "S32: another version",
      { standing: "CORRUPT", trouble: expect.objectContaining({ code: "state-incompatible" }) },
      { ...STORED, documentText: text({ Version: "2" }) },
    ],
    [
      "S32: not what was written",
      {
        standing: "CORRUPT",
        trouble: { code: "state-document-corrupt", message: "the text does not match its checksum" },
      },
      { ...STORED, isDocumentIntact: false },
    ],
    [
      "S32: a sound document under a damaged key",
      { standing: "CORRUPT", identity: "", trouble: expect.objectContaining({ code: "state-incompatible" }) },
      { ...removed, identity: null, isDocumentIntact: false, key: stateFileName("other") },
    ],
    [
      "a definition that this version refuses",
      { standing: "UNREADABLE_DEFINITION", trouble: expect.objectContaining({ code: "cron-range" }) },
      { ...STORED, definitionText: unreadable },
    ],
    ["a definition that is damaged", { standing: "UNREADABLE_DEFINITION" }, { ...removed, isDefinitionIntact: false }],
    [
      "the definition of another job",
      { standing: "UNREADABLE_DEFINITION", trouble: expect.objectContaining({ code: "identity-invalid" }) },
      { ...STORED, definitionText: STORED.definitionText?.replace('"job"', '"other"') ?? "" },
    ],
    [
      "S29: a run, whatever else",
      { standing: "RUNNING" },
      { ...STORED, definitionText: unreadable, documentText: text({ ActiveExecution: runAt(QUIET) }) },
    ],
  ])("%s", (_, row, job) => {
    expect(planJob(job, RULE)).toMatchObject(row);
  });

  test("a rule that an earlier version wrote in another form is not a new one", () => {
    const old = (STORED.definitionText ?? "").replace('"duration":"0s"', '"duration":"0m"');
    const parts = old.slice(0, old.indexOf(',"policy":'));
    const documentText = text({ DefinitionHash: sha256Hex(`${parts}}`) });
    const job = { ...STORED, definitionText: old, documentText };
    expect(planJob(job, RULE).standing).toBe("QUIET");
    expect(planJob({ ...job, documentText: text({ DefinitionHash: "other" }) }, RULE).standing).toBe("DEFINE");
  });

  test("standings keep their numbers: they cross threads as such", () => {
    expect(STANDINGS).toEqual([
      "QUIET",
      "STEP",
      "DEFINE",
      "RUNNING",
      "MISSING",
      "GONE",
      "CORRUPT",
      "UNREADABLE_DEFINITION",
    ]);
  });
});

function runAt({ LastHandledPeriodID }: StateDocument): StateDocument["ActiveExecution"] {
  const at = LastHandledPeriodID;
  return { PeriodID: at, PID: 42, StartedAt: at, ChosenTime: at };
}
