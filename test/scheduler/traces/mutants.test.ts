import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { MUTANTS, type Mutant } from "./support/mutants.js";
import { mutantOf, removeMutants } from "./support/mutation.js";
import { type Scenario, scenarioOf, THEMES } from "./support/scenario.js";
import { SCRIPTS } from "./support/scripts.js";
import { play, type Subject } from "./support/world.js";

/** A mutant that survives all scripts and this many scenarios has survived. */
const SCENARIOS = 1_500;
const SEED = 20_261_118;

function* scenarios(theme: Mutant["theme"]): Iterable<Scenario> {
  yield* SCRIPTS;
  yield* fc.sample(scenarioOf(THEMES[theme]), { numRuns: SCENARIOS, seed: SEED });
}

interface Hunt {
  readonly traces: number;
  readonly broken: ReadonlySet<string>;
}

/** Ends at the first trace that breaks the expected property. */
async function hunt(subject: Subject, { theme, breaks }: Mutant): Promise<Hunt> {
  const broken = new Set<string>();
  let traces = 0;
  for (const scenario of scenarios(theme)) {
    const { violations, programErrors } = await play(subject, scenario);
    expect(programErrors, "a mutant must be a mistake that a scheduler could make").toEqual([]);
    traces++;
    for (const { property } of violations) broken.add(property);
    if (broken.has(breaks)) break;
  }
  return { traces, broken };
}

describe("a scheduler with one mistake in it is found out", () => {
  const kills: string[] = [];
  afterAll(() => {
    removeMutants();
    console.log(`${kills.length} of ${MUTANTS.length} mutants killed\n${kills.join("\n")}`);
  });

  test.each(MUTANTS)("$breaks: $name", async (mutant) => {
    const { traces, broken } = await hunt(await mutantOf(mutant.name, mutant.edits), mutant);
    expect([...broken]).toContain(mutant.breaks);
    kills.push(`  ${mutant.name}: ${[...broken].join(" ")} (trace ${traces})`);
  });

  test("there are at least 25", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(25);
    expect(new Set(MUTANTS.map((mutant) => mutant.name)).size).toBe(MUTANTS.length);
  });
});
