/** What of a configuration cannot be started on this host, each with the place of its job. */
import type { LocatedJob } from "../../core/config/located.js";
import type { ConfigFinding } from "../../persist/config-files.js";
import { turnOfLoop } from "../turns.js";
import type { HostCheck } from "./host-check.js";

export interface HostFindings {
  readonly findings: readonly ConfigFinding[];
  /** Jobs of which it could not be told from here, or that were more kinds than were to be looked at. */
  readonly untold: number;
}

const PER_TURN = 256;

/** Suspended jobs are not to be started, and are left alone. */
export async function hostFindings(
  jobs: Iterable<LocatedJob>,
  check: HostCheck,
  mostLooks: number,
): Promise<HostFindings> {
  const findings: ConfigFinding[] = [];
  let untold = 0;
  let seen = 0;
  for (const { definition, file, line, column } of jobs) {
    if (++seen % PER_TURN === 0) await turnOfLoop();
    if (definition.policy.suspend) continue;
    const mayLook = check.looks < mostLooks || !check.isNew(definition);
    const found = mayLook ? await check.of(definition) : null;
    for (const problem of mayLook ? await check.ofNotify(definition) : []) {
      const located = { problem, file, line, column, length: 1, identity: definition.identity };
      findings.push({ located, sourceLine: null });
    }
    if (found?.is === "refused") {
      const { identity } = definition;
      findings.push({ located: { problem: found.problem, file, line, column, length: 1, identity }, sourceLine: null });
    } else if (found?.is !== "startable") untold += 1;
  }
  return { findings, untold };
}
