import { expect, test } from "vitest";
import { ruleHashOf } from "../../../src/actors/supervisor/rows/job-entry.js";
import { runKind } from "../../../src/actors/supervisor/write/ledger-text.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { canonicalDefinitionText } from "../../../src/core/job/schema.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { at } from "../../support/scheduling.js";
import { job, World } from "./world.js";

const EVERY_MINUTE = "* * * * *";
const FIRST = "2026-03-01T00:01:00Z";
const THEIRS = JSON.stringify({ attempt_id: "theirs" });

/** Somebody else has run the period, and what it wrote is on record, or only its claim is. */
function ranElsewhere(world: World, identity: string, periodId: string, isDocumentThere = true): string {
  const key = documentKey(identity);
  const before = world.disk.documents.get(key)?.text ?? "";
  const marks = { LastHandledPeriodID: periodId, LastChosenTime: periodId, LastNominalTime: periodId };
  const document = { ...JSON.parse(before), ...marks };
  const text = isDocumentThere
    ? JSON.stringify({ ...document, LastOutcome: "executed", LastReason: "theirs" })
    : before;
  world.disk.apply({
    documents: [{ key, text }],
    ledger: [{ identity, at: at(periodId), kind: runKind(null), text: THEIRS }],
  });
  return text;
}

test("S23: a run that somebody else has claimed is not begun here, and its record stays theirs", async () => {
  const world = new World();
  await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE)]);
  // Its gate is ready by then, and its claim worked out.
  await world.pass(57 * SECOND_MS);
  const theirs = ranElsewhere(world, "a", FIRST);
  await world.pass(3 * SECOND_MS);
  expect([world.starts("a"), world.starts("b")]).toEqual([[], ["2026-03-01T00:01:00"]]);
  expect(world.disk.documents.get(documentKey("a"))?.text).toBe(theirs);
  expect(world.disk.ledger.get("a")?.get(`${at(FIRST)}/run`)?.text).toBe(THEIRS);
  expect([...(world.disk.ledger.get("a")?.keys() ?? [])]).not.toContain(`${at(FIRST)}/period`);
  const told = world.events.filter(({ event, identity }) => event === "claim_refused" && identity === "a");
  expect(told).toMatchObject([{ periodId: FIRST, level: "info", fields: { kind: "run" } }]);
  expect([world.told("a").includes("trigger"), world.told("a").includes("started")]).toEqual([false, false]);
  expect([world.supervisor.status().armed, world.host.running, world.fatal]).toMatchObject([0, [{}], null]);
});

