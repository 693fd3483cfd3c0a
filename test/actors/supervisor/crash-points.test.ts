/** R2: the daemon dies before and after everything it does, exhaustively, and is started again. */
import { afterAll, describe, expect, test } from "vitest";
import { Drill } from "./drill.js";
import type { FaultStep } from "./faults.js";
import { SCRIPTS } from "./scripts.js";
import { job } from "./world.js";

const TAIL_SECONDS = 125;
const CRASH = { kind: "crash" } as const;
let points = 0;

interface Trial {
  readonly crashes: readonly number[];
  readonly downSeconds: number;
}

async function trial(name: string, { crashes, downSeconds }: Trial): Promise<{ drill: Drill; wrong: string[] }> {
  const script = SCRIPTS[name];
  if (script === undefined) throw new Error(`no script ${name}`);
  const drill = new Drill({ ...script, seconds: script.seconds + TAIL_SECONDS });
  drill.downSeconds = downSeconds;
  drill.faults.plan = ({ number }: FaultStep) => (crashes.includes(number) ? CRASH : null);
  await drill.play();
  const wrong = await drill.verdict();
  return { drill, wrong: wrong.map((what) => `crash at ${crashes.join(" and ")}, down ${downSeconds} s: ${what}`) };
}

/** How many steps the script itself has, without the tail in which things come to an end. */
async function stepsOf(name: string): Promise<number> {
  const script = SCRIPTS[name];
  if (script === undefined) throw new Error(`no script ${name}`);
  return (await new Drill(script).play()).faults.steps.length;
}

describe("R2: kill at every step", () => {
  test.each(Object.keys(SCRIPTS))(
    "%s: nothing runs twice, nothing is lost, and every period is accounted for",
    async (name) => {
      const wrong: string[] = [];
      const steps = await stepsOf(name);
      for (const downSeconds of [1, 70]) {
        for (let number = 1; number <= steps; number++) {
          wrong.push(...(await trial(name, { crashes: [number], downSeconds })).wrong);
        }
      }
      points += 2 * steps;
      expect(steps).toBeGreaterThan(10);
      expect(wrong).toEqual([]);
    },
  );

  test("a job whose deadline is longer than the daemon is down loses no period, wherever the crash", async () => {
    const lost: string[] = [];
    const steps = await stepsOf("start");
    for (let number = 1; number <= steps; number++) {
      const { drill } = await trial("start", { crashes: [number], downSeconds: 1 });
      const open = [...drill.answers].filter(([name, kind]) => name.startsWith("a@") && kind !== "executed");
      lost.push(...open.map(([name, kind]) => `crash at ${number}: ${name} is ${kind}`));
    }
    expect(lost).toEqual([]);
  });

  test("control: a store that answers before it has written is found out", async () => {
    const wrong: string[] = [];
    for (let number = 1; number <= (await stepsOf("start")); number++) {
      const drill = new Drill({ jobs: [job("a", "1 * * * *", { policy: { deadline: "50s" } })], seconds: 70 });
      drill.faults.isLyingStore = true;
      drill.faults.plan = (step) => (step.number === number ? CRASH : null);
      await drill.play();
      wrong.push(...(await drill.verdict()).map((what) => what.split(" ").slice(1).join(" ")));
    }
    expect(wrong).toContain("ran twice");
  });

  test("recovery: a crash in the recovery from a crash", async () => {
    const wrong: string[] = [];
    const steps = await stepsOf("recovery");
    for (let first = 1; first <= steps; first++) {
      for (let next = 1; next <= 12; next++) {
        wrong.push(...(await trial("recovery", { crashes: [first, first + next], downSeconds: 1 })).wrong);
      }
    }
    points += steps * 12;
    expect(wrong).toEqual([]);
  });

  afterAll(() => {
    process.stdout.write(`R2: ${points} crash points\n`);
  });
});
