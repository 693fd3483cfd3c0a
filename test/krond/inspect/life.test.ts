import { describe, expect, test } from "vitest";
import { type AnyStateMachine, createMachine, getNextSnapshot } from "xstate";
import { CHARTS } from "../../../src/krond/inspect/charts.js";
import { jobSession } from "../../../src/krond/inspect/frames.js";
import { passivatedFrame, presentFrames } from "../../../src/krond/inspect/life.js";
import { executionMachine } from "../../../src/machines/execution.machine.js";
import { jobMachine } from "../../../src/machines/job.machine.js";
import { periodMachine } from "../../../src/machines/period.machine.js";
import { supervisorMachine } from "../../../src/machines/supervisor.machine.js";
import { at, IDENTITY } from "../../support/scheduling.js";
import { story, wordsOf } from "./story.js";

const HANDLED_9 = { LastHandledPeriodID: "2026-03-01T09:00:00Z", LastOutcome: "executed" } as const;
const [T10, T11] = ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"];
const [P10, P11] = [`${IDENTITY}@${T10}`, `${IDENTITY}@${T11}`];
const JOB = "standing.enabled+record+period";

describe("the life of a period, as frames", () => {
  test("SPEC: planned, eligible, running, completed; its execution beside it", () => {
    const { job, words } = story({ document: HANDLED_9 });
    job.wake("2026-03-01T09:30:00Z");
    expect(words()).toEqual([
      `job ${IDENTITY} <- WAKE (supervisor)`,
      `period + ${P10} = planned < ${IDENTITY}`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ]);
    job.wake(T10);
    expect(words()).toEqual([
      `job ${IDENTITY} <- WAKE (supervisor)`,
      `execution + a1 = arming < ${P10}`,
      `period ${P10} = eligible.starting`,
      `job ${IDENTITY} = ${JOB}.eligible+runs.idle`,
    ]);
    job.ready(T10, "a1");
    expect(words()).toEqual([
      "execution a1 <- READY (launcher)",
      `period + ${P11} = planned < ${IDENTITY}`,
      "execution a1 = gated.claiming",
      `job ${IDENTITY} = ${JOB}.planned+runs.busy`,
    ]);
    job.durable(T10, "a1");
    expect(words()).toEqual([
      "execution a1 <- DURABLE (supervisor)",
      "execution a1 = running.released",
      `period ${P10} = terminal.executed.running`,
    ]);
    job.tell(T10, { type: "STARTED", attemptId: "a1" });
    expect(words()).toEqual([
      "execution a1 <- STARTED (launcher)",
      "execution a1 = running.confirmed",
      `job ${IDENTITY} = ${JOB}.planned+runs.busy`,
    ]);
    job.exited("2026-03-01T10:00:09Z", "a1", 3);
    const last = job.activation;
    expect(words()).toEqual([
      "execution a1 <- EXITED (launcher)",
      "execution a1 = ended.recorded done",
      `period ${P10} = terminal.executed.completed done`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ]);
    expect(last.attempts).toEqual([]);
  });

  test("a period that came to life as due begins as planned all the same", () => {
    const { job, words } = story({ document: HANDLED_9 });
    job.wake(T10);
    expect(words()).toEqual([
      `job ${IDENTITY} <- WAKE (supervisor)`,
      `period + ${P10} = planned < ${IDENTITY}`,
      `period ${P10} = eligible.starting`,
      `execution + a1 = arming < ${P10}`,
      `job ${IDENTITY} = ${JOB}.eligible+runs.idle`,
    ]);
  });

  test("instants are told as people read them", () => {
    const { job, told } = story({ document: HANDLED_9 });
    job.tell(T10, { type: "WAKE", isReturning: false, nominalAt: at(T10) });
    const frame = told().find(({ kind, frame: { type } }) => kind === "period" && type === "@xstate.snapshot")?.frame;
    expect(frame).toMatchObject({
      event: { type: "WAKE", nominalAt: T10 },
      snapshot: {
        context: { decision: { nominalAt: T10, chosenAt: T10 }, verdict: { startByAt: "2026-03-01T10:01:00Z" } },
      },
    });
  });

  test("how it ended is told with its exit code", () => {
    const { job, told } = story({ document: HANDLED_9 });
    job.wake(T10);
    job.start(T10, "a1");
    told();
    job.exited(T10, "a1", 3);
    const contexts = told().flatMap(({ frame }) => ("snapshot" in frame ? [frame.snapshot.context["ending"]] : []));
    expect(contexts.slice(0, 2)).toEqual([
      { kind: "exited", code: 3, signal: null, reason: null },
      { kind: "exited", code: 3, signal: null, reason: null },
    ]);
  });
});

