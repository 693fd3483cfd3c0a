/** The parts a step is made of: the charts, and the rules of the core. Tests replace one to see that it is needed. */
import { decide } from "../core/decision/decide.js";
import { planAfter, planOnReturn } from "../core/period/periods.js";
import { claimVerdict, verdict } from "../core/period/policy.js";
import { outlook } from "../core/restart/outlook.js";
import { executionMachine } from "./execution.machine.js";
import { jobMachine } from "./job.machine.js";
import { periodMachine } from "./period.machine.js";

export interface Engine {
  readonly job: typeof jobMachine;
  readonly period: typeof periodMachine;
  readonly execution: typeof executionMachine;
  readonly decide: typeof decide;
  readonly verdict: typeof verdict;
  readonly claimVerdict: typeof claimVerdict;
  readonly planOnReturn: typeof planOnReturn;
  readonly planAfter: typeof planAfter;
  readonly outlook: typeof outlook;
}

export const ENGINE: Engine = {
  job: jobMachine,
  period: periodMachine,
  execution: executionMachine,
  decide,
  verdict,
  claimVerdict,
  planOnReturn,
  planAfter,
  outlook,
};
