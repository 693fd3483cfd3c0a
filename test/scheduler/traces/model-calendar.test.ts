import { test } from "vitest";
import { checkModel, tracesOf } from "./support/model.js";
import { KRON } from "./support/subject.js";

test("P1-P26, L1-L4 on random scenarios: calendar", { timeout: 3_600_000 }, async () => {
  await checkModel("scheduler", KRON, "calendar", 20261, tracesOf());
});
