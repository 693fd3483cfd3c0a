import { test } from "vitest";
import { checkModel, tracesOf } from "./support/model.js";
import { KRON } from "./support/subject.js";

test("P1-P26, L1-L4 on random scenarios: crashes", { timeout: 3_600_000 }, async () => {
  await checkModel("scheduler", KRON, "crashes", 20262, tracesOf());
});
