/** R3: every port fails at every step, and each failure is what the error model says it is. */
import { afterAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../src/core/base/errors/registry.js";
import { SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { Drill } from "./drill.js";
import type { Fault, FaultStep, StepName } from "./faults.js";
import { SCRIPTS } from "./scripts.js";
import { job, START } from "./world.js";

const TAIL_SECONDS = 70;
let injected = 0;

interface Trial {
  readonly drill: Drill;
  readonly wrong: string[];
}

async function trial(name: string, plan: (step: FaultStep) => Fault | null): Promise<Trial> {
  const script = SCRIPTS[name];
  if (script === undefined) throw new Error(`no script ${name}`);
  const drill = new Drill({ ...script, seconds: script.seconds + TAIL_SECONDS });
  drill.faults.plan = plan;
  await drill.play();
  injected += 1;
  return { drill, wrong: await drill.verdict() };
}

/** The steps of one kind, as they are when nothing breaks. */
async function stepsOf(script: string, name: StepName): Promise<number[]> {
  const found = SCRIPTS[script];
  if (found === undefined) throw new Error(`no script ${script}`);
  const { faults } = await new Drill(found).play();
  return faults.steps.filter((step) => step.name === name && step.phase === "before").map(({ number }) => number);
}

/** The step with this number, and the `more` steps of its kind that follow it. */
function fromOn(number: number, more: number, fault: Fault): (step: FaultStep) => Fault | null {
  let left = more + 1;
  let name: StepName | null = null;
  return (step) => {
    if (step.number === number) name = step.name;
    if (step.name !== name || step.phase !== "before" || left === 0) return null;
    left -= 1;
    return fault;
  };
}

/** ERROR-MODEL, logging contract: what is missing on the lines about an error. */
function incomplete({ world }: Drill): string[] {
  return world.events.flatMap(({ error }) => {
    if (error === undefined) return [];
    const { identity, periodId, component, operation, message, category } = error;
    const fields = { identity, periodId, component, operation, message, category };
    const missing = Object.entries(fields).filter(([, value]) => value === undefined || value === "");
    return missing.map(([field]) => `${error.code} does not name its ${field}`);
  });
}

function codesOf({ world }: Drill): ErrorCode[] {
  return world.events.flatMap(({ error }) => (error === undefined ? [] : [error.code]));
}

const COMMITS = [
  { errno: "EIO", isDurable: false },
  { errno: "EIO", isDurable: true },
  { errno: "ENOSPC", isDurable: false },
  { errno: "ENOSPC", isDurable: true },
] as const;

describe("R3: the store", () => {
  describe.each(COMMITS)("$errno, durable all the same: $isDurable", ({ errno, isDurable }) => {
    test.each([
      "start",
      "completion",
      "skip",
      "missed",
      "unschedulable",
      "replace",
      "recovery",
      "manual",
      "reload",
      "pause",
    ])(
      "ERROR-MODEL PersistenceError: %s: each write that fails is fatal, nothing starts after it, nothing runs twice",
      async (script) => {
        const wrong: string[] = [];
        for (const number of await stepsOf(script, "commit")) {
          const fault = { kind: "commit", errno, isDurable } as const;
          const { drill, wrong: found } = await trial(script, fromOn(number, 0, fault));
          const fatals = drill.fatals.map(({ code, category, isFatal }) => `${code} ${category} ${isFatal}`);
          const isFatal = fatals.join() === "state-write-failed PersistenceError true";
          wrong.push(
            ...(isFatal ? found : [...found, `it ended with: ${fatals.join()}`]).map((it) => `${number}: ${it}`),
          );
        }
        expect(wrong).toEqual([]);
      },
    );
  });

  test("ERROR-MODEL PersistenceError: a document that cannot be read when it is needed is fatal, and nothing runs", async () => {
    const drill = new Drill({ jobs: [job("a", "1 * * * *", { policy: { deadline: "50s" } })], seconds: 70 });
    drill.faults.readFault = () => (drill.world.clock.now() < START + 30 * SECOND_MS ? null : new Error("EIO"));
    await drill.play();
    expect(drill.fatals.map(({ code, identity, operation }) => ({ code, identity, operation }))).toContainEqual({
      code: "state-unreadable",
      identity: "a",
      operation: "load",
    });
    expect(drill.executed()).toEqual([]);
  });

  test("S32: a document that is damaged while the daemon runs ends it; the next start fences the job", async () => {
    const drill = new Drill({ jobs: [job("a", "* * * * *", { policy: { deadline: "50s" } })], seconds: 200 });
    await drill.boot();
    for (let second = 0; second < 30; second++) await drill.second();
    drill.world.disk.damage(documentKey("a"), "{");
    for (let second = 0; second < 60; second++) await drill.second();
    expect(drill.fatals.map(({ code }) => code)).toEqual(["state-unreadable"]);
    // Found when the claim is worked out, ahead of its second: the fence stands before that period.
    const fenced = drill.world.document("a").History.filter(({ Reason }) => Reason === "state_recovered");
    expect(fenced.map(({ PeriodID }) => PeriodID)).toEqual(["2026-03-01T00:00:00Z"]);
    expect(drill.executed()).toEqual(["a@2026-03-01T00:01:00Z"]);
  });
});

const REFUSALS = [
  ["ENOENT", "command-not-found", "ExecutionError"],
  ["EACCES", "command-not-executable", "ExecutionError"],
  ["EAGAIN", "fork-failed", "ExecutionError"],
  ["EMFILE", "descriptors-exhausted", "SystemError"],
] as const;

describe("R3: the launcher", () => {
  test.each(REFUSALS)(
    "ERROR-MODEL: %s before a process exists (%s): told as %s, not handled, tried again, and then run",
    async (errno, code, category) => {
      const wrong: string[] = [];
      for (const script of ["start", "completion", "allow", "replace", "recovery"]) {
        for (const number of await stepsOf(script, "arm")) {
          // Several in a row: the first may be processes that are made ahead, which are tried again without a word.
          const fault = { kind: "arm", failure: { code, message: errno } } as const;
          const more = 2 * (SCRIPTS[script]?.jobs.length ?? 1) - 1;
          const { drill, wrong: found } = await trial(script, fromOn(number, more, fault));
          const told = drill.world.events.filter(({ error }) => error?.code === code);
          const isTold =
            told.length > 0 && told.every(({ level, error }) => level === "error" && error?.category === category);
          const open = [...drill.answers].filter(([name, kind]) => name.startsWith("a@") && kind === "down");
          const all = [
            ...found,
            ...incomplete(drill),
            ...drill.fatals.map(String),
            ...open.map(String),
            ...(isTold ? [] : ["not told"]),
          ];
          wrong.push(...all.map((it) => `${script} ${number}: ${it}`));
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test("S24: with a deadline of zero a period is missed after its first failure, and both are told", async () => {
    const plan = fromOn(0, 0, { kind: "reject" });
    const drill = new Drill({ jobs: [job("b", "1 * * * *")], seconds: 70, behaviour: () => REFUSED });
    drill.faults.plan = plan;
    await drill.play();
    const told = drill.world.events.filter(({ at }) => at > START + 50 * SECOND_MS).map(({ event }) => event);
    expect(told).toEqual(["error", "missed_deadline"]);
    expect([codesOf(drill), incomplete(drill)]).toEqual([["command-not-found"], []]);
  });

  test("S24: a gate that is lost before its claim is told, and tried again until the deadline", async () => {
    const drill = new Drill({ jobs: [job("a", "1 * * * *", { policy: { deadline: "30s" } })], seconds: 70 });
    let lost = 0;
    drill.faults.plan = ({ name, phase }) => {
      // The processes are made, and lost before the daemon hears that they are ready: the one ahead, and the next two.
      const isMade = name === "arm" && phase === "after";
      if (isMade && ++lost <= 3) drill.world.loseLauncher();
      return null;
    };
    await drill.play();
    expect(await drill.verdict()).toEqual([]);
    expect(drill.executed()).toEqual(["a@2026-03-01T00:01:00Z"]);
    const told = drill.world.events.filter(({ error }) => error?.code === "gate-failed");
    // Of the one that was made ahead nothing is said: it was made again, and nobody had to wait for it.
    expect(told.map(({ identity, periodId }) => `${identity}@${periodId}`)).toEqual(
      Array(2).fill("a@2026-03-01T00:01:00Z"),
    );
  });

  const GO = [
    ["gone", "start_unconfirmed", false],
    ["unconfirmed", "start_unconfirmed", false],
    ["unconfirmed", "start_unconfirmed", true],
    ["late", "aborted_late", false],
  ] as const;
  test.each(GO)(
    "S20, S23: GO is answered with %s: the claim stands, it ends as %s, once (it ran: %s)",
    async (outcome, reason, hasRun) => {
      const wrong: string[] = [];
      for (const script of ["start", "completion", "allow", "replace", "manual"]) {
        for (const number of await stepsOf(script, "go")) {
          const { drill, wrong: found } = await trial(script, fromOn(number, 0, { kind: "go", outcome, hasRun }));
          const lines = drill.world.events.filter(
            ({ event, fields }) => event === "completed" && fields?.["reason"] === reason,
          );
          const isTold = lines.length === 1 && lines[0]?.level === "warn";
          const isWarned =
            (codesOf(drill).includes("start-unconfirmed") && !incomplete(drill).length) || outcome === "late";
          const all = [...found, ...drill.fatals.map(String), ...(isTold && isWarned ? [] : ["not told"])];
          wrong.push(
            ...all.filter((it) => !hasRun || !it.includes("not on record")).map((it) => `${script} ${number}: ${it}`),
          );
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test("S25: survivors of a termination are told at ERROR, and nothing starts beside them before they are gone", async () => {
    const wrong: string[] = [];
    for (const number of await stepsOf("replace", "terminate")) {
      const { drill, wrong: found } = await trial(
        "replace",
        fromOn(number, 0, { kind: "terminate", survivors: [4711] }),
      );
      const isTold = codesOf(drill).includes("replace-not-terminated");
      wrong.push(...found, ...incomplete(drill), ...drill.fatals.map(String), ...(isTold ? [] : ["not told"]));
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["start", "arm"],
    ["start", "go"],
    ["replace", "terminate"],
    ["pause", "abort"],
    ["recovery", "adopt"],
  ] as const)("a port that rejects is a defect: fatal, and nothing starts after it: %s, %s", async (script, name) => {
    const wrong: string[] = [];
    for (const number of await stepsOf(script, name)) {
      const { drill, wrong: found } = await trial(script, fromOn(number, 0, { kind: "reject" }));
      wrong.push(...found, ...(drill.fatals.length === 1 ? [] : [`${drill.fatals.length} fatal errors`]));
    }
    expect(wrong).toEqual([]);
  });

  afterAll(() => {
    process.stdout.write(`R3: ${injected} errors injected\n`);
  });
});

const REFUSED = { refusal: { code: "command-not-found" as const, message: "no such file" } };