test("S23: the job goes on from what is on record: the next period is its own", async () => {
  const world = new World();
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(57 * SECOND_MS);
  ranElsewhere(world, "a", FIRST);
  await world.pass(80 * SECOND_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:02:00"]);
  expect(world.document("a").History.map(({ PeriodID }) => PeriodID)).toEqual(["2026-03-01T00:02:00Z"]);
});

test("S23: a claim without a document of it is not fought over: it is asked for once", async () => {
  const world = new World();
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(57 * SECOND_MS);
  const before = ranElsewhere(world, "a", FIRST, false);
  await world.pass(33 * SECOND_MS);
  expect([world.starts("a"), world.told("a").filter((event) => event === "claim_refused").length]).toEqual([[], 1]);
  expect(world.disk.documents.get(documentKey("a"))?.text).toBe(before);
  await world.pass(30 * SECOND_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:02:00"]);
});

test("S23: also where the claim was not worked out before its second", async () => {
  const world = new World();
  const late = { policy: { deadline: "10m" } };
  await world.boot([job("a", EVERY_MINUTE, late), job("b", EVERY_MINUTE, late)]);
  world.kill();
  await world.pass(90 * SECOND_MS);
  ranElsewhere(world, "a", FIRST, false);
  await world.boot([job("a", EVERY_MINUTE, late), job("b", EVERY_MINUTE, late)]);
  await world.settle();
  expect([world.starts("a"), world.starts("b")]).toEqual([[], ["2026-03-01T00:01:31"]]);
  expect(world.told("a")).toContain("claim_refused");
  await world.pass(30 * SECOND_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:02:00"]);
});

test("S40: a slot that somebody else has used is not used again, and whoever asked for it hears that nothing began", async () => {
  const world = new World();
  await world.boot([job("a", "0 0 1 1 *")]);
  const slotAt = world.clock.now();
  world.disk.apply({ ledger: [{ identity: "a", at: slotAt, kind: runKind("manual"), text: THEIRS }] });
  expect(await world.supervisor.runNow("a")).toMatchObject({ ok: false });
  await world.settle();
  expect([world.host.executions, world.supervisor.status().armed]).toEqual([[], 0]);
  world.clock.advance(1);
  expect(await world.supervisor.runNow("a")).toMatchObject({ ok: true });
});

test("S23: what runs of the job goes on and is watched to its end", async () => {
  const world = new World({ behaviour: () => ({ runMs: 90 * SECOND_MS }) });
  await world.boot([job("a", EVERY_MINUTE, { policy: { concurrency: "allow" } })]);
  await world.pass(60 * SECOND_MS);
  await world.pass(57 * SECOND_MS);
  ranElsewhere(world, "a", "2026-03-01T00:02:00Z");
  await world.pass(3 * SECOND_MS);
  expect([world.starts("a"), world.host.running.length]).toEqual([["2026-03-01T00:01:00"], 1]);
  expect(world.told("a")).toContain("claim_refused");
  await world.pass(31 * SECOND_MS);
  expect(world.ledger("a").filter(({ kind }) => kind === "run")[0]?.content).toMatchObject({ exit_code: 0 });
  expect([world.told("a").includes("completed"), world.fatal]).toEqual([true, null]);
});

/** Somebody else has given the job another definition, and has run a period by it. */
function changedElsewhere(world: World, theirs: JobDefinition, periodId: string): void {
  const { identity } = theirs;
  const text = canonicalDefinitionText(theirs);
  const documentText = ranElsewhere(world, identity, periodId);
  const document = { ...JSON.parse(documentText), DefinitionHash: ruleHashOf(theirs), DefinedAt: periodId };
  world.disk.apply({
    definitions: [{ identity, definedAt: at(periodId), text }],
    documents: [{ key: documentKey(identity), text: JSON.stringify(document) }],
  });
}

test("S14: what is known of a job is no longer true when somebody else has run it: its definition is read anew", async () => {
  const world = new World({ behaviour: () => ({ runMs: 10 * MINUTE_MS }) });
  const both = { policy: { concurrency: "allow" } };
  await world.boot([job("a", EVERY_MINUTE, both)]);
  // Of the first run the job stays in memory, with all that is known of it.
  await world.pass(60 * SECOND_MS);
  await world.pass(57 * SECOND_MS);
  const theirs = job("a", "*/5 * * * *", { ...both, command: ["/bin/theirs"] });
  changedElsewhere(world, theirs, "2026-03-01T00:02:00Z");
  await world.pass(4 * MINUTE_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:05:00"]);
  expect(JSON.stringify(world.requests.at(-1))).toContain("/bin/theirs");
  expect([world.told("a").includes("claim_refused"), world.fatal]).toEqual([true, null]);
});

test("S16: a reload compares with what is in force by then, not with what was", async () => {
  const world = new World();
  const ours = job("a", EVERY_MINUTE);
  await world.boot([ours]);
  await world.pass(57 * SECOND_MS);
  const theirs = job("a", "*/5 * * * *");
  changedElsewhere(world, theirs, FIRST);
  await world.pass(5 * SECOND_MS);
  expect((await world.supervisor.plan([theirs], () => false)).report).toMatchObject({ changed: [], unchanged: 1 });
  const planned = await world.supervisor.plan([ours], () => false);
  expect(planned.report).toMatchObject({ changed: [{ identity: "a", fields: ["schedule"] }], unchanged: 0 });
});

test("S16: a job that somebody else has removed is gone here too", async () => {
  const world = new World();
  await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE)]);
  await world.pass(57 * SECOND_MS);
  const removed = { ...JSON.parse(ranElsewhere(world, "a", FIRST)), RemovedAt: FIRST };
  world.disk.apply({
    definitions: [{ identity: "a", definedAt: at(FIRST), text: null }],
    documents: [{ key: documentKey("a"), text: JSON.stringify(removed) }],
  });
  await world.pass(5 * MINUTE_MS);
  expect([world.starts("a"), world.starts("b").length]).toEqual([[], 5]);
  expect([[...world.supervisor.identities()], world.fatal]).toEqual([["b"], null]);
});
