/** K2: two nodes on one store, each killed or stopped before and after everything that it does, and others go on. */
import { afterAll, describe, expect, test } from "vitest";
import { job, webhook } from "../supervisor/world.js";
import { type NodeFault, type NodeScript, NodesDrill } from "./nodes-drill.js";

const EVERY_MINUTE = "* * * * *";
const late = { policy: { deadline: "50s" } };

const SCRIPTS: Readonly<Record<string, NodeScript>> = {
  "runs and requests": {
    nodes: ["one", "two"],
    jobs: [job("a", EVERY_MINUTE, late), webhook("b", EVERY_MINUTE, late)],
    seconds: 75,
  },
  "a shard that moves while something runs": {
    nodes: ["one", "two"],
    jobs: [job("a", "1 * * * *", { policy: { deadline: "50s", concurrency: "forbid" } })],
    behaviour: () => ({ runMs: 15_000 }),
    deeds: { 65: { do: "move", node: "two" } },
    seconds: 85,
  },
  "there and back again": {
    nodes: ["one", "two"],
    jobs: [job("a", "1 * * * *", { policy: { deadline: "50s" } })],
    behaviour: () => ({ runMs: 20_000 }),
    deeds: { 64: { do: "move", node: "two" }, 70: { do: "move", node: "one" } },
    seconds: 90,
  },
  "ended from elsewhere": {
    nodes: ["one", "two"],
    jobs: [job("a", EVERY_MINUTE, { timeout: "40s", policy: { deadline: "50s", concurrency: "replace" } })],
    behaviour: () => ({ runMs: null }),
    deeds: { 63: { do: "move", node: "two" }, 70: { do: "cancel", identity: "a" } },
    seconds: 75,
  },
};

let points = 0;

async function wrongAt(script: NodeScript, ...faults: readonly NodeFault[]): Promise<string[]> {
  const drill = await new NodesDrill(script, ...faults).play();
  points += 1;
  const where = faults.map(({ at, kind }) => {
    const step = drill.steps[at - 1];
    return `${kind} ${step?.phase} ${step?.name} (${at}) of ${step?.node}`;
  });
  return (await drill.verdict()).map((what) => `${where.join(", ")}: ${what}`);
}

function scriptOf(name: string): NodeScript {
  const script = SCRIPTS[name];
  if (script === undefined) throw new Error(`no script ${name}`);
  return script;
}

async function stepsOf(script: NodeScript): Promise<number> {
  const drill = await new NodesDrill(script).play();
  expect(await drill.verdict()).toEqual([]);
  return drill.stepsOfScript;
}

describe("K2: kill and stop at every step", () => {
  test.each(Object.keys(SCRIPTS))("%s: nothing runs twice, and everything is accounted for", async (name) => {
    const script = scriptOf(name);
    const steps = await stepsOf(script);
    const wrong: string[] = [];
    for (const kind of ["crash", "freeze"] as const) {
      for (let at = 1; at <= steps; at++) wrong.push(...(await wrongAt(script, { at, kind })));
    }
    expect(steps).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
  });

  test("whoever takes over is killed or stopped as well", async () => {
    const script = scriptOf("a shard that moves while something runs");
    const steps = await stepsOf(script);
    const wrong: string[] = [];
    for (let first = 1; first <= steps; first++) {
      for (let next = 1; next <= 12; next++) {
        const kinds = next % 2 === 0 ? (["crash", "freeze"] as const) : (["freeze", "crash"] as const);
        const [one, other] = kinds;
        wrong.push(...(await wrongAt(script, { at: first, kind: one }, { at: first + next, kind: other })));
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["the claims suffice", { isFenced: false, isLeased: false }, false],
    ["the fence suffices", { hasClaims: false, isLeased: false }, false],
    ["where the clocks are true the lease in the gate suffices", { isFenced: false, hasClaims: false }, false],
    ["control: without any of them something runs twice", { isFenced: false, hasClaims: false, isLeased: false }, true],
  ] as const)("%s", async (_, mutant, isTwice) => {
    const script = { ...scriptOf("runs and requests"), ...mutant };
    const steps = await stepsOf(script);
    const twice: string[] = [];
    for (let at = 1; at <= steps; at++) {
      const wrong = await wrongAt(script, { at, kind: "freeze" });
      twice.push(...wrong.filter((what) => what.endsWith("ran twice")));
    }
    expect(twice.length > 0).toBe(isTwice);
  });

  afterAll(() => {
    process.stdout.write(`K2: ${points} points of two nodes\n`);
  });
});
