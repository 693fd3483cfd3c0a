import { ENGINE_VERSION } from "../../core/base/version.js";
import type { Program } from "../program.js";
import { completionCommand } from "./completion.js";
import { CANCEL, PAUSE, RESUME, RUN } from "./control.js";
import { EXPLAIN } from "./explain.js";
import { FORECAST } from "./forecast.js";
import { HISTORY } from "./history.js";
import { IMPORT } from "./import.js";
import { LINT } from "./lint.js";
import { LIST } from "./list.js";
import { LOGS } from "./logs.js";
import { NEXT } from "./next.js";
import { OPERATOR } from "./operator.js";
import { PLAN } from "./plan.js";
import { SIMULATE } from "./simulate.js";
import { TUNE } from "./tune.js";
import { VERIFY } from "./verify.js";
import { WHY } from "./why.js";

export const KRON: Program = {
  name: "kron",
  summary: "Kron: a job scheduler whose every decision can be recomputed by anyone.",
  version: ENGINE_VERSION,
  commands: [
    LINT,
    NEXT,
    EXPLAIN,
    VERIFY,
    FORECAST,
    TUNE,
    SIMULATE,
    LIST,
    WHY,
    HISTORY,
    LOGS,
    RUN,
    CANCEL,
    PAUSE,
    RESUME,
    PLAN,
    OPERATOR,
    IMPORT,
    completionCommand(async () => [KRON, (await import("./krond/index.js")).KROND]),
  ],
};
