/**
 * S29: the daemon ends in order at any second of every script, and is started again. What it leaves for the next one is what
 * reading everything would have found, and a start that goes by it comes to the same as one that reads everything.
 */
import { describe, expect, test } from "vitest";
import { Drill } from "./drill.js";
import { SCRIPTS } from "./scripts.js";

const TAIL_SECONDS = 125;
/** Every second of the scripts in the long form. */
const STEP_SECONDS = process.env["KRON_TEST_LONG"] === "1" ? 1 : 8;
/** What runs goes by the number of the attempt there, and which of two that are due at once comes first is nobody's promise. */
const IN_TURN = ["periods that can be started now and then"];
let [stops, farewells] = [0, 0];

interface Trial {
  readonly stopAt: number;
  readonly downSeconds: number;
  readonly isRead: boolean;
}

async function trial(name: string, { stopAt, downSeconds, isRead }: Trial): Promise<Drill> {
  const script = SCRIPTS[name];
  if (script === undefined) throw new Error(`no script ${name}`);
  const deeds = { ...script.deeds, [stopAt]: { do: "stop" } as const };
  const drill = new Drill({ ...script, deeds, seconds: script.seconds + TAIL_SECONDS });
  drill.downSeconds = downSeconds;
  drill.forgetsFarewells = isRead;
  return drill.play();
}

/** What became of everything, and what ran. */
async function come(drill: Drill): Promise<unknown> {
  const wrong = await drill.verdict();
  return { wrong, ran: drill.executed().toSorted(), answers: [...drill.answers].toSorted() };
}

describe("an orderly end at every second", () => {
  test.each(Object.keys(SCRIPTS))(
    "%s: nothing runs twice, nothing is lost, whether all is read or not",
    async (name) => {
      const script = SCRIPTS[name];
      for (let stopAt = 1; stopAt <= (script?.seconds ?? 0); stopAt += STEP_SECONDS) {
        if (script?.deeds?.[stopAt] !== undefined) continue;
        for (const downSeconds of [1, 70]) {
          const told = await trial(name, { stopAt, downSeconds, isRead: false });
          const outcome = await come(told);
          stops += 1;
          farewells += told.farewells;
          expect({ stopAt, downSeconds, outcome }).toMatchObject({ outcome: { wrong: [] } });
          if (IN_TURN.includes(name)) continue;
          const read = await come(await trial(name, { stopAt, downSeconds, isRead: true }));
          expect({ stopAt, downSeconds, outcome }).toEqual({ stopAt, downSeconds, outcome: read });
        }
      }
    },
  );

  test("nearly all of them have left something", () => {
    process.stdout.write(`${stops} orderly ends, ${farewells} farewells\n`);
    expect(farewells / stops).toBeGreaterThan(0.9);
  });
});
