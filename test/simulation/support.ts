import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import type { Start } from "../../src/simulation/chronicle.js";
import type { Findings } from "../../src/simulation/report.js";
import type { RunRule } from "../../src/simulation/run-rules.js";
import type { Act, TimedAct } from "../../src/simulation/scenario.js";
import { simulate } from "../../src/simulation/simulation.js";
import type { TimelineEntry } from "../../src/simulation/timeline.js";
import { requireOk } from "../support/results.js";

/** Half a minute after midnight: no period is due at once. */
export const FROM = Date.parse("2026-03-01T00:00:30Z");

export function job(more: Record<string, unknown> = {}): JobDefinition {
  return requireOk(readJobDefinition({ identity: "job", schedule: "* * * * *", command: ["/bin/true"], ...more }));
}

export interface Script {
  readonly jobs?: readonly JobDefinition[];
  readonly run?: Omit<RunRule, "match">;
  readonly rules?: readonly RunRule[];
  /** By second from the beginning. */
  readonly acts?: Readonly<Record<number, Act>>;
  readonly minutes?: number;
  readonly seed?: string;
}

export interface Played {
  readonly findings: Findings;
  readonly timeline: readonly TimelineEntry[];
  readonly starts: readonly Start[];
}

export async function play({
  jobs = [job()],
  run,
  rules,
  acts = {},
  minutes = 10,
  seed = "0",
}: Script): Promise<Played> {
  const [timeline, starts]: [TimelineEntry[], Start[]] = [[], []];
  const timed = Object.entries(acts).map(([second, act]): TimedAct => ({ afterMs: Number(second) * SECOND_MS, act }));
  const findings = await simulate(
    {
      loaded: { definitions: jobs, settings: SETTINGS_DEFAULTS },
      fromAt: FROM,
      toAt: FROM + minutes * MINUTE_MS,
      seed,
      rules: rules ?? [{ match: "*", ...run }],
      acts: timed,
      versions: { tzVersion: "test", engineVersion: "test" },
    },
    { onTimeline: (entry) => void timeline.push(entry), onStart: (start) => void starts.push(start) },
  );
  return { findings, timeline, starts };
}
