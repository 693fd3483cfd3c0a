/** SPEC: `active` means an active execution of the same identity. */
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job, World } from "./world.js";

test("S26: forbid looks at runs of its own identity, whoever else's go on", async () => {
  const forbid = { policy: { deadline: "50s", concurrency: "forbid" } };
  const world = new World({
    behaviour: ({ env }) => ({ runMs: env["KRON_IDENTITY"] === "other" ? null : 5 * SECOND_MS }),
  });
  await world.boot([job("a", "* * * * *", forbid), job("other", "* * * * *", forbid)]);
  await world.pass(3 * MINUTE_MS + 10 * SECOND_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00", "2026-03-01T00:03:00"]);
  expect(world.starts("other")).toEqual(["2026-03-01T00:01:00"]);
  expect(world.document("other")).toMatchObject({ LastOutcome: "skipped", LastReason: "concurrency_forbid" });
  expect(world.document("a")).toMatchObject({ LastOutcome: "executed" });
});
