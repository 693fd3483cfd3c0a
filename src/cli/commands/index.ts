import { ENGINE_VERSION } from "../../core/version.js";
import type { Program } from "../program.js";
import { EXPLAIN } from "./explain.js";
import { IMPORT } from "./import.js";
import { LINT } from "./lint.js";
import { NEXT } from "./next.js";
import { VERIFY } from "./verify.js";

export const KRON: Program = {
  name: "kron",
  summary: "Kron: a job scheduler whose every decision can be recomputed by anyone.",
  version: ENGINE_VERSION,
  commands: [LINT, NEXT, EXPLAIN, VERIFY, IMPORT],
};