interface Ending {
  readonly name: string;
  readonly play: (job: ReturnType<typeof story>["job"]) => void;
  readonly words: readonly string[];
}

const AT = (second: string): string => `2026-03-01T10:00:${second}Z`;
const ENDINGS: readonly Ending[] = [
  {
    name: "S18: planned, missed and closed in one step",
    play: (job) => {
      job.wake("2026-03-01T09:30:00Z");
      job.wake("2026-03-01T10:30:00Z", true);
    },
    words: [
      `job ${IDENTITY} <- WAKE (supervisor)`,
      `period + ${P11} = planned < ${IDENTITY}`,
      `period ${P10} = terminal.missed done`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ],
  },
  {
    name: "born, missed and closed within one step",
    play: (job) => job.wake("2026-03-01T10:30:00Z", true),
    words: [
      `job ${IDENTITY} <- WAKE (supervisor)`,
      `period + ${P10} = planned < ${IDENTITY}`,
      `period ${P10} = terminal.missed done`,
      `period + ${P11} = planned < ${IDENTITY}`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ],
  },
  {
    name: "S24: the gate could not be made",
    play: (job) => {
      job.wake(T10);
      job.tell(T10, { type: "FAILED", attemptId: "a1", code: "fork-failed" });
    },
    words: [
      "execution a1 <- FAILED (launcher)",
      "execution a1 = ended.silent done",
      `period ${P10} = eligible.retrying`,
    ],
  },
  {
    name: "S20: too late for the claim: the gate is closed",
    play: (job) => {
      job.wake(T10);
      job.ready("2026-03-01T10:01:01Z", "a1");
    },
    words: [
      "execution a1 <- READY (launcher)",
      `period + ${P11} = planned < ${IDENTITY}`,
      "execution a1 = ended.silent done",
      `period ${P10} = terminal.missed done`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ],
  },
  {
    name: "S23: the gate was lost while its claim was written: claimed, and completed at once",
    play: (job) => {
      job.wake(T10);
      job.ready(T10, "a1");
      job.tell(T10, { type: "FAILED", attemptId: "a1", code: "gate-failed" });
      job.durable(T10, "a1");
    },
    words: [
      "execution a1 <- DURABLE (supervisor)",
      "execution a1 = ended.recorded done",
      `period ${P10} = terminal.executed.completed done`,
      `job ${IDENTITY} = ${JOB}.planned+runs.idle`,
    ],
  },
  {
    name: "S16: removed while its gate was being made: the period is given up without an outcome",
    play: (job) => {
      job.wake(T10);
      job.tell(T10, { type: "REMOVE" });
    },
    words: [
      `job ${IDENTITY} <- REMOVE (supervisor)`,
      "execution a1 = ended.silent done",
      `period ${P10} = eligible.starting stopped`,
      `job ${IDENTITY} = standing.removed+record+period.none+runs.idle`,
    ],
  },
  {
    name: "S28: cancelled; ended when its tree is gone, its period when its process was",
    play: (job) => {
      job.wake(T10);
      job.start(T10, "a1");
      job.tell(AT("02"), { type: "END", attemptId: "a1", reason: "cancelled" });
      job.exited(AT("03"), "a1", null);
      job.tell(AT("04"), { type: "TERMINATED", attemptId: "a1", isGone: true });
    },
    words: ["execution a1 <- TERMINATED (launcher)", "execution a1 = ended.silent done"],
  },
  {
    name: "S40: a manual run belongs to its job, not to a period",
    play: (job) => {
      job.wake("2026-03-01T09:30:00Z");
      job.tell("2026-03-01T09:40:00Z", { type: "RUN", source: "manual", slotAt: at("2026-03-01T09:40:00Z") });
    },
    words: [`job ${IDENTITY} <- RUN (supervisor)`, `execution + a1 = arming < ${IDENTITY}`],
  },
];

