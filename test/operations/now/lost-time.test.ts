/** A job that needs a look because nobody could look at it: the page says when that was (S13). */
import { expect, test } from "vitest";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { ALL_JOBS, BY_NAME } from "../../../src/actors/supervisor/rows/job-query.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import { withLostTime } from "../../../src/operations/now/lost-time.js";
import type { StateStore } from "../../../src/persist/store.js";
import { job, World } from "../../actors/supervisor/world.js";

test("S13: from the last sign of life to the next start, of what was missed for it and of nothing else", async () => {
  const stores: StateStore[] = [];
  const between = (ports: SupervisorPorts): SupervisorPorts => {
    stores.push(ports.store);
    return ports;
  };
  const refusal = { code: "command-not-found", message: "no such file" } as const;
  const behaviour = ({ env }: { readonly env: Readonly<Record<string, string>> }) =>
    env["KRON_IDENTITY"] === "unstartable" ? { refusal } : {};
  const jobs = [job("down", "5 * * * *"), job("unstartable", "1 * * * *"), job("well", "2 * * * *")];
  const world = new World({ between, behaviour });
  await world.boot(jobs);
  await world.pass(3 * MINUTE_MS);
  world.kill();
  world.clock.advance(5 * MINUTE_MS);
  await world.boot(jobs);
  await world.settle();
  const store = stores.at(-1);
  if (store === undefined) throw new Error("no daemon was started");
  const all = { filter: ALL_JOBS, order: BY_NAME, from: { offset: 0 }, limit: 9 };
  const { rows } = await world.supervisor.find(all);
  const told = await withLostTime(store, rows);
  expect(told.map(({ identity, lastOutcome, lost }) => [identity, lastOutcome, lost])).toEqual([
    ["down", "missed", { from: "2026-03-01T00:03:01Z", to: "2026-03-01T00:08:01Z" }],
    ["unstartable", "missed", undefined],
    ["well", "executed", undefined],
  ]);
});
