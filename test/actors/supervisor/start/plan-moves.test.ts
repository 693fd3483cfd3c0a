/** S16: what a plan says of a change is what the reload then does, the run that begins at once included. */
import { expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../../src/core/config/settings.js";
import { compileRule } from "../../../../src/core/decision/compile.js";
import { decide } from "../../../../src/core/decision/decide.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { formatInstant, MINUTE_MS } from "../../../../src/core/time/instant.js";
import { at } from "../../../support/scheduling.js";
import { job, World } from "../world.js";

const PERIOD = at("2026-03-01T00:05:00Z");
const NOW = at("2026-03-01T00:06:02Z");

/** The first salt whose chosen second is before, or after, an instant. */
function salted(isWanted: (chosenAt: number) => boolean): JobDefinition {
  for (let salt = 0; salt < 1_000; salt++) {
    const policy = { deadline: "5m" };
    const made = job("a", "*/5 * * * *", { window: { duration: "5m" }, policy, seed: { salt: `${salt}` } });
    const { chosenAt } = decide(compileRule(made), PERIOD);
    if (chosenAt !== null && isWanted(chosenAt)) return made;
  }
  throw new Error("no such salt");
}

test("S16: a plan tells the run that a reload begins at once, and where the next one moves from", async () => {
  const [later, sooner] = [salted((chosen) => chosen > NOW + MINUTE_MS), salted((chosen) => chosen < NOW - 5_000)];
  const world = new World();
  await world.boot([later]);
  await world.pass(NOW - world.clock.now());
  const from = formatInstant(decide(compileRule(later), PERIOD).chosenAt ?? 0);
  const change = { identity: "a", movesFrom: from, movesTo: formatInstant(NOW) };
  expect((await world.supervisor.plan([sooner], () => false)).report.changed).toMatchObject([change]);
  const before = world.starts("a").length;
  expect((await world.supervisor.reload([sooner], SETTINGS_DEFAULTS, [])).changed).toMatchObject([change]);
  await world.settle();
  expect(world.starts("a").slice(before)).toEqual([formatInstant(NOW).slice(0, 19)]);
});