describe("every way to end", () => {
  test.each(ENDINGS)("$name", ({ play, words }) => {
    const told = story({ document: HANDLED_9 });
    play(told.job);
    const all = told.words();
    expect(all.slice(-words.length)).toEqual(words);
  });
});

describe("jobs that come and go", () => {
  test("S29: a job that is brought to life from its document brings the runs that it had", () => {
    const active = { PeriodID: T10, PID: 7, StartedAt: T10, ChosenTime: T10, AttemptID: "old" };
    const { job } = story({ document: { ...HANDLED_9, LastHandledPeriodID: T10, ActiveExecution: active } });
    const frames = presentFrames({ identity: IDENTITY, definition: null, activation: job.activation }, at(T11));
    expect(frames.map(({ frame }) => wordsOf(frame))).toEqual([
      `+ ${IDENTITY} = ${JOB}.none+runs.busy < supervisor`,
      `+ old = running.released < ${IDENTITY}`,
    ]);
  });

  test("at rest it is said when it wakes; a removed one has stopped", () => {
    const { job } = story({ document: HANDLED_9 });
    job.wake("2026-03-01T09:30:00Z");
    const live = { identity: IDENTITY, definition: null, activation: job.activation };
    const { frame } = passivatedFrame(live, at(T10), at("2026-03-01T09:30:00Z"));
    expect(frame).toMatchObject({ snapshot: { status: "active", context: { isResting: true, wakeAt: T10 } } });
    job.tell(T10, { type: "REMOVE" });
    const gone = passivatedFrame({ ...live, activation: job.activation }, null, at(T10));
    expect(gone.frame).toMatchObject({ snapshot: { status: "stopped", context: { wakeAt: null } } });
  });

  test.each([
    ["prod/backup", "prod/backup"],
    ["supervisor", "job:supervisor"],
    ["launcher", "job:launcher"],
    ["inspector", "job:inspector"],
    ["job:supervisor", "job:job:supervisor"],
    ["job:other", "job:other"],
  ])("S37: a job may be called %s, and its actor is %s", (identity, session) => {
    expect(jobSession(identity)).toBe(session);
  });
});

describe("the charts that are sent", () => {
  const charts: readonly (readonly [string, AnyStateMachine, string])[] = [
    ["job", jobMachine, CHARTS.job],
    ["period", periodMachine, CHARTS.period],
    ["execution", executionMachine, CHARTS.execution],
    ["supervisor", supervisorMachine, CHARTS.supervisor],
  ];

  test.each(charts)("%s: the same states and transitions can be drawn from the text", (_, machine, text) => {
    const drawn = createMachine(JSON.parse(text));
    expect(shapeOf(drawn)).toEqual(shapeOf(machine));
  });

  test("a viewer can go on from a snapshot by the chart alone", () => {
    const { job, told } = story({ document: HANDLED_9 });
    job.wake(T10);
    const frame = told().find((said) => said.kind === "execution")?.frame;
    if (frame?.type !== "@xstate.actor" || frame.definition === undefined) throw new Error("no execution was born");
    const drawn = createMachine(JSON.parse(frame.definition));
    const { value, context } = JSON.parse(JSON.stringify(frame.snapshot));
    const next = getNextSnapshot(drawn, drawn.resolveState({ value, context }), { type: "READY" });
    expect(next.value).toEqual({ gated: "waiting" });
  });
});

function shapeOf(machine: AnyStateMachine): unknown {
  return nodesOf(machine.root).map((node) => [
    node.id,
    node.type,
    [...node.transitions].map(([type, transitions]) => [type, transitions.map(targetsOf)]),
    (node.always ?? []).map(targetsOf),
  ]);
}

type Node = AnyStateMachine["root"];

function nodesOf(node: Node): readonly Node[] {
  return [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as Node))];
}

function targetsOf({ target }: { readonly target: readonly Pick<Node, "id">[] | undefined }): readonly string[] {
  return (target ?? []).map(({ id }) => id);
}
