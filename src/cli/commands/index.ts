import { ENGINE_VERSION } from "../../core/base/version.js";
import { lazily } from "../command.js";
import type { Program } from "../program.js";
import { completionCommand } from "./completion.js";
import { KROND } from "./krond/index.js";
import { APPLY } from "./specs/apply.js";
import { CANCEL, PAUSE, RESUME, RUN } from "./specs/control.js";
import { ENDPOINT } from "./specs/endpoint.js";
import { EXPLAIN } from "./specs/explain.js";
import { FORECAST } from "./specs/forecast.js";
import { HINT } from "./specs/hint.js";
import { HISTORY } from "./specs/history.js";
import { IMPORT } from "./specs/import.js";
import { INIT } from "./specs/init.js";
import { JOB } from "./specs/job.js";
import { KEYS } from "./specs/keys.js";
import { LIMITS } from "./specs/limits.js";
import { LINT } from "./specs/lint.js";
import { LIST } from "./specs/list.js";
import { LOGS } from "./specs/logs.js";
import { MCP } from "./specs/mcp.js";
import { NEXT } from "./specs/next.js";
import { NODE } from "./specs/node.js";
import { OPEN } from "./specs/open.js";
import { OPERATOR } from "./specs/operator.js";
import { PLAN } from "./specs/plan.js";
import { PLANNER } from "./specs/planner.js";
import { RUNS } from "./specs/runs.js";
import { SIMULATE } from "./specs/simulate.js";
import { STATS } from "./specs/stats.js";
import { TUNE } from "./specs/tune.js";
import { VERIFY } from "./specs/verify.js";
import { WHY } from "./specs/why.js";

export const KRON: Program = {
  name: "kron",
  summary: "Kron: a job scheduler whose every decision can be recomputed by anyone.",
  version: ENGINE_VERSION,
  beside: KROND,
  commands: [
    lazily(INIT, async () => (await import("./init.js")).run),
    lazily(LINT, async () => (await import("./lint.js")).run),
    lazily(NEXT, async () => (await import("./next.js")).run),
    lazily(EXPLAIN, async () => (await import("./explain.js")).run),
    lazily(VERIFY, async () => (await import("./verify.js")).run),
    lazily(FORECAST, async () => (await import("./forecast.js")).run),
    lazily(TUNE, async () => (await import("./tune.js")).run),
    lazily(SIMULATE, async () => (await import("./simulate.js")).run),
    lazily(LIST, async () => (await import("./list.js")).run),
    lazily(WHY, async () => (await import("./why.js")).run),
    lazily(HISTORY, async () => (await import("./history.js")).run),
    lazily(LOGS, async () => (await import("./logs.js")).run),
    lazily(RUN, async () => (await import("./control.js")).runNow),
    lazily(CANCEL, async () => (await import("./control.js")).cancel),
    lazily(PAUSE, async () => (await import("./control.js")).pause),
    lazily(RESUME, async () => (await import("./control.js")).resume),
    lazily(HINT, async () => (await import("./hint.js")).run),
    lazily(JOB, async () => (await import("./job.js")).run),
    lazily(ENDPOINT, async () => (await import("./endpoint.js")).run),
    lazily(RUNS, async () => (await import("./runs.js")).run),
    lazily(STATS, async () => (await import("./stats.js")).run),
    lazily(KEYS, async () => (await import("./keys.js")).run),
    lazily(LIMITS, async () => (await import("./limits.js")).run),
    lazily(PLAN, async () => (await import("./plan.js")).run),
    lazily(APPLY, async () => (await import("./apply.js")).run),
    lazily(NODE, async () => (await import("./node.js")).run),
    lazily(PLANNER, async () => (await import("./planner.js")).run),
    lazily(MCP, async () => (await import("./mcp.js")).run),
    lazily(OPEN, async () => (await import("./open.js")).run),
    lazily(OPERATOR, async () => (await import("./operator.js")).run),
    lazily(IMPORT, async () => (await import("./import.js")).run),
    completionCommand(() => [KRON, KROND]),
  ],
};
