import { test } from "vitest";
import { checkModel, tracesOf } from "./support/model.js";
import { KRON } from "./support/subject.js";

test("P1-P26, L1-L4 on random scenarios: stores", { timeout: 3_600_000 }, async () => {
  await checkModel("scheduler", KRON, "stores", 20263, tracesOf());
});
