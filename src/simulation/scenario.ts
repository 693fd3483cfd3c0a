/** What happens in a simulation beside the jobs themselves, as data. */

import type { Settings } from "../core/config/settings.js";
import type { HintWish } from "../core/governor/hint.js";
import type { JobDefinition } from "../core/job/definition.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Expectation } from "./expectations.js";
import type { RunRule } from "./run-rules.js";

/**
 * Where a crash hits. A claim is what makes a period handled, before its command may run; a start is the release of the
 * command; an end is the record of its exit.
 */
export const CRASH_STEPS = [
  "before-claim",
  "after-claim",
  "before-start",
  "after-start",
  "before-end",
  "after-end",
] as const;
export type CrashStep = (typeof CRASH_STEPS)[number];

export type StoreErrno = "EIO" | "ENOSPC";

export interface Loaded {
  readonly definitions: readonly JobDefinition[];
  readonly settings: Settings;
}

/** `forMs`: how long until the daemon is started again, or until it ends by itself. */
export type Act<Config = Loaded> =
  /** SIGKILL: at once, or at the first such step from then on. */
  | { readonly do: "crash"; readonly forMs: number; readonly step: CrashStep | null }
  /** An orderly stop, and the next start. */
  | { readonly do: "down"; readonly forMs: number }
  /** The machine: no process survives. */
  | { readonly do: "reboot"; readonly forMs: number }
  | { readonly do: "lose-launcher" }
  /** The wall clock alone is moved. */
  | { readonly do: "jump"; readonly byMs: number }
  /** The daemon is stopped and goes on: time passes, and it notices afterwards. */
  | { readonly do: "freeze"; readonly forMs: number }
  /** The next write fails, which ends the daemon. `isDurable`: what a failed sync leaves open. */
  | { readonly do: "store-failure"; readonly errno: StoreErrno; readonly isDurable: boolean; readonly forMs: number }
  | {
      readonly do: "pause";
      readonly job: string;
      readonly forMs: number;
      readonly reason: string;
      readonly catchesUp?: boolean;
    }
  /** S41: judged when it happens, as `kron hint` is. */
  | { readonly do: "hint"; readonly job: string; readonly wish: HintWish }
  | { readonly do: "unhint"; readonly job: string }
  | { readonly do: "resume" | "run" | "cancel"; readonly job: string }
  | { readonly do: "reload"; readonly config: Config };

export type Deed = Act["do"];

/** By the machine's own count of time from the beginning: a jump of the clock does not move later acts. */
export interface TimedAct<Config = Loaded> {
  readonly afterMs: number;
  readonly act: Act<Config>;
}

/** When something happens, as written: an instant of an unmoved clock, or a time from the beginning. */
export type Moment =
  | { readonly kind: "instant"; readonly at: EpochMs }
  | { readonly kind: "after"; readonly ms: number };

export interface PlannedAct {
  readonly when: Moment;
  /** Of a reload the name of the configuration, as written. */
  readonly act: Act<string>;
}

export interface Scenario {
  readonly from: EpochMs | null;
  readonly to: EpochMs | null;
  readonly horizonMs: number | null;
  readonly seed: string | null;
  readonly rules: readonly RunRule[];
  readonly acts: readonly PlannedAct[];
  readonly expectations: readonly Expectation[];
}

export const NO_SCENARIO: Scenario = {
  from: null,
  to: null,
  horizonMs: null,
  seed: null,
  rules: [],
  acts: [],
  expectations: [],
};
